/** The request or the answer is wrong. */
import * as Schema from "effect/Schema";
import { figures, text, type Statement } from "../../primitives/statement.js";
import { advise, answer, hopeless, once, words } from "./answer.js";

/** A limit of the node: size, count, or gas of one request. */
export class NodeLimitExceeded extends Schema.TaggedError<NodeLimitExceeded>()("NodeLimitExceeded", answer) {
  get advice() {
    return advise(hopeless);
  }
  get statement(): Statement {
    return {
      sentence: "the request exceeds a limit of the node",
      numbers: figures(...words(this)),
      remedy: "ask for less at once, or raise the node's limit",
    };
  }
}

/** The node found the request itself wrong. */
export class InvalidParams extends Schema.TaggedError<InvalidParams>()("InvalidParams", answer) {
  get advice() {
    return advise(hopeless);
  }
  get statement(): Statement {
    return {
      sentence: "the node found the parameters invalid",
      numbers: figures(...words(this)),
      remedy: "compare the request with what this node accepts",
    };
  }
}

/** The answer is not what the method promises; `path` names the field. */
export class MalformedResponse extends Schema.TaggedError<MalformedResponse>()("MalformedResponse", {
  ...answer,
  /** Where in the answer, e.g. `result[0].calls[1].status`; empty for the whole. */
  path: Schema.String,
}) {
  get advice() {
    return advise(once);
  }
  get statement(): Statement {
    return {
      sentence: "the answer is not what this method returns",
      numbers: figures(text("at", this.path), ...words(this)),
      remedy: "the endpoint is faulty or is not a node; try another",
    };
  }
}

/** Anything else a node answers; the raw answer is kept. */
export class InternalError extends Schema.TaggedError<InternalError>()("InternalError", answer) {
  get advice() {
    return advise(once);
  }
  get statement(): Statement {
    return {
      sentence: "the node failed inside",
      numbers: figures(...words(this)),
      remedy: "try again, or use another endpoint",
    };
  }
}
