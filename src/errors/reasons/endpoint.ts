/** The endpoint will not, or cannot now. */
import * as Schema from "effect/Schema";
import { nullable } from "../../primitives/hex.js";
import { figures, milliseconds, type Statement } from "../../primitives/statement.js";
import { advise, answer, elsewhere, hopeless, once, patient, words } from "./answer.js";

/** HTTP 401 or −40100: the endpoint wants a key, or another one. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", answer) {
  get advice() {
    return advise(hopeless);
  }
  get statement(): Statement {
    return {
      sentence: "the endpoint refused the credentials",
      numbers: figures(...words(this)),
      remedy: "check the API key in the endpoint's URL or headers",
    };
  }
}

/** HTTP 403 or "not whitelisted": this endpoint never answers this method. */
export class MethodNotPermitted extends Schema.TaggedError<MethodNotPermitted>()("MethodNotPermitted", answer) {
  get advice() {
    return advise(elsewhere);
  }
  get statement(): Statement {
    return {
      sentence: "the endpoint does not permit this method",
      numbers: figures(...words(this)),
      remedy: "use an endpoint that permits it, such as a dedicated node",
    };
  }
}

/** −32601, −32604, −32004: the node does not know this method. */
export class MethodNotSupported extends Schema.TaggedError<MethodNotSupported>()("MethodNotSupported", answer) {
  get advice() {
    return advise(elsewhere);
  }
  get statement(): Statement {
    return {
      sentence: "the node does not support this method",
      numbers: figures(...words(this)),
      remedy: "use a node that supports it; `evm-preflight doctor URL` shows what an endpoint can do",
    };
  }
}

/** HTTP 429 or a text that says so; `retryAfterMs` when the endpoint named a delay. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...answer,
  /** Milliseconds to wait, from `Retry-After` or the text. */
  retryAfterMs: nullable(Schema.Finite),
}) {
  get advice() {
    return advise(patient, this.retryAfterMs);
  }
  get statement(): Statement {
    return {
      sentence: "the endpoint limits the rate of requests",
      numbers: figures(...words(this), milliseconds("retry after", this.retryAfterMs)),
      remedy: "slow down, or use an endpoint with a larger quota",
    };
  }
}

/** HTTP 502/503, "no backend": the gateway could not reach a node. */
export class UpstreamUnavailable extends Schema.TaggedError<UpstreamUnavailable>()("UpstreamUnavailable", answer) {
  get advice() {
    return advise(patient);
  }
  get statement(): Statement {
    return {
      sentence: "no node behind the endpoint is available",
      numbers: figures(...words(this)),
      remedy: "try again in a moment, or use another endpoint",
    };
  }
}

/** No answer in time: at the node, at a gateway, or within the caller's deadline. */
export class Timeout extends Schema.TaggedError<Timeout>()("Timeout", {
  ...answer,
  /** The time that ran out, in milliseconds, when it was ours. */
  afterMs: nullable(Schema.Finite),
}) {
  get advice() {
    return advise(this.afterMs === null ? once : hopeless);
  }
  get statement(): Statement {
    return {
      sentence: "no answer in time",
      numbers: figures(milliseconds("after", this.afterMs), ...words(this)),
      remedy: "raise the deadline or use a faster endpoint",
    };
  }
}

/** The connection failed: refused, reset, DNS, TLS. */
export class Transport extends Schema.TaggedError<Transport>()("Transport", answer) {
  get advice() {
    return advise(patient);
  }
  get statement(): Statement {
    return {
      sentence: "the endpoint could not be reached",
      numbers: figures(...words(this)),
      remedy: "check the URL and the network",
    };
  }
}
