/** Lanes in one process: nothing survives it, nobody else sees it. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { violations, type Snapshot } from "./check.js";
import type { LaneId } from "./lane.js";
import type { Decision, Slot, View } from "./laneRules.js";
import { makeStore, type Operation } from "./makeStore.js";
import type { Store } from "./store.js";

interface LaneState extends View {
  floor: bigint;
  next: bigint;
  tail: bigint;
  doubt: bigint;
  doubtAt: number;
  readonly slots: Map<bigint, Slot>;
}

const newState = (): LaneState => {
  const slots = new Map<bigint, Slot>();
  return { floor: 0n, next: 0n, tail: 0n, doubt: 0n, doubtAt: 0, slots, get: (nonce) => slots.get(nonce) };
};

const write = (lane: LaneState, { floor, next, tail, doubt, doubtAt, writes }: Decision<unknown>): LaneState => {
  for (const [nonce, slot] of writes) {
    if (slot === null) lane.slots.delete(nonce);
    else lane.slots.set(nonce, slot);
  }
  return Object.assign(lane, { floor, next, tail, doubt, doubtAt });
};

const snapshotOf = ({ floor, next, tail, slots }: LaneState, now: number): Snapshot => ({
  ...{ now, floor, next, tail },
  slots: [...slots].sort(([a], [b]) => (a < b ? -1 : 1)).map(([nonce, slot]) => ({ nonce, ...slot })),
});

/** All lanes of a memory, and their marks. */
interface Kept {
  readonly lanes: Map<string, LaneState>;
  readonly marks: Map<string, string>;
}

const newKept = (): Kept => ({ lanes: new Map(), marks: new Map() });

const makeOn = ({ lanes, marks }: Kept): Store => {
  const now = Clock.clockWith((clock) => Effect.sync(() => clock.currentTimeMillisUnsafe()));
  const snapshot = (lane: LaneId) =>
    Effect.map(now, (time) => {
      const state = lanes.get(lane.id);
      return state === undefined ? null : snapshotOf(state, time);
    });
  return makeStore("memory", false, {
    apply: <A>(lane: LaneId, { run }: Operation<A>) =>
      Effect.map(now, (time) => {
        const state = lanes.get(lane.id);
        const { answer, change } = run(state ?? null, time);
        if (change !== null) lanes.set(lane.id, write(state ?? newState(), change));
        return answer;
      }),
    read: (_, lane) => snapshot(lane),
    check: (lane) => Effect.map(snapshot(lane), (whole) => (whole === null ? [] : violations(whole))),
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
export const makeMemory: Effect.Effect<Store> = Effect.sync(() => makeOn(newKept()));

/** Of this form of the lanes: another version, whose lanes have another, counts on. */
const ofProcess = Symbol.for("evm-preflight/NonceStore/memory/1");

/**
 * The one of this process: two that forgot each other would send a nonce twice. It stands where a second copy of the
 * package, or the same one loaded anew, finds it.
 */
export const memoryOfProcess: Effect.Effect<Store> = Effect.sync(() => {
  const shared = globalThis as { [ofProcess]?: Kept };
  return makeOn((shared[ofProcess] ??= newKept()));
});
