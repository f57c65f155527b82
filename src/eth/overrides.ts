/** What one may pretend, a row each: of an account and of a block. Options, reports and requests take theirs from here. */
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { Address, Hash, Hex } from "../primitives/hex.js";
import type { GivenIn, Gives } from "../primitives/rows.js";

/** How a value is written to JSON-RPC. */
type Wire = "address" | "bytes" | "word" | "quantity" | "slots";

/** One override: `Given` by callers, kept as `schema` says. */
export interface OverrideRow<Given, S extends Schema.Constraint, W extends string> extends Gives<Given> {
  /** How it is kept in a report. */
  readonly schema: S;
  /** How it is written to JSON-RPC. */
  readonly wire: W;
}
const row =
  <Given>() =>
  <S extends Schema.Constraint, W extends Wire>(schema: S, wire: W): OverrideRow<Given, S, W> => ({ schema, wire });

const quantity = row<bigint>()(Schema.BigInt, "quantity");
const address = row<Address>()(Address, "address");
const slots = row<Readonly<Record<Hash, Hash>>>()(Schema.Record(Schema.String, Hash), "slots");

/** The rows of an account. */
export const accountRows = {
  /** Wei. */
  balance: quantity,
  /** How many transactions it has sent; of a contract, how many it created. */
  nonce: row<bigint | number>()(Schema.BigInt, "quantity"),
  /** The bytes that run when it is called. */
  code: row<Hex>()(Hex, "bytes"),
  /** Replaces the whole storage: 32-byte slots and values. */
  state: slots,
  /** Replaces the named slots: 32-byte slots and values. */
  stateDiff: slots,
  /** Where the precompile that is at this address can be called instead. */
  movePrecompileToAddress: address,
};

/** The rows of a block. */
export const blockRows = {
  /** Its height: NUMBER. */
  number: quantity,
  /** Epoch seconds. */
  time: quantity,
  /** Gas of all transactions together. */
  gasLimit: quantity,
  /** Who gets the tips: COINBASE. */
  feeRecipient: address,
  /** 32 bytes: PREVRANDAO. */
  prevRandao: row<Hash>()(Hash, "word"),
  /** Wei per gas. */
  baseFeePerGas: quantity,
  /** Wei per blob gas. */
  blobBaseFee: quantity,
};

/** Rows as the parameters of a request: numbers of either kind, and null means absent. */
export type AskedRows<Rows> = {
  readonly [K in keyof Rows]?:
    | (bigint extends GivenIn<Rows[K]> ? bigint | number : GivenIn<Rows[K]>)
    | null
    | undefined;
};

/** An override as a report keeps it: a key that may be missing. */
interface KeptOverride extends Struct.Lambda {
  (row: { readonly schema: Schema.Constraint }): Schema.optionalKey<Schema.Constraint>;
  readonly "~lambda.out": this["~lambda.in"] extends { readonly schema: infer S extends Schema.Constraint }
    ? Schema.optionalKey<S>
    : never;
}
const kept = Struct.lambda<KeptOverride>(({ schema }) => Schema.optionalKey(schema));

// why: named, or compilers write them out, without the documentation, and TypeScript 6 fails to
/** The schemas of what is pretended about an account. */
export type AccountOverrideFields = {
  readonly [K in keyof typeof accountRows]: Schema.optionalKey<(typeof accountRows)[K]["schema"]>;
};
/** The schemas of what is pretended about the block. */
export type BlockOverridesFields = {
  readonly [K in keyof typeof blockRows]: Schema.optionalKey<(typeof blockRows)[K]["schema"]>;
};

/** What is pretended about one account, as a report keeps it. */
export const AccountOverride: Schema.Struct<AccountOverrideFields> = Schema.Struct(Struct.map(accountRows, kept));
/** What is pretended about the block, as a report keeps it. */
export const BlockOverrides: Schema.Struct<BlockOverridesFields> = Schema.Struct(Struct.map(blockRows, kept));
