/** The checks that need nothing but the input, and the data of ABI calls: pure, and the first wrong field is named. */
import * as Result from "effect/Result";
import { encodeDeployment, encodeFunction, type Encoded, asAbi } from "../abi/encode.js";
import { InvalidTransaction } from "../errors/input.js";
import { concat } from "../primitives/bytes.js";
import type { Hex } from "../primitives/hex.js";
import { optionNames } from "../primitives/names.js";
import { bounded, didYouMean, each, no, type Checked, bytes, given } from "../primitives/problem.js";
import { safely } from "../primitives/record.js";
import {
  CheckedInput,
  fields,
  isUnsigned,
  maxAuthorizations,
  maxTransactions,
  maxUnsigned,
  type InputDefaults,
  type Transaction,
} from "./fields.js";
import { unfold, type Held, type ReadBytes } from "./forms.js";
import type { LooseCall } from "./input.js";

/** The fields of a call through an ABI, which becomes `data`. */
const abiFields = ["abi", "functionName", "args", "bytecode", "dataSuffix"] satisfies Array<keyof LooseCall>;

/** Every field that a transaction may have. */
export const fieldNames: ReadonlyArray<string> = [...Object.keys(fields), ...abiFields];

/** The fields of these names, each checked where it is given, in their order. */
const read = <K extends keyof typeof fields>(
  names: ReadonlyArray<K>,
  call: Readonly<Record<string, unknown>>,
  name: (field: string) => string,
): Checked<Pick<Transaction, K>> =>
  Result.gen(function* () {
    const values: Record<string, unknown> = {};
    for (const field of names) {
      const { check, absent } = fields[field];
      values[field] = given(call[field])
        ? yield* check(call[field], name(field))
        : absent === undefined
          ? yield* no(name(field), "is missing")
          : absent;
    }
    // each value was read by its own row
    return values as Pick<Transaction, K>;
  });

const { from: _, to: __, data: ___, ...rest } = fields;
const others = Object.keys(rest) as ReadonlyArray<keyof typeof rest>;

/** Names that other libraries have for a field. */
const elsewhere: Readonly<Record<string, keyof typeof fields>> = {
  sender: "from",
  address: "to",
  recipient: "to",
  calldata: "data",
  amount: "value",
};

/** Says what may have been meant by a field that is none: `; say from`, `; did you mean value?`, or nothing. */
export const fieldHint = (key: string): string => {
  if (Object.hasOwn(elsewhere, key)) return `; say ${elsewhere[key]}`;
  const options: ReadonlyArray<string> = optionNames;
  return options.includes(key) ? "; options are the second argument" : didYouMean(key, fieldNames);
};

const unnamed: InputDefaults = { chainId: null, from: null };

/** The transaction with what its connection says of itself; anything else in its place is refused. */
const owned = (
  transaction: Transaction,
  { chainId, from: account }: InputDefaults,
  name: (field: string) => string,
): Checked<Transaction> => {
  if (account !== null && transaction.from !== account)
    return no(name("from"), `is not the client's account, which is ${account}`);
  if (chainId !== null && transaction.chainId !== null && transaction.chainId !== chainId)
    return no(name("chainId"), `is not the client's chain, which is ${chainId}`);
  // why: bytes that bind no chain are another transaction with one
  if (transaction.origin?.raw !== undefined) return Result.succeed(transaction);
  return Result.succeed({ ...transaction, chainId: transaction.chainId ?? chainId });
};

/** The calldata or initcode of a call; `name` makes a path of a field. */
const encodeCall = (call: Readonly<Record<string, unknown>>, name: (field: string) => string): Checked<Encoded> => {
  const { abi, functionName, data, bytecode, to, args } = call;
  if (!given(abi)) {
    if (functionName !== undefined) return no(name("abi"), "is missing; functionName needs it");
    if (args !== undefined) return no(name("abi"), "is missing; args need it");
    if (bytecode !== undefined)
      return no(name("abi"), "is missing; give bytecode with its abi, or the initcode as data");
    return Result.map(given(data) ? bytes(data, name("data")) : Result.succeed("0x" as Hex), (checked) => ({
      data: checked,
      item: null,
      abi: null,
    }));
  }
  if (given(data)) return no(name("data"), "cannot be combined with abi");
  const malformed = no(name("abi"), "has a parameter that is none");
  return Result.flatMap(bounded(asAbi)(abi, name("abi")), (items) => {
    if (bytecode === undefined) {
      if (!given(to)) return no(name("to"), "is missing; an ABI call needs it");
      return safely(() => encodeFunction(items, functionName, args ?? [], name), malformed);
    }
    if (functionName !== undefined) return no(name("functionName"), "cannot be combined with bytecode");
    if (given(to)) return no(name("to"), "cannot be combined with bytecode");
    return Result.flatMap(bytes(bytecode, name("bytecode")), (code) =>
      safely(() => encodeDeployment(items, code, args ?? [], name), malformed),
    );
  });
};

const transactionIn = (held: Held, defaults: InputDefaults, readBytes: ReadBytes) =>
  Result.gen(function* () {
    const { name } = held;
    const { call: fieldsIn, origin } = held.raw === null ? held : yield* readBytes(held, defaults);
    const call = given(fieldsIn["from"]) || defaults.from === null ? fieldsIn : { ...fieldsIn, from: defaults.from };
    const unknown = Object.keys(call).find((key) => !fieldNames.includes(key) && call[key] !== undefined);
    if (unknown !== undefined) {
      const isClient = defaults.from !== null && elsewhere[unknown] === "from";
      const hint = isClient ? ", but the client's account sends: leave it out" : "";
      return yield* no(name(unknown), `is not a field of a transaction${fieldHint(unknown)}${hint}`);
    }
    const ends = yield* read(["from", "to"], call, name);
    const { data, item, abi } = yield* encodeCall(call, name);
    const { dataSuffix } = call;
    const whole = given(dataSuffix) ? concat(data, yield* bytes(dataSuffix, name("dataSuffix"))) : data;
    const ownFields: Transaction = { ...ends, data: whole, ...(yield* read(others, call, name)), item };
    const isPlain = Object.keys(origin).length === 0;
    const transaction = yield* owned(isPlain ? ownFields : { ...ownFields, origin }, defaults, name);
    yield* together(transaction, name);
    return { transaction, abi: abi === null ? [] : [{ address: transaction.to, abi }] };
  });

/** Fields that do not fit together where all are given, or not given (`!`): the first is named, and why; in their order. */
const unfit: ReadonlyArray<readonly [fields: ReadonlyArray<`${"" | "!"}${keyof typeof fields}`>, problem: string]> = [
  [["gasPrice", "maxFeePerGas"], "cannot be combined with maxFeePerGas or maxPriorityFeePerGas"],
  [["gasPrice", "maxPriorityFeePerGas"], "cannot be combined with maxFeePerGas or maxPriorityFeePerGas"],
  [["gasPrice", "authorizationList"], "cannot be combined with authorizationList (EIP-7702 needs 1559 fees)"],
  [["gasPrice", "blobVersionedHashes"], "cannot be combined with blobVersionedHashes (EIP-4844 needs 1559 fees)"],
  [["authorizationList", "blobVersionedHashes"], "cannot be combined with blobVersionedHashes"],
  [["!to", "authorizationList"], "is required with authorizationList (EIP-7702)"],
  [["!to", "blobVersionedHashes"], "is required with blobVersionedHashes (EIP-4844)"],
  [["!to", "!data"], "is missing; a deployment needs data"],
  [["maxFeePerBlobGas", "!blobVersionedHashes"], "needs blobVersionedHashes"],
  [["!maxFeePerBlobGas", "blobVersionedHashes"], "is missing; blobVersionedHashes need it"],
];

/** Fields that are each right but do not fit together. */
const together = (transaction: Transaction, name: (field: string) => string): Checked<void> => {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (gasPrice === null && maxFeePerGas !== null && (maxPriorityFeePerGas ?? 0n) > maxFeePerGas)
    return no(name("maxPriorityFeePerGas"), "is above maxFeePerGas");
  const present = new Set(
    Object.entries(transaction).flatMap(([field, value]) => (value === null || value === "0x" ? [] : [field])),
  );
  const [found] = unfit.filter(([all]) =>
    all.every((field) => (field.startsWith("!") ? !present.has(field.slice(1)) : present.has(field))),
  );
  return found === undefined ? Result.void : no(name(String(found[0][0]).replace("!", "")), found[1]);
};

const whole = (input: unknown, defaults: InputDefaults, readBytes: ReadBytes): Checked<CheckedInput> =>
  Result.gen(function* () {
    const isList = Array.isArray(input);
    const all: ReadonlyArray<unknown> = isList ? input : [input];
    const tooMany = no("transactions", `the bundle has more than ${maxTransactions} transactions`);
    if (all.length > maxTransactions) return yield* tooMany;
    const held: Array<Held> = [];
    for (const [index, one] of all.entries()) held.push(...(yield* unfold(one, isList ? `[${index}].` : "")));
    if (held.length > maxTransactions) return yield* tooMany;
    const checked = yield* each(held, (one) => transactionIn(one, defaults, readBytes));
    const [first, ...rest] = checked;
    if (first === undefined) return yield* no("transactions", "the bundle is empty");
    const { chainId } = first.transaction;
    const other = rest.findIndex(
      ({ transaction }) => transaction.chainId !== null && chainId !== null && transaction.chainId !== chainId,
    );
    if (other !== -1)
      return yield* no(
        held[other + 1]?.name("chainId") ?? "chainId",
        "differs from the chain of the first transaction",
      );
    // why: the state is pretended from the first transaction of a block on
    const late = rest.findIndex(({ transaction }) => transaction.authorizationList?.some(isUnsigned) === true);
    if (late !== -1)
      return yield* no(
        `${held[late + 1]?.name("authorizationList")}`,
        "has an authorisation that is not signed; only the first transaction can have one",
      );
    return new CheckedInput(
      [first.transaction, ...rest.map(({ transaction }) => transaction)],
      checked.flatMap(({ abi }) => abi),
    );
  });

/** An input whose signers can be recovered in time, and those of what is not signed be asked for. */
const recoverable = (checked: CheckedInput): Checked<CheckedInput> => {
  const all = checked.transactions.flatMap(({ authorizationList }) => authorizationList ?? []);
  if (all.length > maxAuthorizations)
    return no("authorizationList", `there are more than ${maxAuthorizations} authorizations`);
  return all.length > maxUnsigned && all.filter(isUnsigned).length > maxUnsigned
    ? no("authorizationList", `there are more than ${maxUnsigned} authorizations that are not signed`)
    : Result.succeed(checked);
};

const noBytes: ReadBytes = ({ raw }) => no(raw?.path ?? "transaction", "is bytes, which are not read here");

/** The whole input, in whatever form; what was checked before is passed on as it is. Never throws. */
export const validate = (
  input: unknown,
  defaults?: InputDefaults | null,
  readBytes: ReadBytes = noBytes,
): Result.Result<CheckedInput, InvalidTransaction> =>
  Result.mapError(
    safely(
      () =>
        input instanceof CheckedInput
          ? Result.succeed(input)
          : Result.flatMap(whole(input, defaults ?? unnamed, readBytes), recoverable),
      no("transaction", "cannot be read"),
    ),
    (problem) => new InvalidTransaction(problem),
  );
