/** What a person reads first behind the findings: what moves, who may do what, what it costs. Amounts rounded, parties whole. */
import { isNobody } from "../../abi/words.js";
import { checksummed } from "../../primitives/text.js";
import {
  amountForPeople,
  fiatText,
  mostForPeople,
  nativeForPeople,
  sendersOf,
  signedText,
  symbolOf,
  type Names,
  type Price,
} from "../amounts.js";
import {
  facts,
  joined,
  left,
  right,
  section,
  table,
  type Cell,
  type Fact,
  type Section,
  type Shown,
} from "../document.js";
import { rightText, spenderText, costsOf, flowsOf, grantsOf, isTwice, type Flow, type Grant } from "../stakes.js";
import type { Funds } from "../parts.js";
import type { Report } from "../schema.js";

/** As many rows as a screen holds; the technical part has more. */
const mostRows = 12;

const partyCell = ({ way, party }: Flow, names: Names): Cell | string => {
  if (party === null) return "a party that no event names";
  if (isNobody(party)) return way === "out" ? "nobody (burned)" : "nobody (newly made)";
  return { text: names.whole(party), isAddress: true };
};

/** Who is meant, where a bundle has several senders. */
const ofColumn = <A>(report: Report, names: Names, accountOf: (item: A) => string): ReadonlyArray<Shown<A>> =>
  sendersOf(report).length > 1 ? [[left("of"), (item) => names.short(accountOf(item))]] : [];

/** What each sender gives and gets, net and by party. */
export const flowsSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const senders = sendersOf(report);
  const amountOf = (flow: Flow) => amountForPeople(names, flow, flow.amount, flow.way === "out" ? "up" : "down");
  const flows = flowsOf(report).filter((flow) => !isTwice(flow, senders));
  const columns: ReadonlyArray<Shown<Flow>> = [
    ...ofColumn<Flow>(report, names, ({ account }) => account),
    [
      right("amount"),
      (flow) =>
        flow.way === "out"
          ? { text: signedText(amountOf(flow), "-"), tone: "bad" }
          : { text: signedText(amountOf(flow), "+"), tone: "good" },
    ],
    [left("what"), (flow) => amountOf(flow).unit],
    [left(""), ({ way }) => (way === "out" ? "to" : "from")],
    [left("party"), (flow) => partyCell(flow, names)],
  ];
  return section("Movements", table(flows, columns, mostRows));
};

const spenderKinds: Readonly<Record<string, string>> = {
  eoa: "a person's account, no contract",
  delegated: "an account that delegates",
  created: "a contract of this bundle",
};

/** The rights over what the senders have. */
export const grantsSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const their = sendersOf(report).length > 1 ? "its" : "your";
  const words = { new: "may", kept: "may still", back: "may no longer" } as const;
  const right = ({ approval, change }: Grant): Cell => {
    const kind = isNobody(approval.spender) || change === "back" ? undefined : spenderKinds[approval.spenderKind];
    return {
      text: `${words[change]} ${rightText(approval, names, their)}${kind === undefined ? "" : ` (${kind})`}`,
      tone: change === "back" ? "good" : approval.unlimited ? "bad" : "warn",
    };
  };
  const columns: ReadonlyArray<Shown<Grant>> = [
    ...ofColumn<Grant>(report, names, ({ approval }) => approval.owner),
    [left("to"), ({ approval }) => ({ text: spenderText(approval, names.whole), isAddress: true })],
    [left("right"), right],
  ];
  return section("Approvals", table(grantsOf(report), columns, mostRows));
};

const sumText = (funds: Funds | undefined, names: Names, price: Price | undefined): string => {
  if (funds === undefined || funds.required === null) return "not known";
  const { required, expected, balance } = funds;
  return joined(
    `at most ${mostForPeople(required, names)}${fiatText(required, price)}`,
    expected === null ? null : `likely ${nativeForPeople(expected, "up", names)}`,
    balance === null ? null : `balance ${nativeForPeople(balance, "down", names)}`,
  );
};

/** What each payer gives at most, and whether it is there. */
export const costSection = (report: Report, names: Names, price: Price | undefined): ReadonlyArray<Section> => {
  const costs = costsOf(report);
  const rows = costs.slice(0, mostRows).flatMap(({ account, atMost, isOpen }): ReadonlyArray<Fact> => {
    const funds = report.funds.find((payer) => payer.account.toLowerCase() === account);
    const fees = atMost === null ? "not known" : mostForPeople(atMost, names);
    const bound = isOpen ? `${fees}, and what is not known beside` : `at most ${fees}`;
    const short = funds?.shortfall ?? 0n;
    return [
      ...(costs.length > 1 ? [{ label: "of", text: checksummed(account) }] : []),
      { label: "fees", text: atMost === null ? fees : `${bound}${fiatText(atMost, price)}` },
      { label: "in all", text: sumText(funds, names, price) },
      ...(short <= 0n ? [] : [{ label: "missing", text: nativeForPeople(short, "up", names), tone: "bad" as const }]),
    ];
  });
  return section("Cost", facts(...rows));
};

/** The whole addresses of the tokens that are named above, for a symbol is what a contract says of itself. */
export const tokensSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const told = [...flowsOf(report), ...grantsOf(report).map(({ approval }) => approval)];
  const tokens = [...new Set(told.flatMap(({ token }) => (token === null ? [] : [token.toLowerCase()])))];
  const columns: ReadonlyArray<Shown<string>> = [
    [left("calls itself"), (token) => symbolOf(names, token) ?? "no name"],
    [left("contract"), (token) => ({ text: checksummed(token), isAddress: true })],
  ];
  return section("Tokens", table(tokens, columns, mostRows));
};
