/** The chain as a report names it: its name and its native currency. */
import * as Schema from "effect/Schema";
import type { Chain } from "../chains/rules.js";
import { lookup, unknownChain } from "../chains/table.js";
import { escapeText } from "../primitives/text.js";
import { inCurrency, type Stated } from "../primitives/statement.js";
import type { Currency } from "../primitives/units.js";

/** A chain in the words that a report is written in. */
export const ShownChain = Schema.Struct({
  /** null where it is not known. */
  name: Schema.NullOr(Schema.String),
  /** Symbol of the native currency; escaped where it is shown. */
  symbol: Schema.String,
  /** Decimals of the native currency; its smallest unit is called wei here. */
  decimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 })),
});
export interface ShownChain extends Schema.Schema.Type<typeof ShownChain> {}

/** A chain's parameters in a report's words. */
export const inWords = ({ name, symbol, decimals }: Chain): ShownChain => ({
  name: name === unknownChain.name ? null : name,
  symbol,
  decimals,
});

/** The chain in the report's own words; of a report without them, in those of the table. */
export const chainOf = (report: { readonly chain?: ShownChain; readonly chainId: number | null }): ShownChain =>
  report.chain ?? inWords(lookup(report.chainId));

const shown = ({ symbol, decimals }: Currency): Currency => ({ symbol: escapeText(symbol, 16), decimals });

/** The native currency of a report, harmless; `symbol` in place of its own. */
export const currencyOf = (report: Parameters<typeof chainOf>[0], symbol?: string): Currency => {
  const chain = chainOf(report);
  return shown(symbol === undefined ? chain : { ...chain, symbol });
};

/** The same report; its errors tell native amounts in the currency of its chain, where it says it. */
export const inOwnCurrency = <
  R extends {
    readonly chain?: ShownChain;
    readonly findings: ReadonlyArray<{ readonly error: Stated | null }>;
  },
>(
  report: R,
): R => {
  // why: not the table's words, which no page that only reads reports should load
  if (report.chain === undefined) return report;
  const currency = shown(report.chain);
  for (const { error } of report.findings) if (error !== null) inCurrency(error, currency);
  return report;
};
