/**
 * The one reader of words. Bytes are a text of hex digits, and a place in them is the number of a digit: calldata's
 * arguments begin at {@link argumentsAt}, all other data at {@link dataAt}. What does not lie within the bytes as a whole
 * is null, and so is all that it would lead to: nothing throws, and nothing is padded but what {@link padded} is asked for.
 */
import type { Address, Hash, Hex } from "../primitives/hex.js";

/** Digits of a word of 32 bytes. */
export const wordDigits = 64;
/** The place behind `0x`. */
export const dataAt = 2;
/** The place behind `0x` and the selector. */
export const argumentsAt = 10;

/** Calldata with at least so many words of arguments: the EVM reads zeros behind its end, and old contracts ask for no more. */
export const padded = (data: string, words: number): string => data.padEnd(argumentsAt + words * wordDigits, "0");

/** The number of a digit; null = there is none. */
type Digit = number | null;

/** The place of a word, counted from the first. */
export const placeOf = (index: number, start: Digit = argumentsAt): Digit =>
  start === null ? null : start + index * wordDigits;

/** The digits of the word at a place. */
export const digitsAt = (bytes: string, at: Digit): string | null => {
  const digits = at === null ? "" : bytes.slice(at, at + wordDigits);
  return digits.length === wordDigits ? digits : null;
};

/** The word at a place as a number. */
export const wordAt = (bytes: string, at: Digit): bigint | null =>
  at !== null && at >= 0 && at + wordDigits <= bytes.length ? BigInt(`0x${bytes.slice(at, at + wordDigits)}`) : null;

/** The words of data, one after another from a place on, at most so many; a part of one at the end is none. */
export const wordsFrom = (
  bytes: string,
  start: number = dataAt,
  limit: number = Number.POSITIVE_INFINITY,
): ReadonlyArray<bigint> => {
  const words: Array<bigint> = [];
  for (let at = start; at + wordDigits <= bytes.length && words.length < limit; at += wordDigits)
    words.push(BigInt(`0x${bytes.slice(at, at + wordDigits)}`));
  return words;
};

/** The zero address. */
export const nobody: Address = `0x${"0".repeat(40)}`;

/** True if an address is nobody's: what comes from there is made, what goes there is gone. */
export const isNobody = (address: string): boolean => address.toLowerCase() === nobody;

/** Addresses that nobody has a key of, and that people send to what shall be gone. */
const burnAddresses: ReadonlySet<string> = new Set([
  nobody,
  "0x000000000000000000000000000000000000dead",
  "0xdead000000000000000042069420694206942069",
  `0x${"f".repeat(40)}`,
]);

/** True if what goes there is gone. */
export const isBurning = (address: string): boolean => burnAddresses.has(address.toLowerCase());

/** The low 20 bytes: the upper ones may be dirty. */
export const addressOf = (word: bigint): Address => `0x${BigInt.asUintN(160, word).toString(16).padStart(40, "0")}`;

/** A number below 2^256 as a word. */
export const wordOf = (value: bigint | number): Hash => `0x${value.toString(16).padStart(wordDigits, "0")}`;

/** The address that a word's low 20 bytes are, in lower case. */
export const addressAt = (bytes: string, at: Digit): Address | null => {
  const digits = digitsAt(bytes, at);
  return digits === null ? null : `0x${digits.slice(24).toLowerCase()}`;
};

/**
 * The addresses that words from a place on may be: the high bytes are zero, and not so many digits that it is an amount,
 * `zeros` of them. The last word may end early.
 */
export function* addressesFrom(bytes: string, start: number, zeros: number = 32): Generator<Address> {
  for (let at = start; at < bytes.length; at += wordDigits)
    if (bytes.startsWith("0".repeat(24), at) && !"0".repeat(zeros).startsWith(bytes.slice(at, at + zeros)))
      yield `0x${bytes
        .slice(at + 24, at + wordDigits)
        .toLowerCase()
        .padEnd(40, "0")}`;
}

/** The word at a place as a count; null also where it is more than there is of anything. */
export const countAt = (bytes: string, at: Digit): number | null => {
  const digits = digitsAt(bytes, at);
  return digits?.startsWith("0".repeat(54)) === true ? Number.parseInt(digits.slice(54), 16) : null;
};

/** The place that the word at `at` points to, counted from `base`. */
export const pointedAt = (bytes: string, at: Digit, base: Digit): Digit => {
  const offset = countAt(bytes, at);
  return offset === null || base === null ? null : base + offset * 2;
};

/** The `bytes` whose length stands at a place. */
export const bytesAt = (bytes: string, at: Digit): Hex | null => {
  const [size, start] = [countAt(bytes, at), placeOf(1, at)];
  if (size === null || start === null) return null;
  const end = start + size * 2;
  return end > bytes.length ? null : `0x${bytes.slice(start, end)}`;
};

/** The numbers of a list whose length stands at a place; null where not all of them do. */
export const numbersAt = (bytes: string, at: Digit): ReadonlyArray<bigint> | null => {
  const [length, start] = [countAt(bytes, at), placeOf(1, at)];
  if (length === null || start === null || start + length * wordDigits > bytes.length) return null;
  return wordsFrom(bytes, start, length);
};

/** The places to which the items of a list point, whose length stands at `list`; one at a time, for there may be any number. */
export function* itemsAt(bytes: string, list: Digit): Generator<Digit> {
  const [length, first] = [countAt(bytes, list), placeOf(1, list)];
  if (length === null || first === null) return yield null;
  const end = first + length * wordDigits;
  for (let at = first; at < end && at < bytes.length; at += wordDigits) yield pointedAt(bytes, at, first);
  if (end > bytes.length) yield null;
}

/** The kind of event: its first topic's first 8 bytes. Whoever searched for a like one could emit the event itself. */
export const eventOf = ({ topics: [signature] }: { readonly topics: ReadonlyArray<string> }): string | undefined =>
  signature?.slice(0, 18);

/** The first values of a log, indexed or not: their order is the same. */
export const valuesOf = (
  { topics, data }: { readonly topics: ReadonlyArray<string>; readonly data: Hex },
  limit: number,
): ReadonlyArray<bigint> => {
  const indexed = topics.slice(1, 1 + limit).map((word) => BigInt(word));
  return [...indexed, ...wordsFrom(data, dataAt, limit - indexed.length)];
};

/** The role of each value, in the order of the values; null = nothing that is read. */
export type Roles<Role extends string> = ReadonlyArray<Role | null>;

/** The value that has a role; null where none has. */
export const valueBy =
  <Role extends string>(roles: Roles<Role>, values: ReadonlyArray<bigint>) =>
  (role: Role): bigint | null =>
    values[roles.indexOf(role)] ?? null;
