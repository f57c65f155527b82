/**
 * Nonces in Postgres, for replicas that share a sender: the store to choose where money is at stake.
 *
 * ```ts
 * import { PgClient } from "@effect/sql-pg"
 * const Store = layer.pipe(Layer.provide(PgClient.layer({ url: Redacted.make(url) })))
 * await Effect.runPromise(migrate.pipe(Effect.provide(PgClient.layer({ url }))))   // once, at deployment
 * ```
 * Any SQL client of effect whose dialect is Postgres will do; `@effect/sql-pg` is an optional peer.
 *
 * **Durability.** Nothing beyond the defaults. The operations that wait on a lane are decided here, on the
 * server's clock, and written together by one statement, which writes nothing where the lane has moved:
 * one round trip for all of them, three where another process was quicker, and no lock between them.
 * If `synchronous_commit` is off, it is switched on for these statements. With a standby that may be
 * promoted, name it in `synchronous_standby_names`. An operation never joins a transaction that the
 * caller has open, for then it would not be durable when the caller broadcasts.
 *
 * A lost lane fails closed with `NonceColdStart`: let everything in flight be mined, then
 * `Nonces.bootstrap(lane)`, or `Nonces.adopt(lane)` on your own word. `bootstrap` refuses a lane that this process has seen,
 * whose mark is still there, or that another schema of the database has, as far as this user may read it.
 */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { SqlClient } from "effect/sql/SqlClient";
import type { SqlError } from "effect/sql/SqlError";
import { NonceStore } from "./NonceStore.js";
import { lockSchema, schema } from "./nonces/postgres/sql.js";
import { makePostgres } from "./nonces/postgres/store.js";

export { schema } from "./nonces/postgres/sql.js";

/**
 * Creates the missing tables in the current schema, and migrates those of an older version, whose processes are
 * refused from then on. It can be repeated, also by several processes at once.
 */
export const migrate: Effect.Effect<void, SqlError, SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient;
  yield* sql.withTransaction(
    Effect.forEach([lockSchema, ...schema], (statement) => sql.unsafe(statement), { discard: true }),
  );
});

/** Over effect's SQL client. The tables must exist: see {@link migrate}. */
export const layer: Layer.Layer<NonceStore, never, SqlClient> = Layer.effect(
  NonceStore,
  Effect.flatMap(SqlClient, makePostgres),
);
