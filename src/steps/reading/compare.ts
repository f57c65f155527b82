/**
 * The one comparison of what two runs of the same transactions did. Pure.
 *
 * Compared: status, revert data, which contracts emitted which events in which order, movements, measured balances and
 * rights, who controls what, whose address stands where; amounts within a tolerance. Not compared: gas, and, unless it
 * is asked for, numbers that are neither moved nor granted: honest contracts read the clock (auctions, vesting,
 * deadlines), and what the clock moves within the tolerance is no theatre.
 */
import * as Arr from "effect/Array";
import { nothing, type OutcomeDifference } from "../../primitives/difference.js";
import type { Address } from "../../primitives/hex.js";
import type { Approval, BalanceChange, Outcome, Transfer } from "../../report/parts.js";
import { rightsIn } from "./approvalLogs.js";
import { controlsIn } from "./controlLogs.js";
import { compareOutputs, type Numbers } from "./outputs.js";
import { larger, within } from "./sameOutcome.js";

/** What one run did, as far as it is compared. */
export interface Effects {
  readonly outcomes: ReadonlyArray<Outcome>;
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
  /** The block's fee recipient, one party under as many addresses as there are runs; null = not known. */
  readonly producer: Address | null;
}

/** What is no difference, and what decides. */
export interface Terms {
  /** The share by which amounts may differ. */
  readonly tolerance: number;
  /** Whose losses decide. */
  readonly whose: ReadonlySet<string>;
  /** Whose place in events and return values decides: hex digits without `0x`. */
  readonly concerned: ReadonlySet<string>;
  /** Which numbers of events and return values are compared as well. */
  readonly numbers: Numbers | null;
}

/** An amount of one run: what moves, changes or is granted. */
interface Fact {
  readonly of: Pick<OutcomeDifference, "kind" | "account" | "to" | "unit" | "what">;
  readonly amount: bigint;
}
type Facts = ReadonlyMap<string, Fact>;

/** Facts by what they are of; of two about the same the last counts, unless they are added up. */
const factsOf = (facts: ReadonlyArray<Fact>, isSum = false): Facts => {
  const all = new Map<string, Fact>();
  for (const fact of facts) {
    const { account, to, unit, what } = fact.of;
    const key = `${account} ${to} ${unit?.token} ${unit?.tokenId} ${what}`;
    const before = isSum ? (all.get(key)?.amount ?? 0n) : 0n;
    all.set(key, { ...fact, amount: before + fact.amount });
  }
  return all;
};

const unitOf = ({ token, tokenId }: Pick<Transfer, "token" | "tokenId">) => ({ token, tokenId });

/** The pairs of amounts that differ, by `isSame`; of a fact that one run lacks only where `isWhole`. */
const compareFacts = (
  a: Facts,
  b: Facts,
  isWhole: boolean,
  isSame: (one: bigint, other: bigint, of: Fact["of"]) => boolean,
  decides: (of: Fact["of"], one: bigint, other: bigint) => boolean,
): ReadonlyArray<OutcomeDifference> =>
  [...new Set([...a.keys(), ...b.keys()])].flatMap((key) => {
    const [mine, theirs] = [a.get(key), b.get(key)];
    const of = (mine ?? theirs)?.of;
    const [one, other] = [mine?.amount ?? 0n, theirs?.amount ?? 0n];
    const isLeft = of === undefined || (!isWhole && (mine === undefined || theirs === undefined));
    return isLeft || isSame(one, other, of)
      ? []
      : [{ ...nothing, ...of, a: mine?.amount ?? null, b: theirs?.amount ?? null, decides: decides(of, one, other) }];
  });

/** Whether both runs have it, so that they differ in its amount alone. */
export const isAmount = ({ unit, a, b }: OutcomeDifference): boolean =>
  unit !== null && typeof a === "bigint" && typeof b === "bigint" && a < 0n === b < 0n;

const shapes: ReadonlySet<string> = new Set<OutcomeDifference["kind"]>(["status", "revert", "events", "control"]);

/** Whether two runs with these differences ended alike and emitted the same events: they differ in amounts at most. */
export const isSameShape = (found: ReadonlyArray<OutcomeDifference>): boolean =>
  !found.some(({ kind }) => shapes.has(kind));

/** Whether the same contracts emitted the same events in the same order. */
const hasSameEvents = ({ logs: a }: Outcome, { logs: b }: Outcome): boolean =>
  a.length === b.length &&
  a.every(({ address, topics }, index) => address === b[index]?.address && topics[0] === b[index].topics[0]);

const compareOutcomes = (a: ReadonlyArray<Outcome>, b: ReadonlyArray<Outcome>): ReadonlyArray<OutcomeDifference> =>
  Arr.zip(a, b).flatMap(([one, other], transaction): ReadonlyArray<OutcomeDifference> => {
    const of = { ...nothing, transaction, decides: false };
    if (one.status === "unknown" || other.status === "unknown") return [];
    if (one.status !== other.status) return [{ ...of, kind: "status", a: one.status, b: other.status }];
    if (one.status !== "success")
      return one.revert?.data === other.revert?.data ? [] : [{ ...of, kind: "revert", a: null, b: null }];
    const [mine, theirs] = [BigInt(one.logs.length), BigInt(other.logs.length)];
    return hasSameEvents(one, other) ? [] : [{ ...of, kind: "events", a: mine, b: theirs }];
  });

/** Whether the same moved in the same order, which is what two runs nearly always say. */
const isSameMovement = (a: ReadonlyArray<Transfer>, b: ReadonlyArray<Transfer>): boolean =>
  a.length === b.length &&
  a.every(({ token, tokenId, from, to, amount }, index) => {
    const other = b[index];
    const isSameAsset = token === other?.token && tokenId === other.tokenId;
    return isSameAsset && from === other.from && to === other.to && amount === other.amount;
  });

/** What moves between the same two parties in either direction. */
const pairOf = ({ account, to, unit }: Fact["of"]): string =>
  [unit?.token, unit?.tokenId, ...[String(account), String(to)].sort()].join(" ");

const moved = ({ transfers }: Effects, producer: Address | null): Facts => {
  const party = (account: Address, token: Address | null) => (token === null && account === producer ? null : account);
  const facts = transfers.map((one): Fact => {
    const [account, to] = [party(one.from, one.token), party(one.to, one.token)];
    return { of: { kind: "movement", account, to, unit: unitOf(one), what: null }, amount: one.amount };
  });
  return factsOf(facts, true);
};

const changed = ({ balanceChanges }: Effects, producer: Address | null): Facts =>
  factsOf(
    balanceChanges
      .filter(({ evidence, token, account }) => evidence === "measured" && (token !== null || account !== producer))
      .map((one): Fact => {
        const of = { kind: "balance", account: one.account, to: null, unit: unitOf(one), what: null } as const;
        return { of, amount: one.delta };
      }),
  );

const granted = ({ approvals }: Effects): Facts =>
  factsOf(
    approvals
      .filter(({ evidence }) => evidence === "measured")
      .map((one): Fact => {
        const { standard: what, owner: account, spender: to, after } = one;
        return { of: { kind: "approval", account, to, unit: unitOf(one), what }, amount: after ?? 0n };
      }),
  );

/** What the events say of rights: the last word on each. */
const announced = ({ outcomes }: Effects): Facts =>
  factsOf(
    outcomes
      .flatMap(({ logs }, index) => rightsIn(logs, index))
      .map((one): Fact => {
        const { owner: account, spender: to, said: amount } = one;
        return { of: { kind: "approval", account, to, unit: unitOf(one), what: null }, amount };
      }),
  );

/** Who came to control what. */
const controlled = ({ outcomes }: Effects): Facts =>
  factsOf(
    outcomes.flatMap(({ logs }, index) =>
      controlsIn(logs, index).map((one): Fact => {
        const { code, what, contract: token, role, loses: account, gains: to } = one;
        const all = `${code}, ${what}${role === null ? "" : ` with role ${role}`}`;
        return { of: { kind: "control", account, to, unit: { token, tokenId: null }, what: all }, amount: 1n };
      }),
    ),
  );

/**
 * Who is the block's producer in what a run moves: one party in all runs, of which nothing is compared but what it is
 * paid. Where its own place decides, as a sender's does, it stays who it is.
 */
const producerOf = ({ producer, transfers }: Effects, concerned: ReadonlySet<string>): Address | null => {
  const isPaid = ({ token, from, to }: Transfer) => token === null && (from === producer || to === producer);
  return producer === null || concerned.has(producer.slice(2)) || !transfers.some(isPaid) ? null : producer;
};

/** What two runs did otherwise, none where they did the same; rights, control and losses of `whose` decide. */
export const compareEffects = (
  a: Effects,
  b: Effects,
  { tolerance, whose, concerned, numbers }: Terms,
): ReadonlyArray<OutcomeDifference> => {
  const [mine, theirs] = [producerOf(a, concerned), producerOf(b, concerned)];
  const [flows, others] =
    mine === theirs && isSameMovement(a.transfers, b.transfers)
      ? [factsOf([]), factsOf([])]
      : [moved(a, mine), moved(b, theirs)];
  const scales = new Map<string, bigint>();
  for (const { of, amount } of [...flows.values(), ...others.values()])
    scales.set(pairOf(of), larger(scales.get(pairOf(of)) ?? 0n, amount));
  const isSame = (one: bigint, other: bigint) => within(one, other, tolerance);
  // why: what an auction gives back of a payment changes with its price by little of the payment, however little it is
  const isSameFlow = (one: bigint, other: bigint, of: Fact["of"]) =>
    within(one, other, tolerance, scales.get(pairOf(of)));
  const isLoss = ({ account }: Fact["of"], one: bigint, other: bigint) =>
    whose.has(account ?? "") && (one < 0n || other < 0n);
  const isEqual = (one: bigint, other: bigint) => one === other;
  const always = () => true;
  return [
    ...compareOutcomes(a.outcomes, b.outcomes),
    ...compareFacts(flows, others, true, isSameFlow, ({ account }) => whose.has(account ?? "")),
    // why: what was measured is compared where both runs measured it; a run that measured less is no difference
    ...compareFacts(changed(a, mine), changed(b, theirs), false, isSame, isLoss),
    ...compareFacts(announced(a), announced(b), true, isSame, always),
    ...compareFacts(granted(a), granted(b), false, isSame, always),
    ...compareFacts(controlled(a), controlled(b), true, isEqual, always),
    ...compareOutputs(a.outcomes, b.outcomes, [a.producer, b.producer], concerned, tolerance, numbers),
  ];
};
