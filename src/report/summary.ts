/** What a report means for whoever signs, in a sentence: what leaves, what comes, what is granted, what it costs, and why not. Pure. */
import * as Arr from "effect/Array";
import { isNobody } from "../abi/words.js";
import { escapeText } from "../primitives/text.js";
import {
  amountInSentence,
  mostForPeople,
  namesFor,
  nativeForPeople,
  tokenForPeople,
  type AmountOptions,
  type Names,
} from "./amounts.js";
import type { FindingCode } from "./finding.js";
import {
  rightText,
  spenderText,
  costsOf,
  failuresOf,
  flowsOf,
  grantsOf,
  isMoving,
  paymentsOf,
  type Cost,
  type Flow,
  type Grant,
} from "./stakes.js";
import type { Report } from "./schema.js";

/** More of a kind than a sentence holds. */
const mostItems = 3;
/** With more, or where one is a list itself, each is a sentence of its own. */
const mostClauses = 2;
const mostSenders = 3;

/** As the beginning of a sentence. */
const upper = (who: string): string => (who === "you" ? "You" : who);

const listed = (parts: ReadonlyArray<string>): string =>
  parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1) ?? ""}`;

/** What an account does; `isList`: several things in one, so that it reads better as a sentence of its own. */
interface Clause {
  readonly text: string;
  readonly isList: boolean;
}

const several = (parts: ReadonlyArray<Clause>, noun: string): Clause => {
  const rest = parts.length - mostItems;
  const texts = parts.slice(0, rest === 1 ? undefined : mostItems).map(({ text }) => text);
  return {
    text: texts.join(" and ") + (rest > 1 ? ` and ${rest} more ${noun}` : ""),
    isList: parts.length > 1 || parts.some(({ isList }) => isList),
  };
};

const sent = (verb: string, { text, isList }: Clause): Clause => ({ text: `${verb} ${text}`, isList });
const plain = (text: string): Clause => ({ text, isList: false });

/** Whose sentence it is, and how its verbs go. */
interface Voice {
  readonly names: Names;
  readonly verb: (base: string) => string;
  readonly their: string;
}

/** The same thing to or from several parties is one item. */
const items = (flows: ReadonlyArray<Flow>, way: Flow["way"], { names }: Voice): ReadonlyArray<Clause> => {
  const isOut = way === "out";
  const preposition = isOut ? "to" : "from";
  const moved = flows.filter((flow) => flow.way === way);
  const byUnit = Arr.groupBy(moved, ({ token, tokenId }): string => `${token}/${tokenId}`);
  return Object.values(byUnit).map((same) => {
    const sum = same.reduce((all, { amount }) => all + amount, 0n);
    const text = amountInSentence(names, same[0], sum, isOut ? "up" : "down");
    const parties = same.flatMap(({ party }) => party ?? []);
    const [only] = parties;
    if (only === undefined) return plain(text);
    const isList = parties.length < same.length;
    const whom =
      parties.length > 1
        ? `${preposition} ${parties.length} addresses`
        : isNobody(only)
          ? `(${isOut ? "burned" : "newly made"})`
          : `${preposition} ${names.who(only)}`;
    return { text: `${text} ${whom}${isList ? " and others" : ""}`, isList };
  });
};

const grantClause = ({ approval, change }: Grant, { names, verb, their }: Voice): string => {
  const spender = spenderText(approval, names.who);
  if (change === "back")
    return `${verb("take")} back what ${spender} may do with ${tokenForPeople(names, approval.token)}`;
  const right = rightText(approval, names, their);
  return change === "kept" ? `${verb("let")} ${spender} ${right} as before` : `${verb("let")} ${spender} ${right}`;
};

const costClause = ({ atMost, isOpen }: Cost, { names, verb }: Voice): Clause => {
  if (atMost === null) return plain(`${verb("pay")} fees that are not known`);
  const fees = mostForPeople(atMost, names);
  const text = isOpen ? `${fees} in fees and what is not known beside` : `at most ${fees} in fees`;
  return { text: `${verb("pay")} ${text}`, isList: isOpen };
};

/** What a transaction of nothing is: whom it calls, or that it creates a contract. */
const calls = (report: Report, account: string, { names, verb }: Voice): string => {
  const [first, ...more] = report.transactions.filter(({ input }) => input.from.toLowerCase() === account);
  if (first === undefined || more.length > 0)
    return `${verb("make")} ${more.length + (first === undefined ? 0 : 1)} calls`;
  const { to } = first.input;
  if (to !== null) return `${verb("call")} ${names.short(to)}`;
  return `${verb("create")} a contract${first.code.creates === null ? "" : ` at ${names.short(first.code.creates)}`}`;
};

/** What nobody looked at, for its step was left out; null = no such thing. */
const unlooked = ({ steps: { without } }: Report): string | null => {
  const [moves, rights] = [without.includes("assets"), without.includes("approvals")];
  if (!moves && !rights) return null;
  return `What ${listed([...(moves ? ["moves"] : []), ...(rights ? ["is granted"] : [])])} was not looked at.`;
};

const clausesOf = (report: Report, cost: Cost, voice: Voice): ReadonlyArray<Clause> => {
  const mine = flowsOf(report).filter(({ account }) => account === cost.account);
  const grants = grantsOf(report).filter(({ approval }) => approval.owner.toLowerCase() === cost.account);
  const outs = items(mine, "out", voice);
  const ins = items(mine, "in", voice);
  const rights = grants.map((grant) => plain(grantClause(grant, voice)));
  const { verb } = voice;
  const isCreating = report.transactions.some(({ input }) => input.from === cost.account && input.to === null);
  const isSeen =
    report.observed.tier === "simulate" &&
    unlooked(report) === null &&
    report.transactions.every(({ outcome }) => outcome.status !== "unknown");
  const isStill = outs.length + ins.length + grants.length === 0;
  const nothing = isStill && isSeen && !isMoving(report) ? " without moving anything" : "";
  return [
    ...(isStill || (isCreating && report.transactions.length === 1)
      ? [plain(`${calls(report, cost.account, voice)}${nothing}`)]
      : []),
    ...(outs.length === 0 ? [] : [sent(verb("send"), several(outs, "things"))]),
    ...(ins.length === 0 ? [] : [sent(verb("receive"), several(ins, "things"))]),
    ...(rights.length === 0 ? [] : [several(rights, "rights")]),
    costClause(cost, voice),
  ];
};

/** What others pay because of it, a sentence each. */
const payments = (report: Report, names: Names, isIf: boolean): ReadonlyArray<string> => {
  const voice: Voice = { names, verb: (base) => (isIf ? `would ${base}` : `${base}s`), their: "its" };
  const all = paymentsOf(report);
  const rest = all.length - mostSenders;
  return [
    ...all.slice(0, mostSenders).flatMap((paid) => {
      const what = several(items(paid, "out", voice), "things").text;
      const payer = paid[0]?.account ?? "";
      return isNobody(payer) ? [`Newly made: ${what}.`] : [`${upper(names.who(payer))} ${voice.verb("pay")} ${what}.`];
    }),
    ...(rest > 0 ? [`${rest} more ${rest === 1 ? "account pays" : "accounts pay"} others.`] : []),
  ];
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
/** Control over contracts; of those that the bundle itself creates it is no news. */
const control: ReadonlySet<FindingCode> = new Set(["ContractControlChanged", "OwnershipChanged", "RoleChanged"]);

const doubtsOf = (report: Report): ReadonlyArray<string> => {
  const { findings, observed } = report;
  const codes = new Set(findings.map(({ code }) => code));
  return [
    ...doubts.flatMap(([text, ...any]) => (any.some((code) => codes.has(code)) ? [text] : [])),
    ...(observed.tier === "simulate" ? [] : ["What else moves or is granted is not known."]),
    ...[unlooked(report)].filter((text) => text !== null),
  ];
};

/** Who gets to act for an account, or over a contract. */
const powersOf = ({ findings }: Report, names: Names): ReadonlyArray<string> => {
  const delegations = findings.flatMap(({ code, numbers }) => {
    const named = (name: string) => numbers.find((figure) => figure.name === name && figure.unit === "address")?.value;
    const [account, delegate] = [named("account"), named("delegate")];
    if (code !== "DelegationSet" || typeof account !== "string" || typeof delegate !== "string") return [];
    const who = names.who(account);
    return `${upper(who)} ${who === "you" ? "let" : "lets"} ${names.short(delegate)} do anything in ${who === "you" ? "your" : "its"} name.`;
  });
  const rest = delegations.length - mostItems;
  const isChanging = findings.some(({ code, severity }) => severity !== "info" && control.has(code));
  return [
    ...delegations.slice(0, mostItems),
    ...(rest > 0 ? [`${rest} more such rights are given.`] : []),
    ...(isChanging ? ["Who controls a contract changes."] : []),
  ];
};

/** What does not work: which transactions fail or were not simulated, and who cannot pay. */
const hindrances = (report: Report, names: Names): ReadonlyArray<string> => {
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
      : [one ? "It would fail." : `Of ${transactions.length} transactions, ${numbers}${more} would fail.`]),
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

/** The summary without the reason for the verdict, by sentences. */
export const sentencesOf = (report: Report, names: Names): ReadonlyArray<string> => {
  const isIf = report.verdict === "blocked" || report.verdict === "unknown";
  const costs = costsOf(report);
  const told = costs.slice(0, mostSenders).map((cost): ReadonlyArray<string> => {
    const who = names.who(cost.account);
    const isYou = who === "you";
    const verb = (base: string) => (isIf ? `would ${base}` : isYou ? base : `${base}s`);
    const clauses = clausesOf(report, cost, { names, verb, their: isYou ? "your" : "its" });
    const isLong = clauses.length > mostClauses || clauses.some(({ isList }) => isList);
    if (isLong) return clauses.map(({ text }) => `${upper(who)} ${text}.`);
    return [`${upper(who)} ${listed(clauses.map(({ text }) => text))}.`];
  });
  const rest = costs.length - told.length;
  return [
    ...hindrances(report, names),
    ...told.flat(),
    ...(rest > 0 ? [`${rest} more ${rest === 1 ? "sender is" : "senders are"} told of below.`] : []),
    ...payments(report, names, isIf),
    ...powersOf(report, names),
    ...doubtsOf(report),
  ];
};

/** Longer than any reason of our own. */
export const mostReason = 600;

/**
 * A report in one or a few sentences for whoever signs: why not (the report's `because`) where it is not `ready`; what
 * leaves, what comes, which rights are given to whom, what it costs at most. `you` is the sender; several senders are
 * named by their addresses. Says so where something was not measured, or may come out otherwise. Amounts as
 * {@link AmountOptions} say; every string of the report is escaped and bounded. Every rendering begins with it.
 */
export const summary = (report: Report, options: AmountOptions = {}): string => {
  const sentences = sentencesOf(report, namesFor(report, options));
  const { verdict, because } = report;
  const why = verdict === "ready" ? [] : [`${verdict.toUpperCase()}: ${escapeText(because, mostReason)}.`];
  return [...why, ...sentences].join(" ");
};
