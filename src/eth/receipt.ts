/** Receipts, with the fields that rollups add. */
import { Log } from "./log.js";
import { list, orNull, struct } from "./shape.js";
import { Account, Bytes, Decimal, Index, Quantity, Status, TypeByte, Word } from "./wire.js";

export const Receipt = struct({
  transactionHash: Word,
  blockNumber: Quantity,
  gasUsed: Quantity,
  /** null = the node does not say; the interface promises the three above, `status` and `type`. */
  logs: orNull(list(Log)),
  /** null before Byzantium, where `root` stands instead. */
  status: orNull(Status),
  root: orNull(Word),
  /** EIP-2718 type, e.g. `0x2`; `0x7e` is a deposit of the OP stack. */
  type: orNull(TypeByte),
  transactionIndex: orNull(Index),
  blockHash: orNull(Word),
  from: orNull(Account),
  /** null = deployment. */
  to: orNull(Account),
  contractAddress: orNull(Account),
  cumulativeGasUsed: orNull(Quantity),
  /** Wei per gas. */
  effectiveGasPrice: orNull(Quantity),
  logsBloom: orNull(Bytes),
  blobGasUsed: orNull(Quantity),
  /** Wei per blob gas. */
  blobGasPrice: orNull(Quantity),
  /** Wei. */
  l1Fee: orNull(Quantity),
  /** Wei per gas of layer 1. */
  l1GasPrice: orNull(Quantity),
  l1GasUsed: orNull(Quantity),
  /** A decimal fraction, before Ecotone. */
  l1FeeScalar: orNull(Decimal),
  l1BaseFeeScalar: orNull(Quantity),
  /** Wei per blob gas of layer 1. */
  l1BlobBaseFee: orNull(Quantity),
  l1BlobBaseFeeScalar: orNull(Quantity),
  operatorFeeScalar: orNull(Quantity),
  operatorFeeConstant: orNull(Quantity),
  daFootprintGasScalar: orNull(Quantity),
  depositNonce: orNull(Quantity),
  depositReceiptVersion: orNull(Quantity),
});
export type Receipt = typeof Receipt.schema.Type;
