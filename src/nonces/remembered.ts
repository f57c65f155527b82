/**
 * Requirements of a store outside this process, so that lanes can be kept there; a lane as this process last saw
 * it, and operations decided on it. Pure. It may be old: nothing that is decided here counts before a compare-and-set on
 * the lane's version.
 */
import * as BigInts from "effect/BigInt";
import type * as Effect from "effect/Effect";
import type { Hex } from "../primitives/index.js";
import type { LaneId } from "./lane.js";
import { boundsOf, type Bounds, type Decision, type Slot, type View } from "./laneRules.js";
import type { Selection } from "./makeStore.js";
import type { Result, Snapshot, Store } from "./store.js";

/** A placeholder for bytes that are kept and were not read. */
export const unread: Hex = "0x";

/** How far the clock that a change was decided on may be from the store's own, ms. */
export const clockSlackMs = 1_000;

/** The bounds of a lane, and what tells its states apart. */
export interface Head extends Bounds {
  /** Made by who wrote last, never the same twice: a store that went back in time cannot have it again. */
  readonly version: string;
  readonly commits: number;
}

/** A change that is to be written at once, or not at all. */
export interface Change {
  /** The head of the lane that it was decided on; null = there must be none. */
  readonly before: Head | null;
  readonly after: Head;
  /** The clock that it was decided on, epoch ms: refused when it is further than {@link clockSlackMs} from the store's. */
  readonly now: number;
  /** Nonces with what they become; null = nothing. A transaction whose bytes are {@link unread} keeps them. */
  readonly writes: ReadonlyArray<{ readonly nonce: bigint; readonly to: Slot | null }>;
}

/** Lanes in a store outside this process, which forgets a mark with its lane. All on the store's clock. */
export interface LaneBackend extends Pick<Store, "kind" | "forget" | "mark" | "setMark" | "lanes"> {
  /** The lane as it was at one moment, epoch ms on the store's clock; `head` null = unknown. */
  readonly read: (
    operation: string,
    lane: LaneId,
    selection: Selection,
  ) => Result<Pick<Snapshot, "now" | "slots"> & { readonly head: Head | null }>;
  /** Writes, so that nothing loses it, where the lane still has the version it was decided on. A lost reply is harmless: what is asked again finds another version. */
  readonly compareAndSet: (
    operation: string,
    lane: LaneId,
    change: Change,
  ) => Result<
    | { readonly _tag: "Written"; readonly now: number }
    /** The lane had another version, or the clock was too far off. */
    | { readonly _tag: "Conflict" }
  >;
  /** All of a lane, also what lies outside its bounds. */
  readonly readAll: (lane: LaneId) => Result<Snapshot | null>;
}

export interface Remembered {
  /** null = there is no lane. */
  readonly head: Head | null;
  /** All of `[floor, next)`, and some of the history; null = known to be missing. */
  readonly slots: Map<bigint, Slot | null>;
  /** The store's time, when it said so (`at`, ms on the clock of this process), and how long the answer took, ms. */
  readonly clock: { readonly now: number; readonly at: number; readonly took: number };
}

/**
 * Estimates the store's clock when it gets what is sent now: what is asked takes its way again, or waited here and
 * took none. Between the two it is off by no more than a half of what the answer took.
 */
export const clockAt = ({ now, at, took }: Remembered["clock"], time: number): number =>
  Math.trunc(now + (time - at) + Math.min(took / 2, clockSlackMs * 0.9));

const whole = function* (from: bigint, to: bigint) {
  for (let nonce = from; nonce < to; nonce += 1n) yield nonce;
};

/** The nonces outside `[floor, next)` that are wanted, as ranges within the lane. */
const rangesOf = ({ floor, next, tail }: Head, { from, recent, oldest }: Selection) =>
  [[BigInts.min(from ?? floor, floor - recent), floor] as const, [tail, tail + oldest] as const].map(
    ([start, end]) => [BigInts.max(start, tail), BigInts.min(end, next)] as const,
  );

/** Returns what was read, with what is missing of what was wanted. */
export const remember = (
  { head, ...found }: Effect.Success<ReturnType<LaneBackend["read"]>>,
  selection: Selection,
  clock: Remembered["clock"],
): Remembered => {
  const slots = new Map<bigint, Slot | null>(found.slots.map(({ nonce, ...slot }) => [nonce, slot]));
  for (const [start, end] of head === null ? [] : [[head.floor, head.next] as const, ...rangesOf(head, selection)])
    for (const nonce of whole(start, end)) if (!slots.has(nonce)) slots.set(nonce, null);
  return { head, slots, clock };
};

/** True if all that is wanted is remembered. Bytes never are. */
export const covers = ({ head, slots }: Remembered, selection: Selection): boolean =>
  head !== null &&
  !selection.raws &&
  rangesOf(head, selection).every(([start, end]) => [...whole(start, end)].every((each) => slots.has(each)));

const withoutRaws = (slot: Slot): Slot =>
  slot.attempts.some(({ raw }) => raw !== null && raw !== unread)
    ? { ...slot, attempts: slot.attempts.map(({ hash, raw }) => ({ hash, raw: raw === null ? null : unread })) }
    : slot;

/** History that is remembered: as much as some operations prune. */
const remembersOldest = 64n;

const isRemembered = ({ floor, next, tail }: Head, nonce: bigint): boolean =>
  (nonce >= floor && nonce < next) || (nonce >= tail && nonce < tail + remembersOldest);

/** Returns what is remembered of what was read: `[floor, next)` and the oldest nonces, without bytes. */
export const withoutHistory = (lane: Remembered): Remembered => {
  const { head, slots } = lane;
  if (head === null) return lane;
  const entries = [...slots].filter(([nonce]) => isRemembered(head, nonce));
  return { ...lane, slots: new Map(entries.map(([nonce, slot]) => [nonce, slot === null ? null : withoutRaws(slot)])) };
};

/** The lane after what was written. Takes over the slots, for a copy would cost more than the operation. */
export const afterwards = ({ slots }: Remembered, { after: head, writes }: Change, clock: Remembered["clock"]) => {
  for (const { nonce, to } of writes) {
    if (isRemembered(head, nonce)) slots.set(nonce, to === null ? null : withoutRaws(to));
    else slots.delete(nonce);
  }
  return { head, slots, clock };
};

const isSame = (a: Bounds, b: Bounds): boolean =>
  a.floor === b.floor && a.next === b.next && a.tail === b.tail && a.doubt === b.doubt && a.doubtAt === b.doubtAt;

/** Reads nonces through what was decided so far; those that were not remembered are put into `missing`. */
const through =
  ({ head, slots }: Remembered, writes: ReadonlyMap<bigint, Slot | null>, missing: Array<bigint>): View["get"] =>
  (nonce) => {
    const write = writes.get(nonce);
    if (write !== undefined) return write ?? undefined;
    if (head === null || nonce < head.tail || nonce >= head.next) return undefined;
    const slot = slots.get(nonce);
    if (slot === undefined) missing.push(nonce);
    return slot ?? undefined;
  };

/**
 * Decides operations one after the other, each on what the ones before it leave. `change`: of the same version where nothing
 * is to be written; null = there is no lane. `missing`: nonces that decided and were not remembered: then nothing else counts.
 */
export const decideAll = (
  remembered: Remembered,
  operations: ReadonlyArray<{
    /** True if its answer may permit a broadcast. */
    readonly permits: boolean;
    readonly decide: (
      view: View | null,
      now: number,
    ) => { readonly change: Decision<unknown> | null; readonly deliver: () => void };
  }>,
  now: number,
  newVersion: () => string,
) => {
  const writes = new Map<bigint, Slot | null>();
  const missing: Array<bigint> = [];
  const deliver: Array<() => void> = [];
  const get = through(remembered, writes, missing);
  const { head } = remembered;
  let bounds: Bounds | null = head;
  let commits = head?.commits ?? now;
  // A repeated commit writes as well: a standby is waited for only by who writes
  let isWritten = head === null || operations.some(({ permits }) => permits);
  for (const { permits, decide } of operations) {
    const { change, deliver: answer } = decide(bounds === null ? null : { ...boundsOf(bounds), get }, now);
    deliver.push(answer);
    if (change === null) continue;
    const isChanged = bounds === null || change.writes.size > 0 || !isSame(bounds, change);
    if (isChanged && permits) commits += 1;
    isWritten ||= isChanged;
    for (const [nonce, slot] of change.writes) writes.set(nonce, slot);
    bounds = change;
  }
  if (bounds === null) return { change: null, deliver, missing };
  const version = isWritten || head === null ? newVersion() : head.version;
  const after: Head = { ...boundsOf(bounds), version, commits };
  const change: Change = { before: head, after, now, writes: [...writes].map(([nonce, to]) => ({ nonce, to })) };
  return { change, deliver, missing };
};

/** Selects what to read for operations that missed nonces: the oldest ones, and history from where they may look. */
export const selectionFor = (
  { tail }: Head,
  selection: Selection,
  history: bigint | null,
  missing: ReadonlyArray<bigint>,
): Selection => {
  const lowest = missing.reduce((a, b) => BigInts.min(a, b));
  const oldest = missing.reduce((a, b) => BigInts.max(a, b)) - tail + remembersOldest;
  const isOld = oldest <= 8n * remembersOldest;
  const from = isOld ? history : BigInts.min(lowest, history ?? lowest);
  return {
    ...selection,
    oldest: isOld ? BigInts.max(oldest, selection.oldest) : selection.oldest,
    from: from === null ? selection.from : BigInts.min(from - 1n, selection.from ?? from),
  };
};
