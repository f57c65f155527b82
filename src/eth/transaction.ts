/** Transactions in full, as blocks hold them. */
import { list, orNull, struct } from "./shape.js";
import { Account, Bytes, Index, Quantity, TypeByte, Word } from "./wire.js";

/** A transaction in full: mined, pending, or simulated where `returnFullTransactions` asked for it. */
export const FullTransaction = struct({
  /** The transaction's own, 32 bytes. */
  hash: Word,
  /** The sender. */
  from: Account,
  /** The nonce. */
  nonce: Quantity,
  /** Gas limit, in gas. */
  gas: Quantity,
  /** Wei. */
  value: Quantity,
  /** null = deployment. */
  to: orNull(Account),
  /** The chain it is for. */
  chainId: orNull(Quantity),
  /** Wei per gas, as the two below. */
  maxFeePerGas: orNull(Quantity),
  /** The tip, wei per gas. */
  maxPriorityFeePerGas: orNull(Quantity),
  /** The price that is paid, wei per gas. */
  gasPrice: orNull(Quantity),
  /** Versioned hashes of its blobs (EIP-4844). */
  blobVersionedHashes: orNull(list(Word)),
  /** Wei per blob gas. */
  maxFeePerBlobGas: orNull(Quantity),
  /** Calldata or initcode. */
  input: Bytes,
  /** EIP-2718 type. */
  type: orNull(TypeByte),
  /** EIP-2930 entries. */
  accessList: orNull(list(struct({ address: Account, storageKeys: list(Word) }))),
  /** EIP-7702 authorisations. */
  authorizationList: orNull(
    list(struct({ chainId: Quantity, address: Account, nonce: Quantity, yParity: Quantity, r: Quantity, s: Quantity })),
  ),
  /** Of the signature, as the three below; zeros where it is simulated. */
  v: orNull(Quantity),
  /** The signature's r. */
  r: orNull(Quantity),
  /** The signature's s. */
  s: orNull(Quantity),
  /** The signature's parity, 0 or 1. */
  yParity: orNull(Quantity),
  /** Of its block; null while it is pending. */
  blockHash: orNull(Word),
  /** The number of its block; null while it is pending. */
  blockNumber: orNull(Quantity),
  /** Unix seconds. */
  blockTimestamp: orNull(Quantity),
  /** Its place in the block, from 0. */
  transactionIndex: orNull(Index),
});
export type FullTransaction = typeof FullTransaction.schema.Type;
