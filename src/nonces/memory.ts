/** Lanes in one process: nothing survives it, nobody else sees it. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { LaneId } from "./lane.js";
import { boundsOf, type Decision, type Slot, type View } from "./laneRules.js";
import { makeStore } from "./makeStore.js";
import type { Snapshot, Store } from "./store.js";

/** The lane after a decision, which writes into the nonces that it had. */
const stateAfter = (change: Decision<unknown>, slots: Map<bigint, Slot>): View & { readonly slots: typeof slots } => {
  for (const [nonce, slot] of change.writes) {
    if (slot === null) slots.delete(nonce);
    else slots.set(nonce, slot);
  }
  return { ...boundsOf(change), slots, get: (nonce) => slots.get(nonce) };
};

const snapshotOf = ({ floor, next, tail, slots }: ReturnType<typeof stateAfter>, now: number): Snapshot => ({
  ...{ now, floor, next, tail },
  slots: [...slots].sort(([a], [b]) => (a < b ? -1 : 1)).map(([nonce, slot]) => ({ nonce, ...slot })),
});

/** All lanes of a memory, and their marks. */
const emptyMemory = () => ({
  lanes: new Map<string, ReturnType<typeof stateAfter>>(),
  marks: new Map<string, string>(),
});

const makeOn = ({ lanes, marks }: ReturnType<typeof emptyMemory>): Store => {
  const snapshot = (lane: LaneId) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const state = lanes.get(lane.id);
      return state === undefined ? null : snapshotOf(state, now);
    });
  return makeStore({
    ...{ kind: "memory", persistent: false },
    apply: (lane, { run }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const state = lanes.get(lane.id);
        const { answer, change } = run(state ?? null, now);
        if (change !== null) lanes.set(lane.id, stateAfter(change, state?.slots ?? new Map()));
        return answer;
      }),
    read: snapshot,
    readAll: snapshot,
    forget: (lane) =>
      Effect.sync(() => {
        marks.delete(lane.id);
        return lanes.delete(lane.id);
      }),
    mark: (lane) => Effect.sync(() => marks.get(lane.id) ?? null),
    setMark: (lane, mark) => Effect.sync(() => void marks.set(lane.id, mark)),
    lanes: Effect.sync(() => [...lanes.keys()].sort()),
  });
};

/** A store in a memory of its own, on the Clock service. */
export const makeMemory: Effect.Effect<Store> = Effect.sync(() => makeOn(emptyMemory()));

/** The key of this form of the lanes: another version, whose lanes have another, counts on. */
const ofProcess = Symbol.for("evm-preflight/NonceStore/memory/1");

/**
 * The one of this process: two that forgot each other would send a nonce twice. It stands where a second copy of the
 * package, or the same one loaded anew, finds it.
 */
export const memoryOfProcess: Effect.Effect<Store> = Effect.sync(() => {
  const shared = globalThis as { [ofProcess]?: ReturnType<typeof emptyMemory> };
  return makeOn((shared[ofProcess] ??= emptyMemory()));
});
