/** Why not, and what does not work, in the words of a report: the numbers of a token's own error with its amounts beside. Pure. */
import { describeRevert, isAmountName } from "../abi/print.js";
import { amountInSentence, decimalsOf, nativeForPeople, type Names } from "./amounts.js";
import type { Finding, FindingCode } from "./finding.js";
import { failuresOf } from "./flows.js";
import type { Report } from "./schema.js";

/** A finding's sentence; the numbers of a token's own error as amounts beside. */
export const sentenceOf = (finding: Finding, names: Names): string => {
  const { sentence, error } = finding;
  const revert = error?._tag === "ExecutionReverted" ? error.revert : null;
  const token = error?._tag === "ExecutionReverted" ? (revert?.address ?? error.to) : null;
  if (revert === null || token === null || decimalsOf(names, token) === null) return sentence;
  const described = describeRevert(revert, {
    beside: (value, name, type) =>
      typeof value === "bigint" && type.startsWith("uint") && isAmountName(name)
        ? ` = ${amountInSentence(names, { token, tokenId: null }, value, "none")}`
        : "",
  });
  return sentence === error?.statement.sentence ? `the call reverts with ${described}` : sentence;
};

/** The reason for the verdict, in the same words. */
export const reasonOf = (report: Report, names: Names): string => {
  const { because, findings } = report;
  const deciding = findings.find(({ sentence }) => sentence === because);
  return deciding === undefined ? because : sentenceOf(deciding, names);
};

/** Longer than any reason of our own. */
export const mostReason = 600;

/** More of a kind than a sentence holds. */
export const mostItems = 3;
export const mostSenders = 3;

/** `a`, `a and b`, `a, b, and c`. */
export const listed = (parts: ReadonlyArray<string>): string =>
  parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1) ?? ""}`;

/** What does not work: which transactions fail or were not simulated, and who cannot pay. */
export const hindrances = (report: Report, names: Names): ReadonlyArray<string> => {
  const { transactions, funds } = report;
  const failed = failuresOf(report);
  const unseen = transactions.filter(({ outcome }) => outcome.status === "unknown").length;
  const one = transactions.length === 1;
  const numbers = listed(failed.slice(0, mostItems).map((index) => String(index + 1)));
  const more = failed.length > mostItems ? ` and ${failed.length - mostItems} more` : "";
  const poor = funds.flatMap(({ account, shortfall }) =>
    shortfall === null || shortfall <= 0n ? [] : [{ account, shortfall }],
  );
  return [
    ...(failed.length === 0
      ? []
      : [
          one
            ? "It would fail."
            : `Transaction${failed.length === 1 ? "" : "s"} ${numbers}${more} of ${transactions.length} would fail.`,
        ]),
    ...(unseen === 0
      ? []
      : [
          one
            ? "What it would do is not known."
            : `What ${unseen} of ${transactions.length} transactions would do is not known.`,
        ]),
    ...poor.slice(0, mostSenders).map(({ account, shortfall }) => {
      const who = names.who(account);
      const short = nativeForPeople(shortfall, "up", names);
      return who === "you" ? `You lack ${short}.` : `${who} lacks ${short}.`;
    }),
  ];
};

/** What nobody looked at, for its step was left out; null = no such thing. */
const unlooked = ({ steps: { without } }: Report): string | null => {
  const [moves, rights] = [without.includes("assets"), without.includes("approvals")];
  if (!moves && !rights) return null;
  return `What ${listed([...(moves ? ["moves"] : []), ...(rights ? ["is granted"] : [])])} was not looked at.`;
};

/** What must be said beside amounts, for they are not the whole, or not certain. The first of each kind. */
const doubts: ReadonlyArray<readonly [text: string, ...codes: ReadonlyArray<FindingCode>]> = [
  [
    "More moves or is granted than could be measured or told here.",
    "PartiesCut",
    "FindingsCut",
    "CalldataCut",
    "FirstSeenInProof",
  ],
  ["Events and measured balances disagree; the balances are told.", "TransferMismatch"],
  ["A right may be given that cannot be read.", "RightUnexplained"],
  ["Amounts may come out otherwise.", "DependsOnPending", "ChanceDependent", "PriceDependent", "GasDependent"],
  ["Amounts are what events say; balances were not measured.", "WitnessUnavailable"],
  ["Native amounts are known by balances alone.", "NativeMovesUnseen"],
  ["The state was pretended, so none of this is certain.", "StatePretended"],
];

/** What is not certain of a summary, a sentence each. */
export const doubtsOf = (report: Report): ReadonlyArray<string> => {
  const { findings, observed } = report;
  const codes = new Set(findings.map(({ code }) => code));
  return [
    ...doubts.flatMap(([text, ...any]) => (any.some((code) => codes.has(code)) ? [text] : [])),
    ...(observed.tier === "simulate" ? [] : ["What else moves or is granted is not known."]),
    ...[unlooked(report)].filter((text) => text !== null),
  ];
};
