/** The store over effect's SQL client: every operation is one statement, and none leaves a lock behind. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { SqlClient } from "effect/sql/SqlClient";
import type { SqlError } from "effect/sql/SqlError";
import { NonceStoreError } from "../../errors/nonces.js";
import type { Change, LaneBackend, Outcome } from "../backend.js";
import { newerFormat, refuse } from "../distrust.js";
import type { Slot } from "../laneRules.js";
import type { Store } from "../store.js";
import { makeTogether } from "../together.js";
import { clockOfRow, laneOfRow, slotsOfRows } from "./rows.js";
import * as Sql from "./sql.js";

const lasting = new Set(["SqlSyntaxError", "AuthenticationError", "AuthorizationError", "ConstraintError"]);

const olderTables = "; `migrate` creates the tables of this version";
const isOlder = ({ reason }: SqlError): boolean => /evm_preflight_\w+" does not exist/.test(String(reason.cause));

const storeError = (operation: string) => (error: SqlError) =>
  new NonceStoreError({
    operation,
    detail: `${error.message} ${String(error.reason.cause)}`.slice(0, 512) + (isOlder(error) ? olderTables : ""),
    isRetryable: !lasting.has(error.reason._tag),
  });

/** Above read committed, who comes second is told so, and nothing of his is written. */
const isConflict = ({ reason }: SqlError): boolean =>
  reason._tag === "SerializationError" || reason._tag === "DeadlockError";

const rowOf = (nonce: bigint, slot: Slot) => ({
  nonce: nonce.toString(),
  state: slot.state,
  token: slot.token,
  width: slot.width,
  until: slot.until,
  since: slot.since,
  offered_at: slot.offeredAt,
  shared: slot.shared,
  outcome: slot.outcome,
  attempts: slot.attempts,
});

/** A store on `sql`, whose dialect must be Postgres. */
export const makePostgres = (sql: SqlClient): Effect.Effect<Store> => {
  const client = sql.withoutTransforms();
  /** Never in the caller's transaction: what joined it would not be durable when the caller broadcasts. */
  const query = (text: string, params: ReadonlyArray<string>) =>
    client
      .unsafe<object>(text, params)
      .pipe(Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context)));

  const read: LaneBackend["read"] = Effect.fnUntraced(function* (operation, lane, wanted) {
    const { recent, from, nonces, oldest, raws } = wanted;
    const named = JSON.stringify(nonces.flatMap((nonce) => [String(nonce), String(nonce + 1n)]));
    const ask = query(Sql.readLane, [
      ...[lane.id, String(recent), String(from ?? 9_000_000_000_000_000_000n)],
      ...[named, String(oldest), raws ? "1" : "0"],
    ]);
    const rows = yield* ask.pipe(Effect.retry({ times: 8, while: isConflict }), Effect.mapError(storeError(operation)));
    const [first] = rows;
    if (first === undefined) {
      const [row] = yield* Effect.mapError(query(Sql.now, []), storeError(operation));
      return { now: yield* Effect.fromResult(clockOfRow(operation, row)), lane: null };
    }
    const { now, format, ...head } = yield* Effect.fromResult(laneOfRow(operation, first));
    if (format > Sql.laneFormat) return yield* newerFormat(operation, format, Sql.laneFormat);
    if (format < Sql.laneFormat)
      return yield* refuse(operation, `the lane has format ${format}: run \`migrate\` first`);
    return { now, lane: { head, slots: yield* Effect.fromResult(slotsOfRows(operation, rows)) } };
  });

  const write = (lane: string, { before, after, now, writes }: Change) => {
    const { version, commits, floor, next, tail, doubt, doubtAt } = after;
    const gone = writes.flatMap(({ nonce, to }) => (to === null ? [nonce.toString()] : []));
    const kept = writes.flatMap(({ nonce, to }) => (to === null ? [] : [rowOf(nonce, to)]));
    const params = [version, ...[commits, floor, next, tail, doubt, doubtAt, now].map(String)];
    const slots = [gone, kept].map((each) => JSON.stringify(each));
    return before === null
      ? query(Sql.newLane, [lane, ...params, ...slots])
      : query(Sql.writeLane, [lane, before.version, ...params, ...slots]);
  };

  return makeTogether({
    kind: "postgres",
    read,
    compareAndSet: Effect.fnUntraced(function* (operation, lane, change, wanted) {
      if (change.before?.version === change.after.version) {
        const found = yield* read(operation, lane, wanted);
        return found.lane?.head.version === change.after.version
          ? ({ _tag: "Written", now: found.now } satisfies Outcome)
          : ({ _tag: "Conflict", found } satisfies Outcome);
      }
      const [row] = yield* write(lane.id, change).pipe(
        Effect.catchIf(isConflict, () => Effect.succeed([])),
        Effect.mapError(storeError(operation)),
      );
      if (row === undefined || !("written" in row) || row.written !== "1")
        return { _tag: "Conflict", found: null } satisfies Outcome;
      const now = yield* Effect.fromResult(clockOfRow(operation, row));
      return { _tag: "Written", now } satisfies Outcome;
    }),
    readAll: Effect.fnUntraced(function* (lane) {
      const rows = yield* Effect.mapError(query(Sql.readAll, [lane.id]), storeError("check"));
      const [first] = rows;
      if (first === undefined) return { snapshot: null, unreadable: [] };
      const { now, floor, next, tail, format } = yield* Effect.fromResult(laneOfRow("check", first));
      if (format > Sql.laneFormat) return yield* newerFormat("check", format, Sql.laneFormat);
      const slots = yield* Effect.fromResult(slotsOfRows("check", rows));
      return { snapshot: { now, floor, next, tail, slots }, unreadable: [] };
    }),
    forget: (lane) =>
      query(Sql.forgetLane, [lane.id]).pipe(
        Effect.retry({ times: 8, while: isConflict }),
        Effect.mapBoth({ onFailure: storeError("forget"), onSuccess: (rows) => rows.length > 0 }),
      ),
    mark: Effect.fnUntraced(function* (lane) {
      const asked = (text: string, params: ReadonlyArray<string>) =>
        Effect.mapError(query(text, params), storeError("mark"));
      const [row] = yield* asked(Sql.mark, [lane.id]);
      if (row !== undefined) return "mark" in row ? String(row.mark) : "";
      for (const each of yield* asked(Sql.elsewhere, [])) {
        if ("found" in each && (yield* asked(Sql.holds(String(each.found)), [lane.id])).length > 0) return "";
      }
      return null;
    }),
    setMark: (lane, mark) => Effect.asVoid(Effect.mapError(query(Sql.setMark, [lane.id, mark]), storeError("setMark"))),
    lanes: Effect.mapError(query(Sql.lanes, []), storeError("lanes")).pipe(
      Effect.map((rows) => rows.flatMap((row) => ("lane" in row ? [String(row.lane)] : []))),
    ),
  });
};
