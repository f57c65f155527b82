/** A node's answer to one question, or why there is none. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";
import { asking } from "../../eth/ask.js";
import type { Address } from "../../primitives/hex.js";
import type { StepName } from "../../primitives/names.js";
import type { Rpc } from "../../rpc/index.js";

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

/** Asks for each account, all at once, and returns answers by account; a missing one stands for itself. */
export const askEach = <A>(
  step: StepName,
  accounts: ReadonlyArray<Address>,
  ask: (account: Address) => Effect.Effect<A, never, Rpc>,
): Effect.Effect<ReadonlyMap<Address, A>, never, Rpc> => {
  const answers = Effect.forEach(
    accounts,
    (account) => Effect.map(ask(account), (answer) => [account, answer] as const),
    { concurrency: "unbounded" },
  );
  return asking(
    { step },
    Effect.map(answers, (all) => new Map(all)),
  );
};
