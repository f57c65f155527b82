/** Two values of one fact side by side, for people: amounts with their symbol and decimals, parties by their names. Pure. */
import { maxUint256 } from "viem";
import { differenceText, subjectText, type OutcomeDifference } from "../primitives/difference.js";
import { escapeText } from "../primitives/text.js";
import { formatGas, formatGasPrice } from "../primitives/units.js";
import { amountInSentence, nativeForPeople, type Rounding } from "./amounts.js";
import type { Counted, Difference } from "./diff.js";
import type { Report } from "./schema.js";
import { namesFor, type AmountOptions } from "./summary.js";
import { decimalsOf, type Names } from "./tokens.js";

/** More of a text that is no amount than anybody reads beside another. */
const mostText = 512;

/** No amount, but a number that nobody reads. */
const vast = 10n ** 100n;

const amountText = (amount: bigint, unit: Counted, rounding: Rounding, names: Names): string => {
  if (unit === null || unit === "count") return String(amount);
  if (unit === "gas") return formatGas(amount);
  if (unit === "wei") return nativeForPeople(amount, rounding, names);
  if (typeof unit === "string") return formatGasPrice(amount, names.native);
  const { token, tokenId } = unit;
  if (token === null) return nativeForPeople(amount, rounding, names);
  if (amount === maxUint256) return "unlimited";
  // why: rights and NFTs that are there or not are counted so
  const isFlag = decimalsOf(names, token) === null && (amount === 0n || amount === 1n);
  return tokenId !== null || isFlag ? String(amount) : amountInSentence(names, unit, amount, rounding);
};

type Value = bigint | string | null;
type Pair = readonly [one: string, other: string];

/** Two values of one fact: both rounded where they can still be told apart, else both exact. */
export const valuesForPeople = (
  [one, other]: readonly [one: Value, other: Value],
  unit: Counted,
  isHeld: boolean,
  names: Names,
): Pair => {
  const text = (value: Value, by: Names): string =>
    typeof value !== "bigint" || value > vast || value < -vast
      ? escapeText(String(value ?? "none"), mostText)
      : // why: what may be spent is rounded up, what is there down
        amountText(value, unit, isHeld && value > 0n ? "down" : "up", by);
  const shown = (by: Names): Pair => [text(one, by), text(other, by)];
  const [here, there] = shown(names);
  const isTold = here.replaceAll("≈", "") !== there.replaceAll("≈", "");
  return isTold ? [here, there] : shown({ ...names, exact: true });
};

const addresses = /0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g;

/** Somebody's text with every address checksummed, and `you` for the reader's own. */
export const named = (text: string, names: Names): string => text.replace(addresses, names.whole);

/** A difference with its amounts readable. */
export const differenceForPeople = (difference: OutcomeDifference, names: Names): string =>
  differenceText(difference, names.whole, ({ kind, unit, a, b }) =>
    valuesForPeople([a ?? 0n, b ?? 0n], unit, kind === "balance", names),
  );

const labelOf = ({ kind, transaction, account, to, unit, what }: Difference, names: Names): string => {
  if (typeof unit === "object" && (kind === "balance" || kind === "approval"))
    return subjectText({ kind, transaction, event: null, account, to, unit, what }, names.whole);
  const at = transaction === null ? "" : `transaction ${transaction + 1}, `;
  return `${at}${what}${account === null ? "" : ` of ${names.whole(account)}`}`;
};

/**
 * Differences of reports in words, a line each: amounts as {@link AmountOptions} say, by the symbols and decimals that
 * `report` knows. Of `Moved`, its `diff` and its `report`. Escaped and bounded; the {@link Difference} itself is exact.
 */
export const diffText = (
  differences: ReadonlyArray<Difference>,
  report: Report,
  options: AmountOptions = {},
): string => {
  const names = namesFor(report, options);
  return differences
    .map((one) => {
      const { kind, unit, before, after } = one;
      const isHeld = kind === "balance" || kind === "holding";
      const values = valuesForPeople([before, after], unit, isHeld, names);
      return `${escapeText(labelOf(one, names), mostText)}: ${values.join(" → ")}`;
    })
    .join("\n");
};
