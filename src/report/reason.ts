/** Why not, and what does not work, in the words of a report: the numbers of a token's own error with its amounts beside. Pure. */
import { describeRevert, isAmountName } from "../abi/print.js";
import { type Figure, most, type Statement, valueText } from "../primitives/statement.js";
import { escapeText } from "../primitives/text.js";
import type { Currency } from "../primitives/units.js";
import {
  amountForPeople,
  amountInSentence,
  decimalsOf,
  nativeForPeople,
  symbolOf,
  tokenForPeople,
  type Names,
} from "./amounts.js";
import { differenceForPeople } from "./diff.js";
import {
  isCut,
  isHiddenRight,
  isMismatch,
  isNativeUntraced,
  isPretended,
  isUncertain,
  isUnmeasured,
} from "./byCode.js";
import type { Finding } from "./finding.js";
import { failuresOf } from "./flows.js";
import type { Report } from "./schema.js";

/** Numbers that nobody reads as they are, and that may be amounts. */
const isLarge = (value: bigint, decimals: number): boolean =>
  value >= 10n ** BigInt(Math.max(6, decimals >> 1)) && value < 1n << 192n;
const isOther = /time|date|deadline|expir|nonce|block|id$|index|salt|hash|key/i;

/** A finding's sentence; the numbers of a token's own error as amounts beside. */
export const sentenceOf = (finding: Finding, names: Names): string => {
  const { sentence, error } = finding;
  const revert = error?._tag === "ExecutionReverted" ? error.revert : null;
  const token = error?._tag === "ExecutionReverted" ? (revert?.address ?? error.to) : null;
  if (revert === null || token === null || decimalsOf(names, token) === null) return sentence;
  const unit = { token, tokenId: null };
  const large: Array<string> = [];
  const described = describeRevert(revert, {
    beside: (value, name, type) => {
      if (typeof value !== "bigint" || !type.startsWith("uint")) return "";
      if (isAmountName(name)) return ` = ${amountInSentence(names, unit, value, "none")}`;
      if (isLarge(value, decimalsOf(names, token) ?? 0) && !isOther.test(name))
        large.push(amountForPeople(names, unit, value, "none", true).digits);
      return "";
    },
  });
  // why: nobody says that these numbers count the token
  const reading =
    large.length === 0 ? "" : `, as amounts of ${tokenForPeople(names, token)}: ${listed(large.slice(0, mostItems))}`;
  return sentence === error?.statement.sentence ? `the call reverts with ${described}${reading}` : sentence;
};

/** `a`, `a and b`, `a, b, and c`. */
export const listed = (parts: ReadonlyArray<string>): string =>
  parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1) ?? ""}`;

/** Figures that do not read as `the NAME is %`: `+` goes on from the subject, `~` from what stands before it. */
const phrases: ReadonlyMap<string, string> = new Map([
  ["", "%"],
  ["quote", "the words are %"],
  ["of count", "~of %"],
  ["account", "it concerns %"],
  ["activates at", "+activates at %"],
  ["after", "+took %"],
  ["after one full block", "after one full block it is %"],
  ["asked for", "% was asked for"],
  ["allowed", "% is allowed"],
  ["at", "it is at %"],
  ["at least", "it must be at least %"],
  ["at most", "it may be at most %"],
  ["because", "the reason is: %"],
  ["beside", "+stands beside %"],
  ["call", "it is call %"],
  ["calls deep", "it is % calls deep"],
  ["calls read", "the calls that were read are %"],
  ["compared with", "it was compared with %"],
  ["events say", "the events say %"],
  ["for", "it is for %"],
  ["from", "+comes from %"],
  ["from the simulation", "% comes from the simulation"],
  ["gas", "it asks for %"],
  ["had", "+had %"],
  ["has", "+has %"],
  ["holds", "+holds %"],
  ["holds through full blocks for", "+holds through full blocks for %"],
  ["HTTP", "the HTTP status is %"],
  ["instead of", "~instead of %"],
  ["known as", "it is known as %"],
  ["made by", "it is made by %"],
  ["meant for chain", "it is meant for chain %"],
  ["measured", "% was measured"],
  ["moved", "% moved"],
  ["needs", "+needs %"],
  ["needs up to", "+needs up to %"],
  ["of", "it concerns %"],
  ["retry after", "it may be asked again after %"],
  ["returns", "+returns %"],
  ["runs at once", "the runs at once are %"],
  ["short by", "+is short by %"],
  ["signs the message, or what hashes to,", "+signs the message, or what hashes to, %"],
  ["to", "+goes to %"],
  ["to an account", "to an account it is %"],
  ["to the witness", "to the witness it is %"],
  ["too low", "the % is too low"],
  ["waited", "+waited %"],
  ["with the whole buffer", "with the whole buffer it would be %"],
]);

/** Past participles: what was done with a number. */
const done: ReadonlySet<string> = new Set([
  ...["computed", "executed", "found", "in flight", "kept for them", "left for them", "left out", "lost", "named"],
  ...["not known", "not measured", "proposed", "required", "required without income", "simulated", "suggested"],
]);

/** `text` without `end`; null where it does not end so. */
const before = (text: string, end: string): string | null => (text.endsWith(end) ? text.slice(0, -end.length) : null);

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** A figure without a row as part of a sentence. */
const plainPhrase = ({ name, unit, value: exact }: Figure, value: string): string => {
  const shown = escapeText(name, most.name);
  if (shown.startsWith("the ")) return `${shown} ${value}`;
  if (done.has(shown)) return `${value} ${unit === "count" && exact !== 1n ? "are" : "is"} ${shown}`;
  const [elsewhere, least] = [before(shown, " elsewhere"), before(shown, " at least")];
  if (elsewhere !== null) return `elsewhere the ${elsewhere} is ${value}`;
  if (least !== null) return `the ${least} must be at least ${value}`;
  const isNamed = shown.startsWith("its ") || shown.includes("_") || shown === capital(shown);
  const isMany = shown.endsWith("s") && !shown.endsWith("ss");
  return `${isNamed ? "" : "the "}${shown} ${isMany ? "are" : "is"} ${value}`;
};

/** The numbers as one sentence, escaped: of the account, where one is named; behind `lead`, which is a sentence without them. */
export const detailsText = (
  { numbers }: Pick<Statement, "numbers">,
  currency?: Currency | string,
  lead = "",
): string => {
  const all = numbers.slice(0, most.figures);
  const shown = all.map((figure) => {
    const value = valueText(figure, currency, all);
    const { name, unit } = figure;
    const row = phrases.get(`${name} ${unit}`.trim()) ?? phrases.get(name);
    const mark = row?.[0] ?? "";
    const text =
      row?.slice(mark === "+" || mark === "~" ? 1 : 0).replace("%", () => value) ?? plainPhrase(figure, value);
    return { name, value, text, isVerb: mark === "+", isTail: mark === "~" };
  });
  const account = shown.some(({ isVerb }) => isVerb) ? shown.find(({ name }) => name === "account") : undefined;
  const rest = shown.filter((one) => one !== account);
  const clauses = rest.reduce<ReadonlyArray<string>>((before, { text, isVerb, isTail }, at) => {
    const last = before.at(-1);
    if (isTail && last !== undefined) return [...before.slice(0, -1), `${last} ${text}`];
    // why: verbs that follow one another have one subject
    return [...before, isVerb && rest[at - 1]?.isVerb !== true ? `${account?.value ?? "it"} ${text}` : text];
  }, []);
  const cut = numbers.length - all.length;
  const text = listed([...clauses, ...(cut === 0 ? [] : [`${cut} more numbers are in the JSON`])]);
  const whole = [lead, text].filter((part) => part !== "").join(": ");
  const isOurs = lead !== "" || shown[0]?.text !== shown[0]?.value;
  // why: a field's name is written as it is
  const isField = whole.split(" ", 1)[0]?.includes("_") === true;
  const sentence = isOurs && !isField ? capital(whole) : whole;
  return sentence === "" || [".", "!", "?", "…"].some((end) => sentence.endsWith(end)) ? sentence : `${sentence}.`;
};

/** The numbers as a sentence, a token's in its own decimals where the finding names the token and the decimals are known. */
export const detailsOf = (finding: Finding, names: Names, lead: string): string => {
  const token = finding.numbers.find(({ name, unit }) => name === "token" && unit === "address")?.value;
  const isOfId = finding.numbers.some(({ name, unit }) => name === "id" && unit === "count");
  const isKnown = typeof token === "string" && !isOfId && decimalsOf(names, token) !== null;
  const numbers = finding.numbers.map((figure): Figure => {
    if (figure.name === "account" && figure.unit === "address" && names.isYou(figure.value))
      return { ...figure, unit: "text", value: "your account" };
    if (figure.unit === "address" && figure.value === token && symbolOf(names, token) !== null)
      return { ...figure, unit: "text", value: `${symbolOf(names, token)} (${names.labelled(token)})` };
    if (figure.unit === "address" && (names.isYou(figure.value) || names.label(figure.value) !== null))
      return { ...figure, unit: "text", value: names.whole(figure.value) };
    if (figure.unit === "difference")
      return { name: figure.name, unit: "text", value: differenceForPeople(figure.value, names) };
    if (!isKnown || figure.unit !== "units") return figure;
    const value = amountInSentence(
      names,
      { token, tokenId: null },
      figure.value,
      names.isTyped(figure.value) ? "none" : "up",
    );
    return { name: figure.name, unit: "text", value };
  });
  return detailsText({ numbers }, names.native, lead);
};

/** The reason for the verdict, in the same words. */
export const reasonOf = (report: Report, names: Names): string => {
  const { because, findings } = report;
  const [deciding, ...others] = findings.filter(({ sentence }) => sentence === because);
  if (deciding === undefined) return because;
  const steps = [deciding, ...others].flatMap(({ numbers }) =>
    numbers.flatMap(({ name, unit, value }) => (name === "step" && unit === "text" ? [value] : [])),
  );
  const which = [...new Set(steps)];
  const more = which.length > mostItems ? [`${which.length - mostItems} more`] : [];
  const named = which.length === 0 ? "" : `: ${listed([...which.slice(0, mostItems), ...more])}`;
  return `${sentenceOf(deciding, names)}${named}`;
};

/** Longer than any reason of our own. */
export const mostReason = 600;

/** More of a kind than a sentence holds. */
export const mostItems = 3;
export const mostSenders = 3;

/** Tells what does not work: which transactions fail or were not simulated, and who cannot pay. */
export const hindrances = (report: Report, names: Names): ReadonlyArray<string> => {
  const { transactions, funds } = report;
  const failed = failuresOf(report);
  const unseen = transactions.filter(({ outcome }) => outcome.status === "unknown").length;
  const isSingle = transactions.length === 1;
  const numbers = listed(failed.slice(0, mostItems).map((index) => String(index + 1)));
  const more = failed.length > mostItems ? ` and ${failed.length - mostItems} more` : "";
  const poor = funds.flatMap(({ account, shortfall, required }) =>
    shortfall === null || shortfall <= 0n ? [] : [{ account, shortfall, least: required === null ? "at least " : "" }],
  );
  return [
    ...(failed.length === 0
      ? []
      : [
          isSingle
            ? "It would fail."
            : `Transaction${failed.length === 1 ? "" : "s"} ${numbers}${more} of ${transactions.length} would fail.`,
        ]),
    ...(unseen === 0
      ? []
      : [
          isSingle
            ? "What it would do is not known."
            : `What ${unseen} of ${transactions.length} transactions would do is not known.`,
        ]),
    ...poor.slice(0, mostSenders).map(({ account, shortfall, least }) => {
      const who = names.who(account);
      const short = `${least}${nativeForPeople(shortfall, "up", names)}`;
      return who === "you" ? `You lack ${short}.` : `${who} lacks ${short}.`;
    }),
  ];
};

/** Tells what nobody looked at, for its step was left out; null = no such thing. */
const unlooked = ({ steps: { without } }: Report): string | null => {
  const [moves, rights] = [without.includes("assets"), without.includes("approvals")];
  if (!moves && !rights) return null;
  const parts = listed([...(moves ? ["movements"] : []), ...(rights ? ["approvals"] : [])]);
  return `${capital(parts)} were not checked.`;
};

/** Sentences that must stand beside amounts, for they are not the whole, or not certain. The first of each kind. */
const doubts: ReadonlyArray<readonly [text: string, isOne: typeof isCut]> = [
  ["There are more movements or approvals than could be measured or shown here.", isCut],
  ["Events and measured balances disagree; the measured amounts are shown.", isMismatch],
  ["A right may be granted that could not be read.", isHiddenRight],
  ["Amounts may turn out different.", isUncertain],
  ["Amounts come from events; balances were not measured.", isUnmeasured],
  ["Native amounts are known from balances only.", isNativeUntraced],
  ["State or block were overridden, so none of this is certain.", isPretended],
];

/** Tells what is not certain of a summary, a sentence each. */
export const doubtsOf = (report: Report): ReadonlyArray<string> => {
  const { findings, observed } = report;
  return [
    ...doubts.flatMap(([text, isOne]) => (findings.some(isOne) ? [text] : [])),
    ...(observed.tier === "simulate" ? [] : ["What else moves or is granted is not known."]),
    ...[unlooked(report)].filter((text) => text !== null),
  ];
};
