/** What was found, the worst first; the same problem in several places is told once. */
import type { Finding, Severity } from "../finding.js";
import { numbersText, type Figure } from "../../primitives/statement.js";
import { escapeText } from "../../primitives/text.js";
import type { Item, Section, Tone } from "../document.js";
import { amountInSentence, decimalsOf, type Names } from "../amounts.js";
import type { Report } from "../schema.js";
import { differenceForPeople, named } from "../diff.js";

const severities: ReadonlyArray<readonly [Severity, title: string, Tone]> = [
  ["blocker", "Blockers", "bad"],
  ["unavailable", "Could not check", "warn"],
  ["warning", "Warnings", "warn"],
  ["info", "Information", "dim"],
];

/** Long enough for the evidence of any verdict, short enough for a screen. */
const maxText = 1200;
/** Places of one problem that are told one by one. */
const mostPlaces = 4;

/** The numbers, a token's in its own decimals where the finding names the token and the decimals are known. */
const numbersOf = (finding: Finding, names: Names): string => {
  const token = finding.numbers.find(({ name, unit }) => name === "token" && unit === "address")?.value;
  const isOfId = finding.numbers.some(({ name, unit }) => name === "id" && unit === "count");
  const isKnown = typeof token === "string" && !isOfId && decimalsOf(names, token) !== null;
  const numbers = finding.numbers.map((figure): Figure => {
    if (figure.unit === "address" && names.who(figure.value) === "you")
      return { ...figure, unit: "text", value: "you" };
    if (figure.unit === "difference")
      return { name: figure.name, unit: "text", value: differenceForPeople(figure.value, names) };
    if (figure.unit === "text") return { ...figure, value: named(figure.value, names) };
    if (!isKnown || figure.unit !== "units") return figure;
    const value = amountInSentence(names, { token, tokenId: null }, figure.value, "up");
    return { name: figure.name, unit: "text", value };
  });
  return numbersText({ numbers }, names.native);
};

const detailsOf = (same: ReadonlyArray<Finding>, first: Finding, isBundle: boolean, names: Names) => {
  const lines = same.map((finding) =>
    [
      isBundle && finding.transaction !== null ? `transaction ${finding.transaction + 1}` : "",
      finding.sentence === first.sentence ? "" : escapeText(finding.sentence, maxText),
      escapeText(numbersOf(finding, names), maxText),
    ]
      .filter((part) => part !== "")
      .join(": "),
  );
  return [...new Set(lines)].filter((line) => line !== "");
};

/** One problem: its first sentence, and every place where it is. */
const itemOf = (same: ReadonlyArray<Finding>, first: Finding, report: Report, names: Names): Item => {
  const details = detailsOf(same, first, report.transactions.length > 1, names);
  const cut = details.length - mostPlaces;
  return {
    code: escapeText(first.code, 60),
    what: escapeText(first.sentence, maxText),
    details: cut < 2 ? details : [...details.slice(0, mostPlaces), `… and ${cut} more`],
    remedy: escapeText(first.remedy, maxText),
  };
};

/** What makes two findings one problem: what is wrong and what to do; how requests failed is told place by place. */
const kindOf = ({ code, sentence, remedy, error }: Finding): string =>
  JSON.stringify([code, remedy, error === null || error._tag === "RpcError" ? "" : sentence]);

/** The problems of one severity, each with every place where it is. */
export const problemsOf = (report: Report, severity: Severity): ReadonlyArray<ReadonlyArray<Finding>> => {
  const kinds = new Map<string, Array<Finding>>();
  for (const finding of report.findings) {
    if (finding.severity !== severity) continue;
    const kind = kindOf(finding);
    const same = kinds.get(kind);
    if (same === undefined) kinds.set(kind, [finding]);
    else same.push(finding);
  }
  return [...kinds.values()];
};

/** A section for each severity that there is, the first places of a problem and how many more there are. */
export const findingsSections = (report: Report, names: Names): ReadonlyArray<Section> =>
  severities.flatMap(([severity, title, tone]): ReadonlyArray<Section> => {
    const items = problemsOf(report, severity).flatMap((same) => {
      const [first] = same;
      return first === undefined ? [] : [itemOf(same, first, report, names)];
    });
    return items.length === 0
      ? []
      : [{ title: `${title} (${items.length})`, tone, blocks: [{ kind: "items", tone, items }] }];
  });
