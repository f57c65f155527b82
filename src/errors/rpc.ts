/**
 * Failures of the conversation with a node: one {@link RpcError} that names the method and a
 * `reason`. The reasons know whether a retry can help (`isRetryable`), where (`retryOn`) and after
 * how long (`retryAfterMs`). What a transaction did wrong is not here: see `verdicts.ts`.
 */
import * as Schema from "effect/Schema";
import {
  Unauthorized,
  MethodNotPermitted,
  MethodNotSupported,
  RateLimited,
  UpstreamUnavailable,
  Timeout,
  Transport,
} from "./reasons/endpoint.js";
import {
  LogRangeTooLarge,
  PendingUnavailable,
  HistoryPruned,
  NodeSyncing,
  SimBlockOrder,
  StateUnavailable,
  BlockNotFound,
} from "./reasons/block.js";
import { NodeLimitExceeded, InvalidParams, MalformedResponse, InternalError } from "./reasons/request.js";
import { statementText, type Statement } from "../primitives/statement.js";

export type { RetryAdvice } from "./reasons/answer.js";
export * from "./reasons/block.js";
export * from "./reasons/endpoint.js";
export * from "./reasons/request.js";

/** Every reason, in the order of the design. */
export const Reason = Schema.Union([
  Unauthorized,
  MethodNotPermitted,
  MethodNotSupported,
  RateLimited,
  LogRangeTooLarge,
  UpstreamUnavailable,
  PendingUnavailable,
  HistoryPruned,
  NodeSyncing,
  Timeout,
  SimBlockOrder,
  NodeLimitExceeded,
  StateUnavailable,
  BlockNotFound,
  InvalidParams,
  MalformedResponse,
  Transport,
  InternalError,
]);
export type Reason = typeof Reason.Type;

/** A method of the node that could not be answered, and why. Recover with `Effect.catchReason`. */
export class RpcError extends Schema.TaggedError<RpcError>()("RpcError", {
  /** The JSON-RPC method, e.g. `eth_call`. */
  method: Schema.String,
  reason: Reason,
}) {
  /** Whether asking the same endpoint again can help. */
  get isRetryable(): boolean {
    return this.reason.advice.isRetryable;
  }
  get statement(): Statement {
    const said = this.reason.statement;
    return { ...said, sentence: `${this.method}: ${said.sentence}` };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}
