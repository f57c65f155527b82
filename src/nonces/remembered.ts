/**
 * A lane as this process last saw it, and operations decided on it. Pure. It may be old: nothing that is
 * decided here counts before a compare-and-set on the lane's version.
 */
import { clockSlackMs, unread, type Found, type Head } from "./backend.js";
import type { Decision, Slot, View } from "./laneRules.js";
import type { Wanted } from "./makeStore.js";

export interface Remembered {
  readonly head: Head;
  /** All of `[floor, next)`, and some of the history; null = known to be missing. */
  readonly slots: Map<bigint, Slot | null>;
  readonly clock: StoreClock;
}

/** What the store's clock said, and when, ms on the clock of this process. */
export interface StoreClock {
  readonly now: number;
  readonly at: number;
  /** How long the answer took. */
  readonly took: number;
}

/**
 * Where the store's clock will be when it gets what is sent now: what is asked takes its way again, or waited here and
 * took none. Between the two it is off by no more than a half of what the answer took.
 */
export const clockAt = ({ now, at, took }: StoreClock, time: number): number =>
  Math.trunc(now + (time - at) + Math.min(took / 2, clockSlackMs * 0.9));

const whole = function* (from: bigint, to: bigint) {
  for (let nonce = from; nonce < to; nonce += 1n) yield nonce;
};

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The nonces outside `[floor, next)` that are wanted, as ranges within the lane. */
const rangesOf = ({ floor, next, tail }: Head, { from, recent, nonces, oldest }: Wanted) =>
  [
    [smaller(from ?? floor, floor - recent), floor] as const,
    ...nonces.map((nonce) => [nonce, nonce + 2n] as const),
    [tail, tail + oldest] as const,
  ].map(([start, end]) => [larger(start, tail), smaller(end, next)] as const);

/** What was read, with what is missing of what was wanted. */
export const remember = (lane: NonNullable<Found["lane"]>, wanted: Wanted, clock: StoreClock): Remembered => {
  const { head } = lane;
  const slots = new Map<bigint, Slot | null>(lane.slots.map(({ nonce, ...slot }) => [nonce, slot]));
  for (const [start, end] of [[head.floor, head.next] as const, ...rangesOf(head, wanted)])
    for (const nonce of whole(start, end)) if (!slots.has(nonce)) slots.set(nonce, null);
  return { head, slots, clock };
};

/** Whether all that is wanted is remembered. Bytes never are. */
export const covers = ({ head, slots }: Remembered, wanted: Wanted): boolean =>
  !wanted.raws &&
  rangesOf(head, wanted).every(([start, end]) => [...whole(start, end)].every((each) => slots.has(each)));

const withoutRaws = (slot: Slot): Slot =>
  slot.attempts.some(({ raw }) => raw !== null && raw !== unread)
    ? { ...slot, attempts: slot.attempts.map(({ hash, raw }) => ({ hash, raw: raw === null ? null : unread })) }
    : slot;

/** History that is remembered: as much as some operations prune. */
const remembersOldest = 64n;

const isRemembered = ({ floor, next, tail }: Head, nonce: bigint): boolean =>
  (nonce >= floor && nonce < next) || (nonce >= tail && nonce < tail + remembersOldest);

/** What is remembered of what was read: `[floor, next)` and the oldest nonces, without bytes. */
export const withoutHistory = ({ head, slots, clock }: Remembered): Remembered => {
  const kept = [...slots].filter(([nonce]) => isRemembered(head, nonce));
  return {
    head,
    clock,
    slots: new Map(kept.map(([nonce, slot]) => [nonce, slot === null ? null : withoutRaws(slot)])),
  };
};

/** The lane after what was written. Takes over the slots, for a copy would cost more than the operation. */
export const afterwards = (
  slots: Map<bigint, Slot | null>,
  writes: ReadonlyMap<bigint, Slot | null>,
  head: Head,
  clock: StoreClock,
): Remembered => {
  for (const [nonce, slot] of writes) {
    if (isRemembered(head, nonce)) slots.set(nonce, slot === null ? null : withoutRaws(slot));
    else slots.delete(nonce);
  }
  return { head, slots, clock };
};

export type Step = { readonly change: Decision<unknown> | null; readonly deliver: () => void };
/** An operation that waits for its answer. */
export type Decide = (view: View | null, now: number) => Step;

export interface Plan {
  /** null = there is no lane. */
  readonly bounds: Omit<Head, "version" | "commits"> | null;
  readonly writes: ReadonlyMap<bigint, Slot | null>;
  readonly isChanged: boolean;
  /** Whether each operation changed something, in order. */
  readonly changed: ReadonlyArray<boolean>;
  readonly deliver: ReadonlyArray<() => void>;
  /** Nonces that decided and were not remembered: then nothing else counts. */
  readonly missing: ReadonlyArray<bigint>;
}

const boundsOf = ({ floor, next, tail, doubt, doubtAt }: Omit<Head, "version" | "commits">) => ({
  ...{ floor, next, tail, doubt, doubtAt },
});

/** Decides operations one after the other, each on what the ones before it leave. */
export const decideAll = (
  before: Pick<Remembered, "head" | "slots"> | null,
  operations: ReadonlyArray<Decide>,
  now: number,
): Plan => {
  const writes = new Map<bigint, Slot | null>();
  const missing: Array<bigint> = [];
  const changed: Array<boolean> = [];
  const deliver: Array<() => void> = [];
  const get = (nonce: bigint): Slot | undefined => {
    const written = writes.get(nonce);
    if (written !== undefined) return written ?? undefined;
    if (before === null || nonce < before.head.tail || nonce >= before.head.next) return undefined;
    const slot = before.slots.get(nonce);
    if (slot === undefined) missing.push(nonce);
    return slot ?? undefined;
  };
  let bounds = before === null ? null : boundsOf(before.head);
  for (const operation of operations) {
    const step = operation(bounds === null ? null : { ...bounds, get }, now);
    deliver.push(step.deliver);
    const { change } = step;
    const after = change === null ? null : boundsOf(change);
    changed.push(
      change !== null &&
        after !== null &&
        (bounds === null ||
          change.writes.size > 0 ||
          after.floor !== bounds.floor ||
          after.next !== bounds.next ||
          after.tail !== bounds.tail ||
          after.doubt !== bounds.doubt ||
          after.doubtAt !== bounds.doubtAt),
    );
    if (change === null || after === null) continue;
    for (const [nonce, slot] of change.writes) writes.set(nonce, slot);
    bounds = after;
  }
  return { bounds, writes, isChanged: changed.includes(true), changed, deliver, missing };
};

/** What must be read for operations that missed nonces: the oldest ones, and history from where they may look. */
export const wantedFor = (
  { tail }: Head,
  wanted: Wanted,
  history: bigint | null,
  missing: ReadonlyArray<bigint>,
): Wanted => {
  const oldest = missing.reduce(larger) - tail + remembersOldest;
  const isOld = oldest <= 8n * remembersOldest;
  const from = isOld ? history : smaller(missing.reduce(smaller), history ?? missing.reduce(smaller));
  return {
    ...wanted,
    oldest: isOld ? larger(oldest, wanted.oldest) : wanted.oldest,
    from: from === null ? wanted.from : smaller(from - 1n, wanted.from ?? from),
  };
};
