/** Flows of accounts, as a report's events and balances tell them: net, by party, over the whole bundle. Pure. */
import * as Arr from "effect/Array";
import type { DecodedCall } from "../abi/calls.js";
import { isNobody } from "../abi/words.js";
import { isRecord } from "../primitives/record.js";
import { sizeOf } from "../primitives/units.js";
import { accountsOf, type Names, type Rounding, sendersOf, type Unit } from "./amounts.js";
import type { Transfer } from "./parts.js";
import type { Report } from "./schema.js";

/** The amount that an account gives to one party, or gets from it, over the whole bundle and net. */
export interface Flow extends Unit {
  readonly account: string;
  readonly way: "out" | "in";
  /** null = balances tell of it, and no event. */
  readonly party: string | null;
  /** Above zero; wei, or a token's smallest units. */
  readonly amount: bigint;
  /** The movements that it is the sum of, the first of them; none where balances tell otherwise. */
  readonly parts: ReadonlyArray<Pick<Transfer, "amount" | "transaction">>;
}

/** The most parts of a sum whose amounts are all looked for in the calldata. */
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

const isFailed = ({ outcome }: Pick<Report["transactions"][number], "outcome">): boolean =>
  outcome.status === "reverted" || outcome.status === "halted";

/** The places of the transactions that fail. */
export const failuresOf = ({ transactions }: Pick<Report, "transactions">): ReadonlyArray<number> =>
  transactions.flatMap((transaction, index) => (isFailed(transaction) ? [index] : []));

/** The values that are sent along, where no simulation tells of them. */
const untold = ({ transactions, transfers, observed }: Report): ReadonlyArray<Transfer> => {
  const isTold = new Set(transfers.flatMap(({ token, transaction }) => (token === null ? [transaction] : [])));
  return observed.tier === "simulate"
    ? []
    : transactions.flatMap(({ input, code, outcome }, transaction): ReadonlyArray<Transfer> => {
        const { from, to, value: amount } = input;
        const receiver = to ?? code.creates;
        if (amount === 0n || receiver === null || isFailed({ outcome }) || isTold.has(transaction)) return [];
        const native = { standard: "native", token: null, tokenId: null } as const;
        return [{ ...native, from, to: receiver, amount, transaction, evidence: "assumed" }];
      });
};

/** A sum that a holding got from one party: negative where it gave. */
interface Sum {
  amount: bigint;
  parts: Array<Flow["parts"][number]>;
}

/** An account's holding of one unit: what the events count that it gets, and by party. */
export interface Holding extends Unit {
  readonly account: string;
  counted: bigint;
  readonly parties: Map<string | null, Sum>;
}

/**
 * Reads every account's flows, once for a rendering: events say who, measured balances how much. What falls short
 * of the events is taken from their only party; everything else that they do not explain is of a party of its own, which is
 * not known. Each holding of which anything is told once, in the order of the telling.
 */
export const ledgerOf = (report: Report) => {
  const byUnit = new Map<string, Holding>();
  const keyOf = (account: string, { token, tokenId }: Unit): string => `${account}/${token?.toLowerCase()}/${tokenId}`;
  const holdings: Array<Holding> = [];
  const find = (account: string, unit: Unit): Holding => {
    const key = keyOf(account, unit);
    const { token, tokenId } = unit;
    const found = byUnit.get(key) ?? { account, token, tokenId, counted: 0n, parties: new Map<string | null, Sum>() };
    byUnit.set(key, found);
    return found;
  };
  const tell = (holding: Holding, party: string | null, sum: Sum): void => {
    if (holding.parties.size === 0) holdings.push(holding);
    holding.parties.set(party, sum);
  };
  const move = (account: string, party: string, unit: Unit, amount: bigint, part: Flow["parts"][number]): void => {
    const holding = find(account, unit);
    holding.counted += amount;
    const sum = holding.parties.get(party) ?? { amount: 0n, parts: [] };
    sum.amount += amount;
    if (sum.parts.length <= mostParts) sum.parts.push(part);
    if (!holding.parties.has(party)) tell(holding, party, sum);
  };
  for (const transfer of [...report.transfers, ...untold(report)]) {
    const [giver, taker] = [transfer.from.toLowerCase(), transfer.to.toLowerCase()];
    if (giver === taker) continue;
    const amount = transfer.standard === "erc721" ? 1n : transfer.amount;
    move(giver, taker, transfer, -amount, transfer);
    move(taker, giver, transfer, amount, transfer);
    if (transfer.standard !== "erc721" || transfer.tokenId === null) continue;
    // why: an NFT's contract also counts how many an account has
    find(giver, { token: transfer.token, tokenId: null }).counted -= 1n;
    find(taker, { token: transfer.token, tokenId: null }).counted += 1n;
  }
  for (const { account, token, tokenId, delta, after } of report.balanceChanges) {
    if (after === null) continue;
    const holding = find(account.toLowerCase(), { token, tokenId });
    const rest = delta - holding.counted;
    if (rest === 0n) continue;
    const [only] = holding.parties.values();
    // why: a fee or a refund takes from what events say; what goes beyond them may be anybody's
    const isLess = only !== undefined && rest < 0n !== only.amount < 0n && sizeOf(rest) <= sizeOf(only.amount);
    if (isLess && holding.parties.size === 1) {
      only.amount += rest;
      only.parts = [];
    } else tell(holding, null, { amount: rest, parts: [] });
  }
  /** Returns the amount of a unit that an account gets by the events' count. */
  const counted = (account: string, unit: Unit): bigint => byUnit.get(keyOf(account, unit))?.counted ?? 0n;
  return { holdings, counted };
};
export type Ledger = ReturnType<typeof ledgerOf>;

const flowsIn = ({ account, token, tokenId, parties }: Holding): ReadonlyArray<Flow> =>
  [...parties].flatMap(([party, { amount, parts }]) => {
    const way = amount < 0n ? "out" : "in";
    return amount === 0n ? [] : [{ account, party, token, tokenId, way, amount: sizeOf(amount), parts }];
  });

/** Returns the flows of each of the accounts, by party: what leaves first. */
export const flowsOf = ({ holdings }: Ledger, accounts: ReadonlySet<string>): ReadonlyArray<Flow> => {
  const flows = holdings.flatMap((holding) => (accounts.has(holding.account) ? flowsIn(holding) : []));
  return [...flows.filter(({ way }) => way === "out"), ...flows.filter(({ way }) => way === "in")];
};

/** Returns what events claim that a sender gets of a token, where its balance does not grow: each token once. */
export const claimsOf = (report: Report, { counted }: Ledger): ReadonlyArray<Flow> => {
  const accounts = new Set(accountsOf(report));
  const claims = report.balanceChanges.flatMap(
    ({ account: whose, token, tokenId, delta, after }): ReadonlyArray<Flow> => {
      const account = whose.toLowerCase();
      if (token === null || after === null || delta > 0n || !accounts.has(account)) return [];
      const amount = counted(account, { token, tokenId });
      return amount <= 0n ? [] : [{ account, way: "in", party: null, token, tokenId, amount, parts: [] }];
    },
  );
  return Object.values(Arr.groupBy(claims, ({ account, token }): string => `${account}/${token}`)).map(
    ([first]) => first,
  );
};

/** Returns flows of senders to themselves: nothing changes hands. */
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
export const paymentsOf = (
  report: Report,
  { holdings }: Ledger,
  isQuiet: boolean,
): ReadonlyArray<ReadonlyArray<Flow>> => {
  const senders = new Set(accountsOf(report));
  const near = new Map([...new Set(nearest(report))].map((account, rank) => [account, rank]));
  const byPayer = new Map<string, Array<Flow>>();
  const getters = new Set<string>();
  for (const holding of holdings) {
    const { account } = holding;
    if (senders.has(account)) continue;
    const flows = flowsIn(holding);
    const net = flows.reduce((sum, { way, amount }) => (way === "in" ? sum + amount : sum - amount), 0n);
    const isTold = (isQuiet && near.has(account)) || net < 0n;
    const outs = flows.filter(({ way }) => way === "out");
    if (outs.length < flows.length) getters.add(account);
    if (outs.length === 0) continue;
    const payments = byPayer.get(account) ?? [];
    byPayer.set(account, payments);
    for (const flow of outs) if (isTold && !senders.has(flow.party ?? "")) payments.push(flow);
  }
  const ranked = [...byPayer].flatMap(([account, payments]) => {
    const isTold = isQuiet || near.has(account) || (!isNobody(account) && !getters.has(account));
    return isTold && payments.length > 0 ? [{ payments, rank: near.get(account) ?? near.size }] : [];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ payments }) => payments);
};
