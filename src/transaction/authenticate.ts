/** Hash and sender of a transaction that a node or a wallet shows, worked out from its own fields: whoever shows it need not be believed. */
import { keccak256, numberToHex, serializeTransaction } from "viem";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { safely } from "../primitives/record.js";
import { type Request, requestOf } from "./request.js";
import { recoverSigner } from "./signer.js";

/** A transaction with its signature, as `eth_getTransactionByHash` answers. Amounts in wei, prices in wei per gas, null = absent. */
export interface ShownTransaction {
  readonly type: string | null;
  readonly chainId: bigint | null;
  readonly nonce: bigint;
  readonly gas: bigint;
  readonly gasPrice: bigint | null;
  readonly maxFeePerGas: bigint | null;
  readonly maxPriorityFeePerGas: bigint | null;
  readonly maxFeePerBlobGas: bigint | null;
  readonly to: Hex | null;
  readonly value: bigint;
  readonly input: Hex;
  readonly accessList: ReadonlyArray<{ readonly address: Hex; readonly storageKeys: ReadonlyArray<Hex> }> | null;
  readonly blobVersionedHashes: ReadonlyArray<Hex> | null;
  readonly authorizationList: ReadonlyArray<
    Readonly<Record<"chainId" | "nonce" | "yParity" | "r" | "s", bigint>> & { readonly address: Hex }
  > | null;
  readonly v: bigint | null;
  readonly yParity: bigint | null;
  readonly r: bigint | null;
  readonly s: bigint | null;
}

/** True if it is of the type that has no number: EIP-155, or before. */
const isLegacy = (type: string | null): boolean => type === null || type === "0x0";

const types: ReadonlyMap<string, Request["type"]> = new Map([
  ["0x0", "legacy"],
  ["0x1", "eip2930"],
  ["0x2", "eip1559"],
  ["0x3", "eip4844"],
  ["0x4", "eip7702"],
]);

/** The chain that was signed for; of type 0 it stands in the signature (EIP-155, or none at all), whatever a node tells beside. */
const chainOf = ({ chainId, v, type }: ShownTransaction): bigint => {
  const isInside = isLegacy(type) && v !== null && v >= 27n;
  return isInside ? (v >= 35n ? (v - 35n) / 2n : 0n) : (chainId ?? 0n);
};

const wordOf = (value: bigint): Hash => `0x${value.toString(16).padStart(64, "0")}`;

/** The authorisations as they were signed. */
export const authorizationsOf = ({ authorizationList }: Pick<ShownTransaction, "authorizationList">) =>
  (authorizationList ?? []).map(({ address, chainId, nonce, r, s, yParity }) => ({
    ...{ address, chainId: Number(chainId), nonce: Number(nonce) },
    ...{ r: wordOf(r), s: wordOf(s), yParity: Number(yParity) },
  }));

/** True if a request holds all that was signed: whole numbers as such, and no authorisation whose signature cannot be one. */
const isHeld = (shown: ShownTransaction): boolean => {
  const all = shown.authorizationList ?? [];
  const numbers = [chainOf(shown), shown.nonce, ...all.flatMap(({ chainId, nonce }) => [chainId, nonce])];
  return (
    numbers.every((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)) &&
    all.every(({ r, s, yParity }) => r > 0n && s > 0n && yParity <= 1n)
  );
};

/** Returns the request that was signed, for chain 0 where it is for any; null where it is of no type that is signed here. */
export const requestIn = (shown: ShownTransaction): Request | null => {
  const type = types.get(shown.type ?? "0x0");
  if (type === undefined || !isHeld(shown)) return null;
  const isUnlisted = type !== "eip2930" && shown.accessList?.length === 0;
  return requestOf(type, {
    ...shown,
    ...{ chainId: Number(chainOf(shown)), nonce: Number(shown.nonce), data: shown.input },
    accessList: isUnlisted ? null : shown.accessList,
    authorizationList: shown.authorizationList === null ? null : authorizationsOf(shown),
  });
};

/** The parity of a signature, and the chain that it is for; null where they do not fit. */
const sealOf = ({ type, chainId, v, yParity }: ShownTransaction) => {
  if (!isLegacy(type)) {
    const parity = yParity ?? v;
    const isOne = parity !== null && parity <= 1n && (v ?? parity) === parity;
    return isOne ? { v: 27n + parity, yParity: Number(parity), chain: chainId } : null;
  }
  // why: a chain that is told beside an unprotected one is no part of it
  if (v === 27n || v === 28n) return { v, yParity: Number(v - 27n), chain: null };
  const chain = v === null || v < 37n ? null : (v - 35n) / 2n;
  if (v === null || chain === null || (chainId ?? chain) !== chain) return null;
  return { v, yParity: Number((v - 35n) % 2n), chain };
};

/**
 * The hash of the transaction's fields and signature, the account whose key signed them, and the chain that they bind it to
 * (null = any chain); null where that is not
 * verifiable: of another type than 0 to 4, without a signature, with a field left out, or with fields that contradict its
 * signature. Compare both: a hash that is not the one that was asked for, or another sender, is another transaction.
 */
export const authenticate = (
  shown: ShownTransaction,
): { readonly hash: Hash; readonly sender: Address; readonly chainId: bigint | null } | null =>
  safely(() => {
    const { type, accessList, r, s } = shown;
    const [request, seal] = [requestIn(shown), sealOf(shown)];
    if (request === null || seal === null || r === null || s === null) return null;
    if (accessList === null && !isLegacy(type)) return null;
    const { chainId, ...unprotected } = request;
    const unsigned = (seal.chain === null ? unprotected : { ...unprotected, chainId }) as Request;
    const signature = { v: seal.v, yParity: seal.yParity, r: numberToHex(r), s: numberToHex(s) };
    const sender = recoverSigner(keccak256(serializeTransaction(unsigned)), signature);
    const hash = keccak256(serializeTransaction(unsigned, signature));
    return sender === null ? null : { hash, sender, chainId: seal.chain };
  }, null);
