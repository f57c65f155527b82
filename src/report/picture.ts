/** Movements as arrows between boxes: who gives what to whom, which way, and what may be taken. A part of the document. */
import * as Arr from "effect/Array";
import {
  amountForPeople,
  decimalsOf,
  givenText,
  idText,
  mostForPeople,
  signedText,
  symbolOf,
  type Names,
} from "./amounts.js";
import { isNobody } from "../abi/words.js";
import { formatGasPrice } from "../primitives/units.js";
import { known } from "./document.js";
import { isOnlySigned, natureOf } from "./sections/signings.js";
import type { Approval } from "./parts.js";
import { escapeText } from "../primitives/text.js";
import type { Report } from "./schema.js";
import { failuresOf, roundingOf, type Flow } from "./flows.js";
import { limitOf, spenderText, type Cost, type Grant, type RenderSources } from "./stakes.js";

/** One arrow. */
export interface Arrow {
  readonly account: string;
  /** The box of the party, a line each. */
  readonly party: ReadonlyArray<string>;
  readonly kind: "out" | "in" | "right" | "plain" | "fee";
  /** Above the arrow. */
  readonly what: string;
  /** Below it. */
  readonly beside: string;
}

/** As many arrows as a screen of a phone holds; the rest is counted. */
const mostRows = 9;

const nobody = { out: "nobody (burned)", in: "minted" } as const;

export const partyKey = ({ account, party }: Arrow) => `${account}/${party.join("/")}`;

/** An address as lines of a box: below its label, so that no label pushes it out. */
const linesFor = (address: string, names: Names): ReadonlyArray<string> => {
  const label = names.label(address);
  return names.isYou(address) ? ["you"] : [...(label === null ? [] : [label]), names.short(address)];
};

/** A token by its symbol, and which of it. */
const itemText = (names: Names, token: string, tokenId: bigint | null): string =>
  `${symbolOf(names, token) ?? "token"}${tokenId === null ? "" : ` ${idText(tokenId)}`}`;

/** Says above an arrow how much moves, and below it of which token. */
const movedText = (flow: Flow, names: Names): readonly [what: string, beside: string] => {
  const { way, token, tokenId, amount } = flow;
  const sign = way === "out" ? "-" : "+";
  const shown = amountForPeople(names, flow, amount, roundingOf([flow], names));
  const text = signedText(shown, sign);
  if (token === null) return [`${text} ${shown.unit}`, ""];
  const [item, short] = [itemText(names, token, tokenId), names.short(token)];
  if (tokenId !== null) return [amount === 1n ? `${sign}${item}` : `${text} × ${item}`, short];
  const isBare = decimalsOf(names, token) === null && !names.isCollection(token);
  return isBare ? [text, `smallest units, ${short}`] : [`${text} ${item}`, short];
};

const flowRow = (flow: Flow, names: Names): Arrow => {
  const { account, way, party } = flow;
  const [what, beside] = movedText(flow, names);
  const lines = party === null ? ["no event"] : isNobody(party) ? [nobody[way]] : linesFor(party, names);
  return { account, kind: way, party: lines, what, beside };
};

const limitText = (approval: Approval, names: Names): string => {
  const { token, tokenId } = approval;
  const item = itemText(names, token, tokenId);
  const limit = limitOf(approval, names);
  if (limit.kind === "unknown" || limit.kind === "one") return item;
  if (limit.kind === "unlimited" || limit.kind === "every")
    return `${limit.kind === "every" ? "all of" : "unlimited"} ${item}`;
  const amount = limit.kind === "all" ? limit.held : limit.after;
  const rounding = names.isTyped(amount) ? "none" : limit.kind === "all" ? "down" : "up";
  const most = signedText(amountForPeople(names, approval, amount, rounding), "");
  const isBare = tokenId === null && decimalsOf(names, token) === null && !names.isCollection(token);
  return `${limit.kind === "all" ? "all" : "≤"} ${most} ${isBare ? "units" : item}`;
};

const grantRow = ({ approval }: Grant, names: Names): Arrow => ({
  account: approval.owner.toLowerCase(),
  party: isNobody(approval.spender) ? [spenderText(approval, names.who)] : linesFor(approval.spender, names),
  kind: "right",
  what: limitText(approval, names),
  beside: `${approval.standard === "aaveDebt" ? "may borrow" : "may take"} · ${names.short(approval.token)}`,
});

const callRow = ({ input, code }: Report["transactions"][number], fails: boolean, names: Names): Arrow => {
  const { from, to, value } = input;
  const party = to ?? code.creates;
  const does = to === null ? "creates" : to === from && value > 0n ? "sends to itself" : "calls";
  return {
    account: from.toLowerCase(),
    party: party === null ? ["new contract"] : linesFor(party, names),
    kind: "plain",
    what: fails ? "would fail" : does,
    beside: "",
  };
};

const feeRow = ({ account, atMost, perGas, isOpen }: Cost, names: Names): Arrow => {
  const most = known(atMost, (wei) => `${isOpen ? "≥" : "≤"} ${mostForPeople(wei, names)}`);
  const price = known(perGas, (wei) => `≤ ${formatGasPrice(wei, names.native)}`);
  return { account, party: ["network fees"], kind: "fee", what: most ?? price ?? "not known", beside: "" };
};

/** The arrows of each sender together, the worst first: rights, what leaves, what comes, fees. */
const rowsOf = (report: Report, { names, movements, ...reading }: RenderSources) => {
  const failed = new Set(failuresOf(report));
  const grants = reading.grants.filter(({ change }) => change !== "back");
  const moving = [...grants, ...movements];
  const shownRows =
    moving.length === 0
      ? report.transactions.slice(0, mostRows).map((transaction, at) => callRow(transaction, failed.has(at), names))
      : moving.slice(0, mostRows).map((one) => ("approval" in one ? grantRow(one, names) : flowRow(one, names)));
  const costs = reading.costs.filter(({ account }, at) => at === 0 || shownRows.some((row) => row.account === account));
  const fees = costs.map((cost) => feeRow(cost, names));
  const accounts = [...new Set([...shownRows, ...fees].map(({ account }) => account))];
  const rows = accounts.flatMap((account) => {
    const own = shownRows.filter((row) => row.account === account);
    // why: one box for a party, where its first arrow is
    const together = Object.values(Arr.groupBy(own, partyKey)).flat();
    const from = names.isYou(account) ? ["You", names.short(account)] : linesFor(account, names);
    return [...together, ...fees.filter((row) => row.account === account)].map((row) => ({ ...row, from }));
  });
  return { rows, cut: Math.max(0, moving.length - shownRows.length) };
};

/** Returns captions of calls, a line for each of the first transactions: the function, by its name alone. */
const captionsOf = ({ transactions }: Report): ReadonlyArray<string> =>
  transactions
    .flatMap(({ call }, index) => {
      if (call === null || call.to === null) return [];
      const by = call.by === "selector" ? " (by selector)" : call.by === "names" ? " (by your names)" : "";
      const what = call.function === null ? `a function not known (${call.selector})` : `${call.function}${by}`;
      const inside = call.calls.length + call.more;
      const place = transactions.length === 1 ? "" : `${index + 1}. `;
      return [`${place}${escapeText(what, 60)}${inside === 0 ? "" : `, ${inside} calls inside`}`];
    })
    .slice(0, mostCaptions);
const mostCaptions = 3;

/** Captions of signatures: what is to be signed, in its first words. */
const signingCaptions = ({ signings }: Report): ReadonlyArray<string> =>
  signings.slice(0, mostCaptions).map((signing) => `to sign: ${natureOf(signing).split(",", 1).join("")}`);

/** The picture of a report: its arrows, how many more there are, and what is called. */
export const pictureOf = (reading: RenderSources) => {
  const { report, names } = reading;
  const isIf = report.verdict === "blocked" || report.verdict === "unknown";
  return {
    title: isOnlySigned(report) ? "What it lets move, at worst" : isIf ? "What would move" : "What moves",
    ...rowsOf(report, reading),
    captions: [...signingCaptions(report), ...captionsOf(report), ...givenText(names)],
  };
};
export type Picture = ReturnType<typeof pictureOf>;
