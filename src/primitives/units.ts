/** Amounts with their units, as people read them. Exact; only {@link roundUnits} rounds, and says so. */

import { format as formatUnits } from "ox/Value";

/** The largest amount that there is: of an approval it means no limit. */
export const maxUint256 = 2n ** 256n - 1n;

/** How much it is, whichever way. */
export const sizeOf = (amount: bigint): bigint => (amount < 0n ? -amount : amount);

/** An integer amount at `decimals`, exact: no rounding, no trailing zeros. */
export { formatUnits };

/** A count with thousands separated: `21,000`. */
export const grouped = (count: bigint): string => {
  // why: not by the engine, for some have no Intl, and a report reads the same everywhere
  const digits = String(sizeOf(count));
  const first = digits.length % 3 || 3;
  const groups = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3));
  return `${count < 0n ? "-" : ""}${groups.join(",")}`;
};

/** Significant digits that people are shown. */
const shownDigits = 6;
/** A number with more digits before the point is shown by its first ones and a power of ten. */
const mostWhole = 18;

/**
 * An amount at `decimals` for people: six significant digits, no whole digit dropped, thousands separated;
 * `1.15792 × 10^59` beyond 18 whole digits. `up` rounds away from zero, false towards it, null not at all below those. Negative
 * amounts by their size, with a sign. `isExact`: nothing was rounded.
 */
export const roundUnits = (amount: bigint, decimals: number, up: boolean | null) => {
  const size = sizeOf(amount);
  const digits = size.toString().length;
  const whole = digits - decimals;
  const isVast = whole > mostWhole;
  const droppedDigits =
    up === null && !isVast ? 0 : Math.max(0, digits - (isVast ? shownDigits : Math.max(shownDigits, whole)));
  const unit = 10n ** BigInt(droppedDigits);
  const rounded = size / unit + (up !== false && size % unit !== 0n ? 1n : 0n);
  const isExact = rounded * unit === size;
  const sign = amount < 0n ? "-" : "";
  if (isVast) {
    const places = rounded.toString().length - 1;
    return { text: `${sign}${formatUnits(rounded, places)} × 10^${places + droppedDigits - decimals}`, isExact };
  }
  const wholeUnit = 10n ** BigInt(decimals);
  const rest = (rounded * unit) % wholeUnit;
  const fraction = rest === 0n ? "" : formatUnits(rest, decimals).slice(1);
  return { text: `${sign}${grouped((rounded * unit) / wholeUnit)}${fraction}`, isExact };
};

const wholeGwei = 10n ** 5n;

/** The largest by its size: what several amounts that are told together share their unit with. */
export const largestOf = (amounts: ReadonlyArray<bigint>): bigint =>
  amounts.reduce((largest, amount) => (sizeOf(amount) > sizeOf(largest) ? amount : largest), 0n);

/** A chain's native currency; a symbol alone stands for one with 18 decimals. */
export interface Currency {
  /** As people write it. */
  readonly symbol: string;
  /** How many decimals one whole unit has: 18 nearly everywhere. */
  readonly decimals: number;
}
const ether: Currency = { symbol: "ETH", decimals: 18 };

/**
 * Wei in the unit in which it reads best (ETH from 0.001, gwei from 0.0001, else wei), exact; `beside` = the amount
 * whose unit it takes, where several stand together. Of a currency with other than 18 decimals there are no gwei.
 */
export const formatWei = (wei: bigint, currency: Currency | string = ether, beside: bigint = wei): string => {
  const { symbol, decimals } = typeof currency === "string" ? { ...ether, symbol: currency } : currency;
  const size = sizeOf(beside);
  if (wei === 0n) return `0 ${symbol}`;
  if (size >= 10n ** BigInt(Math.max(0, decimals - 3))) return `${formatUnits(wei, decimals)} ${symbol}`;
  if (decimals === 18 && size >= wholeGwei) return `${formatUnits(wei, 9)} gwei`;
  return `${wei} wei`;
};

/** A gas price: gwei with its unit, or wei when it would be too small to read; absurd ones in `currency`. */
export const formatGasPrice = (weiPerGas: bigint, currency?: Currency | string, beside: bigint = weiPerGas): string =>
  weiPerGas === 0n ? "0 gwei" : `${formatWei(weiPerGas, currency, beside)} per gas`;

/** Gas with thousands separated: `21,000 gas`. */
export const formatGas = (gas: bigint): string => `${grouped(gas)} gas`;
