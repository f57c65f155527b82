/** The checks that need nothing but the input: pure, and the first wrong field is named. */
import * as Result from "effect/Result";
import { InvalidTransaction } from "../errors/input.js";
import { no, type Checked } from "../primitives/problem.js";
import { encodeCall } from "./encode.js";
import { fields, isField } from "./fields.js";
import { bytes, given, record, type Read } from "./read.js";
import { CheckedInput, maxTransactions, type Transaction } from "./schema.js";

interface Row {
  readonly check: Read<unknown>;
  readonly absent: unknown;
}
type Values<Rows extends Readonly<Record<string, Row>>> = {
  readonly [K in keyof Rows]:
    | (Rows[K] extends { readonly check: Read<infer A> } ? A : never)
    | Exclude<Rows[K]["absent"], undefined>;
};

/** The fields of `rows`, each checked where it is given, in the order of the table. */
const read = <Rows extends Readonly<Record<string, Row>>>(
  rows: Rows,
  call: Readonly<Record<string, unknown>>,
  name: (field: string) => string,
): Checked<Values<Rows>> =>
  Result.gen(function* () {
    const values: Record<string, unknown> = {};
    for (const [field, { check, absent }] of Object.entries<Row>(rows))
      values[field] = given(call[field]) || absent === undefined ? yield* check(call[field], name(field)) : absent;
    // each value was read by its own row
    return values as Values<Rows>;
  });

const { from, to, data: _, ...others } = fields;

const one = (input: unknown, at: string) =>
  Result.gen(function* () {
    const call = yield* record(input, at === "" ? "transaction" : at.slice(0, -1));
    const name = (field: string) => `${at}${field}`;
    const unknown = Object.keys(call).find((key) => !isField(key) && call[key] !== undefined);
    if (unknown !== undefined) return yield* no(name(unknown), "is not a field of a transaction");
    const ends = yield* read({ from, to }, call, name);
    const { data, item, abi } = yield* encodeCall(call, name, bytes);
    const transaction: Transaction = { ...ends, data, ...(yield* read(others, call, name)), item };
    yield* together(transaction, name);
    return { transaction, abi: abi === null ? [] : [{ address: transaction.to, abi }] };
  });

/** Fields that are each right but do not fit together. */
const together = (transaction: Transaction, name: (field: string) => string): Checked<void> => {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, authorizationList, blobVersionedHashes, to } = transaction;
  if (gasPrice !== null && (maxFeePerGas !== null || maxPriorityFeePerGas !== null))
    return no(name("gasPrice"), "cannot stand together with maxFeePerGas or maxPriorityFeePerGas");
  if (maxFeePerGas !== null && maxPriorityFeePerGas !== null && maxPriorityFeePerGas > maxFeePerGas)
    return no(name("maxPriorityFeePerGas"), "is above maxFeePerGas");
  if (gasPrice !== null && authorizationList !== null)
    return no(name("gasPrice"), "cannot stand together with authorizationList (EIP-7702 needs 1559 fees)");
  if (gasPrice !== null && blobVersionedHashes !== null)
    return no(name("gasPrice"), "cannot stand together with blobVersionedHashes (EIP-4844 needs 1559 fees)");
  if (authorizationList !== null && blobVersionedHashes !== null)
    return no(name("authorizationList"), "cannot stand together with blobVersionedHashes");
  if (to === null && authorizationList !== null) return no(name("to"), "is required with authorizationList (EIP-7702)");
  if (to === null && blobVersionedHashes !== null)
    return no(name("to"), "is required with blobVersionedHashes (EIP-4844)");
  if (to === null && transaction.data.length === 2) return no(name("to"), "is missing; a deployment needs data");
  if (transaction.maxFeePerBlobGas !== null && blobVersionedHashes === null)
    return no(name("maxFeePerBlobGas"), "needs blobVersionedHashes");
  if (transaction.maxFeePerBlobGas === null && blobVersionedHashes !== null)
    return no(name("maxFeePerBlobGas"), "is missing; blobVersionedHashes need it");
  return Result.void;
};

const whole = (input: unknown): Checked<CheckedInput> =>
  Result.gen(function* () {
    if (!Array.isArray(input)) {
      const { transaction, abi } = yield* one(input, "");
      return new CheckedInput([transaction], abi);
    }
    if (input.length === 0) return yield* no("transactions", "the bundle is empty");
    if (input.length > maxTransactions)
      return yield* no("transactions", `the bundle has more than ${maxTransactions} transactions`);
    const first = yield* one(input[0], "[0].");
    const rest: Array<typeof first> = [];
    for (let index = 1; index < input.length; index++) rest.push(yield* one(input[index], `[${index}].`));
    const { chainId } = first.transaction;
    const other = rest.findIndex(
      ({ transaction }) => transaction.chainId !== null && chainId !== null && transaction.chainId !== chainId,
    );
    if (other !== -1) return yield* no(`[${other + 1}].chainId`, "differs from the chain of the first transaction");
    return new CheckedInput(
      [first.transaction, ...rest.map(({ transaction }) => transaction)],
      [first, ...rest].flatMap(({ abi }) => abi),
    );
  });

/** The whole input: one transaction or a list of them; what was checked before is passed on as it is. Never throws. */
export const validate = (input: unknown): Result.Result<CheckedInput, InvalidTransaction> =>
  input instanceof CheckedInput
    ? Result.succeed(input)
    : Result.mapError(whole(input), (problem) => new InvalidTransaction(problem));
