/** A problem of a given value, as plain data: each floor makes its own error of it, and says what may be meant. */
import * as Iterable from "effect/Iterable";
import * as Result from "effect/Result";
import { isChecksummed } from "./bytes.js";
import { isAddress, isHash, isHex, type Address, type Hash, type Hex } from "./hex.js";
import { isRecord, safely } from "./record.js";
import { escapeText } from "./text.js";
import { maxUint256 } from "./units.js";

/** A wrong value. */
export interface Problem {
  /** Path of the value, e.g. `to`, `[1].args[0]`. */
  readonly field: string;
  /** The problem with it. */
  readonly problem: string;
}

/** A value that was looked at, or what is wrong with it. */
export type Checked<A> = Result.Result<A, Problem>;

/** Says what is wrong with a text that is no address. */
export const addressProblem = (value: string): string =>
  /^[^\s.]+(?:\.[^\s.]+)+$/.test(value)
    ? "is a name, and names are not resolved here; give the address, 20 bytes of hex with 0x"
    : "must be 20 bytes of hex with 0x";

/** Every value read, up to the first that is wrong. */
export const each = <A, B>(values: ReadonlyArray<A>, read: (value: A, index: number) => Checked<B>) =>
  Result.all(Iterable.map(values, read));

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
const fewSlips = (length: number): number => (length < 3 ? 0 : length < 5 ? 1 : 2);

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
export const didYouMean = (word: string, names: ReadonlyArray<string>, slips?: typeof fewSlips): string => {
  const name = nearest(word, names, slips);
  return name === null ? "" : `; did you mean ${name}?`;
};

/** Refuses the first field that is not among `names`; one that is undefined is absent. `what`: "an option"; `at`: the path in front of the field's name. */
export const onlyHas = (input: object, names: ReadonlyArray<string>, what: string, at = ""): Checked<void> => {
  const [name] = Object.entries(input).find(([key, value]) => value !== undefined && !names.includes(key)) ?? [];
  return name === undefined ? Result.void : no(at + escapeText(name, 80), `is not ${what}${didYouMean(name, names)}`);
};

/* One value of the input at a time: what it must be, or what is wrong with it. Pure, and never throws. */

/** Reads one value; `field` is its path, for complaints. */
export type Read<A> = (value: unknown, field: string) => Checked<A>;

/** Counts above this are nonsense, and arithmetic on them stays exact. */
const mostNonce = 2 ** 52;
/** EIP-2681: the nonce 2^64 − 1 cannot be used. */
const maxNonce = 2n ** 64n - 1n;
/** Nodes refuse larger requests long before; protects the process that embeds us. */
const maxDataBytes = 4 * 1024 * 1024;

const kind = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return value === undefined ? "nothing" : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
};

/** True if the caller said anything. */
export const given = (value: unknown): boolean => value !== undefined && value !== null;

export const address: Read<Address> = (value, field) => {
  if (typeof value !== "string") return no(field, `must be an address, got ${kind(value)}`);
  if (!isAddress(value)) return no(field, addressProblem(value));
  const digits = value.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (mixed && !isChecksummed(value))
    return no(field, "the checksum of the address is wrong (EIP-55); a digit may be mistyped");
  return Result.succeed(value.toLowerCase() as Address);
};

export const bytes: Read<Hex> = (value, field) => {
  if (typeof value !== "string") return no(field, `must be hex bytes, got ${kind(value)}`);
  if (!value.startsWith("0x")) return no(field, "must start with 0x");
  if (value.length % 2 !== 0) return no(field, "has an odd number of hex digits");
  if (value.length > 2 + maxDataBytes * 2) return no(field, `is larger than ${maxDataBytes} bytes`);
  return isHex(value) ? Result.succeed(value) : no(field, "has characters that are not hex");
};

export const hash: Read<Hash> = (value, field) =>
  isHash(value) ? Result.succeed(value) : no(field, "must be 32 bytes of hex with 0x");

/** A bigint that counts `unit`. */
export const uint =
  (unit: string, max: bigint = maxUint256): Read<bigint> =>
  (value, field) => {
    if (typeof value !== "bigint") return no(field, `must be a bigint in ${unit}, got ${kind(value)}`);
    if (value < 0n) return no(field, "must not be negative");
    if (value > max) return no(field, max === maxUint256 ? "does not fit uint256" : `is above ${max}`);
    return Result.succeed(value);
  };

export const integer =
  (max: number = Number.MAX_SAFE_INTEGER): Read<number> =>
  (value, field) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max
      ? Result.succeed(value)
      : no(field, `must be a whole number from 0 to ${max}`);

export const nonce: Read<number> = (value, field) => {
  const isNumber = typeof value === "bigint" || typeof value === "number";
  if (isNumber && value >= maxNonce) return no(field, "the nonce is at its maximum (EIP-2681)");
  if (isNumber && value > mostNonce) return no(field, "is above what any account has used (2^52)");
  return integer()(typeof value === "bigint" ? Number(value) : value, field);
};

/** The same, of no longer lists than anybody needs: a longer one would hold the process up. */
export const bounded =
  <A>(read: Read<A>): Read<A> =>
  (value, field) =>
    Array.isArray(value) && value.length > 20_000 ? no(field, "has more than 20,000 entries") : read(value, field);

/** A list of at least `least` entries, each read by `read`. */
export const listOf = <A>(read: Read<A>, least: number = 0): Read<ReadonlyArray<A>> =>
  bounded((value, field) => {
    if (!Array.isArray(value)) return no(field, `must be an array, got ${kind(value)}`);
    if (value.length < least) return no(field, "must not be empty");
    return each(value, (entry: unknown, index) => read(entry, `${field}[${index}]`));
  });

export const record: Read<Readonly<Record<string, unknown>>> = (value, field) =>
  isRecord(value) ? Result.succeed(value) : no(field, `must be an object, got ${kind(value)}`);

const fits = { "a list": Array.isArray, "an object": isRecord } as const;

/** Parts that every report has, and what each must be; what holds others comes before them. */
const parts: ReadonlyArray<readonly [path: string, what: keyof typeof fits]> = [
  ...["transactions", "carriers", "findings", "funds"].map((name) => [name, "a list"] as const),
  ...["observed", "options", "steps"].map((name) => [name, "an object"] as const),
  ...["steps.with", "steps.without"].map((name) => [name, "a list"] as const),
];

const partAt = (input: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce(
      (value, name): unknown => (typeof value === "object" && value !== null ? Reflect.get(value, name) : null),
      input,
    );

/** The problem with a report whose parts are not what they are in one. */
export const notWhole: Problem = {
  field: "report",
  problem: "has parts that no report has; one that was JSON is read by Report.fromJson",
};

const reportParts = (input: unknown): Problem | null => {
  if (!isRecord(input)) return { field: "report", problem: "must be a report" };
  const [name, what] = parts.find(([path, what]) => !fits[what](partAt(input, path))) ?? [];
  if (name !== undefined) return { field: `report.${name}`, problem: `must be ${what}: give a whole report` };
  // why: JSON has no bigints, and of texts in their place every sum and comparison would be wrong
  const isText = ["transactions", "carriers"].some(
    (name) => typeof partAt(input, `${name}.0.input.value`) === "string",
  );
  return isText ? notWhole : null;
};

/** Finds what is wrong with a report by its parts; null where it has them all; their content is judged where used. */
export const reportProblem = (input: unknown): Problem | null =>
  safely(() => reportParts(input), { field: "report", problem: "cannot be read" });
