/** Why not, and what does not work, in the words of a report: the numbers of a token's own error with its amounts beside. Pure. */
import { describeRevert, isAmountName } from "../abi/print.js";
import { type Figure, most, valueText } from "../primitives/statement.js";
import { escapeText } from "../primitives/text.js";
import {
  amountForPeople,
  amountInSentence,
  dateText,
  decimalsOf,
  nativeForPeople,
  signedText,
  symbolOf,
  tokenForPeople,
  type Names,
} from "./amounts.js";
import { differenceForPeople } from "./diff.js";
import {
  isCut,
  isHiddenRight,
  isInVain,
  isMismatch,
  isNativeUntraced,
  isPretended,
  isUncertain,
  isUnmeasured,
  sentencesByCode,
} from "./byCode.js";
import type { Finding } from "./finding.js";
import { failuresOf } from "./flows.js";
import type { Report } from "./schema.js";

/** Numbers that nobody reads as they are, and that may be amounts. */
const isLarge = (value: bigint, decimals: number): boolean =>
  value >= 10n ** BigInt(Math.max(6, decimals >> 1)) && value < 1n << 192n;
const isOther = /time|date|deadline|expir|nonce|block|id$|index|salt|hash|key/i;

/** Words for an ask of a token beside what happened, with the amounts in place; null where they are not known. */
const vainText = (finding: Finding, names: Names): string | null => {
  if (!isInVain(finding)) return null;
  const valueOf = (named: string) => finding.numbers.find(({ name }) => name === named)?.value;
  const [token, asked, moved, allowed] = ["token", "asked for", "moved", "allowed"].map(valueOf);
  const [spender, because = "it did not return true"] = [valueOf("spender"), valueOf("because")];
  if (typeof token !== "string" || typeof asked !== "bigint") return null;
  const amountOf = (value: bigint) => amountInSentence(names, { token, tokenId: null }, value, "none");
  const there =
    typeof moved === "bigint"
      ? `, ${amountOf(moved)} moved`
      : typeof allowed === "bigint"
        ? `, ${amountOf(allowed)} is allowed`
        : "";
  const whose = typeof spender === "string" ? ` for ${names.labelled(spender)}` : "";
  return `${valueOf("function") ?? "a call"} of ${amountOf(asked)}${whose} was asked for${there}, ${because}`;
};

/** The sentence of a revert; the numbers of a token's own error as amounts beside. */
const revertText = ({ sentence, error }: Finding, names: Names): string => {
  if (error?._tag !== "ExecutionReverted" || error.revert === null) return sentence;
  const token = error.revert.address ?? error.to;
  const decimals = token === null ? null : decimalsOf(names, token);
  if (token === null || decimals === null) return sentence;
  const unit = { token, tokenId: null };
  const large: Array<string> = [];
  const described = describeRevert(error.revert, {
    beside: (value, name, type) => {
      if (typeof value !== "bigint" || !type.startsWith("uint")) return "";
      if (isAmountName(name)) return ` = ${amountInSentence(names, unit, value, "none")}`;
      if (isLarge(value, decimals) && !isOther.test(name))
        large.push(amountForPeople(names, unit, value, "none", true).digits);
      return "";
    },
  });
  // why: nobody says that these numbers count the token
  const reading =
    large.length === 0 ? "" : `, as amounts of ${tokenForPeople(names, token)}: ${listed(large.slice(0, mostItems))}`;
  return sentence === error.statement.sentence ? `the call reverts with ${described}${reading}` : sentence;
};

/** A finding's sentence, with amounts where it speaks of a token's. */
export const sentenceOf = (finding: Finding, names: Names): string => {
  const vain = vainText(finding, names);
  return vain === null ? revertText(finding, names) : escapeText(vain);
};

/** `a`, `a and b`, `a, b, and c`. */
export const listed = (parts: ReadonlyArray<string>): string =>
  parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1) ?? ""}`;

/** Figures that read as they are called, behind their subject. */
const verbs = [
  ...[
    "activates at",
    "had",
    "has",
    "holds",
    "holds through full blocks for",
    "looks like",
    "needs",
    "needs up to",
    "returns",
  ],
  ...["signs the message, or what hashes to,", "waited"],
];

/** Figures that do not read as `the NAME is %`: `+` goes on from the subject, `~` from what stands before it. */
const phrases: ReadonlyMap<string, string> = new Map([
  ...verbs.map((verb) => [verb, `+${verb} %`] as const),
  ...["at", "call", "for", "known as", "made by", "meant for chain"].map((name) => [name, `it is ${name} %`] as const),
  ["", "%"],
  ["quote", "the words are %"],
  ["of count", "~of %"],
  ["account", "it is about %"],
  ["after", "+took %"],
  ["after one full block", "after one full block it is %"],
  ["asked for", "% was asked for"],
  ["allowed", "% is allowed"],
  ["at least", "it must be at least %"],
  ["at most", "it may be at most %"],
  ["because", "the reason is: %"],
  ["from", "+comes from %"],
  ["from the simulation", "% comes from the simulation"],
  ["gas", "it asks for %"],
  ["HTTP", "the HTTP status is %"],
  ["instead of", "~instead of %"],
  ["moved", "% moved"],
  ["of", "it is about %"],
  ["retry after", "it may be asked again after %"],
  ["runs at once", "the runs at once are %"],
  ["short by", "+is short by %"],
  ["to", "+goes to %"],
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

/** A figure in a sentence; `joins`: a `verb` goes on from the subject, a `tail` from what stands before it. */
const clauseOf = (figure: Figure, value: string) => {
  const { name, unit } = figure;
  const row = phrases.get(`${name} ${unit}`.trim()) ?? phrases.get(name) ?? null;
  const joins = row?.startsWith("+") ? "verb" : row?.startsWith("~") ? "tail" : null;
  const text = row?.slice(joins === null ? 0 : 1).replace("%", () => value) ?? plainPhrase(figure, value);
  return { name, unit, value, text, joins, isNothing: unit === "wei" && figure.value === 0n };
};
type Clause = ReturnType<typeof clauseOf>;

/** From here on, a right over a token has no limit. */
const everything = 1n << 255n;

/** Figures that say of what an amount is, which the amount says, too. */
const ofAmounts: ReadonlySet<string> = new Set(["token", "id"]);

/** A place of a template: the figure that belongs there, and how it is written. */
const placed = (place: string, find: (name: string) => Clause | undefined) => {
  const [named = "", tail = ""] = place.split("}");
  const [isOwn, isSilent] = [named.endsWith("'s"), named.startsWith("-")];
  const clause = find(named.slice(isSilent ? 1 : 0, isOwn ? -2 : undefined));
  const value = clause?.value ?? "";
  const whose = value.startsWith("you") ? "your" : `${value}'s`;
  return clause === undefined ? null : { clause, text: `${isSilent ? "" : isOwn ? whose : value}${tail}` };
};

/** Fills the parts of a template in turn; null where a part that must stand lacks a figure. `told` = the figures used. */
const filling = (all: ReadonlyArray<Clause>, told: Set<Clause>) => (part: string, at: number) => {
  const isOptional = at % 2 === 1;
  const [head = "", ...places] = part.split("{");
  const used = new Set(told);
  const find = (wanted: string): Clause | undefined => {
    const fitting = all.filter(({ name, value }) => name === wanted || (name === "" && value === wanted));
    const clause = fitting.find((other) => !used.has(other)) ?? fitting[0];
    if (clause !== undefined) used.add(clause);
    return isOptional && clause?.isNothing ? undefined : clause;
  };
  const filled = places.map((place) => placed(place, find));
  if (filled.includes(null)) return isOptional ? "" : null;
  for (const place of filled) if (place !== null) told.add(place.clause);
  return head + filled.map((place) => place?.text).join("");
};

/** The written sentence of a code with the figures in their places, and the figures that it leaves; null where it lacks one. */
const written = (template: string, all: ReadonlyArray<Clause>) => {
  const told = new Set<Clause>();
  const texts = template.split("[").flatMap((part) => part.split("]"));
  const parts = texts.map(filling(all, told));
  if (told.size === 0 || parts.includes(null)) return null;
  const inAmount = all.some((clause) => clause.unit === "units" && told.has(clause)) ? ofAmounts : new Set<string>();
  const isSaid = (clause: Clause) => told.has(clause) || clause.isNothing || clause.value === "all of it";
  return { sentence: parts.join(""), rest: all.filter((clause) => !isSaid(clause) && !inAmount.has(clause.name)) };
};

/** Closes a sentence, which begins with a capital unless it begins with a field's name or somebody else's words. */
const closed = (text: string, isOurs: boolean): string => {
  const sentence = isOurs && !text.split(" ", 1)[0]?.includes("_") ? capital(text) : text;
  return sentence === "" || [".", "!", "?", "…"].some((end) => sentence.endsWith(end)) ? sentence : `${sentence}.`;
};

/** Figures as one sentence: of the account, where one is named. */
const gluedText = (shown: ReadonlyArray<Clause>): string => {
  const account = shown.some(({ joins }) => joins === "verb")
    ? shown.find(({ name }) => name === "account")
    : undefined;
  const clauses: Array<string> = [];
  let last: Clause["joins"] = null;
  for (const { text, joins } of shown.filter((clause) => clause !== account)) {
    if (joins === "tail" && clauses.length > 0) clauses.push(`${clauses.pop()} ${text}`);
    // why: verbs that follow one another have one subject
    else clauses.push(joins === "verb" && last !== "verb" ? `${account?.value ?? "it"} ${text}` : text);
    last = joins;
  }
  return listed(clauses);
};

/** An amount of the token that a finding names: behind its name by the symbol alone. */
const unitsText = (value: bigint, { code, numbers }: Finding, names: Names): string | null => {
  const token = numbers.find(({ name, unit }) => name === "token" && unit === "address")?.value;
  const id = numbers.find(({ name, unit }) => name === "id" && unit === "count")?.value;
  if (value >= everything) return "everything";
  if (typeof token !== "string") return null;
  const unit = { token, tokenId: typeof id === "bigint" ? id : null };
  const rounding = names.isTyped(value) ? "none" : "up";
  const isNamed = sentencesByCode[code]?.includes("{token}") === true && decimalsOf(names, token) !== null;
  if (!isNamed || id !== undefined) return amountInSentence(names, unit, value, rounding);
  return `${signedText(amountForPeople(names, unit, value, rounding, true), "")} ${symbolOf(names, token) ?? ""}`.trim();
};

/** The value of a figure of a finding, escaped. */
const valueOf = (figure: Figure, finding: Finding, names: Names): string => {
  const { name, unit, value } = figure;
  if (unit === "difference") return escapeText(differenceForPeople(value, names), most.characters);
  if (unit === "count" && (name === "usable from" || name === "usable until")) return dateText(value);
  const exact = () => valueText(figure, names.native, finding.numbers.slice(0, most.figures));
  if (unit === "units") return unitsText(value, finding, names) ?? exact();
  if (unit !== "address") return exact();
  if (names.isYou(value)) return name === "account" || name === "" ? "your account" : "you";
  const symbol = name === "token" ? symbolOf(names, value) : null;
  return symbol === null ? names.whole(value) : `${symbol} (${names.labelled(value)})`;
};

/** The numbers as the sentence of the code, and those that it does not name; behind `lead`, which is a sentence without them. */
export const detailsOf = (finding: Finding, names: Names, lead: string): string => {
  const { code, numbers } = finding;
  const shown = numbers.slice(0, most.figures).map((figure) => clauseOf(figure, valueOf(figure, finding, names)));
  const own = written(sentencesByCode[code] ?? "", shown);
  const cut = numbers.length - shown.length;
  const more = cut > 0 ? [`${cut} more numbers are in the JSON`] : [];
  const glued = [gluedText(own?.rest ?? shown), ...more].filter((text) => text !== "").join(", and ");
  const whole = [lead, own?.sentence ?? glued].filter((part) => part !== "").join(": ");
  const isOurs = lead !== "" || own !== null || shown[0]?.text !== shown[0]?.value;
  return [closed(whole, isOurs), ...(own === null || glued === "" ? [] : [closed(glued, true)])].join(" ");
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
  const count = transactions.length;
  const numbers = listed(failed.slice(0, mostItems).map((index) => String(index + 1)));
  const more = failed.length > mostItems ? ` and ${failed.length - mostItems} more` : "";
  const several = failed.length === 1 ? "" : "s";
  const poor = funds.filter(({ shortfall }) => shortfall !== null && shortfall > 0n);
  const lacks = poor.slice(0, mostSenders).map(({ account, shortfall, required }) => {
    const who = names.who(account);
    const short = `${required === null ? "at least " : ""}${nativeForPeople(shortfall ?? 0n, "up", names)}`;
    return who === "you" ? `You lack ${short}.` : `${who} lacks ${short}.`;
  });
  const fails = count === 1 ? "It would fail." : `Transaction${several} ${numbers}${more} of ${count} would fail.`;
  const what = count === 1 ? "What it" : `What ${unseen} of ${count} transactions`;
  return [
    ...(failed.length === 0 ? [] : [fails]),
    ...(unseen === 0 ? [] : [`${what} would do is not known.`]),
    ...lacks,
  ];
};

/** Tells what nobody looked at, for its step was left out. */
const unlooked = ({ steps: { without } }: Report): ReadonlyArray<string> => {
  const parts = [without.includes("assets") ? "movements" : "", without.includes("approvals") ? "approvals" : ""];
  const left = parts.filter((part) => part !== "");
  return left.length === 0 ? [] : [`${capital(listed(left))} were not checked.`];
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
    ...unlooked(report),
  ];
};
