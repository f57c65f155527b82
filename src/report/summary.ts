/** A report's meaning for whoever signs, in a sentence: what leaves, comes, is granted and paid, and why not. Pure. */
import * as Arr from "effect/Array";
import { isNobody } from "../abi/words.js";
import { escapeText, quoteText } from "../primitives/text.js";
import {
  accountsOf,
  amountInSentence,
  givenText,
  holdingText,
  mostForPeople,
  tokenForPeople,
  type AmountOptions,
  type Names,
} from "./amounts.js";
import { bareCalls, callSentences, upper } from "./callSentences.js";
import { isActing, isControl, isDelegation, isReadOnly } from "./byCode.js";
import { claimsOf, failuresOf, flowsOf, paymentsOf, roundingOf, toThemselves, type Flow } from "./flows.js";
import {
  exposureText,
  grantsOf,
  isCovered,
  isMoving,
  limitOf,
  perGasText,
  rightText,
  spenderText,
  subjectsOf,
  type Cost,
  type Grant,
  readingOf,
  type RenderSources,
} from "./stakes.js";
import { counted } from "./document.js";
import { isOnlySigned, signingSentences } from "./sections/signings.js";
import { lookAlikes } from "./lookAlikes.js";
import { doubtsOf, hindrances, listed, mostItems, mostReason, mostSenders, reasonOf } from "./reason.js";
import type { Report } from "./schema.js";

/** With more, or where one is a list itself, each is a sentence of its own. */
const mostClauses = 2;

/** An action of an account; `isList`: several things in one, so that it reads better as a sentence of its own. */
interface Clause {
  readonly text: string;
  readonly isList: boolean;
}

/** Several things in one; of many only the first are put into words. */
const several = <A>(all: ReadonlyArray<A>, noun: string, tell: (item: A) => Clause): ReadonlyArray<Clause> => {
  if (all.length === 0) return [];
  const rest = all.length - mostItems;
  const parts = all.slice(0, rest === 1 ? undefined : mostItems).map(tell);
  const text = parts.map((part) => part.text).join(" and ") + (rest > 1 ? ` and ${rest} more ${noun}` : "");
  return [{ text, isList: parts.length > 1 || parts.some(({ isList }) => isList) }];
};

const withVerb = (verb: string, { text, isList }: Clause): Clause => ({ text: `${verb} ${text}`, isList });
const plain = (text: string): Clause => ({ text, isList: false });

/** The subject of a sentence, and how its verbs go. */
interface Voice {
  readonly names: Names;
  readonly verb: (base: string) => string;
  readonly their: string;
}

/** Tells what leaves where nothing of it is left: `all of your USDC (0xA0b8…eB48), 5,000,`. */
const wholeText = (same: Arr.NonEmptyReadonlyArray<Flow>, { names, their }: Voice): string | null => {
  const [{ account, token, tokenId, way }] = same;
  const isWhole = way === "out" && token !== null && tokenId === null && names.held(account, { token, tokenId }) === 0n;
  if (!isWhole || same.some((flow) => flow.account !== account)) return null;
  const sum = same.reduce((all, { amount }) => all + amount, 0n);
  return `all of ${their} ${tokenForPeople(names, token)}, ${holdingText(names, same[0], sum)},`;
};

/** Tells what goes one way; the same thing to or from several parties is one item. */
const things = (flows: ReadonlyArray<Flow>, way: Flow["way"], voice: Voice): ReadonlyArray<Clause> => {
  const { names } = voice;
  const isOut = way === "out";
  const preposition = isOut ? "to" : "from";
  const byUnit = Arr.groupBy(
    flows.filter((flow) => flow.way === way),
    ({ token, tokenId }): string => `${token}/${tokenId}`,
  );
  return several(Object.values(byUnit), "things", (same) => {
    const sum = same.reduce((all, { amount }) => all + amount, 0n);
    const text = wholeText(same, voice) ?? amountInSentence(names, same[0], sum, roundingOf(same, names));
    const parties = same.flatMap(({ party }) => party ?? []);
    const [only] = parties;
    if (only === undefined) return plain(text);
    const isList = parties.length < same.length;
    const whom =
      parties.length > 1
        ? `${preposition} ${parties.length} addresses`
        : isNobody(only)
          ? `(${isOut ? "burned" : "minted"})`
          : `${preposition} ${names.who(only)}`;
    return { text: `${text} ${whom}${isList ? " and others" : ""}`, isList };
  });
};

const rights = (grants: ReadonlyArray<Grant>, { names, verb, their }: Voice): ReadonlyArray<Clause> =>
  several(grants, "rights", ({ approval, change }) => {
    const spender = spenderText(approval, names.who);
    if (change === "back")
      return plain(`${verb("take")} back what ${spender} may do with ${tokenForPeople(names, approval.token)}`);
    const right = rightText(approval, names, their);
    const isList = limitOf(approval, names).kind === "all";
    return { text: `${verb("let")} ${spender} ${right}${change === "kept" ? " as before" : ""}`, isList };
  });

const costClause = ({ atMost, perGas, isOpen }: Cost, { names, verb }: Voice): Clause => {
  if (atMost === null)
    return perGas === null
      ? plain(`${verb("pay")} fees that are not known`)
      : { text: `${verb("pay")} ${perGasText(perGas, names)}`, isList: true };
  const fees = mostForPeople(atMost, names);
  const text = isOpen ? `${fees} in fees and what is not known beside` : `at most ${fees} in fees`;
  return { text: `${verb("pay")} ${text}`, isList: isOpen };
};

/** ` without moving anything`, where all succeeds, nothing of anybody's moves, no right changes and no control, and nothing is in doubt. */
const stillness = (report: Report): string =>
  isMoving(report) ||
  doubtsOf(report).length > 0 ||
  report.findings.some((finding) => isControl(finding) || isActing(finding)) ||
  toThemselves(report).length > 0 ||
  [...report.transactions, ...report.carriers].some(
    ({ input, outcome }) => outcome.status !== "success" || input.authorizationList?.length,
  )
    ? ""
    : " without moving anything";

/** The call itself, where nothing else is told of an account: it moves nothing, or creates a contract. */
const callClause = (report: Report, own: Report["transactions"], isStill: boolean, voice: Voice) => {
  const [only, ...others] = report.transactions;
  const isCreating = others.length === 0 && own.some(({ input }) => input.to === null);
  const isNamed = others.length === 0 && only?.call != null;
  // why: of a bundle that fails as a whole it is said already
  const isFailing = own.length > 1 && failuresOf(report).length === report.transactions.length;
  if (own.length === 0 || isNamed || isFailing || !(isStill || isCreating)) return [];
  return [plain(`${bareCalls(own, voice)}${isStill ? stillness(report) : ""}`)];
};

const clausesOf = (
  report: Report,
  flows: ReadonlyArray<Flow>,
  { accounts, cost }: ReturnType<typeof subjectsOf>[number],
  voice: Voice,
): ReadonlyArray<Clause> => {
  const { names, verb, their } = voice;
  const mine = flows.filter(({ account, party }) => accounts.has(account) && !accounts.has(party ?? ""));
  const grants = grantsOf(report, accounts);
  const outs = things(mine, "out", voice);
  const ins = things(mine, "in", voice);
  const own = report.transactions.filter(({ input }) => accounts.has(input.from.toLowerCase()));
  const isStill = outs.length + ins.length + grants.length === 0;
  const handed = toThemselves(report).filter(({ account }) => accounts.has(account));
  return [
    ...handed.slice(0, mostItems).map((flow) => {
      const what = amountInSentence(names, flow, flow.amount, roundingOf([flow], names));
      return plain(`${verb("send")} ${what} to ${their === "your" ? "yourself" : "itself"}`);
    }),
    ...(handed.length > 0 ? [] : callClause(report, own, isStill, voice)),
    ...outs.map((clause) => withVerb(verb("send"), clause)),
    ...ins.map((clause) => withVerb(verb("receive"), clause)),
    ...rights(grants, voice),
    ...(cost === null ? [] : [costClause(cost, voice)]),
  ];
};

/** Tells what others pay or grant because of it, a sentence each; also what an account that a sender owns gets. */
const payments = (report: Report, { names, ledger, flows }: RenderSources, isIf: boolean): ReadonlyArray<string> => {
  const voice: Voice = { names, verb: (base) => (isIf ? `would ${base}` : `${base}s`), their: "its" };
  const own = new Set(accountsOf(report));
  const byPayer = new Map(
    paymentsOf(report, ledger, flows.length === 0).map((flows) => [flows[0]?.account ?? "", flows]),
  );
  const owned = report.owned.map(({ account }) => account.toLowerCase());
  const gets = flowsOf(ledger, new Set(owned)).filter(({ way, party }) => way === "in" && !own.has(party ?? ""));
  const owners = new Set(report.approvals.map(({ owner }) => owner.toLowerCase()).filter((owner) => !own.has(owner)));
  const grants = grantsOf(report, owners).filter(({ change }) => change === "new");
  const all = [...new Set([...byPayer.keys(), ...grants.map(({ approval }) => approval.owner.toLowerCase())])];
  const rest = all.length - mostSenders;
  return [
    ...all.slice(0, mostSenders).flatMap((payer) => {
      const outs = things(byPayer.get(payer) ?? [], "out", voice);
      if (isNobody(payer)) return outs.map(({ text }) => `Minted: ${text}.`);
      const own = grants.filter(({ approval }) => approval.owner.toLowerCase() === payer);
      const ins = gets.filter(({ account }) => account === payer);
      return [
        ...outs.map(({ text }) => `${voice.verb("pay")} ${text}`),
        ...things(ins, "in", voice).map(({ text }) => `${voice.verb("receive")} ${text}`),
        ...rights(own, voice).map(({ text }) => text),
      ].map((text) => `${upper(names.actor(payer))} ${text}.`);
    }),
    ...(rest > 0 ? [`${rest} more ${rest === 1 ? "account pays" : "accounts pay"} others.`] : []),
  ];
};

/** Tells what contracts could take beside all that, in one sentence; none where it is nothing. */
const exposureSentence = ({ names, exposures, grants }: RenderSources): ReadonlyArray<string> => {
  // why: those that are told as rights are not beside them
  const shownGrants = grants.slice(0, mostItems);
  const [first, ...others] = exposures.filter((row) => !shownGrants.some((grant) => isCovered(row, grant)));
  if (first === undefined) return [];
  const whose = names.who(first.account);
  const of = whose === "you" ? "" : ` of ${whose}`;
  const rest = others.length === 0 ? "" : `, and ${counted(others.length, "more such holding")} could be taken`;
  return [`${upper(names.who(first.spender))} could take at least ${exposureText(first, names)}${of} beside${rest}.`];
};

/** Tells what only reads, and what it returns: nobody need send it. */
const readings = ({ findings, transactions }: Report): ReadonlyArray<string> =>
  findings
    .filter(isReadOnly)
    .slice(0, mostItems)
    .map(({ transaction, numbers, evidence }) => {
      const figure = numbers.find(({ name }) => name === "returns");
      const result = figure?.unit === "text" ? `: it returns ${escapeText(figure.value, mostResult)}` : "";
      const which = transactions.length === 1 ? "It" : `Transaction ${(transaction ?? 0) + 1}`;
      return evidence === "assumed"
        ? `By its selector ${which === "It" ? "it" : which.toLowerCase()} only reads, and then needs no transaction${result}.`
        : `${which} only reads, and needs no transaction${result}.`;
    });
const mostResult = 160;

/** Tells who gets to act for an account, or over a contract. */
const powersOf = ({ findings }: Report, names: Names): ReadonlyArray<string> => {
  const delegations = findings.filter(isDelegation).flatMap(({ numbers }) => {
    const named = (name: string) => numbers.find((figure) => figure.name === name && figure.unit === "address")?.value;
    const [account, delegate] = [named("account"), named("delegate")];
    if (typeof account !== "string" || typeof delegate !== "string") return [];
    const who = names.who(account);
    return `${upper(who)} ${who === "you" ? "let" : "lets"} ${names.short(delegate)} do anything in ${who === "you" ? "your" : "its"} name.`;
  });
  const rest = delegations.length - mostItems;
  // why: control over contracts that the bundle itself creates is no news
  const isChanging = findings.some((finding) => finding.severity !== "info" && isControl(finding));
  return [
    ...delegations.slice(0, mostItems),
    ...(rest > 0 ? [`${rest} more such rights are given.`] : []),
    ...(isChanging ? ["Who controls a contract changes."] : []),
  ];
};

/** More of an intent than a sentence takes. */
const mostIntent = 200;

/** The summary without the reason for the verdict, by sentences. */
export const sentencesOf = (reading: RenderSources): ReadonlyArray<string> => {
  const { report, names, ledger, flows } = reading;
  const allClaims = claimsOf(report, ledger);
  const still = stillness(report);
  const isIf = report.verdict === "blocked" || report.verdict === "unknown";
  const subjects = subjectsOf(report, reading);
  const bySubject = subjects.slice(0, mostSenders).map((subject): ReadonlyArray<string> => {
    const [account = ""] = subject.accounts;
    const who = names.who(account);
    const isYou = who === "you";
    // why: nobody need use it, nor as it was simulated
    const actor = isOnlySigned(report) ? `At worst ${who}` : upper(who);
    const verb = (base: string) => (isIf ? `would ${base}` : isYou ? base : `${base}s`);
    const clauses = clausesOf(report, flows, subject, { names, verb, their: isYou ? "your" : "its" });
    const isLong = clauses.length > mostClauses || clauses.some(({ isList }) => isList);
    const accounts = new Set(subject.accounts);
    const claims = allClaims.filter((claim) => accounts.has(claim.account));
    const isPaid = flows.some((flow) => accounts.has(flow.account) && flow.way === "in");
    return [
      ...claims.slice(0, mostItems).map((claim) => {
        const what = amountInSentence(names, claim, claim.amount, "none");
        return `It claims to give ${who} ${what}. ${upper(who)} ${isYou ? "get" : "gets"} ${isPaid ? "none of it" : "nothing"}.`;
      }),
      ...(isLong
        ? clauses.map(({ text }) => `${actor} ${text}.`)
        : clauses.length === 0
          ? []
          : [`${actor} ${listed(clauses.map(({ text }) => text))}.`]),
    ];
  });
  const rest = subjects.length - bySubject.length;
  const isUsed = report.signings.every(({ assumed }) => assumed !== null);
  return [
    ...hindrances(report, names),
    ...signingSentences(report, names),
    ...(isOnlySigned(report) && isUsed && still !== "" ? ["Used now, it moves nothing and gives no right."] : []),
    ...bySubject.flat(),
    ...(rest > 0 ? [`${rest} more ${rest === 1 ? "sender is" : "senders are"} told of below.`] : []),
    ...payments(report, reading, isIf),
    ...powersOf(report, names),
    ...exposureSentence(reading),
    ...lookAlikes(report, names).slice(0, mostItems),
    ...doubtsOf(report),
    ...callSentences(report, names, isIf, still),
    ...(still !== "" && report.stateChanges.some(({ seen }) => seen === "unseen")
      ? ["What else it changes was not seen."]
      : []),
    ...readings(report),
    ...(report.names?.described ?? []).slice(0, mostItems).map(({ transaction, intent }) => {
      const which = report.transactions.length === 1 ? "" : ` of transaction ${transaction + 1}`;
      return `Your descriptors say${which}: ${quoteText(intent, mostIntent)}.`;
    }),
    ...givenText(names),
  ];
};

/**
 * A report in one or a few sentences for whoever signs: why not (the report's `because`) where it is not `ready`; what
 * leaves, what comes, which rights are given to whom, what it costs at most. `you` is the sender; several senders are
 * named by their addresses. Says so where something was not measured, or may come out otherwise. Amounts as
 * {@link AmountOptions} say; every string of the report is escaped and bounded. Every rendering begins with it.
 */
export const summary = (report: Report, options: AmountOptions = {}): string => {
  const reading = readingOf(report, options);
  const sentences = sentencesOf(reading);
  const { verdict } = report;
  const why =
    verdict === "ready"
      ? []
      : [`${verdict.toUpperCase()}: ${escapeText(reasonOf(report, reading.names), mostReason)}.`];
  return [...why, ...sentences].join(" ");
};
