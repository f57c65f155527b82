/** What a node answered to one question: the answer, or why there is none. */
import * as Result from "effect/Result";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";

/** Why there is no answer: the request failed, or the node judged what it was asked about. */
export type Failure = RpcError | Verdict;

/** An answer, or why there is none. */
export type Heard<A> = Result.Result<A, Failure>;

/** The answer; null where there is none, or nobody asked. */
export const successOf = <A>(heard: Heard<A> | null | undefined): A | null =>
  heard != null && Result.isSuccess(heard) ? heard.success : null;

/** Why there is no answer; null where there is one, or nobody asked. */
export const failureOf = (heard: Heard<unknown> | null | undefined): Failure | null =>
  heard != null && Result.isFailure(heard) ? heard.failure : null;
