/** Receipts, with the fields that rollups add. */
import { Log } from "./log.js";
import { list, orNull, struct } from "./shape.js";
import { Account, Bytes, Decimal, Index, Quantity, Status, TypeByte, Word } from "./wire.js";

/** What became of a transaction that was mined. Amounts in wei, prices in wei per gas; null where the node does not say. */
export const Receipt = struct({
  /** The transaction's hash. */
  transactionHash: Word,
  /** The number of its block. */
  blockNumber: Quantity,
  /** Gas that it used, refunds taken off. */
  gasUsed: Quantity,
  /** null = the node does not say; the interface promises the three above, `status` and `type`. */
  logs: orNull(list(Log)),
  /** null before Byzantium, where `root` stands instead. */
  status: orNull(Status),
  /** The state's root after the transaction, before Byzantium. */
  root: orNull(Word),
  /** EIP-2718 type, e.g. `0x2`; `0x7e` is a deposit of the OP stack. */
  type: orNull(TypeByte),
  /** The transaction's place in its block, from 0. */
  transactionIndex: orNull(Index),
  /** The block's hash. */
  blockHash: orNull(Word),
  /** The sender. */
  from: orNull(Account),
  /** null = deployment. */
  to: orNull(Account),
  /** The contract that it created; null when none. */
  contractAddress: orNull(Account),
  /** Gas that the block's transactions used up to this one. */
  cumulativeGasUsed: orNull(Quantity),
  /** Wei per gas. */
  effectiveGasPrice: orNull(Quantity),
  /** Bloom filter of the logs, 256 bytes. */
  logsBloom: orNull(Bytes),
  /** Blob gas that it used (EIP-4844). */
  blobGasUsed: orNull(Quantity),
  /** Wei per blob gas. */
  blobGasPrice: orNull(Quantity),
  /** Wei. */
  l1Fee: orNull(Quantity),
  /** Wei per gas of layer 1. */
  l1GasPrice: orNull(Quantity),
  /** OP-stack: gas that its data counts for on L1. */
  l1GasUsed: orNull(Quantity),
  /** A decimal fraction, before Ecotone. */
  l1FeeScalar: orNull(Decimal),
  /** OP-stack: scalar of the L1 base fee. */
  l1BaseFeeScalar: orNull(Quantity),
  /** Wei per blob gas of layer 1. */
  l1BlobBaseFee: orNull(Quantity),
  /** OP-stack: scalar of the L1 blob base fee. */
  l1BlobBaseFeeScalar: orNull(Quantity),
  /** OP-stack: scalar of the operator fee. */
  operatorFeeScalar: orNull(Quantity),
  /** OP-stack: the constant part of the operator fee, wei. */
  operatorFeeConstant: orNull(Quantity),
  /** OP-stack (Jovian): scalar of the footprint that the data has in the block, gas. */
  daFootprintGasScalar: orNull(Quantity),
  /** OP-stack: the nonce of a deposit. */
  depositNonce: orNull(Quantity),
  /** OP-stack: the version of a deposit's receipt. */
  depositReceiptVersion: orNull(Quantity),
});
export type Receipt = typeof Receipt.schema.Type;
