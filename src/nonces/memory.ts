/** Lanes in one process: nothing survives it, nobody else sees it. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { LaneId } from "./lane.js";
import { violations, type Snapshot } from "./check.js";
import { begin, type Decision, type Slot, type View } from "./laneRules.js";
import { commit, oldest, reconcile, recycle, release, replace, report, reserve } from "./operations.js";
import type { Reconciled, Store } from "./store.js";

interface LaneState extends View {
  floor: bigint;
  next: bigint;
  tail: bigint;
  doubt: bigint;
  doubtAt: number;
  readonly slots: Map<bigint, Slot>;
}

const apply = <A>(lane: LaneState, { floor, next, tail, doubt, doubtAt, writes, answer }: Decision<A>): A => {
  Object.assign(lane, { floor, next, tail, doubt, doubtAt });
  for (const [nonce, slot] of writes) {
    if (slot === null) lane.slots.delete(nonce);
    else lane.slots.set(nonce, slot);
  }
  return answer;
};

const snapshotOf = (lane: LaneState, from: bigint, now: number): Snapshot => ({
  now,
  floor: lane.floor,
  next: lane.next,
  tail: lane.tail,
  slots: [...lane.slots]
    .filter(([nonce]) => nonce >= from)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([nonce, slot]) => ({ nonce, ...slot })),
});

const makeOn = (lanes: Map<string, LaneState>): Store => {
  const now = Clock.clockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()));
  const on = <A>(lane: LaneId, cold: A, operate: (state: LaneState, now: number) => A): Effect.Effect<A> =>
    Effect.map(now, (time) => {
      const state = lanes.get(lane.id);
      return state === undefined ? cold : operate(state, time);
    });
  const none = { settled: 0, recycled: 0 };

  return {
    kind: "memory",
    persistent: false,
    bootstrap: (lane, counts, keep) =>
      Effect.map(now, (time) => {
        if (lanes.has(lane.id)) return false;
        const slots = new Map<bigint, Slot>();
        const get = (nonce: bigint) => slots.get(nonce);
        const state: LaneState = { floor: 0n, next: 0n, tail: 0n, doubt: 0n, doubtAt: 0, slots, get };
        apply(state, begin(counts, keep, time));
        lanes.set(lane.id, state);
        return true;
      }),
    reserve: (lane, request) =>
      on(lane, { answer: { _tag: "Cold" }, moved: none }, (state, time) => {
        const decision = reserve(state, request, time);
        return { answer: apply(state, decision), moved: decision.moved };
      }),
    commit: (lane, claim, attempt) =>
      on(lane, "cold", (state, time) => apply(state, commit(state, claim, attempt, time))),
    release: (lane, claim) => on(lane, false, (state) => apply(state, release(state, claim))),
    recycle: (lane, claim, hash) => on(lane, false, (state) => apply(state, recycle(state, claim, hash))),
    replace: (lane, nonce, replaces, attempt) =>
      on(lane, { _tag: "Cold" }, (state, time) => apply(state, replace(state, nonce, replaces, attempt, time))),
    report: (lane, nonce, hash, outcome) =>
      on(lane, false, (state) => apply(state, report(state, nonce, hash, outcome))),
    reconcile: (lane, request) =>
      on<Reconciled>(lane, { answer: { _tag: "Cold" }, moved: none, snapshot: null }, (state, time) => {
        const decision = reconcile(state, request, time);
        const answer = apply(state, decision);
        const from = answer._tag === "Reconciled" ? answer.from : oldest(state);
        return { answer, moved: decision.moved, snapshot: snapshotOf(state, from, time) };
      }),
    read: (lane) => on<Snapshot | null>(lane, null, (state, time) => snapshotOf(state, oldest(state), time)),
    check: (lane) =>
      on<ReadonlyArray<string>>(lane, [], (state, time) => violations(snapshotOf(state, state.tail, time))),
    lanes: Effect.sync(() => [...lanes.keys()].sort()),
  };
};

/** A store in a memory of its own, on the Clock service. */
export const makeMemory: Effect.Effect<Store> = Effect.sync(() => makeOn(new Map()));

const ofProcess = new Map<string, LaneState>();

/** The one of this process: two that forgot each other would send a nonce twice. */
export const memoryOfProcess: Effect.Effect<Store> = Effect.sync(() => makeOn(ofProcess));
