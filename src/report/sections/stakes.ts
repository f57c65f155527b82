/** Sections read first behind the findings: movements, rights, costs. Amounts rounded, parties whole. */
import { isNobody } from "../../abi/words.js";
import { checksummed, escapeText } from "../../primitives/text.js";
import {
  accountsOf,
  amountForPeople,
  fiatText,
  mostForPeople,
  nativeForPeople,
  signedText,
  symbolOf,
  unitForPeople,
  worthText,
  type Names,
  type RenderOptions,
} from "../amounts.js";
import {
  fact,
  facts,
  factsSection,
  joined,
  left,
  right,
  section,
  table,
  tableSection,
  type Cell,
  type Section,
  type Shown,
} from "../document.js";
import { roundingOf, type Flow } from "../flows.js";
import { isCovered, perGasText, rightText, spenderText, type Grant, type RenderSources } from "../stakes.js";
import type { Exposure } from "../beside.js";
import type { CallLook } from "../../abi/calls.js";
import { callFacts } from "./transaction.js";
import type { Funds } from "../parts.js";
import type { Report } from "../schema.js";

/** As many rows as a screen holds; the technical part has more. */
const mostRows = 12;

/** The calls inside, whole, where there are any: what is called from outside stands in the summary. */
export const callsSection = ({ transactions }: Report, look: CallLook): ReadonlyArray<Section> =>
  factsSection(
    "Calls",
    ...transactions
      .flatMap(({ call }, index) => {
        const rows = call === null || call.calls.length === 0 ? [] : callFacts(call, look);
        return transactions.length === 1 ? rows : rows.map((row) => ({ ...row, label: `${index + 1}: ${row.label}` }));
      })
      .slice(0, mostRows),
  );

/** Shows what the caller's descriptors say of the calls. */
export const descriptorsSection = ({ names, transactions }: Report): ReadonlyArray<Section> => {
  const rows = (names?.described ?? []).flatMap(({ transaction, intent, fields }) =>
    [{ label: "intent", value: intent }, ...fields].map(({ label, value }) => {
      return { label: transactions.length === 1 ? label : `${transaction + 1}: ${label}`, value };
    }),
  );
  const columns: ReadonlyArray<Shown<(typeof rows)[number]>> = [
    [left("field"), ({ label }) => escapeText(label, 40)],
    [left("says"), ({ value }) => escapeText(value, 200)],
  ];
  return tableSection("By your descriptors", rows, columns, mostRows);
};

const partyCell = ({ way, party }: Flow, names: Names): Cell | string => {
  if (party === null) return "a party that no event names";
  if (isNobody(party)) return way === "out" ? "nobody (burned)" : "nobody (minted)";
  return { text: names.whole(party), isAddress: names.label(party) === null };
};

/** Returns the column of the account that is meant, where a bundle has several senders. */
const ofColumn = <A>(report: Report, names: Names, accountOf: (item: A) => string): ReadonlyArray<Shown<A>> =>
  accountsOf(report).length > 1 ? [[left("of"), (item) => names.party(accountOf(item))]] : [];

/** Shows what each sender gives and gets, net and by party. */
export const flowsSection = (
  report: Report,
  { names, movements }: RenderSources,
  price: RenderOptions["price"],
): ReadonlyArray<Section> => {
  const amountOf = (flow: Flow) => amountForPeople(names, flow, flow.amount, roundingOf([flow], names));
  const worth: ReadonlyArray<Shown<Flow>> =
    price === undefined ? [] : [[left("worth"), (flow) => worthText(names, flow, flow.amount, price)]];
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
    ...worth,
    [left(""), ({ way }) => (way === "out" ? "to" : "from")],
    [left("party"), (flow) => partyCell(flow, names)],
  ];
  return tableSection("Movements", movements, columns, mostRows);
};

const spenderKinds: Readonly<Record<string, string>> = {
  eoa: "a person's account, no contract",
  delegated: "an account that delegates",
  created: "a contract of this bundle",
};

/** The rights over what the senders have. */
export const grantsSection = (report: Report, { names, grants }: RenderSources): ReadonlyArray<Section> => {
  const words = { new: "may", kept: "may still", back: "may no longer" } as const;
  const right = ({ approval, change }: Grant): Cell => {
    const kind = isNobody(approval.spender) || change === "back" ? undefined : spenderKinds[approval.spenderKind];
    // why: what somebody may no longer do is what they could do before
    const had = { ...approval, after: approval.before, unlimited: (approval.before ?? 0n) >= 2n ** 128n };
    const isBack = change === "back";
    const what = rightText(isBack ? had : approval, names, names.isYou(approval.owner) ? "your" : "its", isBack);
    return {
      text: `${words[change]} ${what}${kind === undefined ? "" : ` (${kind})`}`,
      tone: change === "back" ? "good" : approval.unlimited ? "bad" : "warn",
    };
  };
  const columns: ReadonlyArray<Shown<Grant>> = [
    ...ofColumn<Grant>(report, names, ({ approval }) => approval.owner),
    [
      left("to"),
      ({ approval }) => ({
        text: spenderText(approval, names.whole),
        isAddress: names.label(approval.spender) === null,
      }),
    ],
    [left("right"), right],
  ];
  return tableSection("Approvals", grants, columns, mostRows);
};

const means: Readonly<Record<Exposure["by"], string>> = {
  allowance: "an allowance",
  operator: "an operator of all",
  delegate: "the account's delegate",
  value: "the value sent",
};

/** Shows what contracts could take, at least, beside what they do take. */
export const exposureSection = ({ exposure }: Report, { names, exposures, grants }: RenderSources) => {
  if (exposure === null) return [];
  const shown = grants.slice(0, mostRows);
  const rows = exposures.filter((row) => !shown.some((grant) => isCovered(row, grant)));
  const { pairs, unread } = exposure;
  const amountOf = (row: Exposure) =>
    row.amount === null ? null : amountForPeople(names, row, row.amount, names.isTyped(row.amount) ? "none" : "down");
  const columns: ReadonlyArray<Shown<Exposure>> = [
    [left("of"), ({ account }) => names.who(account)],
    [left("by"), ({ spender }) => ({ text: names.whole(spender), isAddress: true })],
    [right("at least"), (row) => `${amountOf(row)?.mark ?? ""}${amountOf(row)?.digits ?? "not known"}`],
    [left("what"), (row) => amountOf(row)?.unit ?? unitForPeople(names, row)],
    [left("as"), ({ by }) => means[by]],
  ];
  if (rows.length === 0 && unread === 0) return [];
  const looked = `${pairs} pairs of a contract and a token checked${unread === 0 ? "" : `, ${unread} not checked`}`;
  return section("What else contracts could take", [
    ...table(rows, columns, mostRows),
    ...facts({ label: "of", text: looked, tone: unread === 0 ? "dim" : "warn" }),
  ]);
};

/** Says what is paid in all, where that is more than the fees, and what is likely and there. */
const sumText = (funds: Funds | undefined, atMost: bigint | null, names: Names, price: RenderOptions["price"]) => {
  if (funds === undefined || funds.required === null) return atMost === null ? "" : "not known";
  const { required, expected, balance } = funds;
  return joined(
    required === atMost ? null : `at most ${mostForPeople(required, names)}${fiatText(required, price, names.native)}`,
    expected === null ? null : `likely ${nativeForPeople(expected, "up", names)}`,
    balance === null ? null : `balance ${nativeForPeople(balance, "down", names)}`,
  );
};

/** Shows what each payer gives at most, and whether it is there. */
export const costSection = (report: Report, { names, costs }: RenderSources, price: RenderOptions["price"]) => {
  const rows = costs.slice(0, mostRows).flatMap(({ account, atMost, perGas, isOpen }) => {
    const funds = report.funds.find((payer) => payer.account.toLowerCase() === account);
    const fees = atMost === null ? perGasText(perGas, names) : mostForPeople(atMost, names);
    const bound = isOpen ? `${fees}, and what is not known beside` : `at most ${fees}`;
    const short = funds?.shortfall ?? 0n;
    const least = funds?.required === null ? "at least " : "";
    const inAll = sumText(funds, atMost, names, price);
    const isSame = atMost !== null && funds?.required === atMost;
    return [
      costs.length > 1 ? fact("of", checksummed(account)) : null,
      fact(
        "fees",
        joined(atMost === null ? fees : `${bound}${fiatText(atMost, price, names.native)}`, isSame ? inAll : null),
      ),
      isSame || inAll === "" ? null : fact("total", inAll),
      short <= 0n ? null : fact("missing", `${least}${nativeForPeople(short, "up", names)}`, { tone: "bad" }),
    ];
  });
  return factsSection("Cost", ...rows);
};

/** The whole addresses of the tokens that are named above, for a symbol is what a contract says of itself. */
export const tokensSection = ({ names, flows, grants, exposures }: RenderSources): ReadonlyArray<Section> => {
  const told = [...flows, ...grants.map(({ approval }) => approval), ...exposures];
  const tokens = [...new Set(told.flatMap(({ token }) => (token === null ? [] : [token.toLowerCase()])))];
  const columns: ReadonlyArray<Shown<string>> = [
    [left("calls itself"), (token) => symbolOf(names, token) ?? "no name"],
    [left("contract"), (token) => ({ text: checksummed(token), isAddress: true })],
  ];
  return tableSection("Tokens", tokens, columns, mostRows);
};
