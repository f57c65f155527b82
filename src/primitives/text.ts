/**
 * Strings from contracts and nodes made harmless, for people to read.
 *
 * Whatever a contract or node wrote may carry terminal escapes, bidirectional overrides or
 * zero-width characters that make a prompt read differently from what it says; all of them are
 * shown as `\u{…}` and the length is bounded. The raw bytes stay where they came from.
 */

import { checksum } from "./bytes.js";
import { isAddress } from "./hex.js";

// Control and format characters, surrogates, separators and whatever Unicode shows as nothing (soft hyphens, marks of
// direction, fillers, variation selectors, tags); and what only looks empty: thin spaces, the Braille blank, specials.
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u202f\u205f\u2800\ufff0-\uffff]/gu;

const escapeOne = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16) ?? "fffd"}}`;

/** The default bound on a quoted string, in characters. */
const quoteLimit = 256;

/**
 * `text` with every invisible or direction-changing character escaped, at most `limit` characters
 * of the original followed by how many were cut.
 */
export const escapeText = (text: string, limit: number = quoteLimit): string => {
  const head = text.length > limit ? text.slice(0, limit) : text;
  const cut = text.length - head.length;
  const escaped = head.replace(hidden, escapeOne);
  return cut === 0 ? escaped : `${escaped}… (+${cut} characters)`;
};

// Hebrew, Arabic and their extensions: right-to-left letters reorder the numbers around them.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu;

/**
 * Returns a token's name for itself, so that it cannot pass for anything else on its line: plain when it is a short
 * ASCII word, quoted and escaped otherwise; null where it says nothing.
 */
export const symbolText = (
  token: { readonly name: string | null; readonly symbol: string | null } | null,
): string | null => {
  const symbol = token?.symbol ?? token?.name ?? null;
  if (symbol === null || symbol === "") return null;
  if (/^[A-Za-z0-9$][A-Za-z0-9$._+-]{0,15}$/.test(symbol)) return symbol;
  const text = escapeText(symbol.replace(rightToLeft, escapeOne), 96);
  // why: a backslash in front of a quotation mark would free it
  return `"${text.replace(/(\\*)("|$)/g, (_, slashes: string, end: string) => slashes + slashes + (end && '\\"'))}"`;
};

/** True of a name as a compiler writes it, which can pass for nothing else in a call. */
export const isIdentifier = (name: unknown): boolean => typeof name === "string" && /^[\w$]*$/.test(name);

/** A chain's name: plain where it can pass for nothing else, else in quotation marks; null where there is none. */
export const chainText = (name: string | null): string | null =>
  name === null || /^[A-Za-z][A-Za-z0-9 .()-]{0,39}$/.test(name) ? name : `"${escapeText(name, 40)}"`;

/** More decimals than any token has; beyond, only smallest units are shown. */
const maxDecimals = 77;

/** A token's decimals, where it gives a number that can be one. */
export const shownDecimals = (token: { readonly decimals: number | null } | null): number | null => {
  const decimals = token?.decimals ?? null;
  return decimals === null || decimals < 0 || decimals > maxDecimals ? null : decimals;
};

/** `data` shortened for a sentence: its first bytes and its length. */
export const shortHex = (data: string, bytes: number = 36): string => {
  const size = Math.max(0, (data.length - 2) >> 1);
  return size <= bytes ? escapeText(data) : `${escapeText(data.slice(0, 2 + bytes * 2))}… (${size} bytes)`;
};

/** Somebody else's words in quotation marks that nothing inside can close. */
export const quoteText = (text: string, limit: number = quoteLimit): string =>
  `"${escapeText(text.slice(0, limit).replace(/["\\]/g, "\\$&"), limit * 2)}${text.length > limit ? `… (+${text.length - limit} characters)` : ""}"`;

/** The address with its checksum, or escaped when it is none. */
export const checksummed = (address: string): string =>
  isAddress(address) ? checksum(address) : escapeText(address, 64);

/** `0x1234…abcd`, for lines where the whole address stands elsewhere. */
export const shortAddress = (address: string): string =>
  address.length === 42 ? `${address.slice(0, 6)}…${address.slice(-4)}` : escapeText(address, 42);
