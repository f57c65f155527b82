/** The whole report as one document: verdict, reason and summary, what was found, what is at stake, what to do next, the rest. */
import { wholeLook } from "../abi/print.js";
import { chainOf } from "./chain.js";
import { Severity, type Finding } from "./finding.js";
import { pageOf } from "../primitives/statement.js";
import { chainText, escapeText } from "../primitives/text.js";
import { counted, joined, section, type Section, type Tone } from "./document.js";
import { dateText, type Names, type RenderOptions } from "./amounts.js";
import { expiryOf } from "./ready.js";
import { reportVersion, type Report } from "./schema.js";
import * as Arr from "effect/Array";
import {
  addressesSection,
  approvalsSection,
  balancesSection,
  observedSection,
  statesSection,
  transfersSection,
} from "./sections/technical.js";
import {
  callsSection,
  costSection,
  descriptorsSection,
  exposureSection,
  flowsSection,
  grantsSection,
  tokensSection,
} from "./sections/stakes.js";
import { isOnlySigned, signingSections } from "./sections/signings.js";
import {
  carriersSection,
  fundsSection,
  requestsSection,
  traceSections,
  transactionSection,
} from "./sections/transaction.js";
import { detailsOf, mostReason, reasonOf, sentenceOf } from "./reason.js";
import { pictureOf } from "./picture.js";
import { readingOf } from "./stakes.js";
import { sentencesOf } from "./summary.js";
import { decidingSeverity } from "./ready.js";

const severities: Readonly<Record<Severity, { readonly title: string; readonly one: string; readonly tone: Tone }>> = {
  blocker: { title: "Blockers", one: "blocker", tone: "bad" },
  unavailable: { title: "Could not check", one: "missing check", tone: "warn" },
  warning: { title: "Warnings", one: "warning", tone: "warn" },
  info: { title: "Information", one: "remark", tone: "dim" },
};

const tones: Readonly<Record<Report["verdict"], Tone>> = {
  ready: "good",
  caution: "warn",
  unknown: "warn",
  blocked: "bad",
};

/** Long enough for the evidence of any verdict, short enough for a screen. */
const maxText = 1200;
/** Places of one problem that are told one by one. */
const mostPlaces = 4;

const placesOf = (same: ReadonlyArray<Finding>, first: Finding, isBundle: boolean, names: Names) => {
  const lines = same.map((finding) => {
    const where = isBundle && finding.transaction !== null ? `Transaction ${finding.transaction + 1}` : "";
    const what = finding.sentence === first.sentence ? "" : escapeText(sentenceOf(finding, names), maxText);
    return escapeText(detailsOf(finding, names, [where, what].filter((part) => part !== "").join(": ")), 2 * maxText);
  });
  return [...new Set(lines)].filter((line) => line !== "");
};

/** One problem: its first sentence, unless that is the reason already, and every place where it is. */
const itemOf = (same: Arr.NonEmptyReadonlyArray<Finding>, report: Report, names: Names) => {
  const [first] = same;
  const details = placesOf(same, first, report.transactions.length > 1, names);
  const cut = details.length - mostPlaces;
  const code = escapeText(first.code, 60);
  return {
    code,
    what: first.sentence === report.because ? "" : escapeText(sentenceOf(first, names), maxText),
    details: cut < 2 ? details : [...details.slice(0, mostPlaces), `… and ${cut} more`],
    remedy: escapeText(first.remedy, maxText),
    // why: a report from elsewhere may name any place
    ...(code.includes("/") ? {} : { docs: pageOf(code) }),
  };
};

/** Returns the key of a finding's problem: what is wrong and what to do; how requests failed is told place by place. */
const kindOf = ({ code, sentence, remedy, error }: Finding): string =>
  JSON.stringify([code, remedy, error === null || error._tag === "RpcError" ? "" : sentence]);

/** The problems of one severity, each with every place where it is. */
const problemsOf = ({ findings }: Report, severity: Severity): ReadonlyArray<Arr.NonEmptyReadonlyArray<Finding>> => {
  const alike = findings.filter((finding) => finding.severity === severity);
  return Object.values(Arr.groupBy(alike, kindOf));
};

/** A section for each severity that there is, the first places of a problem and how many more there are. */
const findingsSections = (report: Report, names: Names): ReadonlyArray<Section> =>
  Severity.literals.flatMap((severity) => {
    const { title, tone } = severities[severity];
    const items = problemsOf(report, severity).map((same) => itemOf(same, report, names));
    return section(`${title} (${items.length})`, items.length === 0 ? [] : [{ kind: "items", tone, items }], tone);
  });

/** The reason, and how many more there are. */
const headline = (report: Report, names: Names): string => {
  const deciding = decidingSeverity[report.verdict];
  const others = deciding === null ? 0 : problemsOf(report, deciding).length - 1;
  const more = deciding === null || others < 1 ? "" : ` (and ${counted(others, `more ${severities[deciding].one}`)})`;
  return `${escapeText(reasonOf(report, names), mostReason)}${more}`;
};

const nextOf = (report: Report): string => {
  const seconds = Math.max(0, Math.floor((expiryOf(report) - report.observed.at) / 1000));
  const signs = report.signings.length;
  if (report.transactions.length + signs === 0) return "there is nothing to sign";
  if (report.version !== reportVersion) return "prove it again before you sign; an older version made it";
  const what =
    report.transactions.length + signs > 1
      ? `these ${signs === 0 ? "requests" : "signatures and requests"}, in this order,`
      : `this ${signs === 0 ? "request" : "message"}`;
  const sign = `sign exactly ${what} within ${seconds} s. After that, prove again first`;
  const isProven = report.stage === "proven";
  const next: Readonly<Record<Report["verdict"], string>> = {
    ready: isProven ? sign : "prove it before you sign",
    caution: `read the warnings${isProven ? `; if they are what you expect, ${sign}` : ", then prove it before you sign"}`,
    unknown:
      "do not sign yet; see what could not be checked, and ask a node that can answer it (`evm-preflight doctor URL` tells what a node can do)",
    blocked: "do not sign it as it is",
  };
  return next[report.verdict];
};

/** A report laid out in reading order, in the words of its chain. */
export const compose = (plain: Report, options: RenderOptions = {}) => {
  const reading = readingOf(plain, options);
  const { names, report } = reading;
  const exactly = { ...names, exact: true };
  const { native: currency } = names;
  const name = chainText(chainOf(report).name);
  const money = { currency, price: options?.price };
  const look = { currency, look: { ...wholeLook, address: names.labelled } };
  const transactions = report.transactions.length;
  return {
    title: report.verdict.toUpperCase(),
    /** That of the verdict. */
    tone: tones[report.verdict],
    /** The one reason for the verdict. */
    because: headline(report, names),
    /** The summary: what leaves, what comes, what is granted, what it costs: a line each. */
    summary: sentencesOf(reading),
    findings: findingsSections(report, names),
    /** The same as a picture. */
    picture: pictureOf(reading),
    /** The stakes: what moves, who gets rights, what it costs. */
    stakes: [
      ...signingSections(report, reading),
      ...flowsSection(report, reading, options?.price),
      ...grantsSection(report, reading),
      ...exposureSection(report, reading),
      ...costSection(report, reading, options?.price),
      ...callsSection(report, look),
      ...tokensSection(reading),
      ...descriptorsSection(report),
      ...(options?.trace === true ? traceSections(report, money, look) : []),
      ...(options?.requests === true && options?.full !== true ? requestsSection(report, money) : []),
    ],
    /** The chain, the number of transactions, the stage and the date, in one line. */
    about: joined(
      report.chainId === null ? "chain not known" : `${name === null ? "" : `${name}, `}chain ${report.chainId}`,
      isOnlySigned(report) ? null : counted(transactions, "transaction"),
      report.signings.length === 0 ? null : counted(report.signings.length, "signature"),
      report.stage,
      dateText(BigInt(Math.floor(report.observed.at / 1000))),
    ),
    next: nextOf(report),
    /** Everything else, exact: each transaction, every movement, the state that was asked. */
    technical: [
      ...report.transactions.flatMap((transaction, index) =>
        transactionSection(transaction, index, transactions, money, look),
      ),
      ...carriersSection(report, look),
      ...transfersSection(report, exactly),
      ...balancesSection(report, exactly),
      ...approvalsSection(report, exactly),
      ...statesSection(report),
      ...fundsSection(report, money),
      ...observedSection(report, currency),
      ...addressesSection(report, names),
    ],
  };
};

/** A report laid out: every rendering is made of it. */
export type Document = ReturnType<typeof compose>;
