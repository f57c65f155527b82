/** What a report says of its senders' money, put together for people: what leaves and comes, who gets rights, what it costs. Pure. */
import * as Arr from "effect/Array";
import {
  accountsOf,
  amountInSentence,
  asksFor,
  dateText,
  idText,
  type Names,
  type Rounding,
  sendersOf,
  tokenForPeople,
  type Unit,
} from "./amounts.js";
import { feeTerms, type Approval, type Transfer } from "./parts.js";
import type { Exposure } from "./exposure.js";
import type { DecodedCall } from "../abi/calls.js";
import { isNobody } from "../abi/words.js";
import { sizeOf } from "../primitives/units.js";
import { isRecord } from "../primitives/record.js";
import type { Report } from "./schema.js";

/** What an account gives to one party, or gets from it, over the whole bundle and net. */
export interface Flow extends Unit {
  readonly account: string;
  readonly way: "out" | "in";
  /** null = balances tell of it, and no event. */
  readonly party: string | null;
  /** Above zero; wei, or a token's smallest units. */
  readonly amount: bigint;
  /** Whether it is the sum of amounts that the transactions ask for: what they estimate is rounded, this is not. */
  readonly isTyped: boolean;
}

/** How a flow's amount is rounded. */
export const roundingOf = ({ way, isTyped }: Flow): Rounding => (isTyped ? "none" : way === "out" ? "up" : "down");

/** A right over a sender's belongings. `new`: given or widened. `kept`: as it was. `back`: taken back. */
export interface Grant {
  readonly approval: Approval;
  readonly change: "new" | "kept" | "back";
}

/** What a payer gives for fees. */
export interface Cost {
  readonly account: string;
  /** Wei, all fees at their caps; null = not known. */
  readonly atMost: bigint | null;
  /** The highest cap of its transactions, wei per gas; null where one is not known. */
  readonly perGas: bigint | null;
  /** Whether more may be charged than is known. */
  readonly isOpen: boolean;
}

const isFailed = ({ outcome }: Report["transactions"][number]): boolean =>
  outcome.status === "reverted" || outcome.status === "halted";

/** The places of the transactions that fail. */
export const failuresOf = ({ transactions }: Pick<Report, "transactions">): ReadonlyArray<number> =>
  transactions.flatMap((transaction, index) => (isFailed(transaction) ? [index] : []));

/** The values that are sent along, where no simulation tells of them. */
const untold = ({ transactions, transfers, observed }: Report): ReadonlyArray<Transfer> =>
  observed.tier === "simulate"
    ? []
    : transactions.flatMap((one, transaction): ReadonlyArray<Transfer> => {
        const { from, to, value: amount } = one.input;
        const receiver = to ?? one.code.creates;
        const isTold = transfers.some((transfer) => transfer.token === null && transfer.transaction === transaction);
        if (amount === 0n || receiver === null || isFailed(one) || isTold) return [];
        const native = { standard: "native", token: null, tokenId: null } as const;
        return [{ ...native, from, to: receiver, amount, transaction, evidence: "assumed" }];
      });

const holdingOf = (account: string, { token, tokenId }: Unit): string =>
  `${account}/${token?.toLowerCase() ?? ""}/${tokenId ?? ""}`;

/** A sum that a holding got from one party: negative where it gave. */
interface Sum extends Unit {
  readonly account: string;
  readonly party: string | null;
  amount: bigint;
  isTyped: boolean;
}

const add = (sums: Map<string, bigint>, key: string, amount: bigint): void =>
  void sums.set(key, (sums.get(key) ?? 0n) + amount);

/** What the events tell, by holding and party. */
const sumsOf = (
  transfers: ReadonlyArray<Transfer>,
  accounts: ReadonlySet<string>,
  { transactions }: Pick<Report, "transactions">,
) => {
  const sums = new Map<string, Map<string | null, Sum>>();
  const counted = new Map<string, bigint>();
  const move = (account: string, party: string, unit: Unit, amount: bigint, isTyped: boolean) => {
    if (!accounts.has(account)) return;
    const holding = holdingOf(account, unit);
    add(counted, holding, amount);
    const parties = sums.get(holding) ?? new Map<string | null, Sum>();
    sums.set(holding, parties);
    const sum = parties.get(party) ?? {
      account,
      party,
      token: unit.token,
      tokenId: unit.tokenId,
      amount: 0n,
      isTyped: true,
    };
    parties.set(party, sum);
    sum.amount += amount;
    sum.isTyped &&= isTyped;
  };
  for (const { standard, token, tokenId, from, to, amount, transaction } of transfers) {
    const [giver, taker] = [from.toLowerCase(), to.toLowerCase()];
    if (giver === taker) continue;
    const one = standard === "erc721" ? 1n : amount;
    const input = transactions[transaction]?.input;
    const isTyped = (accounts.has(giver) || accounts.has(taker)) && input !== undefined && asksFor(input, amount);
    move(giver, taker, { token, tokenId }, -one, isTyped);
    move(taker, giver, { token, tokenId }, one, isTyped);
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
  const { sums, counted } = sumsOf([...report.transfers, ...untold(report)], accounts, report);
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
      only.isTyped = false;
    } else parties.set(null, { account, party: null, token, tokenId, amount: rest, isTyped: false });
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
  const { counted } = sumsOf(report.transfers, new Set(accountsOf(report)), report);
  const claims = report.balanceChanges.flatMap(
    ({ account: whose, token, tokenId, delta, after }): ReadonlyArray<Flow> => {
      const account = whose.toLowerCase();
      const amount = counted.get(holdingOf(account, { token, tokenId })) ?? 0n;
      if (token === null || after === null || delta > 0n || amount <= 0n) return [];
      return [{ account, way: "in", party: null, token, tokenId, amount, isTyped: true }];
    },
  );
  return Arr.dedupeWith(claims, (a, b) => a.account === b.account && a.token === b.token);
};

/** What senders hand to themselves: nothing changes hands. */
export const toThemselves = ({ transfers, transactions }: Report): ReadonlyArray<Flow> => {
  const senders = sendersOf({ transactions });
  return transfers.flatMap(({ from, to, token, tokenId, amount, standard, transaction }): ReadonlyArray<Flow> => {
    const [account, input] = [from.toLowerCase(), transactions[transaction]?.input];
    if (account !== to.toLowerCase() || !senders.includes(account) || amount === 0n) return [];
    const isTyped = input !== undefined && asksFor(input, amount);
    return [
      { account, way: "out", party: account, token, tokenId, amount: standard === "erc721" ? 1n : amount, isTyped },
    ];
  });
};

/** Whether anything of anybody's moves, or a right over it changes. */
export const isMoving = ({ transfers, balanceChanges, approvals }: Report): boolean =>
  transfers.some(({ standard, amount, from, to }) => from !== to && (amount > 0n || standard === "erc721")) ||
  balanceChanges.some(({ delta, after }) => after !== null && delta !== 0n) ||
  approvals.some((approval) => changeOf(approval) !== null);

/** The accounts that calls inside a call are made by, as a Safe or the account of a user operation makes them. */
const makersIn = ({ calls }: Pick<DecodedCall, "calls">): ReadonlyArray<string> =>
  calls.flatMap((call) => [
    ...(call.to !== null && !call.isDelegate && call.calls.length > 0 ? [call.to.toLowerCase()] : []),
    ...makersIn(call),
  ]);

/** Accounts that are called, those that the calldata has make calls, and those that policies speak of: they come first of all that are not senders. */
const nearest = ({ options, transactions, owned }: Report): ReadonlyArray<string> => [
  ...transactions.flatMap(({ input: { to } }) => to?.toLowerCase() ?? []),
  ...transactions.flatMap(({ call }) => (call === null ? [] : makersIn(call))),
  ...owned.map(({ account }) => account.toLowerCase()),
  ...options.policies.flatMap((policy) =>
    isRecord(policy) && typeof policy["account"] === "string" ? policy["account"].toLowerCase() : [],
  ),
];

/**
 * What accounts that are no senders pay to others than senders, by payer: who is near to the senders first. Nothing of
 * those that hand on what they got, nor of those far away that get something for it, as a pool does; but where nothing of
 * a sender's moves, all that those near pay, and of the others whatever they have less of.
 */
export const paymentsOf = (report: Report): ReadonlyArray<ReadonlyArray<Flow>> => {
  const senders = accountsOf(report);
  const parties = report.transfers.flatMap(({ from, to }) => [from, to]);
  const all = new Set(
    [...parties, ...report.balanceChanges.map(({ account }) => account)].map((one) => one.toLowerCase()),
  );
  const flows = flowsOf(report, new Set([...all].filter((account) => !senders.includes(account))));
  const nets = new Map<string, bigint>();
  for (const flow of flows) add(nets, holdingOf(flow.account, flow), flow.way === "in" ? flow.amount : -flow.amount);
  const near = nearest(report);
  const isQuiet = flowsOf(report).length === 0;
  const byPayer = Object.entries(Arr.groupBy(flows, ({ account }) => account));
  const payments = byPayer.flatMap(([account, own]) => {
    const isNear = near.includes(account);
    const isTold = isQuiet || isNear || (!isNobody(account) && own.every(({ way }) => way === "out"));
    const paid = own.filter(
      (flow) =>
        flow.way === "out" &&
        !senders.includes(flow.party ?? "") &&
        ((isQuiet && isNear) || (nets.get(holdingOf(account, flow)) ?? 0n) < 0n),
    );
    return isTold && paid.length > 0 ? [{ paid, rank: isNear ? near.indexOf(account) : near.length }] : [];
  });
  return payments.sort((a, b) => a.rank - b.rank).map(({ paid }) => paid);
};

/** A flow between two senders is told once, by who gives. */
export const isTwice = ({ way, party }: Flow, senders: ReadonlyArray<string>): boolean =>
  way === "in" && party !== null && senders.includes(party);

const changeOf = ({ before, after, extended }: Approval): Grant["change"] | null => {
  if (after === 0n) return before === 0n ? null : "back";
  if (before === null || after === null || after > before || extended) return "new";
  return after === before ? "kept" : null;
};

/** The rights over what the senders have, or those who `isOwner`: new ones first, the unlimited before the others. */
export const grantsOf = (
  report: Report,
  isOwner: (account: string) => boolean = (account) => accountsOf(report).includes(account),
): ReadonlyArray<Grant> => {
  const all = report.approvals.flatMap((approval): ReadonlyArray<Grant> => {
    const change = isOwner(approval.owner.toLowerCase()) ? changeOf(approval) : null;
    return change === null ? [] : [{ approval, change }];
  });
  const rank = ({ change, approval }: Grant): number =>
    change === "back" ? 3 : change === "kept" ? 2 : approval.unlimited ? 0 : 1;
  return [...all].sort((a, b) => rank(a) - rank(b));
};

/** What contracts could take, beside what they do take: of a value, what they give back. */
export const exposuresOf = (report: Report): ReadonlyArray<Exposure> => {
  const rows = report.exposure?.rows ?? [];
  const flows = rows.some(({ by }) => by === "value") ? flowsOf(report) : [];
  return rows.flatMap((row) => {
    if (row.by !== "value" || row.amount === null) return [row];
    const given = flows.find(
      ({ account, way, party, token }) =>
        way === "out" && token === null && account === row.account.toLowerCase() && party === row.spender.toLowerCase(),
    );
    const amount = row.amount - (given?.amount ?? 0n);
    return amount > 0n ? [{ ...row, amount }] : [];
  });
};

/** How much could be taken of what. */
export const exposureText = ({ amount, ...unit }: Exposure, names: Names): string =>
  amount === null
    ? `an amount not known of ${unit.token === null ? names.native.symbol : tokenForPeople(names, unit.token)}`
    : amountInSentence(names, unit, amount, "up");

/** What each sender pays for fees at most: its limits at their caps, and what the chain charges beside. */
export const costsOf = (report: Report): ReadonlyArray<Cost> => {
  const isOpen = report.findings.some(({ code }) => code === "L1FeeUnknown");
  return sendersOf(report).map((account) => {
    const terms = report.funds.find((payer) => payer.account.toLowerCase() === account)?.terms ?? [];
    const own = report.transactions.flatMap(({ input }, at) => (input.from.toLowerCase() === account ? [at] : []));
    const isKnown = own.every((at) => terms.some(({ name, transaction }) => name === "gas" && transaction === at));
    const sum = terms.reduce((all, { name, amount }) => (feeTerms.has(name) ? all + amount : all), 0n);
    const caps = own.map((at) => report.transactions[at]?.fee).map((fee) => fee?.maxFeePerGas ?? fee?.gasPrice ?? null);
    const perGas = caps.reduce((most, cap) => (most === null || cap === null ? null : cap > most ? cap : most), 0n);
    return { account, atMost: isKnown ? sum : null, perGas: own.length === 0 ? null : perGas, isOpen };
  });
};

/** Who a sentence is about: accounts that are told of as one, and what they pay for fees. */
export interface Subject {
  readonly accounts: ReadonlySet<string>;
  readonly cost: Cost | null;
}

const sumOf = (costs: ReadonlyArray<Cost>): Cost | null =>
  costs.reduce<Cost | null>(
    (sum, { account, atMost, perGas, isOpen }) => ({
      account: sum?.account ?? account,
      atMost: sum?.atMost === null || atMost === null ? null : (sum?.atMost ?? 0n) + atMost,
      perGas:
        sum?.perGas === null || perGas === null ? null : perGas > (sum?.perGas ?? 0n) ? perGas : (sum?.perGas ?? 0n),
      isOpen: isOpen || sum?.isOpen === true,
    }),
    null,
  );

/** The reader first, where there is one, then the other senders. */
export const subjectsOf = (report: Report, names: Names): ReadonlyArray<Subject> => {
  const costs = costsOf(report);
  const you = accountsOf(report).filter((account) => names.isYou(account));
  const others = costs.filter(({ account }) => !names.isYou(account));
  return [
    ...(you.length === 0
      ? []
      : [{ accounts: new Set(you), cost: sumOf(costs.filter(({ account }) => names.isYou(account))) }]),
    ...others.map((cost) => ({ accounts: new Set([cost.account]), cost })),
  ];
};

const limitText = ({ after, unlimited, token, tokenId }: Approval, names: Names): string => {
  const of = `${tokenForPeople(names, token)}${tokenId === null ? "" : ` ${idText(tokenId)}`}`;
  if (unlimited) return `unlimited ${of}`;
  return after === null
    ? `an amount not known of ${of}`
    : `up to ${amountInSentence(names, { token, tokenId }, after, names.isTyped(after) ? "none" : "up")}`;
};

/** What the spender may do: `spend unlimited USDC (0xA0b8…eB48)`; `their` is `your` for the reader's own. */
export const rightText = (approval: Approval, names: Names, their: string): string => {
  const { standard, token, tokenId, expiration } = approval;
  const of = tokenForPeople(names, token);
  const until = expiration === null || expiration === 0n ? "" : ` until ${dateText(expiration)}`;
  switch (standard) {
    case "erc20":
    case "permit2":
      return `spend ${limitText(approval, names)}${until}`;
    case "aaveDebt":
      return `borrow ${limitText(approval, names)} in ${their} name`;
    case "morpho":
      return `manage ${their} positions at ${of}`;
    case "cryptopunks":
      return `buy ${of} ${tokenId === null ? "" : idText(tokenId)}`.trim();
    case "erc6909":
      return tokenId === null ? `move all of ${their} ${of}` : `spend ${limitText(approval, names)}`;
    default:
      return tokenId === null ? `move all of ${their} ${of}` : `take ${of} ${idText(tokenId)}`;
  }
};

/** Who has a right: of an offer to everybody, anybody. */
export const spenderText = ({ spender }: Approval, name: (address: string) => string): string =>
  isNobody(spender) ? "anybody" : name(spender);
