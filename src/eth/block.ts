/** Block headers and the fee history. */
import { list, orNull, struct } from "./shape.js";
import { Account, Bytes, Finite, Quantity, Word } from "./wire.js";

const Withdrawal = struct({
  index: Quantity,
  validatorIndex: Quantity,
  address: Account,
  /** Gwei. */
  amount: Quantity,
});

/** The header fields that every block has on the wire, mined or simulated. */
export const headerFields = {
  number: Quantity,
  parentHash: Word,
  /** Unix seconds. */
  timestamp: Quantity,
  gasLimit: Quantity,
  gasUsed: Quantity,
  /** Wei per gas; null before London. */
  baseFeePerGas: orNull(Quantity),
  /** EIP-7928, since Amsterdam. */
  blockAccessListHash: orNull(Word),
  /** The fee recipient. */
  miner: orNull(Account),
  stateRoot: orNull(Word),
  blobGasUsed: orNull(Quantity),
  difficulty: orNull(Quantity),
  excessBlobGas: orNull(Quantity),
  extraData: orNull(Bytes),
  logsBloom: orNull(Bytes),
  /** `prevRandao` after the merge. */
  mixHash: orNull(Word),
  nonce: orNull(Bytes),
  parentBeaconBlockRoot: orNull(Word),
  receiptsRoot: orNull(Word),
  requestsHash: orNull(Word),
  sha3Uncles: orNull(Word),
  /** EIP-7843, since Amsterdam. */
  slotNumber: orNull(Quantity),
  /** Bytes. */
  size: orNull(Quantity),
  transactionsRoot: orNull(Word),
  uncles: orNull(list(Word)),
  withdrawals: orNull(list(Withdrawal)),
  withdrawalsRoot: orNull(Word),
};

/** A block without its transactions' bodies. `hash` is null on pending state of most nodes. */
export const Block = struct({ ...headerFields, hash: orNull(Word), transactions: orNull(list(Word)) });
export type Block = typeof Block.schema.Type;

/** `eth_feeHistory`; the last base fee is that of the next block. Wei per gas. */
export const FeeHistory = struct({
  oldestBlock: Quantity,
  baseFeePerGas: list(Quantity),
  /** 0 to 1 per block. */
  gasUsedRatio: list(Finite),
  /** Tips per block, in the order of the percentiles asked for. */
  reward: orNull(list(list(Quantity))),
  baseFeePerBlobGas: orNull(list(Quantity)),
  blobGasUsedRatio: orNull(list(Finite)),
});
export type FeeHistory = typeof FeeHistory.schema.Type;
