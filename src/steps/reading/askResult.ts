/** What a node answered to one question: the answer, or why there is none. */
import * as Result from "effect/Result";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";

/** Why there is no answer: the request failed, or the node judged what it was asked about. */
export type Failure = RpcError | Verdict;

/** An answer, or why there is none. */
export type AskResult<A> = Result.Result<A, Failure>;

/** The answer; null where there is none, or nobody asked. */
export const successOf = <A>(result: AskResult<A> | null | undefined): A | null =>
  result != null && Result.isSuccess(result) ? result.success : null;

/** Why there is no answer; null where there is one, or nobody asked. */
export const failureOf = (result: AskResult<unknown> | null | undefined): Failure | null =>
  result != null && Result.isFailure(result) ? result.failure : null;
