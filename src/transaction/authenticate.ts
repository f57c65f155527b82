/** Hash and sender of a transaction that a node or a wallet shows, worked out from its own fields: whoever shows it need not be believed. */
import { keccak256, numberToHex } from "../primitives/bytes.js";
import type { Address, Hash } from "../primitives/hex.js";
import { safely } from "../primitives/record.js";
import { amountItems, isLegacy, itemsOf, sealed, type Fields } from "./envelope.js";
import { recoverSigner } from "./signer.js";

/** A transaction with its signature, as `eth_getTransactionByHash` answers. */
export interface ShownTransaction extends Fields {
  readonly v: bigint | null;
  readonly yParity: bigint | null;
  readonly r: bigint | null;
  readonly s: bigint | null;
}

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
  return { parity: (v - 35n) % 2n, written: v, also: [chain, 0n, 0n], chain };
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
    const [items, seal, { type, r, s }] = [itemsOf(shown), sealOf(shown), shown];
    if (items === null || seal === null || r === null || s === null) return null;
    const [sealing, bound] = [amountItems([seal.written, r, s]), amountItems(seal.also)];
    if (sealing === null || bound === null) return null;
    const hash = keccak256(sealed(type, [...items, ...sealing]));
    const signed = keccak256(sealed(type, [...items, ...bound]));
    const signature = { r: numberToHex(r), s: numberToHex(s), yParity: Number(seal.parity) };
    const sender = recoverSigner(signed, signature);
    return sender === null ? null : { hash, sender, chainId: seal.chain };
  }, null);
