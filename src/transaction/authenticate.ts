/** Hash and sender of a transaction that a node or a wallet shows, worked out from its own fields: whoever shows it need not be believed. */
import { concat, keccak256, numberToHex, toRlp } from "viem";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { safely } from "../primitives/record.js";
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

type Item = Hex | ReadonlyArray<Item>;

/** A number as RLP has it: without leading zeros, and zero as no bytes. */
const scalar = (value: bigint): Hex => (value === 0n ? "0x" : (numberToHex(value) as Hex));
const some = <A>(value: A | null, write: (value: A) => Item): Item | null => (value === null ? null : write(value));

/**
 * The signed fields by type, in order (EIP-155, EIP-2930, EIP-1559, EIP-4844, EIP-7702); null in place of one that is not
 * shown. `gasPrice` beside a fee cap is the price that was paid, and no field. Blobs are not covered by the hash.
 */
const fieldsOf = (shown: ShownTransaction): ReadonlyArray<Item | null> => {
  const { type, chainId, nonce, gas, gasPrice, to, value, input } = shown;
  const [count, price] = [scalar(nonce), some(gasPrice, scalar)];
  const call = [scalar(gas), to ?? "0x", scalar(value), input] as const;
  if (isLegacy(type)) return [count, price, ...call];
  const chain = some(chainId, scalar);
  const access = some(shown.accessList, (list) => list.map(({ address, storageKeys }) => [address, storageKeys]));
  if (type === "0x1") return [chain, count, price, ...call, access];
  const caps = [some(shown.maxPriorityFeePerGas, scalar), some(shown.maxFeePerGas, scalar)];
  const capped = [chain, count, ...caps, ...call, access];
  if (type === "0x2") return capped;
  // why: neither of the two can deploy
  if (to === null) return [null];
  if (type === "0x3")
    return [...capped, some(shown.maxFeePerBlobGas, scalar), some(shown.blobVersionedHashes, (it) => it)];
  if (type !== "0x4") return [null];
  const authorizations = some(shown.authorizationList, (list) =>
    list.map((each) => [
      ...[scalar(each.chainId), each.address, scalar(each.nonce)],
      ...[scalar(each.yParity), scalar(each.r), scalar(each.s)],
    ]),
  );
  return [...capped, authorizations];
};

/** The signature's parity, what stands for it in the bytes, what is signed behind the fields, and the chain it binds (null = none); null where it contradicts them. */
const sealOf = ({ type, chainId, v, yParity }: ShownTransaction) => {
  if (!isLegacy(type)) {
    const parity = yParity ?? v;
    const isOne = parity !== null && parity <= 1n && (v ?? parity) === parity;
    return isOne ? { parity, written: parity, also: [], chain: chainId } : null;
  }
  // why: a chain that is told beside an unprotected one is no part of it
  if (v === 27n || v === 28n) return { parity: v - 27n, written: v, also: [], chain: null };
  const chain = v === null || v < 37n ? null : (v - 35n) / 2n;
  if (v === null || chain === null || (chainId ?? chain) !== chain) return null;
  return { parity: (v - 35n) % 2n, written: v, also: [scalar(chain), "0x", "0x"] as const, chain };
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
    const [fields, seal, { type, r, s }] = [fieldsOf(shown), sealOf(shown), shown];
    if (seal === null || r === null || s === null) return null;
    const hashOf = (more: ReadonlyArray<Item>): Hash | null => {
      const items = fields.flatMap((item) => (item === null ? [] : [item]));
      if (items.length < fields.length) return null;
      const envelope = isLegacy(type) ? "0x" : numberToHex(BigInt(type ?? 0), { size: 1 });
      return keccak256(concat([envelope, toRlp([...items, ...more])])) as Hash;
    };
    const [hash, signed] = [hashOf([seal.written, r, s].map(scalar)), hashOf(seal.also)];
    if (hash === null || signed === null) return null;
    const signature = { r: numberToHex(r), s: numberToHex(s), yParity: Number(seal.parity) };
    const sender = recoverSigner(signed, signature);
    return sender === null ? null : { hash, sender, chainId: seal.chain };
  }, null);
