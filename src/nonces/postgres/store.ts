/**
 * The store over effect's SQL client: the lane's row is locked, the pure operation decides, and what it
 * decided is written, in one transaction.
 */
import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { SqlClient } from "effect/sql/SqlClient";
import { isSqlError, type SqlError } from "effect/sql/SqlError";
import { NonceStoreError } from "../../errors/nonces.js";
import { violations, type Snapshot, type SlotAt } from "../check.js";
import type { LaneId } from "../lane.js";
import { begin, pruneStep, type Decision, type Slot, type View } from "../laneRules.js";
import {
  commit,
  oldest,
  reconcile,
  recent,
  recycle,
  release,
  replace,
  report,
  reserve,
  type ReserveAnswer,
} from "../operations.js";
import { laneFormat, makeCommitsSeen, newerFormat } from "../memoryOfLanes.js";
import type { Moved, Reconciled, Store } from "../store.js";
import { laneOfRow, slotsOfRows, type LaneBounds } from "./rows.js";
import * as Sql from "./sql.js";

const lasting = new Set(["SqlSyntaxError", "AuthenticationError", "AuthorizationError", "ConstraintError"]);

const storeError = (operation: string) => (error: SqlError) =>
  new NonceStoreError({
    operation,
    detail: `${error.message} ${String(error.reason.cause)}`.slice(0, 512),
    isRetryable: !lasting.has(error.reason._tag),
  });

/** A rollback on a connection that is gone comes as a defect; it is the store's failure like any other. */
const failureOf =
  (operation: string) =>
  (cause: Cause.Cause<SqlError | NonceStoreError>): Effect.Effect<never, NonceStoreError> => {
    const errors = cause.reasons.map((reason) =>
      reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : null,
    );
    const sqlError = errors.find(isSqlError);
    if (sqlError !== undefined && !Cause.hasInterrupts(cause)) return Effect.fail(storeError(operation)(sqlError));
    return Effect.failCause(
      Cause.map(cause, (error) => (error._tag === "SqlError" ? storeError(operation)(error) : error)),
    );
  };

interface Held extends View, LaneBounds {
  readonly slots: ReadonlyMap<bigint, Slot>;
}

const rowOf = (nonce: bigint, slot: Slot) => ({
  nonce: nonce.toString(),
  state: slot.state,
  token: slot.token,
  width: slot.width,
  until: Math.trunc(slot.until),
  since: slot.since,
  offered_at: slot.offeredAt,
  shared: slot.shared,
  outcome: slot.outcome,
  attempts: slot.attempts,
});

/** The lane after a decision. */
const snapshotAfter = (held: Held, { answer, floor, next, tail, writes }: Decision<Reconciled["answer"]>): Snapshot => {
  const merged = new Map<bigint, Slot | null>([...held.slots, ...writes]);
  const from = answer._tag === "Reconciled" ? answer.from : oldest({ floor, tail });
  const slots = [...merged]
    .flatMap(([nonce, slot]): ReadonlyArray<SlotAt> => (slot === null || nonce < from ? [] : [{ nonce, ...slot }]))
    .sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
  return { now: held.now, floor, next, tail, slots };
};

const none = { settled: 0, recycled: 0 };

/** A store on `sql`, whose dialect must be Postgres. */
export const makePostgres = (sql: SqlClient): Store => {
  const client = sql.withoutTransforms();
  const seen = makeCommitsSeen();
  const query = (text: string, params: ReadonlyArray<string>) => client.unsafe<object>(text, params);

  /** A transaction of its own: one that joined the caller's would not be durable when the caller broadcasts. */
  const transactionally = <A>(operation: string, effect: Effect.Effect<A, SqlError | NonceStoreError>) =>
    client.withTransaction(Effect.andThen(query(Sql.isolation, []), effect)).pipe(
      Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context)),
      Effect.catchCause(failureOf(operation)),
    );

  const hold = Effect.fnUntraced(function* (
    operation: string,
    lane: LaneId,
    named: bigint | null,
    latest: bigint | null,
  ) {
    const [row] = yield* query(Sql.lockLane, [lane.id]);
    if (row === undefined) return null;
    const bounds = yield* Effect.fromResult(laneOfRow(operation, row));
    const { floor, tail, commits, format } = bounds;
    if (format > laneFormat) return yield* newerFormat(operation, format);
    if (commits < seen.of(lane.id)) return yield* seen.wentBack(operation, lane.id, commits);
    seen.remember(lane.id, commits);
    const rows = yield* query(Sql.slotsFor, [
      lane.id,
      String(latest !== null && latest < floor - recent ? latest : floor - recent),
      String(tail + BigInt(pruneStep)),
      String(named ?? -1n),
    ]);
    const list = yield* Effect.fromResult(slotsOfRows(operation, rows));
    const slots = new Map(list.map(({ nonce, ...slot }) => [nonce, slot] as const));
    return { ...bounds, slots, get: (nonce: bigint) => slots.get(nonce) } satisfies Held;
  });

  const write = (lane: LaneId, { floor, next, tail, doubt, doubtAt, writes }: Decision<unknown>, commits: number) => {
    const gone = [...writes].flatMap(([nonce, slot]) => (slot === null ? [nonce.toString()] : []));
    const kept = [...writes].flatMap(([nonce, slot]) => (slot === null ? [] : [rowOf(nonce, slot)]));
    const bounds = [floor, next, tail].map(String);
    const slots = [gone, kept].map((each) => JSON.stringify(each));
    return query(Sql.write, [lane.id, ...bounds, ...slots, ...[doubt, doubtAt, commits].map(String)]);
  };

  const changes = (held: View, decision: Decision<unknown>): boolean =>
    decision.writes.size > 0 ||
    decision.floor !== held.floor ||
    decision.next !== held.next ||
    decision.tail !== held.tail ||
    decision.doubt !== held.doubt ||
    decision.doubtAt !== held.doubtAt;

  const operate = <A, B>(
    operation: string,
    lane: LaneId,
    named: bigint | null,
    cold: B,
    decide: (held: Held) => Decision<A>,
    finish: (decision: Decision<A>, held: Held) => B,
    latest: bigint | null = null,
  ): Effect.Effect<B, NonceStoreError> =>
    transactionally(
      operation,
      Effect.gen(function* () {
        const held = yield* hold(operation, lane, named, latest);
        if (held === null) return { done: cold, commits: 0 };
        const decision = decide(held);
        const isChanged = changes(held, decision);
        const commits = held.commits + (isChanged && (operation === "commit" || operation === "replace") ? 1 : 0);
        if (isChanged) yield* write(lane, decision, commits);
        return { done: finish(decision, held), commits };
      }),
    ).pipe(
      Effect.map(({ done, commits }) => {
        seen.remember(lane.id, commits);
        return done;
      }),
    );
  const answerOf = <A>({ answer }: Decision<A>): A => answer;

  const look = Effect.fnUntraced(function* (operation: string, lane: LaneId, history: bigint) {
    const rows = yield* Effect.mapError(
      query(Sql.readLane, [lane.id, String(history)]).pipe(
        Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context)),
      ),
      storeError(operation),
    );
    const [first] = rows;
    if (first === undefined) return null;
    const bounds = yield* Effect.fromResult(laneOfRow(operation, first));
    const filled = rows.filter((row) => "nonce" in row && row.nonce !== null);
    const slots = yield* Effect.fromResult(slotsOfRows(operation, filled));
    return { ...bounds, slots } satisfies Snapshot;
  });

  return {
    kind: "postgres",
    persistent: true,
    bootstrap: (lane, counts, keep) =>
      transactionally(
        "bootstrap",
        Effect.gen(function* () {
          const created = yield* query(Sql.newLane, [lane.id, String(counts.latest)]);
          if (created.length === 0) return false;
          const held = yield* hold("bootstrap", lane, null, null);
          if (held !== null) yield* write(lane, begin(counts, keep, held.now), held.commits);
          return true;
        }),
      ),
    reserve: (lane, request) =>
      operate<ReserveAnswer, Moved<ReserveAnswer>>(
        "reserve",
        lane,
        null,
        { answer: { _tag: "Cold" }, moved: none },
        (held) => reserve(held, request, held.now),
        ({ answer, moved }) => ({ answer, moved }),
        request.counts.latest,
      ),
    commit: (lane, claim, attempt) =>
      operate("commit", lane, claim.nonce, "cold", (held) => commit(held, claim, attempt, held.now), answerOf),
    release: (lane, claim) => operate("release", lane, claim.nonce, false, (held) => release(held, claim), answerOf),
    recycle: (lane, claim, hash) =>
      operate("recycle", lane, claim.nonce, false, (held) => recycle(held, claim, hash), answerOf),
    replace: (lane, nonce, replaces, attempt) =>
      operate(
        "replace",
        lane,
        nonce,
        { _tag: "Cold" },
        (held) => replace(held, nonce, replaces, attempt, held.now),
        answerOf,
      ),
    report: (lane, nonce, hash, outcome) =>
      operate("report", lane, nonce, false, (held) => report(held, nonce, hash, outcome), answerOf),
    reconcile: (lane, request) =>
      operate<Reconciled["answer"], Reconciled>(
        "reconcile",
        lane,
        null,
        { answer: { _tag: "Cold" }, moved: none, snapshot: null },
        (held) => reconcile(held, request, held.now),
        (decision, held) => ({
          answer: decision.answer,
          moved: decision.moved,
          snapshot: snapshotAfter(held, decision),
        }),
        request.counts.latest,
      ),
    read: (lane) =>
      Effect.map(look("read", lane, recent), (snapshot) =>
        snapshot === null ? null : { ...snapshot, slots: snapshot.slots.filter(({ nonce }) => nonce >= snapshot.tail) },
      ),
    check: (lane) =>
      Effect.map(look("check", lane, 9_000_000_000_000_000n), (snapshot) =>
        snapshot === null ? [] : violations(snapshot),
      ),
    lanes: Effect.mapError(query(Sql.lanes, []), storeError("lanes")).pipe(
      Effect.map((rows) => rows.flatMap((row) => ("lane" in row ? [String(row.lane)] : []))),
    ),
  };
};
