/** Reading evidence from a node's words, and building the typed answers. Rules are in the sibling files. */
import * as Rows from "effect/Record";
import type { Address } from "../../primitives/hex.js";
import type { Flat } from "../flatten.js";
import { type LogRangeTooLarge, RpcError, type Reason } from "../rpc.js";
import { escapeText } from "../../primitives/text.js";
import { InsufficientFunds, NonceTooHigh, NonceTooLow, type Verdict } from "../verdicts.js";

/** One node family's reading of an answer: one typed error, or undefined where it does not know the words. Pure and total. */
export type Dialect = (flat: Flat) => RpcError | Verdict | undefined;

/** The first answer that `read` has to one of a list; undefined where it has none. */
export const firstOf = <A, B>(all: ReadonlyArray<A>, read: (one: A) => B | null | undefined): B | undefined => {
  for (const one of all) {
    const answer = read(one);
    if (answer !== undefined && answer !== null) return answer;
  }
  return undefined;
};

/** The first match of `pattern` over all texts, outermost first. */
export const match = (flat: Flat, pattern: RegExp): RegExpExecArray | null =>
  firstOf(flat.texts, (text) => pattern.exec(text)) ?? null;

/** True if any text matches. */
export const says = (flat: Flat, pattern: RegExp): boolean => match(flat, pattern) !== null;

/** Any of these phrases, in whatever case. */
export const anyOf = (...phrases: ReadonlyArray<RegExp>): RegExp =>
  new RegExp(phrases.map(({ source }) => source).join("|"), "i");

/** Words, and what they mean: by what was matched, and by the whole answer. */
export type Wording = readonly [words: RegExp, meaning: (found: RegExpExecArray, flat: Flat) => ReturnType<Dialect>];

/** A dialect by rules: the first whose words are said and mean something. */
export const byRules =
  (...rules: ReadonlyArray<Wording>): Dialect =>
  (flat) =>
    firstOf(rules, ([words, meaning]) => {
      const found = match(flat, words);
      return found === null ? undefined : meaning(found, flat);
    });

/** A decimal or hex integer of at most 256 bits as nodes write it (`10,000`, `0x2`, `5k`); null otherwise. */
export const quantity = (text: unknown): bigint | null => {
  if (typeof text === "number") return Number.isSafeInteger(text) && text >= 0 ? BigInt(text) : null;
  if (typeof text !== "string") return null;
  const plain = text.trim().replace(/(?<=\d)[,_](?=\d{3})/g, "");
  const thousands = /^(\d{1,12})k$/i.exec(plain)?.[1];
  if (thousands !== undefined) return BigInt(thousands) * 1000n;
  return /^(?:\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(plain) ? BigInt(plain) : null;
};

/** The first group of the first pattern that finds a quantity. */
export const amountIn = (flat: Flat, ...patterns: ReadonlyArray<RegExp>): bigint | null =>
  firstOf(patterns, (pattern) => quantity(match(flat, pattern)?.[1])) ?? null;

const addressPattern = /\b(?:address|sender|account|from)\b:?\s+(0x[0-9a-fA-F]{40})\b/i;

/** The account that the words name. */
export const accountIn = (flat: Flat): Address | null => {
  const found = match(flat, addressPattern)?.[1];
  // the pattern is the address schema's own
  return found === undefined ? null : (found as Address);
};

/** `(supplied gas N)` or `failed with N gas`: the gas that the node itself used in its check. */
export const supplied = [/\(supplied gas (\d+)\)/i, /failed with (\d+) gas/i];
export const suppliedGas = (flat: Flat): bigint | null => amountIn(flat, ...supplied);

/** A library's name for an error, which is no word of the node: `HttpRequestError`, `ECONNRESET`. */
const libraryName = /^(?:[A-Z][A-Za-z0-9]*Error|[A-Z][A-Z0-9_]+)$/;

const detailOf = (texts: ReadonlyArray<string>): string => {
  const words = texts.filter((text) => !libraryName.test(text));
  return escapeText([...new Set(words.length > 0 ? words : texts)].slice(0, 3).join(": "), 512);
};

/** Returns the parts of the answer that every reason keeps. */
export const answerOf = (flat: Flat) => ({
  detail: detailOf(flat.texts),
  httpStatus: flat.httpStatus,
  code: flat.codes[0] ?? null,
  raw: flat.raw,
});

/** A failed request. */
export const failed = (flat: Flat, reason: Reason): RpcError => new RpcError({ method: flat.method, reason });

/** A failed request, for a reason that is made of the answer alone. */
export const failedBy = (flat: Flat, reason: new (answer: ReturnType<typeof answerOf>) => Reason): RpcError =>
  failed(flat, new reason(answerOf(flat)));

/** Reads words that tell of nothing but a reason. */
export const means =
  (reason: Parameters<typeof failedBy>[1]): Wording[1] =>
  (_, flat) =>
    failedBy(flat, reason);

/** Reads words whose groups are the fields of a verdict, in this order. */
export const verdictBy =
  <Name extends string = never>(
    verdict: new (fields: { readonly [K in NoInfer<Name>]?: bigint | null } & Pick<Flat, "raw">) => Verdict,
    ...names: ReadonlyArray<Name>
  ): Wording[1] =>
  ([, ...groups], { raw }) => {
    const fields: { [K in Name]?: bigint | null } = {};
    for (const [index, name] of names.entries()) fields[name] = quantity(groups[index]);
    return new verdict({ ...fields, raw });
  };

/** Reads words that tell a verdict's amounts anywhere: each is what the first of its patterns finds. */
export const verdictIn =
  <Name extends string>(
    verdict: Parameters<typeof verdictBy<Name>>[0],
    amounts: Readonly<Record<Name, ReadonlyArray<RegExp>>>,
  ): Wording[1] =>
  (_, flat) =>
    new verdict({ ...Rows.map(amounts, (patterns) => amountIn(flat, ...patterns)), raw: flat.raw });

/** A nonce below or above the next one. */
export const wrongNonce = (flat: Flat, isLow: boolean, nonce: bigint | null = null, next: bigint | null = null) =>
  new (isLow ? NonceTooLow : NonceTooHigh)({ account: accountIn(flat), nonce, next, raw: flat.raw });

/** A payer who has less than is wanted, as far as the words tell. */
export const cannotPay = (
  flat: Flat,
  have: bigint | null,
  want: bigint | null,
  more: ConstructorParameters<typeof InsufficientFunds>[0] = {},
): InsufficientFunds => {
  const shortfall = have === null || want === null || want < have ? null : want - have;
  return new InsufficientFunds({ have, want, raw: flat.raw, ...more, shortfall: shortfall ?? more.shortfall ?? null });
};

/** A range of blocks from two quantities; null when they are no range. */
export const blockRange = (from: unknown, to: unknown): LogRangeTooLarge["suggested"] => {
  const [first, last] = [quantity(from), quantity(to)];
  return first === null || last === null || first > last ? null : { from: first, to: last };
};

/** By the beginning of their names, ms; bare numbers are seconds. */
const units = [
  ["ms", 1],
  ["milli", 1],
  ["m", 60_000],
  ["h", 3_600_000],
  ["s", 1_000],
] as const;

/** A delay as nodes write it (`4ms`, `1.5s`, `30`, `2 seconds`), in ms; bare numbers are seconds. At most a day. */
export const delayMs = (text: string | null | undefined): number | null => {
  const found = /^\s*(\d{1,9}(?:\.\d{1,6})?)\s*(ms|milli\w*|s\b|sec\w*|m\b|min\w*|h\b|hours?)?/i.exec(text ?? "");
  if (found === null) return null;
  const unit = (found[2] ?? "s").toLowerCase();
  const [, scale = 1_000] = units.find(([name]) => unit.startsWith(name)) ?? [];
  return Math.min(Math.ceil(Number(found[1]) * scale), 86_400_000);
};
