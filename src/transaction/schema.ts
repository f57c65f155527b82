/** A checked transaction as a schema: the one shape every floor above works with. */
import type * as Arr from "effect/Array";
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { nullable, type Address } from "../primitives/hex.js";
import { fields } from "./fields.js";

/** The most transactions that a bundle may have. */
export const maxTransactions = 64;

export { Authorization } from "./entries.js";

/** A field as it is kept: null where the caller may leave it open. */
interface KeptField extends Struct.Lambda {
  (row: { readonly schema: Schema.Constraint; readonly absent: unknown }): Schema.Constraint;
  readonly "~lambda.out": this["~lambda.in"] extends { readonly schema: infer S extends Schema.Constraint }
    ? this["~lambda.in"] extends { readonly absent: null }
      ? ReturnType<typeof nullable<S>>
      : S
    : never;
}

/** The schemas of a checked transaction. Named, so that declarations refer to it and keep the documentation. */
export type TransactionFields = {
  readonly [K in keyof typeof fields]: (typeof fields)[K]["absent"] extends null
    ? ReturnType<typeof nullable<(typeof fields)[K]["schema"]>>
    : (typeof fields)[K]["schema"];
} & {
  /** The JSON ABI item of the called function, when the caller gave an ABI call. */
  readonly item: ReturnType<typeof nullable<typeof Schema.Json>>;
};

/** A checked transaction: every field present, `null` where the caller left it open. */
export const Transaction: Schema.Struct<TransactionFields> = Schema.Struct({
  ...Struct.map(
    fields,
    Struct.lambda<KeptField>(({ schema, absent }) => (absent === null ? nullable(schema) : schema)),
  ),
  item: nullable(Schema.Json),
});
export interface Transaction extends Schema.Schema.Type<typeof Transaction> {}

/** What a connection says of itself: the fields of transactions that name none; null where it does not say. */
export interface InputDefaults {
  /** The chain that transactions are for; null = whichever the node serves. */
  readonly chainId: number | null;
  /** Who sends; null = each transaction names its sender. */
  readonly from: Address | null;
}

/** Transactions in their order; there is always one. */
export type Transactions = Arr.NonEmptyReadonlyArray<Transaction>;

/** A checked input: the transactions in order, and the ABIs that came with them. Only `check` makes one. */
export class CheckedInput {
  /** The transactions, in order. */
  readonly transactions: Transactions;
  /** `address` null = of the contract that is deployed. */
  readonly abis: ReadonlyArray<{ readonly address: Address | null; readonly abi: ReadonlyArray<Schema.Json> }>;
  constructor(transactions: Transactions, abis: CheckedInput["abis"]) {
    this.transactions = transactions;
    this.abis = abis;
  }
}
