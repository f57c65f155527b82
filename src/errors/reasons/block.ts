/** The block, range or state asked for is not to be had. */
import * as Schema from "effect/Schema";
import { nullable } from "../../primitives/hex.js";
import { blocks, say, text } from "../../primitives/statement.js";
import { derived } from "../stated.js";
import { answer, elsewhere, hopeless, once, patient, reason, words, type Advising } from "./answer.js";

/** A range of blocks, both ends included. */
export const BlockRange = Schema.Struct({ from: Schema.BigInt, to: Schema.BigInt });

/** `eth_getLogs` over more blocks or logs than the node answers. */
export class LogRangeTooLarge extends derived<LogRangeTooLarge, Advising>()(
  "LogRangeTooLarge",
  {
    ...answer,
    /** The range the node proposed, when it did. */
    suggested: nullable(BlockRange),
    /** The largest number of blocks the node named. */
    max: nullable(Schema.BigInt),
  },
  {
    advice: () => hopeless,
    statement: (error) =>
      say(
        "the range of blocks holds more than the node answers at once",
        [
          ...words(error),
          text("suggested", error.suggested === null ? null : `${error.suggested.from} to ${error.suggested.to}`),
          blocks("at most", error.max),
        ],
        "ask for fewer blocks",
      ),
  },
) {}

/** The node has no pre-confirmed (`pending`) state for this method. */
export class PendingUnavailable extends reason<PendingUnavailable>()(
  "PendingUnavailable",
  hopeless,
  "the node has no pending state to answer from",
  'ask with block: "latest"',
) {}

/** The asked block is older than what the node keeps. */
export class HistoryPruned extends reason<HistoryPruned>()(
  "HistoryPruned",
  elsewhere,
  "the node no longer keeps that history",
  "use an archive node or a newer block",
) {}

/** The node is catching up with the chain. */
export class NodeSyncing extends reason<NodeSyncing>()(
  "NodeSyncing",
  patient,
  "the node is still syncing",
  "wait until it has caught up, or use another endpoint",
) {}

/** −38020, −38021: simulated blocks out of order. */
export class SimBlockOrder extends reason<SimBlockOrder>()(
  "SimBlockOrder",
  hopeless,
  "the simulated blocks are out of order",
  "block overrides must grow in number and time",
) {}

/** The state of that block is not available on this node. */
export class StateUnavailable extends reason<StateUnavailable>()(
  "StateUnavailable",
  elsewhere,
  "the node does not hold the state of that block",
  "use an archive node or a newer block",
) {}

/** The node does not know the block; right after seeing a head usually a lagging backend. */
export class BlockNotFound extends reason<BlockNotFound>()(
  "BlockNotFound",
  once,
  "the node does not know that block",
  "ask again in a moment, or for a block the node has",
) {}
