/** The request or the answer is wrong. */
import * as Schema from "effect/Schema";
import { say, text } from "../../primitives/statement.js";
import { derived } from "../stated.js";
import { answer, hopeless, once, reason, words, type Advising } from "./answer.js";

/** A limit of the node: size, count, or gas of one request. */
export class NodeLimitExceeded extends reason<NodeLimitExceeded>()(
  "NodeLimitExceeded",
  hopeless,
  "the request exceeds a limit of the node",
  "ask for less at once, or raise the node's limit",
) {}

/** The node found the request itself wrong. */
export class InvalidParams extends reason<InvalidParams>()(
  "InvalidParams",
  hopeless,
  "the node found the parameters invalid",
  "compare the request with what this node accepts",
) {}

/** The answer is not what the method promises; `path` names the field. */
export class MalformedResponse extends derived<MalformedResponse, Advising>()(
  "MalformedResponse",
  {
    ...answer,
    /** Where in the answer, e.g. `result[0].calls[1].status`; empty for the whole. */
    path: Schema.String,
  },
  {
    advice: () => once,
    statement: (error) =>
      say(
        "the answer is not what this method returns",
        [text("at", error.path), ...words(error)],
        "the endpoint is faulty or is not a node; try another",
      ),
  },
) {}

/** Anything else a node answers; the raw answer is kept. */
export class InternalError extends reason<InternalError>()(
  "InternalError",
  once,
  "the node failed inside",
  "try again, or use another endpoint",
) {}
