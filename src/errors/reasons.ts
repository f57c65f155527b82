/** Why a request failed: what every reason keeps, says and advises, and each of them. */
import type * as Cause from "effect/Cause";
import * as Schema from "effect/Schema";
import { nullable } from "../primitives/hex.js";
import {
  blocks,
  count,
  milliseconds,
  quote,
  statementOf,
  text,
  type Figure,
  derived,
  gas,
  toldBy,
  type Stated,
  type Sayable,
} from "../primitives/statement.js";
import { escapeText } from "../primitives/text.js";

/** The fields that every reason keeps: the bounded text of the answer, its HTTP status and its raw JSON. */
const answer = {
  /** The node's words, escaped and bounded; empty when it said nothing. */
  detail: Schema.String,
  /** HTTP status of the answer, when there was one. */
  httpStatus: nullable(Schema.Int),
  /** JSON-RPC error code, when there was one. */
  code: nullable(Schema.Int),
  /** The JSON-RPC error as it came, untouched. Never show it unescaped. */
  raw: nullable(Schema.Json),
};

/** Returns whether, where and when asking again can help. */
const advice = (
  retryOn: "same" | "other" | "never",
  retryTimes: number,
): {
  /** True if the same request may succeed later. */
  readonly isRetryable: boolean;
  /** `same` endpoint, only an`other` one, or `never`. */
  readonly retryOn: "same" | "other" | "never";
  /** How many more tries of an identical request are sensible. */
  readonly retryTimes: number;
  /** Milliseconds the node asked to wait, else null (the policy's own backoff applies). */
  readonly retryAfterMs: number | null;
} => ({
  isRetryable: retryTimes > 0,
  retryOn,
  retryTimes,
  retryAfterMs: null,
});
const patient = advice("same", 3);
const once = advice("same", 1);
const elsewhere = advice("other", 0);
const hopeless = advice("never", 0);

/** The node's own words, and the codes that came with them. */
const words = ({ httpStatus, code, detail }: Schema.Struct<typeof answer>["Type"]): ReadonlyArray<Figure | null> => [
  count("HTTP", httpStatus),
  count("code", code),
  quote("", detail),
];

/** A reason that keeps more than the {@link answer}: its advice, sentence, figures and remedy. */
const reasonOf =
  <Self>() =>
  <const Tag extends string, const Fields extends typeof answer & Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  (
    advised: Sayable<Schema.TaggedStruct<Tag, Fields>["Type"], ReturnType<typeof advice>>,
    sentence: Sayable<Schema.TaggedStruct<Tag, Fields>["Type"], string>,
    figures: (error: Schema.TaggedStruct<Tag, Fields>["Type"]) => ReadonlyArray<Figure | null>,
    remedy: Sayable<Schema.TaggedStruct<Tag, Fields>["Type"], string>,
  ): Schema.Class<
    Self,
    Schema.TaggedStruct<Tag, Fields>,
    Cause.YieldableError &
      Stated & {
        /** Says whether and when to ask again. */
        readonly advice: ReturnType<typeof advice>;
      }
  > =>
    derived<Self, Stated & { readonly advice: ReturnType<typeof advice> }>()<Tag, Fields>(tag, fields, {
      advice: (error) => toldBy(advised, error),
      statement: (error) => statementOf(toldBy(sentence, error), figures(error), toldBy(remedy, error)),
    });

/** Reasons that keep nothing but the {@link answer}: the advice, the sentence and the remedy of each. */
const plain = {
  PendingUnavailable: [hopeless, "the node has no pending state to answer from", 'ask with block: "latest"'],
  HistoryPruned: [elsewhere, "the node no longer keeps that history", "use an archive node or a newer block"],
  NodeSyncing: [patient, "the node is still syncing", "wait until it has caught up, or use another endpoint"],
  SimBlockOrder: [
    hopeless,
    "the simulated blocks are out of order",
    "ask again; if you override blocks, their number and time must grow",
  ],
  StateUnavailable: [
    elsewhere,
    "the node does not hold the state of that block",
    "use an archive node or a newer block",
  ],
  BlockNotFound: [once, "the node does not know that block", "ask again in a moment, or for a block the node has"],
  Unauthorized: [
    hopeless,
    "the endpoint refused the credentials",
    "check the API key in the endpoint's URL or headers",
  ],
  MethodNotPermitted: [
    elsewhere,
    "the endpoint does not permit this method",
    "use an endpoint that permits it, such as a dedicated node",
  ],
  MethodNotSupported: [
    elsewhere,
    "the node does not support this method",
    "use a node that supports it; `evm-preflight doctor URL` shows what an endpoint can do",
  ],
  UpstreamUnavailable: [
    patient,
    "no node behind the endpoint is available",
    "try again in a moment, or use another endpoint",
  ],
  Transport: [patient, "the endpoint could not be reached", "check the URL and the network"],
  NodeLimitExceeded: [
    hopeless,
    "the request exceeds a limit of the node",
    "ask for less at once, or raise the node's limit",
  ],
  DeploymentNotSimulated: [elsewhere, "the node does not simulate deployments", "use a node that does, such as geth"],
  InternalError: [once, "the node reported an internal error", "try again, or use another endpoint"],
} as const;

/** A reason of that table. */
const reason =
  <Self>() =>
  <const Tag extends keyof typeof plain>(tag: Tag) => {
    const [advised, sentence, remedy] = plain[tag];
    return reasonOf<Self>()<Tag, typeof answer>(tag, answer)(advised, sentence, words, remedy);
  };

/** `eth_getLogs` over more blocks or logs than the node answers. */
export class LogRangeTooLarge extends reasonOf<LogRangeTooLarge>()("LogRangeTooLarge", {
  ...answer,
  /** The range of blocks that the node proposed, both ends included, when it did. */
  suggested: nullable(Schema.Struct({ from: Schema.BigInt, to: Schema.BigInt })),
  /** The largest number of blocks the node named. */
  max: nullable(Schema.BigInt),
})(
  hopeless,
  "the range of blocks holds more than the node returns at once",
  (error) => [
    ...words(error),
    text("suggested", error.suggested === null ? null : `${error.suggested.from} to ${error.suggested.to}`),
    blocks("at most", error.max),
  ],
  "ask for fewer blocks",
) {}

/** The node has no pre-confirmed (`pending`) state for this method. */
export class PendingUnavailable extends reason<PendingUnavailable>()("PendingUnavailable") {}

/** The asked block is older than what the node keeps. */
export class HistoryPruned extends reason<HistoryPruned>()("HistoryPruned") {}

/** The node is catching up with the chain. */
export class NodeSyncing extends reason<NodeSyncing>()("NodeSyncing") {}

/** −38020, −38021: simulated blocks out of order. */
export class SimBlockOrder extends reason<SimBlockOrder>()("SimBlockOrder") {}

/** The state of that block is not available on this node. */
export class StateUnavailable extends reason<StateUnavailable>()("StateUnavailable") {}

/** The node does not know the block; right after seeing a head usually a lagging backend. */
export class BlockNotFound extends reason<BlockNotFound>()("BlockNotFound") {}

/** HTTP 401 or −40100: the endpoint wants a key, or another one. */
export class Unauthorized extends reason<Unauthorized>()("Unauthorized") {}

/** HTTP 403 or "not whitelisted": this endpoint never answers this method. */
export class MethodNotPermitted extends reason<MethodNotPermitted>()("MethodNotPermitted") {}

/** −32601, −32604, −32004: the node does not know this method. */
export class MethodNotSupported extends reason<MethodNotSupported>()("MethodNotSupported") {}

/** HTTP 429 or a text that says so; `retryAfterMs` when the endpoint named a delay. */
export class RateLimited extends reasonOf<RateLimited>()("RateLimited", {
  ...answer,
  /** Milliseconds to wait, from `Retry-After` or the text. */
  retryAfterMs: nullable(Schema.Finite),
})(
  ({ retryAfterMs }) => ({ ...patient, retryAfterMs }),
  "the endpoint limits the rate of requests",
  (error) => [...words(error), milliseconds("retry after", error.retryAfterMs)],
  "slow down, or use an endpoint with a larger quota",
) {}

/** HTTP 502/503, "no backend": the gateway could not reach a node. */
export class UpstreamUnavailable extends reason<UpstreamUnavailable>()("UpstreamUnavailable") {}

/** No answer in time: at the node, at a gateway, or within the caller's deadline. */
export class Timeout extends reasonOf<Timeout>()("Timeout", {
  ...answer,
  /** The time that ran out, in milliseconds, when it was ours. */
  afterMs: nullable(Schema.Finite),
})(
  ({ afterMs }) => (afterMs === null ? once : hopeless),
  "no answer in time",
  (error) => [
    error.afterMs === 0 ? text("", "not sent: the deadline was used up") : milliseconds("after", error.afterMs),
    ...words(error),
  ],
  "raise the deadline or use a faster endpoint",
) {}

/** No request was sent: too many runs of this process were ahead in the queue, for too long. */
export class AdmissionTimeout extends reasonOf<AdmissionTimeout>()("AdmissionTimeout", {
  ...answer,
  /** So many runs are let in at once. */
  maxInFlight: Schema.Finite,
  /** How long it waited, in milliseconds. */
  afterMs: Schema.Finite,
})(
  once,
  "the endpoint was not asked: too many other runs were ahead for too long",
  ({ maxInFlight, afterMs }) => [milliseconds("waited", afterMs), count("runs at once", maxInFlight)],
  "start fewer runs at once, raise `maxInFlight` or `maxWaitMs`, or use a faster endpoint",
) {}

/** The connection failed: refused, reset, DNS, TLS. */
export class Transport extends reason<Transport>()("Transport") {}

/** A limit of the node: size, count, or gas of one request. */
export class NodeLimitExceeded extends reason<NodeLimitExceeded>()("NodeLimitExceeded") {}

/** The node keeps one amount of gas for a whole simulation, and had too little of it left. */
export class NodeGasCapExceeded extends reasonOf<NodeGasCapExceeded>()("NodeGasCapExceeded", {
  ...answer,
  /** Gas of one request; null where that was not seen. */
  cap: nullable(Schema.BigInt),
  /** Which is the first that did not fit, counted from 1; null where only what is read beside them did not. */
  transaction: nullable(Schema.Int),
})(
  elsewhere,
  "a transaction is not known to have run with the gas that it asks for",
  (e) => [gas("the node simulates with at most", e.cap), count("first transaction that did not fit", e.transaction)],
  "use a node with a higher gas cap (geth: `--rpc.gascap`), or ask for fewer transactions at once",
) {}

/** The node simulates without overrides that it was given: the block or state that ran is another than the one asked for. */
export class OverrideIgnored extends reasonOf<OverrideIgnored>()("OverrideIgnored", {
  ...answer,
  /** Overrides without effect: names of override fields, and `storage`. */
  overrides: Schema.Array(Schema.String),
})(
  elsewhere,
  "the node ignores overrides of the simulation",
  (e) => [text("ignored", e.overrides.join(", "))],
  "use a node whose `eth_simulateV1` takes them",
) {}

/** The node simulates no call without `to`, so a deployment runs in no simulated block. */
export class DeploymentNotSimulated extends reason<DeploymentNotSimulated>()("DeploymentNotSimulated") {}

/** True if no node answered: this library refused to send the request. */
const isOurs = ({ raw, code, httpStatus }: Schema.Struct<typeof answer>["Type"]): boolean =>
  raw === null && code === null && httpStatus === null;

/** The node found the request itself wrong; or it could not be written and was not sent, which the message says. */
export class InvalidParams extends reasonOf<InvalidParams>()("InvalidParams", answer)(
  hopeless,
  (error) => (isOurs(error) ? `not sent: ${escapeText(error.detail, 400)}` : "the node found the parameters invalid"),
  (error) => (isOurs(error) ? [] : words(error)),
  (error) => (isOurs(error) ? "correct this parameter" : "check the request against what this node accepts"),
) {}

/** The answer is not what the method promises; `path` names the field. */
export class MalformedResponse extends reasonOf<MalformedResponse>()("MalformedResponse", {
  ...answer,
  /** The place in the answer, e.g. `result[0].calls[1].status`; empty for the whole. */
  path: Schema.String,
})(
  once,
  "the answer is not what this method returns",
  (error) => [text("at", error.path), ...words(error)],
  "the endpoint is faulty or is not a node; try another",
) {}

/** Anything else a node answers; the raw answer is kept. */
export class InternalError extends reason<InternalError>()("InternalError") {}
