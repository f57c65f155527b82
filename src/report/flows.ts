/** What a report's events and balances say that accounts give and get: net, by party, over the whole bundle. Pure. */
import * as Arr from "effect/Array";
import type { DecodedCall } from "../abi/calls.js";
import { isNobody } from "../abi/words.js";
import { isRecord } from "../primitives/record.js";
import { sizeOf } from "../primitives/units.js";
import { accountsOf, type Names, type Rounding, sendersOf, type Unit } from "./amounts.js";
import type { Transfer } from "./parts.js";
import type { Report } from "./schema.js";

/** What an account gives to one party, or gets from it, over the whole bundle and net. */
export interface Flow extends Unit {
  readonly account: string;
  readonly way: "out" | "in";
  /** null = balances tell of it, and no event. */
  readonly party: string | null;
  /** Above zero; wei, or a token's smallest units. */
  readonly amount: bigint;
  /** The movements that it is the sum of, the first of them; none where balances tell otherwise. */
  readonly parts: ReadonlyArray<Part>;
}
type Part = Pick<Transfer, "amount" | "transaction">;

/** Of sums of more than this nobody looks for every amount in the calldata. */
const mostParts = 32;

/** How the sum of flows is rounded: of amounts that the transactions ask for it is not, what they estimate is. */
export const roundingOf = (flows: Arr.NonEmptyReadonlyArray<Flow>, names: Names): Rounding => {
  const isTyped = ({ parts }: Flow) =>
    parts.length > 0 &&
    parts.length <= mostParts &&
    parts.every(({ amount, transaction }) => names.isTyped(amount, transaction));
  if (flows.length <= mostParts && flows.every(isTyped)) return "none";
  return flows[0].way === "out" ? "up" : "down";
};

const isFailed = ({ outcome }: Report["transactions"][number]): boolean =>
  outcome.status === "reverted" || outcome.status === "halted";

/** The places of the transactions that fail. */
export const failuresOf = ({ transactions }: Pick<Report, "transactions">): ReadonlyArray<number> =>
  transactions.flatMap((transaction, index) => (isFailed(transaction) ? [index] : []));

/** The values that are sent along, where no simulation tells of them. */
const untold = ({ transactions, transfers, observed }: Report): ReadonlyArray<Transfer> => {
  const isTold = new Set(transfers.flatMap(({ token, transaction }) => (token === null ? [transaction] : [])));
  return observed.tier === "simulate"
    ? []
    : transactions.flatMap((one, transaction): ReadonlyArray<Transfer> => {
        const { from, to, value: amount } = one.input;
        const receiver = to ?? one.code.creates;
        if (amount === 0n || receiver === null || isFailed(one) || isTold.has(transaction)) return [];
        const native = { standard: "native", token: null, tokenId: null } as const;
        return [{ ...native, from, to: receiver, amount, transaction, evidence: "assumed" }];
      });
};

const holdingOf = (account: string, { token, tokenId }: Unit): string =>
  `${account}/${token?.toLowerCase() ?? ""}/${tokenId ?? ""}`;

/** A sum that a holding got from one party: negative where it gave. */
interface Sum extends Unit {
  readonly account: string;
  readonly party: string | null;
  amount: bigint;
  parts: Array<Part>;
}

const add = (sums: Map<string, bigint>, key: string, amount: bigint): void =>
  void sums.set(key, (sums.get(key) ?? 0n) + amount);

/** What the events tell, by holding and party. */
const sumsOf = (transfers: ReadonlyArray<Transfer>, accounts: ReadonlySet<string>) => {
  const sums = new Map<string, Map<string | null, Sum>>();
  const counted = new Map<string, bigint>();
  const move = (account: string, party: string, { token, tokenId }: Unit, amount: bigint, part: Part) => {
    if (!accounts.has(account)) return;
    const holding = holdingOf(account, { token, tokenId });
    add(counted, holding, amount);
    const parties = sums.get(holding) ?? new Map<string | null, Sum>();
    sums.set(holding, parties);
    const sum: Sum = parties.get(party) ?? { account, party, token, tokenId, amount: 0n, parts: [] };
    parties.set(party, sum);
    sum.amount += amount;
    if (sum.parts.length <= mostParts) sum.parts.push(part);
  };
  for (const { standard, token, tokenId, from, to, amount, transaction } of transfers) {
    const [giver, taker] = [from.toLowerCase(), to.toLowerCase()];
    if (giver === taker) continue;
    const one = standard === "erc721" ? 1n : amount;
    move(giver, taker, { token, tokenId }, -one, { amount, transaction });
    move(taker, giver, { token, tokenId }, one, { amount, transaction });
    if (standard !== "erc721" || tokenId === null) continue;
    // why: an NFT's contract also counts how many an account has
    for (const [account, by] of [[giver, -1n] as const, [taker, 1n] as const])
      add(counted, holdingOf(account, { token, tokenId: null }), by);
  }
  return { sums, counted };
};

/**
 * What each sender, or each of the accounts, gives and gets, by party: events say who, measured balances how much. What falls short of the events
 * is taken from their only party; everything else that they do not explain is of a party of its own, which is not known.
 */
export const flowsOf = (
  report: Report,
  accounts: ReadonlySet<string> = new Set(accountsOf(report)),
): ReadonlyArray<Flow> => {
  const { sums, counted } = sumsOf([...report.transfers, ...untold(report)], accounts);
  for (const { account: whose, token, tokenId, delta, after } of report.balanceChanges) {
    const account = whose.toLowerCase();
    const holding = holdingOf(account, { token, tokenId });
    const rest = delta - (counted.get(holding) ?? 0n);
    if (after === null || rest === 0n || !accounts.has(account)) continue;
    const parties = sums.get(holding) ?? new Map<string | null, Sum>();
    sums.set(holding, parties);
    const [only] = parties.values();
    // why: a fee or a refund takes from what events say; what goes beyond them may be anybody's
    const isLess = only !== undefined && rest < 0n !== only.amount < 0n && sizeOf(rest) <= sizeOf(only.amount);
    if (isLess && parties.size === 1) {
      only.amount += rest;
      only.parts = [];
    } else parties.set(null, { account, party: null, token, tokenId, amount: rest, parts: [] });
  }
  const flows = [...sums.values()].flatMap((parties) =>
    [...parties.values()].flatMap(({ amount, ...about }): ReadonlyArray<Flow> => {
      if (amount === 0n) return [];
      return [{ ...about, way: amount < 0n ? "out" : "in", amount: sizeOf(amount) }];
    }),
  );
  return [...flows.filter(({ way }) => way === "out"), ...flows.filter(({ way }) => way === "in")];
};

/** What events claim that a sender gets of a token, where its balance does not grow: each token once. */
export const claimsOf = (report: Report): ReadonlyArray<Flow> => {
  const { counted } = sumsOf(report.transfers, new Set(accountsOf(report)));
  const claims = report.balanceChanges.flatMap(
    ({ account: whose, token, tokenId, delta, after }): ReadonlyArray<Flow> => {
      const account = whose.toLowerCase();
      const amount = counted.get(holdingOf(account, { token, tokenId })) ?? 0n;
      if (token === null || after === null || delta > 0n || amount <= 0n) return [];
      return [{ account, way: "in", party: null, token, tokenId, amount, parts: [] }];
    },
  );
  return Object.values(Arr.groupBy(claims, ({ account, token }): string => `${account}/${token}`)).map(
    ([first]) => first,
  );
};

/** What senders hand to themselves: nothing changes hands. */
export const toThemselves = ({ transfers, transactions }: Report): ReadonlyArray<Flow> => {
  const senders = new Set(sendersOf({ transactions }));
  return transfers.flatMap(({ from, to, token, tokenId, amount, standard, transaction }): ReadonlyArray<Flow> => {
    const account = from.toLowerCase();
    if (account !== to.toLowerCase() || !senders.has(account) || amount === 0n) return [];
    const unit = { account, way: "out", party: account, token, tokenId } as const;
    return [{ ...unit, amount: standard === "erc721" ? 1n : amount, parts: [{ amount, transaction }] }];
  });
};

/** The accounts that calls inside a call are made by, as a Safe or the account of a user operation makes them. */
const makersIn = ({ calls }: Pick<DecodedCall, "calls">): ReadonlyArray<string> =>
  calls.flatMap((call) => [
    ...(call.to !== null && !call.isDelegate && call.calls.length > 0 ? [call.to.toLowerCase()] : []),
    ...makersIn(call),
  ]);

/** Accounts that are called, that make calls by the calldata, or that policies name: the first of all non-senders. */
const nearest = ({ options, transactions, owned }: Report): ReadonlyArray<string> => [
  ...transactions.flatMap(({ input: { to } }) => to?.toLowerCase() ?? []),
  ...transactions.flatMap(({ call }) => (call === null ? [] : makersIn(call))),
  ...owned.map(({ account }) => account.toLowerCase()),
  ...options.policies.flatMap((policy) =>
    isRecord(policy) && typeof policy["account"] === "string" ? policy["account"].toLowerCase() : [],
  ),
];

/**
 * Payments between accounts that are no senders, grouped by payer; `nearest` accounts come first. Left out: payers that
 * only pass on what they received, and distant ones that get something in return, as a pool does. Where nothing of a
 * sender moves, near payers are shown with everything they pay, and the others with every loss.
 */
export const paymentsOf = (report: Report, mine: ReadonlyArray<Flow>): ReadonlyArray<ReadonlyArray<Flow>> => {
  const senders = new Set(accountsOf(report));
  const parties = report.transfers.flatMap(({ from, to }) => [from, to]);
  const all = new Set(
    [...parties, ...report.balanceChanges.map(({ account }) => account)].map((one) => one.toLowerCase()),
  );
  const flows = flowsOf(report, new Set([...all].filter((account) => !senders.has(account))));
  const nets = new Map<string, bigint>();
  for (const flow of flows) add(nets, holdingOf(flow.account, flow), flow.way === "in" ? flow.amount : -flow.amount);
  const near = new Map([...new Set(nearest(report))].map((account, rank) => [account, rank]));
  const isQuiet = mine.length === 0;
  const byPayer = Object.entries(Arr.groupBy(flows, ({ account }) => account));
  const payments = byPayer.flatMap(([account, own]) => {
    const isNear = near.has(account);
    const isTold = isQuiet || isNear || (!isNobody(account) && own.every(({ way }) => way === "out"));
    const paid = own.filter(
      (flow) =>
        flow.way === "out" &&
        !senders.has(flow.party ?? "") &&
        ((isQuiet && isNear) || (nets.get(holdingOf(account, flow)) ?? 0n) < 0n),
    );
    return isTold && paid.length > 0 ? [{ paid, rank: near.get(account) ?? near.size }] : [];
  });
  return payments.sort((a, b) => a.rank - b.rank).map(({ paid }) => paid);
};

/** A flow between two senders is told once, by who gives. */
export const isTwice = ({ way, party }: Flow, senders: ReadonlySet<string>): boolean =>
  way === "in" && party !== null && senders.has(party);
