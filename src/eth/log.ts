/** Logs, as `eth_getLogs`, receipts and simulated calls give them. */
import { list, orElse, orNull, struct } from "./shape.js";
import { Account, Bytes, Flag, Index, Quantity, Word } from "./wire.js";

/** An event that a contract emitted. */
export const Log = struct({
  /** The contract that emitted it. */
  address: Account,
  /** 0 to 4 words; topic 0 is typically the hash of the event's signature. */
  topics: list(Word, 4),
  /** What is not indexed, ABI-encoded. */
  data: Bytes,
  /** null while pending on some nodes. */
  blockNumber: orNull(Quantity),
  /** Unix seconds; an extension that not every node has. */
  blockTimestamp: orNull(Quantity),
  /** The hash of the transaction that emitted it; null while that is pending. */
  transactionHash: orNull(Word),
  /** The transaction's place in its block, from 0. */
  transactionIndex: orNull(Index),
  /** The block's hash; null while it is pending. */
  blockHash: orNull(Word),
  /** Position in the block; on pre-confirmed state some nodes count anew per transaction. */
  logIndex: orNull(Index),
  /** Taken back by a chain reorganisation. */
  removed: orElse(Flag, false),
});
export type Log = typeof Log.schema.Type;
