/**
 * Text for people: amounts with their units, and strings from contracts and nodes made harmless.
 *
 * Whatever a contract or node wrote may carry terminal escapes, bidirectional overrides or
 * zero-width characters that make a prompt read differently from what it says; all of them are
 * shown as `\u{…}` and the length is bounded. The raw bytes stay where they came from.
 */

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

/** `0x1234…abcd`, for lines where the whole address stands elsewhere. */
export const shortAddress = (address: string): string =>
  address.length === 42 ? `${address.slice(0, 6)}…${address.slice(-4)}` : escapeText(address, 42);

/** An integer amount at `decimals`, exact: no rounding, no trailing zeros. */
export const formatUnits = (amount: bigint, decimals: number): string => {
  const negative = amount < 0n;
  const digits = (negative ? -amount : amount).toString().padStart(decimals + 1, "0");
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  const fraction = decimals === 0 ? "" : digits.slice(-decimals).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
};

const wholeEther = 10n ** 15n;
const wholeGwei = 10n ** 5n;

/**
 * Wei in the unit in which it reads best (ETH from 0.001, gwei from 0.0001, else wei), exact.
 * `symbol` names the chain's native currency; 18 decimals, as on every EVM chain.
 */
export const formatWei = (wei: bigint, symbol: string = "ETH"): string => {
  const size = wei < 0n ? -wei : wei;
  if (size === 0n) return `0 ${symbol}`;
  if (size >= wholeEther) return `${formatUnits(wei, 18)} ${symbol}`;
  if (size >= wholeGwei) return `${formatUnits(wei, 9)} gwei`;
  return `${wei} wei`;
};

/** A gas price: gwei with its unit, or wei when it would be too small to read. */
export const formatGasPrice = (weiPerGas: bigint): string =>
  weiPerGas === 0n ? "0 gwei" : formatWei(weiPerGas).replace(/ ETH$/, " ETH").concat(" per gas");

/** Gas with thousands separated: `21,000 gas`. */
export const formatGas = (gas: bigint): string => `${gas.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",")} gas`;

/** The three parts of every message: what happened, the numbers, what to do. */
export interface Parts {
  readonly verdict: string;
  readonly evidence: string;
  readonly remedy: string;
}

/** `verdict · evidence · remedy`, leaving out what is empty. */
export const sentence = ({ verdict, evidence, remedy }: Parts): string =>
  [verdict, evidence, remedy].filter((part) => part !== "").join(" · ");

/** `name value` pairs joined for the evidence of a message; what is null is left out. */
export const facts = (...pairs: ReadonlyArray<readonly [name: string, value: string | null]>): string =>
  pairs.flatMap(([name, value]) => (value === null ? [] : [name === "" ? value : `${name} ${value}`])).join(", ");

/** `format(value)`, or null where there is none: the companion of {@link facts}. */
export const maybe = <A>(value: A | null, format: (value: A) => string): string | null =>
  value === null ? null : format(value);
