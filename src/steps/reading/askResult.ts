/** A node's answer to one question, or why there is none. */
import * as Arr from "effect/Array";
import * as Result from "effect/Result";
import type { Failure } from "../../eth/ask.js";
import { asked, each, mapped, type Ask } from "../../eth/round.js";
import type { Address } from "../../primitives/hex.js";
import type { StepName } from "../../primitives/names.js";

export type { Failure } from "../../eth/ask.js";

/** An answer, or why there is none. */
export type AskResult<A> = Result.Result<A, Failure>;

/** The answer; null where there is none, or nobody asked. */
export const successOf = <A>(result: AskResult<A> | null | undefined): A | null =>
  result != null && Result.isSuccess(result) ? result.success : null;

/** Why there is no answer; null where there is one, or nobody asked. */
export const failureOf = (result: AskResult<unknown> | null | undefined): Failure | null =>
  result != null && Result.isFailure(result) ? result.failure : null;

/** Asks for each account, all at once, and returns answers by account; a missing one stands for itself. */
export const askEach = <A>(step: StepName, accounts: ReadonlyArray<Address>, askOf: (account: Address) => Ask<A>) =>
  asked(
    { step },
    mapped(each(accounts, askOf), (answers) => new Map(Arr.zip(accounts, answers))),
  );
