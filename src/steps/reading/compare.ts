/**
 * The one comparison of what two runs of the same transactions did. Pure.
 *
 * Compared: status, revert data, which contracts emitted which events in which order, movements, measured balances and
 * rights, who controls what, whose address stands where; amounts within a tolerance. Not compared: gas, and, unless it
 * is asked for, numbers that are neither moved nor granted: honest contracts read the clock (auctions, vesting,
 * deadlines), and what the clock moves within the tolerance is no theatre.
 */
import * as BigInts from "effect/BigInt";
import * as Arr from "effect/Array";
import { memoize } from "effect/Function";
import {
  areSame,
  nothing,
  paired,
  type Fact,
  type OutcomeDifference,
  type FactPair,
} from "../../primitives/difference.js";
import type { Address } from "../../primitives/hex.js";
import type { Approval, BalanceChange, Outcome, Transfer } from "../../report/parts.js";
import { addressOf } from "../../abi/words.js";
import type { heldIn } from "./proxies.js";
import { effectsIn } from "../../effects/effects.js";
import { compareOutputs, type Terms } from "./outputs.js";

export type { Terms } from "./outputs.js";
import { everyLog, within } from "./sameOutcome.js";

/** The effects of one run, as far as they are compared. */
export interface Effects {
  readonly outcomes: ReadonlyArray<Outcome>;
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
  /** The block's fee recipient, one party under as many addresses as there are runs; null = not known. */
  readonly producer: Address | null;
  /** Accounts that act for contracts, by their storage; absent = it was not read. */
  readonly held?: ReturnType<typeof heldIn>;
}

/** An amount of one run: what moves, changes or is granted. */
type Amount = Fact<Omit<OutcomeDifference, "a" | "b" | "decides">>;

/** The key of movements between the same two parties in either direction. */
const pairOf = ({ account, to, unit }: Amount["of"]): string =>
  [unit?.token, unit?.tokenId, ...[String(account), String(to)].sort()].join(" ");

const amountOf = (value: Fact["value"] | undefined): bigint => (typeof value === "bigint" ? value : 0n);

/** The largest that moves between the same two parties. */
const scalesOf = (pairs: ReadonlyArray<FactPair<Amount["of"]>>): ReadonlyMap<string, bigint> => {
  const scales = new Map<string, bigint>();
  for (const { of, a, b } of pairs)
    if (of.kind === "movement") {
      const most = BigInts.max(amountOf(a), amountOf(b));
      scales.set(pairOf(of), BigInts.max(most, scales.get(pairOf(of)) ?? 0n));
    }
  return scales;
};

/** True if one run measured less than the other, which is no difference. */
const isUnmeasured = ({ of: { kind, what }, a, b }: FactPair<Amount["of"]>): boolean =>
  (a === undefined || b === undefined) && (kind === "balance" || (kind === "approval" && what !== null));

/** The facts of one kind that differ. */
const compareFacts = (mine: ReadonlyArray<Amount>, theirs: ReadonlyArray<Amount>, { tolerance, whose }: Terms) => {
  // why: two runs nearly always say the same of thousands, in the same order
  if (areSame(mine, theirs)) return [];
  const pairs = paired(mine, theirs);
  // why: what an auction gives back of a payment changes with its price by little of the payment, however little it is
  const scales = scalesOf(pairs);
  return pairs.flatMap((pair): ReadonlyArray<OutcomeDifference> => {
    const { of, a, b } = pair;
    const [one, other] = [amountOf(a), amountOf(b)];
    const [isMoved, isControl] = [of.kind === "movement", of.kind === "control"];
    const scale = isMoved ? scales.get(pairOf(of)) : undefined;
    if (isUnmeasured(pair) || (isControl ? one === other : within(one, other, tolerance, scale))) return [];
    const isLoss = (isMoved || one < 0n || other < 0n) && whose.has(of.account ?? "");
    const decides = isControl || of.kind === "approval" || isLoss;
    return [{ ...of, a: a === undefined ? null : one, b: b === undefined ? null : other, decides }];
  });
};

/** True if both runs have it, so that they differ in its amount alone. */
export const isAmount = ({ unit, a, b }: OutcomeDifference): boolean =>
  unit !== null && typeof a === "bigint" && typeof b === "bigint" && a < 0n === b < 0n;

const shapes: ReadonlySet<string> = new Set<OutcomeDifference["kind"]>(["status", "revert", "events", "control"]);

/** True if two runs with these differences ended alike and emitted the same events: only amounts may differ. */
export const isSameShape = (found: ReadonlyArray<OutcomeDifference>): boolean =>
  !found.some(({ kind }) => shapes.has(kind));

/** True if the same contracts emitted the same events in the same order. */
const hasSameEvents = (a: Outcome, b: Outcome): boolean =>
  everyLog(a, b, (log, other) => log.address === other.address && log.topics[0] === other.topics[0]);

const compareOutcomes = (a: ReadonlyArray<Outcome>, b: ReadonlyArray<Outcome>): ReadonlyArray<OutcomeDifference> =>
  Arr.zip(a, b).flatMap(([outcome, other], transaction): ReadonlyArray<OutcomeDifference> => {
    const of = { ...nothing, transaction, decides: false };
    if (outcome.status === "unknown" || other.status === "unknown") return [];
    if (outcome.status !== other.status) return [{ ...of, kind: "status", a: outcome.status, b: other.status }];
    if (outcome.status !== "success")
      return outcome.revert?.data === other.revert?.data ? [] : [{ ...of, kind: "revert", a: null, b: null }];
    const [mine, theirs] = [BigInt(outcome.logs.length), BigInt(other.logs.length)];
    return hasSameEvents(outcome, other) ? [] : [{ ...of, kind: "events", a: mine, b: theirs }];
  });

/** True if the same asset moves between the same two, whatever the amount. */
export const isSameFlow = (transfer: Transfer, other: Transfer): boolean =>
  transfer.token === other.token &&
  transfer.tokenId === other.tokenId &&
  transfer.from === other.from &&
  transfer.to === other.to;

/** One amount. Written out, for of thousands the spreading of objects is what takes time. */
const amount = (
  kind: OutcomeDifference["kind"],
  account: OutcomeDifference["account"],
  to: OutcomeDifference["to"],
  { token, tokenId }: Pick<Transfer, "token" | "tokenId">,
  value: bigint,
  what: OutcomeDifference["what"] = null,
): Amount => ({ of: { kind, transaction: null, event: null, account, to, unit: { token, tokenId }, what }, value });

const movements = ({ transfers }: Effects, producer: Address | null): ReadonlyArray<Amount> =>
  transfers.map((transfer) => {
    const { token, from, to } = transfer;
    const [isPaying, isPaid] = [token === null && from === producer, token === null && to === producer];
    return amount("movement", isPaying ? null : from, isPaid ? null : to, transfer, transfer.amount);
  });

const changed = ({ balanceChanges }: Effects, producer: Address | null): ReadonlyArray<Amount> =>
  balanceChanges.flatMap((change) => {
    const { evidence, token, account, delta } = change;
    const isLeftOut = evidence !== "measured" || (token === null && account === producer);
    return isLeftOut ? [] : amount("balance", account, null, change, delta);
  });

/** Rights and changes of control by the events, and rights as they were measured; read once for all that it is compared with. */
const rightsOf = memoize(({ outcomes, approvals }: Effects): ReadonlyArray<ReadonlyArray<Amount>> => {
  const sources = outcomes.map((outcome, index) => ({ outcome, index }));
  const announced = effectsIn(sources, "right").map((its) =>
    amount("approval", its.owner, its.spender, its, its.claim),
  );
  const granted = approvals.flatMap((its) =>
    its.evidence === "measured" ? amount("approval", its.owner, its.spender, its, its.after ?? 0n, its.standard) : [],
  );
  const controlled = effectsIn(sources, "control").map(
    ({ kind, what, contract: token, role, loses: account, gains: to }) => {
      const all = `${kind}, ${what}${role === null ? "" : ` with role ${role}`}`;
      return amount("control", account, to, { token, tokenId: null }, 1n, all);
    },
  );
  return [announced, granted, controlled];
});

/** Accounts that act for contracts by their storage, where both runs read it on the same state. */
const stored = ({ held: mine }: Effects, { held: theirs }: Effects): ReadonlyArray<Amount> =>
  mine == null || theirs == null || mine.state !== theirs.state
    ? []
    : [...mine.words]
        .filter(([place]) => theirs.words.has(place))
        .map(([, { contract: token, holds, word }]) =>
          amount("control", null, addressOf(word), { token, tokenId: null }, 1n, `${holds} by its storage`),
        );

/**
 * The block's producer, where a run pays it or moves its currency: one party in all runs, compared only by what it is
 * paid. Where its own place decides, as a sender's does, it stays who it is.
 */
const producerOf = ({ producer, transfers }: Effects, concerned: ReadonlySet<string>): Address | null => {
  const isPaid = ({ token, from, to }: Transfer) => token === null && (from === producer || to === producer);
  return producer === null || concerned.has(producer.slice(2)) || !transfers.some(isPaid) ? null : producer;
};

/** Returns the differences of two runs, none where they did the same; rights, control and losses of `whose` decide. */
export const compareEffects = (a: Effects, b: Effects, terms: Terms): ReadonlyArray<OutcomeDifference> => {
  const [mine, theirs] = [producerOf(a, terms.concerned), producerOf(b, terms.concerned)];
  return [
    ...compareOutcomes(a.outcomes, b.outcomes),
    ...compareFacts(movements(a, mine), movements(b, theirs), terms),
    ...compareFacts(changed(a, mine), changed(b, theirs), terms),
    ...rightsOf(a).flatMap((its, kind) => compareFacts(its, rightsOf(b)[kind] ?? [], terms)),
    ...compareFacts(stored(a, b), stored(b, a), terms),
    ...compareOutputs(a, b, terms),
  ];
};
