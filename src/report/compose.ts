/** The whole report as one document: verdict, reason and summary, what was found, what is at stake, what to do next, the rest. */
import { lookup } from "../Chains.js";
import { escapeText } from "../primitives/text.js";
import { abisOf } from "./options.js";
import { joined, type Document } from "./document.js";
import type { Severity } from "./finding.js";
import type { Report } from "./schema.js";
import { fundsSection, observedSection } from "./sections/conclusions.js";
import { findingsSections, problemsOf } from "./sections/findings.js";
import { addressesSection, approvalsSection, balancesSection, transfersSection } from "./sections/movements.js";
import { costSection, flowsSection, grantsSection, tokensSection } from "./sections/stakes.js";
import { transactionSection } from "./sections/transaction.js";
import { mostReason, sentencesOf } from "./summary.js";
import { decidingSeverity } from "./ready.js";
import { dateText, namesFor, type AmountOptions, type Price } from "./amounts.js";

/** What every rendering takes. */
export interface RenderOptions extends AmountOptions {
  /** What one native unit costs, for amounts in a currency beside. */
  readonly price?: Price | undefined;
}

/** What the renderings take that are short unless they are asked for everything. */
export interface FullOptions extends RenderOptions {
  /**
   * The technical part, too: each transaction, every movement, balance and approval exact and with its evidence, funds,
   * the state that was asked, every address. Default false.
   */
  readonly full?: boolean | undefined;
}

const count = (amount: number, name: string): string => `${amount} ${name}${amount === 1 ? "" : "s"}`;
const kinds: Readonly<Record<Severity, string>> = {
  blocker: "blocker",
  unavailable: "missing check",
  warning: "warning",
  info: "remark",
};

/** The reason, and how many more there are. */
const headline = (report: Report): string => {
  const deciding = decidingSeverity[report.verdict];
  const others = deciding === null ? 0 : problemsOf(report, deciding).length - 1;
  const more = deciding === null || others < 1 ? "" : ` (and ${count(others, `more ${kinds[deciding]}`)})`;
  return `${escapeText(report.because, mostReason)}${more}`;
};

const nextOf = (report: Report): string => {
  const seconds = report.options.maxAgeMs / 1000;
  const several = report.transactions.length > 1;
  const sign = `sign exactly ${several ? "these requests, in this order," : "this request"} within ${seconds} s; later, prove again first`;
  switch (report.verdict) {
    case "ready":
      return report.stage === "proven" ? sign : "prove it before you sign";
    case "caution":
      return report.stage === "proven"
        ? `read the warnings; if they are what you expect, ${sign}`
        : "read the warnings, then prove it before you sign";
    case "unknown":
      return "do not sign yet; see what could not be checked, and ask a node that can answer it (`evm-preflight doctor URL` tells what a node can do)";
    case "blocked":
      return "do not sign it as it is";
  }
};

/** `report` laid out, in the words of its chain. */
export const compose = (report: Report, options: RenderOptions = {}): Document => {
  const chain = lookup(report.chainId);
  const names = namesFor(report, options);
  const { native: symbol } = names;
  const money = { symbol, price: options.price };
  const abis = abisOf(report.options);
  const transactions = report.transactions.length;
  return {
    verdict: report.verdict,
    because: headline(report),
    summary: sentencesOf(report, names),
    findings: findingsSections(report, names),
    stakes: [
      ...flowsSection(report, names),
      ...grantsSection(report, names),
      ...costSection(report, names, options.price),
      ...tokensSection(report, names),
    ],
    about: joined(
      report.chainId === null ? "chain not known" : `${chain.known ? `${chain.name}, ` : ""}chain ${report.chainId}`,
      count(transactions, "transaction"),
      report.stage,
      dateText(BigInt(Math.floor(report.observed.at / 1000))),
    ),
    next: nextOf(report),
    technical: [
      ...report.transactions.flatMap((transaction, index) =>
        transactionSection(transaction, index, transactions, money, abis),
      ),
      ...transfersSection(report, names),
      ...balancesSection(report, names),
      ...approvalsSection(report, names),
      ...fundsSection(report, money),
      ...observedSection(report, symbol),
      ...addressesSection(names),
    ],
  };
};
