/** Logs, as `eth_getLogs`, receipts and simulated calls give them. */
import { list, orElse, orNull, struct } from "./shape.js";
import { Account, Bytes, Flag, Index, Quantity, Word } from "./wire.js";

export const Log = struct({
  address: Account,
  /** 0 to 4 words; topic 0 is typically the hash of the event's signature. */
  topics: list(Word, 4),
  data: Bytes,
  /** null while pending on some nodes. */
  blockNumber: orNull(Quantity),
  /** Unix seconds; an extension that not every node has. */
  blockTimestamp: orNull(Quantity),
  transactionHash: orNull(Word),
  transactionIndex: orNull(Index),
  blockHash: orNull(Word),
  /** Position in the block; on pre-confirmed state some nodes count anew per transaction. */
  logIndex: orNull(Index),
  /** Taken back by a chain reorganisation. */
  removed: orElse(Flag, false),
});
export type Log = typeof Log.schema.Type;
