/** What is wrong with a value that somebody handed in, as plain data: each floor makes its own error of it. */
import * as Result from "effect/Result";

/** A wrong value. */
export interface Problem {
  /** Path of the value, e.g. `to`, `[1].args[0]`. */
  readonly field: string;
  /** What is wrong with it. */
  readonly problem: string;
}

/** A value that was looked at, or what is wrong with it. */
export type Checked<A> = Result.Result<A, Problem>;

/** `field` is wrong. */
export const no = (field: string, problem: string): Result.Result<never, Problem> => Result.fail({ field, problem });
