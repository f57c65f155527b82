/** Logs, as `eth_getLogs`, receipts and simulated calls give them. */
import * as Schema from "effect/Schema";
import * as Effect from "effect/Effect";
import { Account, Bytes, Index, orNull, Quantity, Word } from "./wire.js";

export const Log = Schema.Struct({
  address: Account,
  /** 0 to 4 words; topic 0 is typically the hash of the event's signature. */
  topics: Schema.Array(Word).check(Schema.isMaxLength(4)),
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
  removed: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
});
export type Log = typeof Log.Type;
