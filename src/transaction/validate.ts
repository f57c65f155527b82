/** The checks that need nothing but the input: pure, and the first wrong field is named. */
import * as Result from "effect/Result";
import { isAddress } from "viem";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { InvalidTransaction } from "../errors/input.js";
import { encodeCall } from "./encode.js";
import type { Authorization, CheckedInput, Transaction } from "./schema.js";

type Checked<A> = Result.Result<A, InvalidTransaction>;

const no = (field: string, problem: string) => Result.fail(new InvalidTransaction({ field, problem }));
const maxUint256 = 2n ** 256n - 1n;
/** Gas is a signed 64-bit number in every client's gas pool. */
const maxGas = 2n ** 63n - 1n;
/** Counts above this are nonsense, and arithmetic on them stays exact. */
const mostNonce = 2 ** 52;
/** EIP-2681: the nonce 2^64 − 1 cannot be used. */
const maxNonce = 2n ** 64n - 1n;
/** Nodes refuse larger requests long before; protects the process that embeds us. */
const maxDataBytes = 4 * 1024 * 1024;
const maxTransactions = 64;

const kind = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
const given = (value: unknown): boolean => value !== undefined && value !== null;

const address = (value: unknown, field: string): Checked<Address> => {
  if (typeof value !== "string") return no(field, `must be an address, got ${kind(value)}`);
  if (!/^0x[0-9a-fA-F]{40}$/.test(value)) return no(field, "must be 20 bytes of hex with 0x");
  const digits = value.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (mixed && !isAddress(value, { strict: true }))
    return no(field, "the checksum of the address is wrong (EIP-55); a digit may be mistyped");
  return Result.succeed(value.toLowerCase() as Address);
};

const bytes = (value: unknown, field: string): Checked<Hex> => {
  if (typeof value !== "string") return no(field, `must be hex bytes, got ${kind(value)}`);
  if (!value.startsWith("0x")) return no(field, "must start with 0x");
  if (value.length % 2 !== 0) return no(field, "has an odd number of hex digits");
  if (value.length > 2 + maxDataBytes * 2) return no(field, `is larger than ${maxDataBytes} bytes`);
  if (!/^0x[0-9a-fA-F]*$/.test(value)) return no(field, "has characters that are not hex");
  return Result.succeed(value as Hex);
};

const hash = (value: unknown, field: string): Checked<Hash> =>
  typeof value === "string" && /^0x[0-9a-fA-F]{64}$/.test(value)
    ? Result.succeed(value as Hash)
    : no(field, "must be 32 bytes of hex with 0x");

const uint = (value: unknown, field: string, unit: string, max: bigint = maxUint256): Checked<bigint> => {
  if (typeof value !== "bigint") return no(field, `must be a bigint in ${unit}, got ${kind(value)}`);
  if (value < 0n) return no(field, "must not be negative");
  if (value > max) return no(field, max === maxUint256 ? "does not fit uint256" : `is above ${max}`);
  return Result.succeed(value);
};

const gasLimit = (value: unknown, field: string): Checked<bigint> =>
  value === 0n ? no(field, "must be above 0") : uint(value, field, "gas", maxGas);

const chain = (value: unknown, field: string): Checked<number> =>
  value === 0 ? no(field, "must be above 0 (EIP-155)") : integer(value, field);

const integer = (value: unknown, field: string, max: number = Number.MAX_SAFE_INTEGER): Checked<number> =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max
    ? Result.succeed(value)
    : no(field, `must be a whole number from 0 to ${max}`);

const nonce = (value: unknown, field: string): Checked<number> => {
  if (typeof value === "bigint" && value >= maxNonce) return no(field, "the nonce is at its maximum (EIP-2681)");
  if (typeof value === "number" && value >= Number(maxNonce))
    return no(field, "the nonce is at its maximum (EIP-2681)");
  if ((typeof value === "bigint" || typeof value === "number") && value > mostNonce)
    return no(field, "is above what any account has used (2^52)");
  return integer(typeof value === "bigint" ? Number(value) : value, field);
};

/** `value` checked by `read` where given, else null. */
const optional = <A>(
  value: unknown,
  field: string,
  read: (value: unknown, field: string) => Checked<A>,
): Checked<A | null> => (given(value) ? read(value, field) : Result.succeed(null));

const listOf =
  <A>(read: (value: unknown, field: string) => Checked<A>, least: number = 0) =>
  (value: unknown, field: string): Checked<ReadonlyArray<A>> => {
    if (!Array.isArray(value)) return no(field, `must be an array, got ${kind(value)}`);
    if (value.length < least) return no(field, "must not be empty");
    if (value.length > 10_000) return no(field, "has more than 10,000 entries");
    const read1 = Result.gen(function* () {
      const out: Array<A> = [];
      for (let index = 0; index < value.length; index++) out.push(yield* read(value[index], `${field}[${index}]`));
      return out;
    });
    return read1;
  };

const record = (value: unknown, field: string): Checked<Readonly<Record<string, unknown>>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Result.succeed(value as Readonly<Record<string, unknown>>)
    : no(field, `must be an object, got ${kind(value)}`);

const accessListEntry = (value: unknown, field: string) =>
  Result.gen(function* () {
    const entry = yield* record(value, field);
    return {
      address: yield* address(entry["address"], `${field}.address`),
      storageKeys: yield* listOf(hash)(entry["storageKeys"] ?? [], `${field}.storageKeys`),
    };
  });

const authorization = (value: unknown, field: string): Checked<Authorization> =>
  Result.gen(function* () {
    const entry = yield* record(value, field);
    const parity = given(entry["yParity"])
      ? entry["yParity"]
      : typeof entry["v"] === "bigint"
        ? Number(entry["v"] >= 27n ? entry["v"] - 27n : entry["v"])
        : undefined;
    return {
      address: yield* address(entry["address"] ?? entry["contractAddress"], `${field}.address`),
      chainId: yield* integer(entry["chainId"], `${field}.chainId`),
      nonce: yield* nonce(entry["nonce"], `${field}.nonce`),
      r: yield* hash(entry["r"], `${field}.r`),
      s: yield* hash(entry["s"], `${field}.s`),
      yParity: yield* integer(parity, `${field}.yParity`, 1),
    };
  });

const fields = [
  "from",
  "to",
  "data",
  "value",
  "chainId",
  "gas",
  "nonce",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "gasPrice",
  "accessList",
  "authorizationList",
  "blobVersionedHashes",
  "maxFeePerBlobGas",
  "abi",
  "functionName",
  "args",
  "bytecode",
];

const one = (input: unknown, at: string) =>
  Result.gen(function* () {
    const call = yield* record(input, at === "" ? "transaction" : at.slice(0, -1));
    const name = (field: string) => `${at}${field}`;
    const unknown = Object.keys(call).find((key) => !fields.includes(key) && call[key] !== undefined);
    if (unknown !== undefined) return yield* no(name(unknown), "is not a field of a transaction");
    const from = yield* address(call["from"], name("from"));
    const to = yield* optional(call["to"], name("to"), address);
    const encoded = yield* encodeCall(call, name, bytes);
    const transaction: Transaction = {
      from,
      to,
      data: encoded.data,
      value: (yield* optional(call["value"], name("value"), (value, field) => uint(value, field, "wei"))) ?? 0n,
      chainId: yield* optional(call["chainId"], name("chainId"), chain),
      gas: yield* optional(call["gas"], name("gas"), gasLimit),
      nonce: yield* optional(call["nonce"], name("nonce"), nonce),
      maxFeePerGas: yield* optional(call["maxFeePerGas"], name("maxFeePerGas"), (value, field) =>
        uint(value, field, "wei per gas"),
      ),
      maxPriorityFeePerGas: yield* optional(
        call["maxPriorityFeePerGas"],
        name("maxPriorityFeePerGas"),
        (value, field) => uint(value, field, "wei per gas"),
      ),
      gasPrice: yield* optional(call["gasPrice"], name("gasPrice"), (value, field) =>
        uint(value, field, "wei per gas"),
      ),
      accessList: yield* optional(call["accessList"], name("accessList"), listOf(accessListEntry)),
      authorizationList: yield* optional(
        call["authorizationList"],
        name("authorizationList"),
        listOf(authorization, 1),
      ),
      blobVersionedHashes: yield* optional(call["blobVersionedHashes"], name("blobVersionedHashes"), listOf(hash, 1)),
      maxFeePerBlobGas: yield* optional(call["maxFeePerBlobGas"], name("maxFeePerBlobGas"), (value, field) =>
        uint(value, field, "wei per blob gas"),
      ),
      item: encoded.item,
    };
    yield* together(transaction, name);
    return { transaction, abi: encoded.abi };
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

/** The whole input: one transaction or a list of them. Never throws. */
export const validate = (input: unknown): Checked<CheckedInput> =>
  Result.gen(function* () {
    if (!Array.isArray(input)) {
      const { transaction, abi } = yield* one(input, "");
      return { transactions: [transaction], abis: abi === null ? [] : [{ address: transaction.to, abi }] };
    }
    if (input.length === 0) return yield* no("transactions", "the bundle is empty");
    if (input.length > maxTransactions)
      return yield* no("transactions", `the bundle has more than ${maxTransactions} transactions`);
    const transactions: Array<Transaction> = [];
    const abis: Array<CheckedInput["abis"][number]> = [];
    for (let index = 0; index < input.length; index++) {
      const { transaction, abi } = yield* one(input[index], `[${index}].`);
      transactions.push(transaction);
      if (abi !== null) abis.push({ address: transaction.to, abi });
    }
    const chainId = transactions[0]?.chainId ?? null;
    const other = transactions.findIndex(
      (transaction) => transaction.chainId !== null && chainId !== null && transaction.chainId !== chainId,
    );
    if (other !== -1) return yield* no(`[${other}].chainId`, "differs from the chain of the first transaction");
    return { transactions, abis };
  });
