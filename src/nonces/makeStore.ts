/** Every store of nonces: the operations, over what makes one of them atomic. */
import * as Effect from "effect/Effect";
import { adopt, type AdoptAnswer } from "./adopt.js";
import type { Snapshot, SlotAt } from "./check.js";
import { guarded } from "./guard.js";
import type { LaneId } from "./lane.js";
import { begin, type Counts, type Decision, type Keep, type View } from "./laneRules.js";
import * as Operations from "./operations.js";
import type { Moved, Reconciled, Result, Store } from "./store.js";

/** What of a lane an operation looks at, beside `[floor, next)`. */
export interface Wanted {
  /** All of its history from this nonce on; null = none. */
  readonly from: bigint | null;
  /** This many nonces below the floor. */
  readonly recent: bigint;
  /** These nonces, each with the next one, wherever they are. */
  readonly nonces: ReadonlyArray<bigint>;
  /** This many of the oldest nonces. */
  readonly oldest: bigint;
  /** The transactions' bytes as well. */
  readonly raws: boolean;
}

export const activeOnly: Wanted = { from: null, recent: 0n, nonces: [], oldest: 0n, raws: false };

/** An operation on a lane: pure, so that it can be decided again when the lane has moved. */
export interface Operation<A> {
  readonly name: string;
  readonly wanted: Wanted;
  /** Where it may look at history from, which it does only when the chain went back or something is old; null = nowhere. */
  readonly history: bigint | null;
  /** Whether its answer may permit a broadcast: then what it changes is counted, and it always writes. */
  readonly permits: boolean;
  /** `view` null = the lane is unknown. `change` null = nothing is to be written. */
  readonly run: (view: View | null, now: number) => { readonly answer: A; readonly change: Decision<unknown> | null };
}

/** What makes operations atomic, and reads lanes. */
export interface Engine {
  readonly apply: <A>(lane: LaneId, operation: Operation<A>) => Result<A>;
  readonly read: (operation: string, lane: LaneId, wanted: Wanted) => Result<Snapshot | null>;
  readonly check: Store["check"];
  readonly forget: Store["forget"];
  readonly mark: Store["mark"];
  readonly setMark: Store["setMark"];
  readonly lanes: Store["lanes"];
}

/** The nonces from `from` on, as a decision leaves them. */
const snapshotAfter = (view: View, decision: Decision<unknown>, from: bigint, now: number): Snapshot => {
  const { floor, next, tail, writes } = decision;
  const slots: Array<SlotAt> = [];
  for (let nonce = from > tail ? from : tail; nonce < next; nonce += 1n) {
    const written = writes.get(nonce);
    const slot = written === undefined ? view.get(nonce) : written;
    if (slot !== null && slot !== undefined) slots.push({ nonce, ...slot });
  }
  return { now, floor, next, tail, slots };
};

const none = { settled: 0, recycled: 0 };

/** An operation on one nonce: its answer is the decision's, `cold` where there is no lane. */
const at = <A>(
  name: string,
  nonce: bigint | null,
  cold: A,
  decide: (view: View, now: number) => Decision<A>,
): Operation<A> => ({
  ...{ name, permits: false, history: null },
  wanted: { ...activeOnly, nonces: nonce === null ? [] : [nonce] },
  run: (view, now) => {
    if (view === null) return { answer: cold, change: null };
    const change = decide(view, now);
    return { answer: change.answer, change };
  },
});

const start = (counts: Counts, keep: Keep): Operation<boolean> => ({
  ...{ name: "bootstrap", wanted: activeOnly, history: null, permits: false },
  run: (view, now) =>
    view === null ? { answer: true, change: begin(counts, keep, now) } : { answer: false, change: null },
});

const reserve = (request: Operations.ReserveRequest): Operation<Moved<Operations.ReserveAnswer>> => ({
  ...{ name: "reserve", wanted: activeOnly, history: request.counts.latest, permits: false },
  run: (view, now) => {
    if (view === null) return { answer: { answer: { _tag: "Cold" }, moved: none }, change: null };
    const change = Operations.reserve(view, request, now);
    return { answer: { answer: change.answer, moved: change.moved }, change };
  },
});

const reconcile = (request: Operations.ReconcileRequest): Operation<Reconciled> => ({
  ...{ name: "reconcile", history: request.counts.latest, permits: false },
  wanted: { ...activeOnly, from: request.counts.latest, recent: Operations.recent, raws: true },
  run: (view, now) => {
    if (view === null) return { answer: { answer: { _tag: "Cold" }, moved: none, snapshot: null }, change: null };
    const change = Operations.reconcile(view, request, now);
    const { answer, moved } = change;
    const from = answer._tag === "Reconciled" ? answer.from : Operations.oldest(change);
    return { answer: { answer, moved, snapshot: snapshotAfter(view, change, from, now) }, change };
  },
});

const adoptAt = (counts: Counts, keep: Keep): Operation<AdoptAnswer> => ({
  ...{ name: "adopt", wanted: activeOnly, history: counts.latest, permits: false },
  run: (view, now) => {
    if (view === null) return { answer: { _tag: "Cold" }, change: null };
    const change = adopt(view, counts, keep, now);
    return { answer: change.answer, change };
  },
});

/** A store over what makes its operations atomic. */
export const makeStore = (kind: string, persistent: boolean, engine: Engine): Store => {
  const { apply } = engine;

  return guarded({
    kind,
    persistent,
    bootstrap: (lane, counts, keep) => apply(lane, start(counts, keep)),
    reserve: (lane, request) => apply(lane, reserve(request)),
    commit: (lane, claim, attempt) =>
      apply(lane, {
        ...at<Operations.CommitAnswer>("commit", claim.nonce, "cold", (view, now) =>
          Operations.commit(view, claim, attempt, now),
        ),
        permits: true,
      }),
    release: (lane, held) =>
      apply(
        lane,
        at("release", held.nonce, false, (view) => Operations.release(view, held)),
      ),
    recycle: (lane, claim, hash) =>
      apply(
        lane,
        at("recycle", claim.nonce, false, (view) => Operations.recycle(view, claim, hash)),
      ),
    replace: (lane, nonce, replaces, attempt) =>
      apply(lane, {
        ...at<Operations.ReplaceAnswer>("replace", nonce, { _tag: "Cold" }, (view, now) =>
          Operations.replace(view, nonce, replaces, attempt, now),
        ),
        permits: true,
      }),
    report: (lane, nonce, hash, outcome) =>
      apply(
        lane,
        at("report", nonce, false, (view) => Operations.report(view, nonce, hash, outcome)),
      ),
    reconcile: (lane, request) => apply(lane, reconcile(request)),
    adopt: (lane, counts, keep) => apply(lane, adoptAt(counts, keep)),
    forget: engine.forget,
    mark: engine.mark,
    setMark: engine.setMark,
    read: (lane) =>
      Effect.map(engine.read("read", lane, { ...activeOnly, recent: Operations.recent, raws: true }), (snapshot) =>
        snapshot === null
          ? null
          : { ...snapshot, slots: snapshot.slots.filter(({ nonce }) => nonce >= Operations.oldest(snapshot)) },
      ),
    check: engine.check,
    lanes: engine.lanes,
  });
};
