/** The endpoint will not, or cannot now. */
import * as Schema from "effect/Schema";
import { nullable } from "../../primitives/hex.js";
import { count, milliseconds, say } from "../../primitives/statement.js";
import { derived } from "../stated.js";
import { answer, elsewhere, hopeless, once, patient, reason, words, type Advising } from "./answer.js";

/** HTTP 401 or −40100: the endpoint wants a key, or another one. */
export class Unauthorized extends reason<Unauthorized>()(
  "Unauthorized",
  hopeless,
  "the endpoint refused the credentials",
  "check the API key in the endpoint's URL or headers",
) {}

/** HTTP 403 or "not whitelisted": this endpoint never answers this method. */
export class MethodNotPermitted extends reason<MethodNotPermitted>()(
  "MethodNotPermitted",
  elsewhere,
  "the endpoint does not permit this method",
  "use an endpoint that permits it, such as a dedicated node",
) {}

/** −32601, −32604, −32004: the node does not know this method. */
export class MethodNotSupported extends reason<MethodNotSupported>()(
  "MethodNotSupported",
  elsewhere,
  "the node does not support this method",
  "use a node that supports it; `evm-preflight doctor URL` shows what an endpoint can do",
) {}

/** HTTP 429 or a text that says so; `retryAfterMs` when the endpoint named a delay. */
export class RateLimited extends derived<RateLimited, Advising>()(
  "RateLimited",
  {
    ...answer,
    /** Milliseconds to wait, from `Retry-After` or the text. */
    retryAfterMs: nullable(Schema.Finite),
  },
  {
    advice: ({ retryAfterMs }) => ({ ...patient, retryAfterMs }),
    statement: (error) =>
      say(
        "the endpoint limits the rate of requests",
        [...words(error), milliseconds("retry after", error.retryAfterMs)],
        "slow down, or use an endpoint with a larger quota",
      ),
  },
) {}

/** HTTP 502/503, "no backend": the gateway could not reach a node. */
export class UpstreamUnavailable extends reason<UpstreamUnavailable>()(
  "UpstreamUnavailable",
  patient,
  "no node behind the endpoint is available",
  "try again in a moment, or use another endpoint",
) {}

/** No answer in time: at the node, at a gateway, or within the caller's deadline. */
export class Timeout extends derived<Timeout, Advising>()(
  "Timeout",
  {
    ...answer,
    /** The time that ran out, in milliseconds, when it was ours. */
    afterMs: nullable(Schema.Finite),
  },
  {
    advice: ({ afterMs }) => (afterMs === null ? once : hopeless),
    statement: (error) =>
      say(
        "no answer in time",
        [milliseconds("after", error.afterMs), ...words(error)],
        "raise the deadline or use a faster endpoint",
      ),
  },
) {}

/** The endpoint was not asked: too many runs of this process were ahead in the queue, for too long. */
export class AdmissionTimeout extends derived<AdmissionTimeout, Advising>()(
  "AdmissionTimeout",
  {
    ...answer,
    /** So many runs are let in at once. */
    maxInFlight: Schema.Finite,
    /** How long it waited, in milliseconds. */
    afterMs: Schema.Finite,
  },
  {
    advice: () => once,
    statement: ({ maxInFlight, afterMs }) =>
      say(
        "the endpoint was not asked: other runs were in front for too long",
        [milliseconds("waited", afterMs), count("runs at once", maxInFlight)],
        "start fewer runs at once, raise `maxInFlight` or `maxWaitMs`, or use a faster endpoint",
      ),
  },
) {}

/** The connection failed: refused, reset, DNS, TLS. */
export class Transport extends reason<Transport>()(
  "Transport",
  patient,
  "the endpoint could not be reached",
  "check the URL and the network",
) {}
