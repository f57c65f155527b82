/**
 * Failures of the conversation with a node: one {@link RpcError} that names the method and a
 * `reason`. The reasons know whether a retry can help (`isRetryable`), where (`retryOn`) and after
 * how long (`retryAfterMs`). What a transaction did wrong is not here: see `verdicts.ts`.
 */
import * as Schema from "effect/Schema";
import * as block from "./reasons/block.js";
import * as endpoint from "./reasons/endpoint.js";
import * as request from "./reasons/request.js";
import { derived, type Stated } from "./stated.js";

export type { Advising, RetryAdvice } from "./reasons/answer.js";
export * from "./reasons/block.js";
export * from "./reasons/endpoint.js";
export * from "./reasons/request.js";

/** Every reason, in the order of the design. */
export const Reason = Schema.Union([
  endpoint.Unauthorized,
  endpoint.MethodNotPermitted,
  endpoint.MethodNotSupported,
  endpoint.RateLimited,
  block.LogRangeTooLarge,
  endpoint.UpstreamUnavailable,
  block.PendingUnavailable,
  block.HistoryPruned,
  block.NodeSyncing,
  endpoint.Timeout,
  endpoint.AdmissionTimeout,
  block.SimBlockOrder,
  request.NodeLimitExceeded,
  block.StateUnavailable,
  block.BlockNotFound,
  request.InvalidParams,
  request.MalformedResponse,
  endpoint.Transport,
  request.InternalError,
]);
export type Reason = typeof Reason.Type;

/** What an {@link RpcError} has beside its fields. */
export interface Retryable extends Stated {
  /** Whether asking the same endpoint again can help. */
  readonly isRetryable: boolean;
  /** Whether a transaction may have been taken: of the methods that send, whoever did not answer well may have done it. */
  readonly mayBeSent: boolean;
}

const sending = new Set(["eth_sendRawTransaction", "eth_sendRawTransactionSync", "eth_sendTransaction"]);

/** A method of the node that could not be answered, and why. Recover with `Effect.catchReason`. */
export class RpcError extends derived<RpcError, Retryable>()(
  "RpcError",
  {
    /** The JSON-RPC method, e.g. `eth_call`. */
    method: Schema.String,
    /** Why it failed, as a tagged reason with its own facts. */
    reason: Reason,
  },
  {
    isRetryable: ({ reason }) => reason.advice.isRetryable,
    mayBeSent: ({ method }) => sending.has(method),
    statement: ({ method, reason: { statement } }) => ({
      ...statement,
      sentence: `${method}: ${statement.sentence}`,
    }),
  },
) {}
