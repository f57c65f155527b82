/**
 * Operations made atomic over a store outside this process. Those of one process that wait on the same
 * lane are decided together, in order, on the lane as it was last seen, and written with one
 * compare-and-set on its version; each gets its own answer. Where another process was quicker they are
 * decided again on what it left.
 *
 * Nothing that is remembered is trusted: an answer is given only after the store said that the lane still
 * has the version, and that its clock is where the decision took it to be.
 */
import * as BigInts from "effect/BigInt";
import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Random from "effect/Random";
import { NonceStoreError } from "../errors/index.js";
import { makeCommitCounts } from "./guard.js";
import type { LaneId } from "./lane.js";
import { makeStore, type Operation, type Selection } from "./makeStore.js";
import {
  afterwards,
  clockAt,
  clockSlackMs,
  covers,
  decideAll,
  remember,
  selectionFor,
  withoutHistory,
} from "./remembered.js";
import type { Change, LaneBackend, Remembered } from "./remembered.js";
import { Settings } from "./service.js";
import type { Result, Store } from "./store.js";

/** An operation that waits. */
type Pending = Parameters<typeof decideAll>[1][number] &
  Pick<Operation<unknown>, "name" | "selection" | "history"> & {
    readonly timeoutMs: number;
    readonly fail: (cause: Cause.Cause<NonceStoreError>) => void;
    /** Nobody waits any more: it is not decided again. */
    isGone: boolean;
  };

/** Those that wait on one lane, and the lane as it was last seen. */
interface LaneQueue {
  readonly waiting: Array<Pending>;
  isServed: boolean;
  /** Turns for which other processes are expected to write as well. */
  crowd: number;
  last: Remembered | null;
  /** The time that was decided on last, so that it does not go back. */
  now: number;
}

/** Operations written at once. */
const maxTogether = 64;
/** Lanes that are remembered. */
const maxLanes = 1_000;
/** How long one that was too late, or was quicker than others, waits for its turn, ms: then more is written at once. */
const turnMs = 2;
/** How many turns a conflict is remembered for, and how many at most. */
const turns = { each: 4, most: 32 };
/** Settled nonces that are read with the rest: most operations forget none, or a few. */
const someOldest = 8n;

const lower = (a: bigint | null, b: bigint | null): bigint | null => (a === null || (b !== null && b < a) ? b : a);

const union = (batch: ReadonlyArray<Pending>): Selection => ({
  from: batch.map(({ selection }) => selection.from).reduce(lower),
  recent: batch.reduce((largest, { selection }) => BigInts.max(selection.recent, largest), 0n),
  oldest: 0n,
  raws: batch.some(({ selection }) => selection.raws),
});

/** Monotonic, ms. */
const time = Clock.clockWith((clock) => Effect.sync(() => Number(clock.currentTimeNanosUnsafe() / 1_000n) / 1_000));

const named = (operation: string, cause: Cause.Cause<NonceStoreError>): Cause.Cause<NonceStoreError> =>
  Cause.map(cause, ({ detail, isRetryable }) => new NonceStoreError({ operation, detail, isRetryable }));

/** Reads a lane; fails where the store has fewer commits than this process has seen. */
const reading = (backend: LaneBackend, commitCounts: ReturnType<typeof makeCommitCounts>) =>
  Effect.fnUntraced(function* (operation: string, lane: LaneId, selection: Selection) {
    const start = yield* time;
    const found = yield* backend.read(operation, lane, selection);
    const at = yield* time;
    if (found.head !== null) {
      const { commits } = found.head;
      yield* commitCounts.check(operation, lane, commits);
      commitCounts.remember(lane, commits);
    }
    return remember(found, selection, { now: found.now, at, took: at - start });
  });

/** Writes a change of a lane as it is known: the lane after it; null where another process was quicker. */
const writing = (backend: LaneBackend, commitCounts: ReturnType<typeof makeCommitCounts>) =>
  Effect.fnUntraced(function* (operation: string, lane: LaneId, known: Remembered, change: Change) {
    const start = yield* time;
    const outcome = yield* backend.compareAndSet(operation, lane, change);
    if (outcome._tag === "Conflict") return null;
    const at = yield* time;
    commitCounts.remember(lane, change.after.commits);
    return afterwards(known, change, { now: outcome.now, at, took: at - start });
  });

/** Remembers for the next turns that other processes write as well, and lets them. */
const giveWay = Effect.fnUntraced(function* (line: LaneQueue, conflicts: number) {
  line.crowd = Math.min(turns.most, line.crowd + turns.each);
  yield* Effect.sleep((yield* Random.next) * turnMs * Math.min(conflicts, 8));
});

/** The store's clock as it will be when it is asked; never before the last one that was decided on, unless far from it. */
const clockFor = (known: Remembered, line: LaneQueue) =>
  Effect.map(time, (at): number => {
    const guess = clockAt(known.clock, at);
    return guess < line.now && line.now - guess < clockSlackMs / 2 ? line.now : guess;
  });

/** Takes what is remembered of a lane, where it is enough: until it is known what became of a write, nothing is. */
const takeLast = (line: LaneQueue, selection: Selection): Remembered | null => {
  const { last } = line;
  line.last = null;
  return last !== null && covers(last, selection) ? last : null;
};

/** Decides operations until they are written on the lane that they were decided on. */
const decidedOn = (backend: LaneBackend, commitCounts: ReturnType<typeof makeCommitCounts>) => {
  const maker = globalThis.crypto.randomUUID();
  let versions = 0;
  const newVersion = () => `${maker}-${(versions += 1)}`;
  const read = reading(backend, commitCounts);
  const write = writing(backend, commitCounts);

  return Effect.fnUntraced(function* (lane: LaneId, line: LaneQueue, batch: ReadonlyArray<Pending>) {
    if (batch.length === 0) return;
    const [operation = ""] = batch.map(({ name }) => name);
    const history = batch.map((each) => each.history).reduce(lower);
    let selection = union(batch);
    let known = takeLast(line, selection);
    let isFresh = false;
    for (let conflicts = 0; ;) {
      const all = batch.filter(({ isGone }) => !isGone);
      if (all.length === 0) return;
      if (known === null) {
        known = yield* read(operation, lane, { ...selection, oldest: BigInts.max(selection.oldest, someOldest) });
        isFresh = true;
      }
      const now: number = yield* clockFor(known, line);
      const { change, deliver, missing } = decideAll(known, all, now, newVersion);
      if (missing.length > 0 && known.head !== null) {
        selection = selectionFor(known.head, selection, history, missing);
        known = null;
        continue;
      }
      line.now = now;
      const isWritten = change !== null && change.before?.version !== change.after.version;
      // Memory may be old, and an answer without a write must not be
      if (!isWritten && !isFresh) {
        known = null;
        continue;
      }
      const after: Remembered | null = isWritten ? yield* write(operation, lane, known, change) : known;
      if (after === null) {
        known = null;
        isFresh = false;
        yield* giveWay(line, (conflicts += 1));
        continue;
      }
      line.last = isFresh ? withoutHistory(after) : after;
      for (const answer of deliver) answer();
      return;
    }
  });
};

/** A store on `backend`. What it starts runs with the services that it was made with, not with those of a caller. */
export const makeTogether = (backend: LaneBackend): Effect.Effect<Store> =>
  Effect.map(Effect.context<never>(), (context) => {
    const fork = Effect.runForkWith(context);
    const lines = new Map<string, LaneQueue>();
    const commitCounts = makeCommitCounts();
    const together = decidedOn(backend, commitCounts);

    const serve = Effect.fnUntraced(function* (lane: LaneId, line: LaneQueue) {
      while (line.waiting.length > 0) {
        const batch = line.waiting.splice(0, maxTogether).filter(({ isGone }) => !isGone);
        const duration = batch.reduce((longest, { timeoutMs }) => Math.max(longest, timeoutMs), 0);
        const late = new NonceStoreError({ operation: "", detail: `no answer in ${duration} ms`, isRetryable: true });
        yield* together(lane, line, batch).pipe(
          Effect.timeoutOrElse({ duration, orElse: () => Effect.fail(late) }),
          Effect.catchCause((cause) =>
            Effect.sync(() => {
              for (const each of batch) each.fail(cause);
            }),
          ),
        );
        // Those who were answered ask their next operation together; and in a crowd the others come first
        if (line.crowd > 0) {
          line.crowd -= 1;
          yield* Effect.sleep((yield* Random.next) * turnMs);
        } else yield* Effect.yieldNow;
      }
      line.isServed = false;
      lines.delete(lane.id);
      lines.set(lane.id, line);
      for (const [id, each] of lines) {
        if (lines.size <= maxLanes) break;
        if (!each.isServed) lines.delete(id);
      }
    });

    const apply = <A>(lane: LaneId, operation: Operation<A>): Result<A> =>
      Effect.flatMap(Settings, ({ storeTimeoutMs: timeoutMs }) =>
        Effect.callback<A, NonceStoreError>((resume) => {
          const { name, selection, history, permits, run } = operation;
          const waiting: Pending = {
            ...{ name, selection, history, permits, timeoutMs, isGone: false },
            decide: (view, now) => {
              const { answer, change } = run(view, now);
              return { change, deliver: () => resume(Effect.succeed(answer)) };
            },
            fail: (cause) => resume(Effect.failCause(named(name, cause))),
          };
          const line = lines.get(lane.id) ?? { waiting: [], isServed: false, crowd: 0, last: null, now: 0 };
          lines.set(lane.id, line);
          line.waiting.push(waiting);
          if (!line.isServed) {
            line.isServed = true;
            fork(serve(lane, line));
          }
          return Effect.sync(() => {
            waiting.isGone = true;
          });
        }),
      );

    const { kind, readAll, mark, setMark, lanes } = backend;
    return makeStore({
      ...{ kind, persistent: true, apply, readAll, setMark, lanes },
      read: Effect.fnUntraced(function* (lane, selection) {
        const { now, head, slots } = yield* backend.read("read", lane, selection);
        if (head === null) return null;
        const { floor, next, tail, commits } = head;
        yield* commitCounts.check("read", lane, commits);
        return { now, floor, next, tail, slots };
      }),
      forget: (lane) =>
        Effect.tap(backend.forget(lane), () =>
          Effect.sync(() => {
            commitCounts.forget(lane);
            const line = lines.get(lane.id);
            if (line !== undefined) line.last = null;
          }),
        ),
      mark: (lane) => Effect.map(mark(lane), commitCounts.markOf(lane)),
    });
  });
