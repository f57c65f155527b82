/**
 * A transaction of a Safe, as callers give it, what its owners sign, and the call that executes it (`execTransaction`), with the
 * owners' approvals (`approveHash`) pretended in the Safe's storage. Safe 1.3.0, 1.4.1 and 1.5.0. Pure.
 */
import * as Result from "effect/Result";
import { nobody, wordOf } from "../abi/words.js";
import { concat, keccak256 } from "../primitives/bytes.js";
import { type Address, type Hash, type Hex } from "../primitives/hex.js";
import {
  address,
  bytes,
  each,
  given,
  hash,
  integer,
  listOf,
  no,
  onlyHas,
  record,
  type Checked,
} from "../primitives/problem.js";
import { isRecord } from "../primitives/record.js";
import { validate } from "../transaction/validate.js";
import { witnessFees } from "../witness/placement.js";
import { call, type Carrier, type Use } from "./kinds.js";
import type { ReadSigning } from "./input.js";
import type { SafeState } from "./schema.js";
import { typedDataIn, wholeOf, type TypedData } from "./typedData.js";

/** A confirmation as a service keeps it: 65 bytes by the owner's key, or what his contract takes. */
export interface Confirmation {
  readonly owner: Address;
  readonly signature: Hex;
}

/** A transaction of a Safe, as callers give it. */
export interface GivenSafeTransaction {
  /** The Safe: a proxy of 1.3.0, 1.4.1 or 1.5.0. */
  readonly safe: Address;
  /**
   * The fields of SafeTx (those left out are 0), what the Safe's SDK or its transaction service has, typed data, or a file of the
   * transaction builder; without a nonce it is the Safe's next one.
   */
  readonly transaction: object;
  /** The sender of `execTransaction`; by default an owner. */
  readonly executor?: Address | undefined;
  /** The chain that its hash names; by default the node's. */
  readonly chainId?: number | bigint | undefined;
}

/** A transaction of a Safe that was read; its hash and its approvals hang on the Safe. */
export interface SafeInput {
  readonly form: "safe";
  readonly safe: Address;
  /** The fields of SafeTx but for the nonce. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Calls that stand in the place of `to`, `value` and `data`, run together by the makers' own MultiSend; null = it is one. */
  readonly calls: ReadonlyArray<{ readonly to: Address; readonly value: bigint; readonly data: Hex }> | null;
  /** null = the Safe's next one. */
  readonly nonce: bigint | null;
  /** null = the connection's. */
  readonly chainId: bigint | null;
  readonly executor: Address | null;
  /** The hash that came with it; null = none. */
  readonly hash: Hash | null;
  readonly confirmations: ReadonlyArray<Confirmation>;
  /** The signature that is asked for, where it came as typed data with its signer; null = those of all owners who are needed. */
  readonly asked: ReadSigning | null;
}

/** Fields with their types, in the order in which they are hashed. */
const typesOf = (text: string) =>
  text.split(",").map((field) => {
    const [type = "", name = ""] = field.split(" ");
    return { name, type };
  });
const types = {
  EIP712Domain: typesOf("uint256 chainId,address verifyingContract"),
  SafeTx: typesOf(
    "address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce",
  ),
};
/** Those of SafeTx but for the nonce, which `execTransaction` takes as well. */
const names = types.SafeTx.slice(0, -1).map(({ name }) => name);

/** SafeTx as every owner hashes it. */
const safeTx = (safe: Address, chainId: bigint, message: object, path: string): Checked<TypedData> =>
  Result.mapError(
    typedDataIn({ types, primaryType: "SafeTx", domain: { chainId, verifyingContract: safe }, message }, path),
    ({ field, problem }) => ({ field: field.replace(`${path}.message`, path), problem }),
  );

const absent: Readonly<Record<string, unknown>> = {
  ...{ value: 0n, data: "0x", operation: 0n, safeTxGas: 0n, baseGas: 0n, gasPrice: 0n },
  ...{ gasToken: nobody, refundReceiver: nobody },
};

/** Canonical deployments of MultiSendCallOnly; the first that has code is taken, of the Safe's own version at first. */
export const multiSends: ReadonlyArray<readonly [version: string, address: Address]> = [
  ["1.3.0", "0x40a2accbd92bca938b02010e17a5b8929b49130d"],
  ["1.3.0", "0xa1dabef33b3b82c7814b6d82a79e50f4ac44102b"],
  ["1.4.1", "0x9641d764fc13c8b624c04430c7356c1c7c8102e2"],
  ["1.5.0", "0xa83c336b20401af773b6219ba5027174338d1836"],
];

const confirmation = (value: unknown, path: string): Checked<Confirmation> =>
  Result.gen(function* () {
    const { owner, signer, signature, data } = yield* record(value, path);
    return {
      owner: yield* address(owner ?? signer, `${path}.owner`),
      signature: yield* bytes(signature ?? data ?? "0x", `${path}.signature`),
    };
  });

/** A list, or the values of a Map as the Safe's SDK has them; the service's own text of all signatures is left out. */
const confirmationsIn = (value: unknown, path: string): Checked<ReadonlyArray<Confirmation>> =>
  !given(value) || typeof value === "string"
    ? Result.succeed([])
    : listOf(confirmation)(value instanceof Map ? [...(value as Map<unknown, unknown>).values()] : value, path);

const numberIn = (value: unknown, path: string): Checked<bigint | null> => {
  if (!given(value)) return Result.succeed(null);
  const read = wholeOf(value);
  return read === null || read < 0n ? no(path, "must be a whole number that is exact") : Result.succeed(read);
};

const chainIn = (value: unknown, path: string): Checked<bigint | null> =>
  Result.flatMap(numberIn(value, path), (id) =>
    id === null ? Result.succeed(null) : Result.map(integer()(Number(id), path), BigInt),
  );

/** The value that several parts of an input say, each of which may be silent; two have to agree. */
const agreed = <A>(one: A | null, other: A | null, path: string): Checked<A | null> =>
  one !== null && other !== null && one !== other
    ? no(path, "is said twice, and not the same")
    : Result.succeed(one ?? other);

/** The calls of a file of the Safe's transaction builder. */
const callsIn = (file: Readonly<Record<string, unknown>>, safe: Address, path: string) =>
  Result.flatMap(
    Result.mapError(validate({ ...file, from: safe }), ({ field, problem }) => ({
      field: `${path}.${field}`,
      problem,
    })),
    ({ transactions }) =>
      each(transactions, ({ to, value, data, chainId, ...others }, at) => {
        const field = `${path}.transactions[${at}]`;
        const stray = ofSending.find((name) => others[name] !== null);
        // why: nobody would simulate what a Safe's call does not have
        if (stray !== undefined) return no(`${field}.${stray}`, "is not a field of a Safe's call");
        return to === null ? no(`${field}.to`, "is missing") : Result.succeed({ to, value, data, chainId });
      }),
  );
/** Fields of a transaction that no call inside one has. */
const ofSending = [
  ...(["nonce", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "accessList"] as const),
  ...(["authorizationList", "blobVersionedHashes", "maxFeePerBlobGas"] as const),
];

/** Reads `{ safe, transaction, executor?, chainId? }`; `at`: the path in front of the names of its fields. */
export const safeIn = (input: Readonly<Record<string, unknown>>, at = ""): Checked<SafeInput> =>
  Result.gen(function* () {
    const path = `${at}transaction`;
    yield* onlyHas(input, ["safe", "transaction", "executor", "chainId"], "a field of a Safe's transaction", at);
    const safe = yield* address(input["safe"], `${at}safe`);
    const named = yield* chainIn(input["chainId"], `${at}chainId`);
    const executor = given(input["executor"]) ? yield* address(input["executor"], `${at}executor`) : null;
    const all = yield* record(input["transaction"], path);
    const own = { form: "safe", safe, executor, asked: null } as const;
    if (Array.isArray(all["transactions"])) {
      const made = yield* callsIn(all, safe, path);
      const said = made.find(({ chainId }) => chainId !== null)?.chainId ?? null;
      const chainId = yield* agreed(named, said === null ? null : BigInt(said), `${at}chainId`);
      const [only, ...others] = made;
      const isOne = only !== undefined && others.length === 0;
      const fields = { ...absent, ...(isOne ? { to: only.to, value: only.value, data: only.data } : { to: nobody }) };
      const calls = isOne ? null : made;
      const read: SafeInput = { ...own, fields, calls, nonce: null, chainId, hash: null, confirmations: [] };
      // why: who is too large for a message is refused here
      return yield* Result.map(typedOf(read, 0n, 0n, nobody), () => read);
    }
    if (given(all["primaryType"])) {
      const typed = yield* typedDataIn(all, path);
      const { chainId: said = null, verifyingContract } = typed.domain;
      if (typed.primaryType !== "SafeTx" || verifyingContract !== safe)
        return yield* no(path, "is not the typed data of a transaction of this Safe");
      const chainId = yield* agreed(named, typeof said === "bigint" ? said : null, `${at}chainId`);
      const { nonce, ...fields } = typed.message;
      return {
        ...{ ...own, fields, calls: null, nonce: typeof nonce === "bigint" ? nonce : null, chainId },
        ...{ hash: typed.digest, confirmations: [] },
      };
    }
    // why: the Safe's SDK keeps the fields under `data`, beside the signatures
    const said = isRecord(all["data"]) ? all["data"] : all;
    if (given(all["safe"]) && (yield* address(all["safe"], `${path}.safe`)) !== safe)
      return yield* no(`${path}.safe`, "is another Safe");
    if (!given(said["to"])) return yield* no(`${path}.to`, "is missing");
    const fields = Object.fromEntries(names.map((name) => [name, given(said[name]) ? said[name] : absent[name]]));
    const nonce = yield* numberIn(said["nonce"], `${path}.nonce`);
    const chainId = yield* agreed(named, yield* chainIn(said["chainId"] ?? all["chainId"], `${path}.chainId`), path);
    yield* safeTx(safe, chainId ?? 0n, { ...fields, nonce: nonce ?? 0n }, path);
    const digest = all["safeTxHash"] ?? all["contractTransactionHash"];
    const confirmations = [
      ...(yield* confirmationsIn(all["confirmations"], `${path}.confirmations`)),
      ...(yield* confirmationsIn(all["signatures"], `${path}.signatures`)),
    ];
    return {
      ...{ ...own, fields, calls: null, nonce, chainId, confirmations },
      hash: given(digest) ? ((yield* hash(digest, `${path}.safeTxHash`)).toLowerCase() as Hash) : null,
    };
  });

/** The same of typed data that one signer is asked for. */
export const safeOfTyped = (read: ReadSigning): SafeInput => {
  const { nonce, ...fields } = read.typed?.message ?? {};
  const chainId = read.typed?.domain["chainId"];
  return {
    ...{ form: "safe", safe: read.use.account, fields, calls: null, executor: null, confirmations: [], asked: read },
    ...{ nonce: typeof nonce === "bigint" ? nonce : null, chainId: typeof chainId === "bigint" ? chainId : null },
    hash: null,
  };
};

/** A number of the message. */
export const numberOf = ({ message }: TypedData, name: string): bigint => {
  const value = message[name];
  return typeof value === "bigint" ? value : 0n;
};
const execTransaction = call(
  "function execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
);
const getTransactionHash = call(
  "function getTransactionHash(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,uint256)",
);
/** The calldata by which a Safe hashes a transaction itself. */
export const transactionHashOf = (typed: TypedData): Hex =>
  getTransactionHash(...[...names, "nonce"].map((name) => typed.message[name]));
const word = (account: Address): string => account.slice(2).toLowerCase().padStart(64, "0");
/** Gas of the execution: below the most that one transaction may ask for (EIP-7825). */
const executionGas = 12_000_000n;
/** The storage slot of a Safe's nonce. */
const nonceSlot = wordOf(5);

/** Calls run together: MultiSend's packed form, operation, address, value, length and data. */
const multiSend = (calls: NonNullable<SafeInput["calls"]>): Hex => {
  const packed = calls.map(
    ({ to, value, data }) =>
      `00${to.slice(2)}${wordOf(value).slice(2)}${wordOf((data.length - 2) / 2).slice(2)}${data.slice(2)}`,
  );
  return call("function multiSend(bytes)")(`0x${packed.join("")}`);
};

/** The typed data that the owners sign, of a Safe on this chain, with the nonce that it will have then; `library`: the MultiSend that is there. */
export const typedOf = (
  { safe, fields, calls, asked }: SafeInput,
  chainId: bigint,
  nonce: bigint,
  library: Address | null,
): Checked<TypedData> => {
  if (asked?.typed != null) return Result.succeed(asked.typed);
  if (calls === null) return safeTx(safe, chainId, { ...fields, nonce }, "transaction");
  return library === null
    ? no("transaction.transactions", "there is no MultiSend on this chain")
    : safeTx(safe, chainId, { ...fields, to: library, data: multiSend(calls), operation: 1n, nonce }, "transaction");
};

/** The slot of `approvedHashes[owner][hash]`. */
const approvalSlot = (owner: Address, hash: Hash): Hash =>
  keccak256(concat(hash, keccak256(concat(`0x${word(owner)}`, wordOf(8)))));

/** The use of a Safe's transaction: the call that executes it, and the approvals that are pretended in the Safe's storage. */
export const useOfSafe = (typed: TypedData, { safe, executor, approvers, queued }: SafeState): Partial<Use> => {
  const [nonce, price] = [numberOf(typed, "nonce"), numberOf(typed, "gasPrice")];
  // v = 1: the owner has approved the hash, or is the sender
  const signatures = concat(...approvers.map((owner): Hex => `0x${word(owner)}${"0".repeat(64)}01`));
  const execution: Carrier = {
    ...{ from: executor, to: safe, value: 0n, gas: executionGas },
    data: execTransaction(...names.map((name) => typed.message[name]), signatures),
    // why: a refund in ether is by the price of the gas, at most the one that is signed
    maxPriorityFeePerGas: price < witnessFees.maxFeePerGas ? price : witnessFees.maxFeePerGas,
  };
  const words = approvers
    .filter((owner) => owner !== executor)
    .map((owner) => [approvalSlot(owner, typed.digest), wordOf(1)]);
  return {
    ...{ usableBy: "anyone", assumes: [], unread: null, consume: () => [execution], equal: [execution], nonce },
    // why: it has no last second, and what it calls may have one
    alike: 0n,
    pretends: { [safe]: Object.fromEntries([...words, ...(queued === 0n ? [] : [[nonceSlot, wordOf(nonce)]])]) },
  };
};

/** A Safe's transaction with what is known of its Safe. */
export const withSafe = (read: ReadSigning, safe: SafeState): ReadSigning =>
  read.typed === null ? read : { ...read, use: { ...read.use, ...useOfSafe(read.typed, safe) }, safe };

/** A Safe's owners, and who of them has confirmed, or has code that is no delegation. */
interface Owners {
  readonly owners: ReadonlyArray<Address>;
  readonly threshold: bigint;
  readonly approved: ReadonlyArray<Address>;
  readonly coded: ReadonlySet<Address>;
}

/**
 * The owners who approve in the simulation, the sender there, and the owners who are asked for a signature. In this order: the signer who
 * is asked, the executor who is named, owners who have confirmed, owners with a key, contracts; alike ones by address.
 */
export const partsOf = (
  { asked, executor }: Pick<SafeInput, "asked" | "executor">,
  { owners, threshold, approved, coded }: Owners,
  stranger: Address,
): Pick<SafeState, "executor" | "approvers" | "missing"> => {
  const signer = asked?.sign.signer;
  const ranks = [(owner: Address) => owner === signer, (owner: Address) => owner === executor];
  const all = [...ranks, (owner: Address) => approved.includes(owner), (owner: Address) => !coded.has(owner)];
  const rank = (owner: Address): number => [...all, () => true].findIndex((is) => is(owner));
  const ordered = [...owners].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const approvers = ordered.slice(0, Number(threshold)).sort();
  const needed = approvers.filter((owner) => owner !== executor && !approved.includes(owner));
  return {
    // why: an owner who sends it has approved it, and a contract sends nothing
    executor: executor ?? approvers.find((owner) => !coded.has(owner)) ?? stranger,
    ...{ approvers, missing: signer === undefined ? needed : [signer] },
  };
};

/** True if the owners who are asked to sign, by a Safe's record, are those whom it lacks by the same record. */
export const areOwed = (
  { owners, threshold, executor, approvers, approved, missing }: SafeState,
  signer: Address,
): boolean => {
  const needed = approvers.filter((owner) => !approved.includes(owner));
  const lists = [needed, needed.filter((owner) => owner !== executor), [signer]];
  return (
    BigInt(approvers.length) === threshold &&
    [...approvers, ...approved].every((owner) => owners.includes(owner)) &&
    lists.some((list) => String(list) === String(missing))
  );
};
