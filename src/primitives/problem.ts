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

/** What is wrong with a text that is no address. */
export const addressProblem = (value: string): string =>
  /^[^\s.]+(?:\.[^\s.]+)+$/.test(value)
    ? "is a name, and names are not resolved here; give the address, 20 bytes of hex with 0x"
    : "must be 20 bytes of hex with 0x";

/** Every value read, up to the first that is wrong. */
export const each = <A, B>(
  values: ReadonlyArray<A>,
  read: (value: A, index: number) => Checked<B>,
): Checked<ReadonlyArray<B>> => {
  const kept: Array<B> = [];
  for (const [index, value] of values.entries()) {
    const checked = read(value, index);
    if (Result.isFailure(checked)) return Result.fail(checked.failure);
    kept.push(checked.success);
  }
  return Result.succeed(kept);
};

/** `field` is wrong. */
export const no = (field: string, problem: string): Result.Result<never, Problem> => Result.fail({ field, problem });
