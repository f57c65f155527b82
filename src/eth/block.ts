/** Block headers and the fee history. */
import * as Schema from "effect/Schema";
import { Account, Bytes, orNull, Quantity, Word } from "./wire.js";

const Withdrawal = Schema.Struct({
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
  /** Bytes. */
  size: orNull(Quantity),
  transactionsRoot: orNull(Word),
  uncles: orNull(Schema.Array(Word)),
  withdrawals: orNull(Schema.Array(Withdrawal)),
  withdrawalsRoot: orNull(Word),
};

/** A block without its transactions' bodies. `hash` is null on pending state of most nodes. */
export const Block = Schema.Struct({ ...headerFields, hash: orNull(Word), transactions: orNull(Schema.Array(Word)) });
export type Block = typeof Block.Type;

/** `eth_feeHistory`; the last base fee is that of the next block. Wei per gas. */
export const FeeHistory = Schema.Struct({
  oldestBlock: Quantity,
  baseFeePerGas: Schema.Array(Quantity),
  /** 0 to 1 per block. */
  gasUsedRatio: Schema.Array(Schema.Finite),
  /** Tips per block, in the order of the percentiles asked for. */
  reward: orNull(Schema.Array(Schema.Array(Quantity))),
  baseFeePerBlobGas: orNull(Schema.Array(Quantity)),
  blobGasUsedRatio: orNull(Schema.Array(Schema.Finite)),
});
export type FeeHistory = typeof FeeHistory.Type;
