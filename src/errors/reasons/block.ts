/** The block, range or state asked for is not to be had. */
import * as Schema from "effect/Schema";
import { nullable } from "../../primitives/hex.js";
import { blocks, figures, text, type Statement } from "../../primitives/statement.js";
import { advise, answer, elsewhere, hopeless, once, patient, words } from "./answer.js";

/** A range of blocks, both ends included. */
export const BlockRange = Schema.Struct({ from: Schema.BigInt, to: Schema.BigInt });
/** `eth_getLogs` over more blocks or logs than the node answers. */
export class LogRangeTooLarge extends Schema.TaggedError<LogRangeTooLarge>()("LogRangeTooLarge", {
  ...answer,
  /** The range the node proposed, when it did. */
  suggested: nullable(BlockRange),
  /** The largest number of blocks the node named. */
  max: nullable(Schema.BigInt),
}) {
  get advice() {
    return advise(hopeless);
  }
  get statement(): Statement {
    return {
      sentence: "the range of blocks holds more than the node answers at once",
      numbers: figures(
        ...words(this),
        text("suggested", this.suggested === null ? null : `${this.suggested.from} to ${this.suggested.to}`),
        blocks("at most", this.max),
      ),
      remedy: "ask for fewer blocks",
    };
  }
}

/** The node has no pre-confirmed (`pending`) state for this method. */
export class PendingUnavailable extends Schema.TaggedError<PendingUnavailable>()("PendingUnavailable", answer) {
  get advice() {
    return advise(hopeless);
  }
  get statement(): Statement {
    return {
      sentence: "the node has no pending state to answer from",
      numbers: figures(...words(this)),
      remedy: 'ask with block: "latest"',
    };
  }
}

/** The asked block is older than what the node keeps. */
export class HistoryPruned extends Schema.TaggedError<HistoryPruned>()("HistoryPruned", answer) {
  get advice() {
    return advise(elsewhere);
  }
  get statement(): Statement {
    return {
      sentence: "the node no longer keeps that history",
      numbers: figures(...words(this)),
      remedy: "use an archive node or a newer block",
    };
  }
}

/** The node is catching up with the chain. */
export class NodeSyncing extends Schema.TaggedError<NodeSyncing>()("NodeSyncing", answer) {
  get advice() {
    return advise(patient);
  }
  get statement(): Statement {
    return {
      sentence: "the node is still syncing",
      numbers: figures(...words(this)),
      remedy: "wait until it has caught up, or use another endpoint",
    };
  }
}

/** −38020, −38021: simulated blocks out of order. */
export class SimBlockOrder extends Schema.TaggedError<SimBlockOrder>()("SimBlockOrder", answer) {
  get advice() {
    return advise(hopeless);
  }
  get statement(): Statement {
    return {
      sentence: "the simulated blocks are out of order",
      numbers: figures(...words(this)),
      remedy: "block overrides must grow in number and time",
    };
  }
}

/** The state of that block is not available on this node. */
export class StateUnavailable extends Schema.TaggedError<StateUnavailable>()("StateUnavailable", answer) {
  get advice() {
    return advise(elsewhere);
  }
  get statement(): Statement {
    return {
      sentence: "the node does not hold the state of that block",
      numbers: figures(...words(this)),
      remedy: "use an archive node or a newer block",
    };
  }
}

/** The node does not know the block; right after seeing a head usually a lagging backend. */
export class BlockNotFound extends Schema.TaggedError<BlockNotFound>()("BlockNotFound", answer) {
  get advice() {
    return advise(once);
  }
  get statement(): Statement {
    return {
      sentence: "the node does not know that block",
      numbers: figures(...words(this)),
      remedy: "ask again in a moment, or for a block the node has",
    };
  }
}
