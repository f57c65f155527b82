/** What a report says of its senders' money, put together for people: what leaves and comes, who gets rights, what it costs. Pure. */
import * as Arr from "effect/Array";
import { amountInSentence, dateText, idText, type Names, sendersOf, tokenForPeople, type Unit } from "./amounts.js";
import { feeTerms, type Approval, type Transfer } from "./parts.js";
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
}

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
}

const add = (sums: Map<string, bigint>, key: string, amount: bigint): void =>
  void sums.set(key, (sums.get(key) ?? 0n) + amount);

/** What the events tell, by holding and party. */
const sumsOf = (transfers: ReadonlyArray<Transfer>, accounts: ReadonlySet<string>) => {
  const sums = new Map<string, Map<string | null, Sum>>();
  const counted = new Map<string, bigint>();
  const move = (account: string, party: string, unit: Unit, amount: bigint) => {
    if (!accounts.has(account)) return;
    const holding = holdingOf(account, unit);
    add(counted, holding, amount);
    const parties = sums.get(holding) ?? new Map<string | null, Sum>();
    sums.set(holding, parties);
    const sum = parties.get(party) ?? { account, party, token: unit.token, tokenId: unit.tokenId, amount: 0n };
    parties.set(party, sum);
    sum.amount += amount;
  };
  for (const { standard, token, tokenId, from, to, amount } of transfers) {
    const [giver, taker] = [from.toLowerCase(), to.toLowerCase()];
    if (giver === taker) continue;
    const one = standard === "erc721" ? 1n : amount;
    move(giver, taker, { token, tokenId }, -one);
    move(taker, giver, { token, tokenId }, one);
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
  accounts: ReadonlySet<string> = new Set(sendersOf(report)),
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
    if (isLess && parties.size === 1) only.amount += rest;
    else parties.set(null, { account, party: null, token, tokenId, amount: rest });
  }
  const flows = [...sums.values()].flatMap((parties) =>
    [...parties.values()].flatMap(({ amount, ...about }): ReadonlyArray<Flow> => {
      if (amount === 0n) return [];
      return [{ ...about, way: amount < 0n ? "out" : "in", amount: sizeOf(amount) }];
    }),
  );
  return [...flows.filter(({ way }) => way === "out"), ...flows.filter(({ way }) => way === "in")];
};

/** Whether anything of anybody's moves. */
export const isMoving = ({ transfers, balanceChanges }: Report): boolean =>
  transfers.some(({ standard, amount, from, to }) => from !== to && (amount > 0n || standard === "erc721")) ||
  balanceChanges.some(({ delta, after }) => after !== null && delta !== 0n);

/** Accounts that policies speak of, then those that are called: they come first of all that are not senders. */
const nearest = ({ options, transactions }: Report): ReadonlyArray<string> => [
  ...options.policies.flatMap((policy) =>
    isRecord(policy) && typeof policy["account"] === "string" ? policy["account"].toLowerCase() : [],
  ),
  ...transactions.flatMap(({ input: { to } }) => to?.toLowerCase() ?? []),
];

/**
 * What accounts that are no senders pay to others than senders, by payer: who is near to the senders first. Nothing of
 * those that hand on what they got, nor of those far away that get something for it, as a pool does; but where nothing of
 * a sender's moves, all that those near pay, and of the others whatever they have less of.
 */
export const paymentsOf = (report: Report): ReadonlyArray<ReadonlyArray<Flow>> => {
  const senders = sendersOf(report);
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

/** The rights over what the senders have: new ones first, the unlimited before the others. */
export const grantsOf = (report: Report): ReadonlyArray<Grant> => {
  const senders = sendersOf(report);
  const all = report.approvals.flatMap((approval): ReadonlyArray<Grant> => {
    const change = senders.includes(approval.owner.toLowerCase()) ? changeOf(approval) : null;
    return change === null ? [] : [{ approval, change }];
  });
  const rank = ({ change, approval }: Grant): number =>
    change === "back" ? 3 : change === "kept" ? 2 : approval.unlimited ? 0 : 1;
  return [...all].sort((a, b) => rank(a) - rank(b));
};

/** What each sender pays for fees at most: its limits at their caps, and what the chain charges beside. */
export const costsOf = (report: Report): ReadonlyArray<Cost> => {
  const isOpen = report.findings.some(({ code }) => code === "L1FeeUnknown");
  return sendersOf(report).map((account) => {
    const terms = report.funds.find((payer) => payer.account.toLowerCase() === account)?.terms ?? [];
    const own = report.transactions.flatMap(({ input }, at) => (input.from.toLowerCase() === account ? [at] : []));
    const isKnown = own.every((at) => terms.some(({ name, transaction }) => name === "gas" && transaction === at));
    const sum = terms.reduce((all, { name, amount }) => (feeTerms.has(name) ? all + amount : all), 0n);
    return { account, atMost: isKnown ? sum : null, isOpen };
  });
};

const limitText = ({ after, unlimited, token, tokenId }: Approval, names: Names): string => {
  const of = `${tokenForPeople(names, token)}${tokenId === null ? "" : ` ${idText(tokenId)}`}`;
  if (unlimited) return `unlimited ${of}`;
  return after === null
    ? `an amount not known of ${of}`
    : `up to ${amountInSentence(names, { token, tokenId }, after, "up")}`;
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
