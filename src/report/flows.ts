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
/** An account's holding of one unit: what the events count that it gets, and by party. */
const emptyHolding = (account: string, { token, tokenId }: Unit) => ({
  ...{ account, token, tokenId, counted: 0n },
  parties: new Map<string | null, { amount: bigint; parts: Array<Flow["parts"][number]> }>(),
});
type FlowHolding = ReturnType<typeof emptyHolding>;

/** The holdings of which something moves, in the order of their first movements, and those that are only counted. */
const emptyLedger = () => {
  const byUnit = new Map<string, FlowHolding>();
  const holdings: Array<FlowHolding> = [];
  const keyOf = (account: string, { token, tokenId }: Unit): string => `${account}/${token?.toLowerCase()}/${tokenId}`;
  const find = (account: string, unit: Unit): FlowHolding => {
    const key = keyOf(account, unit);
    const found = byUnit.get(key) ?? emptyHolding(account, unit);
    byUnit.set(key, found);
    return found;
  };
  const tell = (
    holding: FlowHolding,
    party: string | null,
    sum: { amount: bigint; parts: Array<Flow["parts"][number]> },
  ): void => {
    if (holding.parties.size === 0) holdings.push(holding);
    holding.parties.set(party, sum);
  };
  /** Returns the amount of a unit that an account gets by the events' count. */
  const counted = (account: string, unit: Unit): bigint => byUnit.get(keyOf(account, unit))?.counted ?? 0n;
  return { holdings, counted, find, tell };
};

/** Adds what the events say. */
const addTransfers = ({ find, tell }: ReturnType<typeof emptyLedger>, transfers: ReadonlyArray<Transfer>): void => {
  for (const transfer of transfers) {
    const { standard, token, tokenId } = transfer;
    const [giver, taker] = [transfer.from.toLowerCase(), transfer.to.toLowerCase()];
    if (giver === taker) continue;
    const amount = standard === "erc721" ? 1n : transfer.amount;
    for (const [account, party, change] of [[giver, taker, -amount] as const, [taker, giver, amount] as const]) {
      const holding = find(account, transfer);
      holding.counted += change;
      const sum = holding.parties.get(party) ?? { amount: 0n, parts: [] };
      tell(holding, party, sum);
      sum.amount += change;
      if (sum.parts.length <= mostParts) sum.parts.push(transfer);
      // why: an NFT's contract also counts how many an account has
      if (standard === "erc721" && tokenId !== null) find(account, { token, tokenId: null }).counted += change;
    }
  }
};

/** Adds what was measured. */
const addChanges = ({ find, tell }: ReturnType<typeof emptyLedger>, changes: Report["balanceChanges"]): void => {
  for (const { account, token, tokenId, delta, after } of changes) {
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
};

/**
 * Reads every account's flows, once for a rendering: events say who, measured balances how much. What falls short
 * of the events is taken from their only party; everything else that they do not explain is of a party of its own, which is
 * not known. Each holding of which anything is told once, in the order of the telling.
 */
export const ledgerOf = (report: Report) => {
  const ledger = emptyLedger();
  addTransfers(ledger, [...report.transfers, ...untold(report)]);
  addChanges(ledger, report.balanceChanges);
  return ledger;
};
export type Ledger = ReturnType<typeof ledgerOf>;

const accountOf = ({ account }: Flow): string => account;

const flowsIn = ({ account, token, tokenId, parties }: FlowHolding): ReadonlyArray<Flow> =>
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
export const paymentsOf = (report: Report, { holdings }: Ledger, isQuiet: boolean) => {
  const senders = new Set(accountsOf(report));
  const near = new Map([...new Set(nearest(report))].map((account, rank) => [account, rank]));
  const rankOf = (account: string): number => near.get(account) ?? near.size;
  const others = holdings.filter(({ account }) => !senders.has(account)).map(flowsIn);
  const getters = new Set(others.flatMap((flows) => flows.filter(({ way }) => way === "in")).map(accountOf));
  const isShown = (account: string): boolean =>
    isQuiet || near.has(account) || (!isNobody(account) && !getters.has(account));
  const paid = others.flatMap((flows) => {
    const net = flows.reduce((sum, { way, amount }) => (way === "in" ? sum + amount : sum - amount), 0n);
    // why: the first payment of an account is its place, whether it is shown or not
    return flows.filter(({ way }) => way === "out").map((flow) => ({ flow, isLoss: net < 0n }));
  });
  return Object.entries(Arr.groupBy(paid, ({ flow }) => flow.account))
    .sort(([a], [b]) => rankOf(a) - rankOf(b))
    .map(([account, all]) =>
      all.flatMap(({ flow, isLoss }) => {
        const isTold = isShown(account) && ((isQuiet && near.has(account)) || isLoss);
        return isTold && !senders.has(flow.party ?? "") ? [flow] : [];
      }),
    )
    .filter((payments) => payments.length > 0);
};
