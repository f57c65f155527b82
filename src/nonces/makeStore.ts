/** Every store of nonces: the operations, over what makes one of them atomic. */
import * as Effect from "effect/Effect";
import { violations } from "./check.js";
import { guarded } from "./guard.js";
import type { LaneId } from "./lane.js";
import { begin, type Decision, type View } from "./laneRules.js";
import * as Operations from "./operations.js";
import type { Result, Snapshot, Store } from "./store.js";

/** The part of a lane that an operation looks at, beside `[floor, next)`. */
export interface Selection {
  /** All of its history from this nonce on; null = none. */
  readonly from: bigint | null;
  /** This many nonces below the floor. */
  readonly recent: bigint;
  /** This many of the oldest nonces. */
  readonly oldest: bigint;
  /** The transactions' bytes as well. */
  readonly raws: boolean;
}

const activeOnly: Selection = { from: null, recent: 0n, oldest: 0n, raws: false };

/** An operation on a lane: pure, so that it can be decided again when the lane has moved. */
export interface Operation<A> {
  readonly name: string;
  readonly selection: Selection;
  /** The start of history that it may look at, only when the chain went back or something is old; null = none. */
  readonly history: bigint | null;
  /** True if its answer may permit a broadcast: then what it changes is counted, and it always writes. */
  readonly permits: boolean;
  /** `view` null = the lane is unknown. `change` null = nothing is to be written. */
  readonly run: (view: View | null, now: number) => { readonly answer: A; readonly change: Decision<unknown> | null };
}

/** Selects what an operation on one nonce looks at: the nonce and those above it, wherever it is. */
const at = (nonce: bigint | null): Selection => ({ ...activeOnly, from: nonce });

/** The nonces from `from` on, as a decision leaves them. */
const snapshotAfter = (view: View, decision: Decision<unknown>, from: bigint, now: number): Snapshot => {
  const { floor, next, tail, writes } = decision;
  const slots: Array<Snapshot["slots"][number]> = [];
  for (let nonce = from > tail ? from : tail; nonce < next; nonce += 1n) {
    const write = writes.get(nonce);
    const slot = write === undefined ? view.get(nonce) : write;
    if (slot !== null && slot !== undefined) slots.push({ nonce, ...slot });
  }
  return { now, floor, next, tail, slots };
};

const cold = { answer: { _tag: "Cold" }, moved: { settled: 0, recycled: 0 } } as const;

/** A store over what makes its operations atomic, and reads lanes. */
export const makeStore = ({
  apply,
  read,
  readAll,
  ...engine
}: Pick<Store, "kind" | "persistent" | "forget" | "mark" | "setMark" | "lanes"> & {
  readonly apply: <A>(lane: LaneId, operation: Operation<A>) => Result<A>;
  readonly read: (lane: LaneId, selection: Selection) => Result<Snapshot | null>;
  /** All of a lane, also what lies outside its bounds. */
  readonly readAll: (lane: LaneId) => Result<Snapshot | null>;
}): Store => {
  /** A decision about a lane; where there is none the answer is `unknown`. */
  const on = <A>(
    lane: LaneId,
    name: string,
    looks: Partial<Pick<Operation<A>, "selection" | "history" | "permits">>,
    unknown: A,
    decide: (view: View, now: number) => Decision<A>,
  ): Result<A> =>
    apply(lane, {
      ...{ name, selection: activeOnly, history: null, permits: false, ...looks },
      run: (view, now) => {
        const change = view === null ? null : decide(view, now);
        return { answer: change === null ? unknown : change.answer, change };
      },
    });

  return guarded({
    ...engine,
    bootstrap: (lane, counts, keep) =>
      apply(lane, {
        ...{ name: "bootstrap", selection: activeOnly, history: null, permits: false },
        run: (view, now) => ({ answer: view === null, change: view === null ? begin(counts, keep, now) : null }),
      }),
    reserve: (lane, request) =>
      on(lane, "reserve", { history: request.counts.latest }, cold, (view, now) => {
        const change = Operations.reserve(view, request, now);
        return { ...change, answer: { answer: change.answer, moved: change.moved } };
      }),
    commit: (lane, claim, attempt) =>
      on(lane, "commit", { selection: at(claim.nonce), permits: true }, "cold", (view, now) =>
        Operations.commit(view, claim, attempt, now),
      ),
    release: (lane, claim) =>
      on(lane, "release", { selection: at(claim.nonce) }, false, (view) => Operations.release(view, claim)),
    recycle: (lane, claim, hash) =>
      on(lane, "recycle", { selection: at(claim.nonce) }, false, (view) => Operations.recycle(view, claim, hash)),
    replace: (lane, nonce, replaces, attempt) =>
      on(lane, "replace", { selection: at(nonce), permits: true }, { _tag: "Cold" }, (view, now) =>
        Operations.replace(view, nonce, replaces, attempt, now),
      ),
    report: (lane, nonce, hash, outcome) =>
      on(lane, "report", { selection: at(nonce) }, false, (view) => Operations.report(view, nonce, hash, outcome)),
    reconcile: (lane, request) => {
      const { latest } = request.counts;
      const selection = { ...at(latest), recent: Operations.recent, raws: true };
      return on<Effect.Success<ReturnType<Store["reconcile"]>>>(
        lane,
        "reconcile",
        { selection, history: latest },
        { ...cold, snapshot: null },
        (view, now) => {
          const change = Operations.reconcile(view, request, now);
          const { answer, moved } = change;
          const from = answer._tag === "Reconciled" ? answer.from : Operations.oldest(change);
          return { ...change, answer: { answer, moved, snapshot: snapshotAfter(view, change, from, now) } };
        },
      );
    },
    adopt: (lane, counts, keep) =>
      on(lane, "adopt", { history: counts.latest }, { _tag: "Cold" }, (view, now) =>
        Operations.adopt(view, counts, keep, now),
      ),
    check: (lane) => Effect.map(readAll(lane), (snapshot) => (snapshot === null ? [] : violations(snapshot))),
    read: (lane) =>
      Effect.map(read(lane, { ...activeOnly, recent: Operations.recent, raws: true }), (snapshot) =>
        snapshot === null
          ? null
          : { ...snapshot, slots: snapshot.slots.filter(({ nonce }) => nonce >= Operations.oldest(snapshot)) },
      ),
  });
};
