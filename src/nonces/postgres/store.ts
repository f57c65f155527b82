/** The store over effect's SQL client: every operation is one statement, and none leaves a lock behind. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { transform } from "effect/SchemaTransformation";
import type { SqlClient } from "effect/sql/SqlClient";
import type { SqlError } from "effect/sql/SqlError";
import { NonceStoreError } from "../../errors/index.js";
import { Hash, Hex } from "../../primitives/index.js";
import { newerFormat, refuse } from "../guard.js";
import type { Change, LaneBackend } from "../remembered.js";
import { clockFields, headFields, slotFields } from "../rows.js";
import type { Snapshot, Store } from "../store.js";
import { makeTogether } from "../together.js";
import * as Sql from "./sql.js";

const readClock = Schema.decodeUnknownEffect(Schema.Struct(clockFields));
const readLane = Schema.decodeUnknownEffect(
  Schema.Struct({ ...headFields, version: Schema.String.check(Schema.isMinLength(1)) }),
);
const Attempts = Schema.Array(Schema.Struct({ hash: Hash, raw: Schema.NullOr(Hex) }));
const readSlots = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      ...slotFields,
      shared: Schema.Literals(["true", "false"]).pipe(
        Schema.decodeTo(
          Schema.Boolean,
          transform({ decode: (text) => text === "true", encode: (is) => (is ? "true" : "false") }),
        ),
      ),
      attempts: Schema.fromJsonString(Attempts),
    }),
  ),
);

/** Returns a statement's answer, where it can be read. */
const sound = <A, E>(operation: string, what: string, read: Effect.Effect<A, E>) =>
  Effect.mapError(read, () => refuse(operation, `${what} is damaged`));

const clockOf = (operation: string, row: unknown) =>
  Effect.map(sound(operation, "the server's clock", readClock(row)), ({ now }) => now);

/** A lane of a format that is known, from its rows: each has the lane, and a nonce or none, which can come twice. */
const laneOf = Effect.fnUntraced(function* (operation: string, rows: ReadonlyArray<object>) {
  const { now, format, ...head } = yield* sound(operation, "a lane's row", readLane(rows[0]));
  if (format > Sql.laneFormat) return yield* newerFormat(operation, format, Sql.laneFormat);
  const read = readSlots(rows.filter((row) => "nonce" in row && row.nonce !== null));
  const slots: Snapshot["slots"] = yield* sound(operation, "a nonce's row", read);
  const byNonce = new Map(slots.map((slot) => [slot.nonce, slot]));
  return { now, format, head, slots: [...byNonce.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1)) };
});

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

/** A change of a lane, as a query. */
const writeOf = (
  lane: string,
  { before, after, now, writes }: Change,
): readonly [text: string, params: ReadonlyArray<string>] => {
  const { version, commits, floor, next, tail, doubt, doubtAt } = after;
  const deletes = writes.flatMap(({ nonce, to }) => (to === null ? [nonce.toString()] : []));
  const upserts = writes.flatMap(({ nonce, to }) => (to === null ? [] : [{ ...to, nonce: nonce.toString() }]));
  const params = [version, ...[commits, floor, next, tail, doubt, doubtAt, now].map(String)];
  const slots = [deletes, upserts].map((each) => JSON.stringify(each));
  return before === null
    ? [Sql.newLane, [lane, ...params, ...slots]]
    : [Sql.writeLane, [lane, before.version, ...params, ...slots]];
};

/** A store on `sql`, whose dialect must be Postgres. */
export const makePostgres = (sql: SqlClient): Effect.Effect<Store> => {
  const client = sql.withoutTransforms();
  /** Never in the caller's transaction: what joined it would not be durable when the caller broadcasts. */
  const query = (text: string, params: ReadonlyArray<string>) =>
    client
      .unsafe<object>(text, params)
      .pipe(Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context)));

  const read: LaneBackend["read"] = Effect.fnUntraced(function* (operation, { id }, { recent, from, oldest, raws }) {
    const numbers = [recent, from ?? 9_000_000_000_000_000_000n, oldest].map(String);
    const ask = query(Sql.readLane, [id, ...numbers, raws ? "1" : "0"]);
    const rows = yield* ask.pipe(Effect.retry({ times: 8, while: isConflict }), Effect.mapError(storeError(operation)));
    if (rows.length === 0) {
      const [row] = yield* Effect.mapError(query(Sql.now, []), storeError(operation));
      return { now: yield* clockOf(operation, row), head: null, slots: [] };
    }
    const { format, ...found } = yield* laneOf(operation, rows);
    if (format < Sql.laneFormat)
      return yield* refuse(operation, `the lane has format ${format}: run \`migrate\` first`);
    return found;
  });

  return makeTogether({
    kind: "postgres",
    read,
    compareAndSet: Effect.fnUntraced(function* (operation, lane, change) {
      const [row] = yield* query(...writeOf(lane.id, change)).pipe(
        Effect.catchIf(isConflict, () => Effect.succeed([])),
        Effect.mapError(storeError(operation)),
      );
      if (row === undefined || !("written" in row) || row.written !== "1") return { _tag: "Conflict" } as const;
      return { _tag: "Written", now: yield* clockOf(operation, row) } as const;
    }),
    readAll: Effect.fnUntraced(function* (lane) {
      const rows = yield* Effect.mapError(query(Sql.readAll, [lane.id]), storeError("check"));
      if (rows.length === 0) return null;
      const { now, head, slots } = yield* laneOf("check", rows);
      return { ...head, now, slots };
    }),
    forget: (lane) =>
      query(Sql.forgetLane, [lane.id]).pipe(
        Effect.retry({ times: 8, while: isConflict }),
        Effect.mapBoth({ onFailure: storeError("forget"), onSuccess: (rows) => rows.length > 0 }),
      ),
    mark: Effect.fnUntraced(function* (lane) {
      const rowsOf = (text: string, params: ReadonlyArray<string>) =>
        Effect.mapError(query(text, params), storeError("mark"));
      const [row] = yield* rowsOf(Sql.mark, [lane.id]);
      if (row !== undefined) return "mark" in row ? String(row.mark) : "";
      for (const each of yield* rowsOf(Sql.elsewhere, [])) {
        if ("found" in each && (yield* rowsOf(Sql.holds(String(each.found)), [lane.id])).length > 0) return "";
      }
      return null;
    }),
    setMark: (lane, mark) => Effect.asVoid(Effect.mapError(query(Sql.setMark, [lane.id, mark]), storeError("setMark"))),
    lanes: Effect.mapError(query(Sql.lanes, []), storeError("lanes")).pipe(
      Effect.map((rows) => rows.flatMap((row) => ("lane" in row ? [String(row.lane)] : []))),
    ),
  });
};
