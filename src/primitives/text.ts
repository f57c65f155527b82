/**
 * Strings from contracts and nodes made harmless, for people to read.
 *
 * Whatever a contract or node wrote may carry terminal escapes, bidirectional overrides or
 * zero-width characters that make a prompt read differently from what it says; all of them are
 * shown as `\u{…}` and the length is bounded. The raw bytes stay where they came from.
 */

import { getAddress, isAddress } from "viem";

// C0, C1, soft hyphen, Arabic letter mark, Hangul/Khmer fillers, Mongolian separators, zero-width and bidi marks,
// line/paragraph separators, invisible operators, variation selectors, BOM, interlinear marks, tags, lone surrogates.
const hidden =
  // eslint-disable-next-line no-control-regex
  /[\u034f\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\uffff\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0f]|\p{Cs}/gu;

const escapeOne = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16) ?? "fffd"}}`;

/** The default bound on a quoted string, in characters. */
export const quoteLimit = 256;

/**
 * `text` with every invisible or direction-changing character escaped, at most `limit` characters
 * of the original followed by how many were cut.
 */
export const escapeText = (text: string, limit: number = quoteLimit): string => {
  const kept = text.length > limit ? text.slice(0, limit) : text;
  const cut = text.length - kept.length;
  const shown = kept.replace(hidden, escapeOne);
  return cut === 0 ? shown : `${shown}… (+${cut} characters)`;
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
  isAddress(address, { strict: false }) ? getAddress(address) : escapeText(address, 64);

/** `0x1234…abcd`, for lines where the whole address stands elsewhere. */
export const shortAddress = (address: string): string =>
  address.length === 42 ? `${address.slice(0, 6)}…${address.slice(-4)}` : escapeText(address, 42);
