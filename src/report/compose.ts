/** The whole report as one document: the verdict, the sections in reading order, and what to do next. */
import { lookup } from "../Chains.js";
import { escapeText } from "../primitives/text.js";
import { joined, type Document } from "./document.js";
import type { Severity } from "./finding.js";
import type { Report } from "./schema.js";
import { findingsSection, fundsSection, observedSection } from "./sections/conclusions.js";
import { addressesSection, approvalsSection, balancesSection, transfersSection } from "./sections/movements.js";
import { transactionSection } from "./sections/transaction.js";
import { namesOf } from "./tokens.js";
import { decidingSeverity } from "./verdict.js";
import type { Price } from "./values.js";

/** What every rendering takes. */
export interface RenderOptions {
  /** Symbol of the native currency; by default that of the chain. */
  readonly symbol?: string | undefined;
  /** What one native unit costs, for amounts in a currency beside. */
  readonly price?: Price | undefined;
}

const count = (amount: number, name: string): string => `${amount} ${name}${amount === 1 ? "" : "s"}`;
const ofSeverity = (report: Report, severity: Severity | null) =>
  report.findings.filter((finding) => finding.severity === severity);

const kinds: Readonly<Record<Severity, string>> = {
  blocker: "blocker",
  unavailable: "missing check",
  warning: "warning",
  info: "remark",
};

/** The reason, and how many more there are. */
const headline = (report: Report): string => {
  const deciding = decidingSeverity[report.verdict];
  const others = ofSeverity(report, deciding).length - 1;
  const more = deciding === null || others < 1 ? "" : ` (and ${count(others, `more ${kinds[deciding]}`)})`;
  return `${escapeText(report.because, 600)}${more}`;
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
    case "blocked": {
      const remedies = new Map<string, string>();
      // why: of two blockers of one kind the longer remedy is the one with the numbers
      for (const { code, remedy } of ofSeverity(report, "blocker"))
        if (remedy.length > (remedies.get(code) ?? "").length) remedies.set(code, remedy);
      return remedies.size === 0
        ? "do not sign it"
        : [...remedies.values()]
            .slice(0, 3)
            .map((remedy) => escapeText(remedy, 400))
            .join("; ");
    }
  }
};

/** `report` laid out, in the words of its chain. */
export const compose = (report: Report, options: RenderOptions = {}): Document => {
  const chain = lookup(report.chainId);
  const symbol = options.symbol === undefined ? chain.symbol : escapeText(options.symbol, 16);
  const money = { symbol, price: options.price };
  const names = namesOf(report, symbol);
  const transactions = report.transactions.length;
  return {
    verdict: report.verdict,
    because: headline(report),
    summary: joined(
      count(transactions, "transaction"),
      report.chainId === null ? "chain not known" : `chain ${report.chainId}${chain.known ? ` (${chain.name})` : ""}`,
      report.stage,
      new Date(Math.min(Math.max(report.observed.at, 0), 8.64e15)).toISOString(),
    ),
    sections: [
      ...report.transactions.flatMap((transaction, index) =>
        transactionSection(transaction, index, transactions, money),
      ),
      ...transfersSection(report, names),
      ...balancesSection(report, names),
      ...approvalsSection(report, names),
      ...fundsSection(report, money),
      ...findingsSection(report, symbol),
      ...observedSection(report, symbol),
      ...addressesSection(names),
    ],
    next: nextOf(report),
  };
};
