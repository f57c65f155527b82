/** What is wrong with a value that somebody handed in, as plain data: each floor makes its own error of it, and says what may have been meant. */
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

/** Longer names are no slip of anybody's. */
const mostLetters = 40;

/** How many letters have to be put in, left out or changed to make one of the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const above = row;
    row = [i + 1];
    for (let j = 1; j <= b.length; j++)
      row.push(
        Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1)),
      );
  }
  return row[b.length] ?? 0;
};

/** As many letters may be off as a word of this length can spare. */
type Slips = (length: number) => number;
const fewSlips: Slips = (length) => (length < 3 ? 0 : length < 5 ? 1 : 2);

/** The name that was probably meant: a few letters off, or part of the other; null where none comes near. */
export const nearest = (word: string, names: ReadonlyArray<string>, slips = fewSlips): string | null => {
  if (word.length > mostLetters) return null;
  const lower = word.toLowerCase();
  const ranked = names
    .map((name) => {
      const other = name.toLowerCase();
      const isPart = other.length >= 3 && lower.length >= 3 && (lower.includes(other) || other.includes(lower));
      return { name, off: isPart ? 1 : distance(lower, other) };
    })
    .filter(({ off }) => off <= slips(lower.length))
    .sort((a, b) => a.off - b.off);
  return ranked[0]?.name ?? null;
};

/** `; did you mean …?`, or nothing. */
export const didYouMean = (word: string, names: ReadonlyArray<string>, slips?: Slips): string => {
  const name = nearest(word, names, slips);
  return name === null ? "" : `; did you mean ${name}?`;
};
