/** What a person reads first behind the findings: what moves, who may do what, what it costs. Amounts rounded, parties whole. */
import { checksummed } from "../../primitives/text.js";
import { amountForPeople, nativeForPeople } from "../amounts.js";
import { facts, joined, left, right, section, table, type Cell, type Fact, type Section } from "../document.js";
import { rightText, spenderText } from "../rights.js";
import type { Funds } from "../parts.js";
import type { Report } from "../schema.js";
import { costsOf, flowsOf, grantsOf, isNobody, isTwice, type Flow, type Grant } from "../stakes.js";
import { sendersOf, symbolOf, type Names } from "../tokens.js";
import { fiatText, type Price } from "../values.js";

/** As many rows as a screen holds; the technical part has more. */
const mostRows = 12;

const signed = (sign: string, amount: string): string =>
  amount.startsWith("≈") ? `≈${sign}${amount.slice(1)}` : `${sign}${amount}`;

const partyText = ({ way, party }: Flow, names: Names): string => {
  if (party === null) return "a party that no event names";
  if (isNobody(party)) return way === "out" ? "nobody (burned)" : "nobody (newly made)";
  return names.whole(party);
};

/** Who is meant, where a bundle has several senders. */
const ofWhom = (report: Report, names: Names, account: string): ReadonlyArray<Cell> =>
  sendersOf(report).length > 1 ? [{ text: names.short(account) }] : [];
const ofColumn = (report: Report) => (sendersOf(report).length > 1 ? [left("of")] : []);

/** What each sender gives and gets, net and by party. */
export const flowsSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const senders = sendersOf(report);
  const row = (flow: Flow): ReadonlyArray<Cell> => {
    const isOut = flow.way === "out";
    const { amount, unit } = amountForPeople(names, flow, flow.amount, isOut ? "up" : "down");
    return [
      ...ofWhom(report, names, flow.account),
      { text: signed(isOut ? "-" : "+", amount), tone: isOut ? "bad" : "good" },
      { text: unit },
      { text: isOut ? "to" : "from" },
      { text: partyText(flow, names) },
    ];
  };
  const flows = flowsOf(report).filter((flow) => !isTwice(flow, senders));
  const columns = [...ofColumn(report), right("amount"), left("what"), left(""), left("party")];
  return section("Movements", table(columns, flows, row, mostRows));
};

const spenderKinds: Readonly<Record<string, string>> = {
  eoa: "a person's account, no contract",
  delegated: "an account that delegates",
  created: "a contract of this bundle",
};

/** The rights over what the senders have. */
export const grantsSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const several = sendersOf(report).length > 1;
  const row = ({ approval, change }: Grant): ReadonlyArray<Cell> => {
    const can = rightText(approval, names, several ? "its" : "your");
    const words = { new: `may ${can}`, kept: `may still ${can}`, back: `may no longer ${can}` } as const;
    const kind = isNobody(approval.spender) || change === "back" ? null : (spenderKinds[approval.spenderKind] ?? null);
    return [
      ...ofWhom(report, names, approval.owner),
      { text: spenderText(approval, names.whole) },
      {
        text: kind === null ? words[change] : `${words[change]} (${kind})`,
        tone: change === "back" ? "good" : approval.unlimited ? "bad" : "warn",
      },
    ];
  };
  const columns = [...ofColumn(report), left("to"), left("right")];
  return section("Approvals", table(columns, grantsOf(report), row, mostRows));
};

const sumText = (funds: Funds | undefined, names: Names, price: Price | undefined): string => {
  if (funds === undefined || funds.required === null) return "not known";
  const { required, expected, balance } = funds;
  return joined(
    `at most ${nativeForPeople(required, "up", names, true)}${fiatText(required, price)}`,
    expected === null ? null : `likely ${nativeForPeople(expected, "up", names)}`,
    balance === null ? null : `balance ${nativeForPeople(balance, "down", names)}`,
  );
};

/** What each payer gives at most, and whether it is there. */
export const costSection = (report: Report, names: Names, price: Price | undefined): ReadonlyArray<Section> => {
  const costs = costsOf(report);
  const rows = costs.slice(0, mostRows).flatMap(({ account, atMost, isOpen }): ReadonlyArray<Fact> => {
    const funds = report.funds.find((one) => one.account.toLowerCase() === account);
    const fees = atMost === null ? "not known" : nativeForPeople(atMost, "up", names, true);
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
  const row = (token: string): ReadonlyArray<Cell> => [
    { text: symbolOf(names, token) ?? "no name" },
    { text: checksummed(token) },
  ];
  return section("Tokens", table([left("calls itself"), left("contract")], tokens, row, mostRows));
};
