/** Amounts, prices and dates as reports show them. */
import { escapeText } from "../primitives/text.js";
import { formatUnits, formatWei } from "../primitives/units.js";

/** Wei in the unit it reads best in, with the exact wei beside where the unit is another. */
export const weiText = (wei: bigint, symbol: string): string => {
  const shown = formatWei(wei, symbol);
  return wei === 0n || shown.endsWith(" wei") ? shown : `${shown} (${wei} wei)`;
};

/** A price of native units in a currency, e.g. `{ currency: "USD", amount: "2480.15" }` for one ETH. */
export interface Price {
  /** The currency's symbol. */
  readonly currency: string;
  /** Decimal string: what one whole native unit costs. */
  readonly amount: string;
}

/**
 * Wei in a currency: two decimals, or as many as the first two digits that are not 0 need; never
 * rounded to nothing. Empty when the price is no decimal number.
 */
export const fiatText = (wei: bigint, price: Price | undefined): string => {
  const parsed = price === undefined ? null : /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(price.amount);
  if (price === undefined || parsed === null) return "";
  const fraction = parsed[2] ?? "";
  const decimals = 18 + fraction.length;
  const exact = wei * BigInt(`${parsed[1]}${fraction}`);
  const size = exact < 0n ? -exact : exact;
  const digits = size.toString().length;
  const places = size === 0n ? 2 : Math.max(2, Math.min(decimals, decimals - digits + 2));
  const unit = 10n ** BigInt(decimals - places);
  const rounded = (size + unit / 2n) / unit;
  return ` ≈ ${formatUnits(exact < 0n ? -rounded : rounded, places)} ${escapeText(price.currency, 8)}`;
};

/** Epoch seconds as a date where they are one. */
export const dateText = (seconds: bigint): string =>
  seconds >= 0n && seconds <= 253_402_300_799n
    ? new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z")
    : `second ${seconds}`;
