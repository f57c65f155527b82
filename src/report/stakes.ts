/** Stakes of a report's senders beside what moves: who gets rights, what could be taken, what it costs. Pure. */
import * as Result from "effect/Result";
import { isNobody } from "../abi/words.js";
import { InvalidTransaction } from "../errors/input.js";
import { reportProblem } from "../primitives/problem.js";
import {
  accountsOf,
  amountInSentence,
  dateText,
  holdingText,
  namesFor,
  sendersOf,
  tokenForPeople,
  type AmountOptions,
  type Names,
} from "./amounts.js";
import type { Exposure } from "./beside.js";
import { isFeeOpen } from "./byCode.js";
import { flowsOf, ledgerOf, type Flow } from "./flows.js";
import { feeTerms, type Approval } from "./parts.js";
import { named } from "./named.js";
import type { Report } from "./schema.js";
import { formatGasPrice, largestOf } from "../primitives/units.js";

/** A right over a sender's belongings. `new`: given or widened. `kept`: as it was. `back`: taken back. */
export interface Grant {
  readonly approval: Approval;
  readonly change: "new" | "kept" | "back";
}

/** True if anything of anybody's moves, or a right over it changes. */
export const isMoving = ({ transfers, balanceChanges, approvals }: Report): boolean =>
  transfers.some(({ standard, amount, from, to }) => from !== to && (amount > 0n || standard === "erc721")) ||
  balanceChanges.some(({ delta, after }) => after !== null && delta !== 0n) ||
  approvals.some((approval) => changeOf(approval) !== null);

const changeOf = ({ before, after, extended }: Approval): Grant["change"] | null => {
  // why: of what nobody measured before nothing is known to be taken back
  if (after === 0n) return before === null || before === 0n ? null : "back";
  if (before === null || after === null || after > before || extended) return "new";
  return after === before ? "kept" : null;
};

/** The rights over what the senders have, or other `owners`: new ones first, the unlimited before the others. */
export const grantsOf = (report: Report, owners: ReadonlySet<string> = new Set(accountsOf(report))) => {
  const all = report.approvals.flatMap((approval): ReadonlyArray<Grant> => {
    const change = owners.has(approval.owner.toLowerCase()) ? changeOf(approval) : null;
    return change === null ? [] : [{ approval, change }];
  });
  const rank = ({ change, approval }: Grant): number =>
    change === "back" ? 3 : change === "kept" ? 2 : approval.unlimited ? 0 : 1;
  return [...all].sort((a, b) => rank(a) - rank(b));
};

/** Returns what contracts could take, beside what they do take: of a value, what they give back. */
const exposuresOf = (report: Report, flows: ReadonlyArray<Flow>): ReadonlyArray<Exposure> => {
  const rows = report.exposure?.rows ?? [];
  const values = flows.filter(({ way, token }) => way === "out" && token === null);
  const valueTo = new Map(values.map(({ account, party, amount }) => [`${account}/${party}`, amount]));
  return rows.flatMap((row) => {
    if (row.by !== "value" || row.amount === null) return [row];
    const amount = row.amount - (valueTo.get(`${row.account}/${row.spender}`.toLowerCase()) ?? 0n);
    return amount > 0n ? [{ ...row, amount }] : [];
  });
};

/** Throws where it is no report: what is pure has no other way to say so. */
export const mustBeReport = (report: Report): void => {
  const problem = reportProblem(report);
  if (problem !== null) Result.getOrThrow(Result.fail(new InvalidTransaction(problem)));
};

/** True of the wei that an account is sent to see what its code would do: nobody sends it. */
const isProbe = ({ signings }: Report, { way, party, token, amount }: Flow): boolean =>
  way === "in" &&
  token === null &&
  amount === 1n &&
  signings.some(({ kind, stand }) => kind === "authorization" && stand.stranger.toLowerCase() === party);

/** Sources of every part of a rendering: names, and what is at stake for the senders. */
export type RenderSources = ReturnType<typeof readingOf>;

export const readingOf = (plain: Report, options: AmountOptions | null) => {
  // why: every rendering begins here, and plain JavaScript may render anything
  mustBeReport(plain);
  const { report, given } = named(plain);
  const ledger = ledgerOf(report);
  const senders = new Set(accountsOf(report));
  const flows = flowsOf(ledger, senders).filter((flow) => !isProbe(report, flow));
  // why: a flow between two senders is told once, by who gives
  const movements = flows.filter(({ way, party }) => way === "out" || party === null || !senders.has(party));
  return {
    /** The report with the names of the caller's sources. */
    report,
    names: namesFor(report, options ?? {}, given),
    ledger,
    flows,
    movements,
    grants: grantsOf(report),
    exposures: exposuresOf(report, flows),
    costs: costsOf(report),
  };
};

/** How much could be taken of what. */
export const exposureText = ({ amount, ...unit }: Exposure, names: Names): string =>
  amount === null
    ? `an amount not known of ${unit.token === null ? names.native.symbol : tokenForPeople(names, unit.token)}`
    : amountInSentence(names, unit, amount, names.isTyped(amount) ? "none" : "down");

/** Rights over amounts; the others are over whatever there is. */
const isCounted = ({ standard }: Approval): boolean => standard === "erc20" || standard === "permit2";

/** True if what could be taken is what a right allows that is told. */
export const isCovered = ({ amount, ...row }: Exposure, { approval, change }: Grant): boolean => {
  const { owner, token, spender, tokenId, after, unlimited } = approval;
  const same = (a: string | null, b: string) => a?.toLowerCase() === b.toLowerCase();
  if (change === "back" || row.by === "value" || row.by === "delegate" || amount === null) return false;
  if (!same(row.account, owner) || !same(row.token, token) || !same(row.spender, spender)) return false;
  if (tokenId === null && (unlimited || !isCounted(approval))) return true;
  return tokenId === row.tokenId && after !== null && amount <= after;
};

/** The largest; null where one is not known. */
const mostOf = (amounts: ReadonlyArray<bigint | null>): bigint | null =>
  amounts.includes(null) ? null : largestOf(amounts.filter((amount) => amount !== null));

/**
 * Returns what each sender pays for fees at most: its limits at their caps, and what the chain charges beside. `atMost`:
 * wei, all fees at their caps; `perGas`: the highest cap, wei per gas; both null where not known. `isOpen`: more may be
 * charged than is known.
 */
const costsOf = (report: Report) => {
  const isOpen = report.findings.some(isFeeOpen);
  return sendersOf(report).map((account) => {
    const terms = report.funds.find((payer) => payer.account.toLowerCase() === account)?.terms ?? [];
    const own = report.transactions.flatMap(({ input, fee }, at) =>
      input.from.toLowerCase() === account ? [{ at, cap: fee.maxFeePerGas ?? fee.gasPrice }] : [],
    );
    const isKnown = own.every(({ at }) => terms.some(({ name, transaction }) => name === "gas" && transaction === at));
    const sum = terms.reduce((all, { name, amount }) => (feeTerms.has(name) ? all + amount : all), 0n);
    return { account, atMost: isKnown ? sum : null, perGas: mostOf(own.map(({ cap }) => cap)), isOpen };
  });
};

export type Cost = ReturnType<typeof costsOf>[number];

/** Fees of which only the price is known. */
export const perGasText = (perGas: bigint | null, names: Names): string =>
  perGas === null ? "not known" : `at most ${formatGasPrice(perGas, names.native)}, how much gas is not known`;

const sumOf = (costs: ReadonlyArray<Cost>): Cost | null =>
  costs.length === 0
    ? null
    : costs.reduce((sum, { atMost, perGas, isOpen }) => ({
        account: sum.account,
        atMost: sum.atMost === null || atMost === null ? null : sum.atMost + atMost,
        perGas: mostOf([sum.perGas, perGas]),
        isOpen: sum.isOpen || isOpen,
      }));

/** Returns subjects of sentences, accounts told of as one, with their fees: the reader first, where there is one. */
export const subjectsOf = (report: Report, { names, costs }: RenderSources) => {
  const you = accountsOf(report).filter(names.isYou);
  const own = costs.filter(({ account }) => names.isYou(account));
  const others = costs.filter((cost) => !own.includes(cost));
  return [
    ...(you.length === 0 ? [] : [{ accounts: new Set(you), cost: sumOf(own) }]),
    ...others.map((cost) => ({ accounts: new Set([cost.account]), cost })),
  ];
};

const ofAmounts: ReadonlySet<Approval["standard"]> = new Set(["erc20", "permit2", "aaveDebt"]);
const isOfAmount = ({ standard, tokenId }: Approval): boolean =>
  ofAmounts.has(standard) || (standard === "erc6909" && tokenId !== null);

/** From here on, a right over an amount has no limit. */
const endless = 2n ** 128n;

/** The owner's amount of what a right takes whole; null where it takes less, or that is not known, or nothing. */
const wholeOf = (approval: Approval, names: Names): bigint | null => {
  const { standard, owner, tokenId, after } = approval;
  const held = standard === "aaveDebt" || standard === "morpho" ? null : names.held(owner, approval);
  const isWhole = isOfAmount(approval) ? after !== null && after >= (held ?? 0n) : tokenId === null;
  return isWhole && held !== 0n ? held : null;
};

/** How much a right is over. `all`: whatever the owner has of it, which is `held`, and `later` what comes. */
export const limitOf = (approval: Approval, names: Names) => {
  const { tokenId, after, unlimited } = approval;
  const held = wholeOf(approval, names);
  const later = !isOfAmount(approval) || (after ?? 0n) >= endless;
  if (held !== null) return { kind: "all", held, later, after } as const;
  if (!isOfAmount(approval)) return tokenId === null ? ({ kind: "every" } as const) : ({ kind: "one" } as const);
  if (unlimited) return { kind: "unlimited" } as const;
  return after === null ? ({ kind: "unknown" } as const) : ({ kind: "some", after } as const);
};

const limitText = (approval: Approval, names: Names, their: string, isBack: boolean): string => {
  const limit = limitOf(approval, names);
  const of = tokenForPeople(names, approval.token, approval.tokenId);
  if (limit.kind === "all" && !isBack) {
    const held = holdingText(names, approval, limit.held);
    const least = limit.later || limit.after === null || limit.after === limit.held ? null : limit.after;
    const later = limit.later ? " now, and what comes later" : "";
    return `all of ${their} ${of}: ${held}${least === null ? later : ` now, at most ${holdingText(names, approval, least)}`}`;
  }
  if (limit.kind === "every") return `all of ${their} ${of}`;
  if (approval.unlimited) return `unlimited ${of}`;
  if (approval.after === null) return `an amount not known of ${of}`;
  const { after } = approval;
  return `up to ${amountInSentence(names, approval, after, names.isTyped(after) ? "none" : "up")}`;
};

/**
 * Says what the spender may do: `spend unlimited USDC (0xA0b8…eB48)`; `their` is `your` for the reader's own; `isBack`: what
 * it may no longer do.
 */
export const rightText = (approval: Approval, names: Names, their: string, isBack = false): string => {
  const { standard, token, tokenId, expiration } = approval;
  const of = tokenForPeople(names, token, tokenId);
  const until = expiration === null || expiration === 0n ? "" : ` until ${dateText(expiration)}`;
  const limit = () => limitText(approval, names, their, isBack);
  if (standard === "erc20" || standard === "permit2") return `spend ${limit()}${until}`;
  if (standard === "aaveDebt") return `borrow ${limit()} in ${their} name`;
  if (standard === "morpho") return `manage ${their} positions at ${of}`;
  if (standard === "cryptopunks") return `buy ${of}`;
  if (tokenId === null) return `move ${isBack ? `all of ${their} ${of}` : limit()}`;
  return standard === "erc6909" ? `spend ${limit()}` : `take ${of}`;
};

/** Names who has a right: of an offer to everybody, anybody. */
export const spenderText = ({ spender }: Approval, name: (address: string) => string): string =>
  isNobody(spender) ? "anybody" : name(spender);
