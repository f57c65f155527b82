import * as PgClient from "@effect/sql-pg/PgClient";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { SqlClient } from "effect/sql/SqlClient";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockLane } from "../../src/nonces/postgres/sql.js";
import { makePostgres } from "../../src/nonces/postgres/store.js";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import { layer, migrate } from "../../src/postgres.js";
import { at, attempt, freshLane, keepAll, newToken, request } from "./lanes.js";
import { findPostgres, startPostgres, type PostgresServer } from "./servers.js";
import { contract } from "./suite.js";

const bin = findPostgres("the Postgres store");

if (bin !== null) {
  describe("the Postgres store", () => {
    const clientOf = (server: PostgresServer) =>
      PgClient.layer({ path: server.socket, username: server.user, database: server.database, maxConnections: 10 });
    const runtimeOf = (server: PostgresServer) => ManagedRuntime.make(layer.pipe(Layer.provideMerge(clientOf(server))));
    let server: PostgresServer;
    let runtime: ReturnType<typeof runtimeOf>;
    beforeAll(async () => {
      server = await startPostgres(bin);
      runtime = runtimeOf(server);
      await runtime.runPromise(Effect.all([migrate, migrate, migrate], { concurrency: "unbounded" }));
    });
    afterAll(async () => {
      await runtime.dispose();
      await server.stop();
    });
    const run = <A, E>(use: (store: Store) => Effect.Effect<A, E, SqlClient>) =>
      runtime.runPromise(Effect.flatMap(NonceStore, use));

    contract((use) => run(use), 25);

    const execute = (statement: string) => Effect.flatMap(SqlClient, (sql) => sql.unsafe(statement));

    it("does not join the caller's transaction: a commit outlives its rollback", () =>
      run((store) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient;
          const lane = freshLane();
          const claim = { token: newToken(), nonce: 5n };
          const rolledBack = sql.withTransaction(
            Effect.gen(function* () {
              yield* store.bootstrap(lane, at(5n), keepAll);
              yield* store.reserve(lane, request({ token: claim.token, counts: at(5n) }));
              expect(yield* store.commit(lane, claim, attempt(5))).toBe("committed");
              expect((yield* store.read(lane))?.slots).toHaveLength(1);
              return yield* Effect.fail("rolled back");
            }),
          );
          expect(yield* Effect.flip(rolledBack)).toBe("rolled back");
          expect((yield* store.read(lane))?.slots[0]).toMatchObject({ state: "committed" });
        }),
      ));
    it("switches synchronous_commit on where it is off", () =>
      run((store) =>
        Effect.gen(function* () {
          yield* execute("ALTER SYSTEM SET synchronous_commit = off");
          yield* execute("SELECT pg_reload_conf()");
          yield* Effect.sleep(100);
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n), keepAll);
          const sql = yield* SqlClient;
          const inside = yield* sql.withTransaction(
            Effect.gen(function* () {
              const before = yield* execute("SHOW synchronous_commit");
              yield* sql.unsafe(lockLane, [lane.id]);
              return [before, yield* execute("SHOW synchronous_commit")];
            }),
          );
          expect(inside).toEqual([[{ synchronous_commit: "off" }], [{ synchronous_commit: "on" }]]);
          yield* execute("ALTER SYSTEM RESET synchronous_commit");
          yield* execute("SELECT pg_reload_conf()");
        }),
      ));
    it("fails nobody where transactions are serializable by default", () =>
      run((store) =>
        Effect.gen(function* () {
          yield* execute("ALTER SYSTEM SET default_transaction_isolation = 'serializable'");
          yield* execute("SELECT pg_reload_conf()");
          yield* Effect.sleep(100);
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n), keepAll);
          const one = Effect.gen(function* () {
            const token = newToken();
            const { answer } = yield* store.reserve(lane, request({ token, counts: at(5n) }));
            if (answer._tag !== "Granted") return answer._tag;
            return yield* store.commit(lane, { token, nonce: answer.nonce }, attempt(answer.nonce));
          });
          const answers = yield* Effect.all(Array(12).fill(one) as Array<typeof one>, { concurrency: "unbounded" });
          yield* execute("ALTER SYSTEM RESET default_transaction_isolation");
          yield* execute("SELECT pg_reload_conf()");
          expect(answers).toEqual(Array(12).fill("committed"));
        }),
      ));
    it("takes the lane from a process that stopped in the middle of an operation", () =>
      run((store) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient;
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n), keepAll);
          const locked = yield* Deferred.make<void>();
          const stopped = sql.withTransaction(
            Effect.gen(function* () {
              yield* sql.unsafe(lockLane, [lane.id]);
              yield* Deferred.succeed(locked, undefined);
              yield* Effect.sleep(6_000);
            }),
          );
          const began = performance.now();
          yield* Effect.forkChild(Effect.exit(stopped));
          yield* Deferred.await(locked);
          expect((yield* store.reserve(lane, request({ counts: at(5n) }))).answer._tag).toBe("Granted");
          expect(performance.now() - began).toBeLessThan(5_000);
        }),
      ));
    it("refuses a lane that went back in time, and one of a newer format", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          const claim = { token: newToken(), nonce: 5n };
          const set = (what: string) =>
            execute(`UPDATE evm_preflight_nonce_lane SET ${what} WHERE lane = '${lane.id}'`);
          yield* store.bootstrap(lane, at(5n), keepAll);
          yield* store.reserve(lane, request({ token: claim.token, counts: at(5n) }));
          expect(yield* store.commit(lane, claim, attempt(5))).toBe("committed");
          yield* set("commits = commits - 1");
          const back = yield* Effect.flip(store.reserve(lane, request({ counts: at(5n) })));
          expect(back).toMatchObject({ operation: "reserve", isRetryable: false });
          expect(back.detail).toContain("went back");
          yield* set("commits = commits + 1, format = 3");
          const newer = yield* Effect.flip(store.reserve(lane, request({ counts: at(5n) })));
          expect(newer).toMatchObject({ detail: expect.stringContaining("format 3"), isRetryable: false });
          yield* set("format = 2");
          expect((yield* store.reserve(lane, request({ counts: at(5n) }))).answer._tag).toBe("Granted");
        }),
      ));
    it("reads the tables of 0.1.0 once they are migrated", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n), keepAll);
          yield* execute("ALTER TABLE evm_preflight_nonce_lane DROP doubt, DROP doubt_at, DROP commits, DROP format");
          yield* migrate;
          expect((yield* store.reserve(freshLane(), request())).answer._tag).toBe("Cold");
          const fresh = yield* Effect.flip(store.reserve(lane, request({ counts: at(5n) })));
          expect(fresh.detail).toContain("went back");
          const other = makePostgres(yield* SqlClient);
          expect((yield* other.reserve(lane, request({ counts: at(5n) }))).answer._tag).toBe("Granted");
        }),
      ));
    it("is cold when the lane's row is lost, and cannot commit a lease of before", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          const claim = { token: newToken(), nonce: 5n };
          yield* store.bootstrap(lane, at(5n), keepAll);
          yield* store.reserve(lane, request({ token: claim.token, counts: at(5n) }));
          yield* execute(`DELETE FROM evm_preflight_nonce_lane WHERE lane = '${lane.id}'`);
          expect(yield* store.commit(lane, claim, attempt(5))).toBe("cold");
          yield* store.bootstrap(lane, at(5n), keepAll);
          expect(yield* store.commit(lane, claim, attempt(5))).toBe("lost");
        }),
      ));
    it("finds what somebody broke, and does not take it for an answer", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n, 7n), keepAll);
          yield* execute(`DELETE FROM evm_preflight_nonce_slot WHERE lane = '${lane.id}' AND nonce = 5`);
          expect(yield* store.check(lane)).toEqual(["nonce 5 is in no state"]);
          const { answer } = yield* store.reserve(lane, request({ counts: at(5n, 7n) }));
          expect(answer).toMatchObject({ _tag: "Granted", nonce: 7n });
          yield* execute(`UPDATE evm_preflight_nonce_slot SET attempts = '{"a":1}' WHERE lane = '${lane.id}'`);
          expect(yield* Effect.flip(store.check(lane))).toMatchObject({ operation: "check", isRetryable: false });
        }),
      ));
    it("keeps the partition in the tables as well", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n, 6n), keepAll);
          for (const statement of [
            `UPDATE evm_preflight_nonce_lane SET next = floor - 1 WHERE lane = '${lane.id}'`,
            `INSERT INTO evm_preflight_nonce_slot SELECT * FROM evm_preflight_nonce_slot WHERE lane = '${lane.id}'`,
            `UPDATE evm_preflight_nonce_slot SET state = 'lost' WHERE lane = '${lane.id}'`,
          ]) {
            expect((yield* Effect.flip(execute(statement)))._tag).toBe("SqlError");
          }
        }),
      ));
    it("says what failed when the tables are missing", () =>
      run((store) =>
        Effect.gen(function* () {
          yield* execute("ALTER TABLE evm_preflight_nonce_lane RENAME TO elsewhere");
          const failed = yield* Effect.flip(store.reserve(freshLane(), request({ counts: at(5n) })));
          yield* execute("ALTER TABLE elsewhere RENAME TO evm_preflight_nonce_lane");
          expect(failed).toMatchObject({ _tag: "NonceStoreError", operation: "reserve" });
          expect(failed.detail).toContain("evm_preflight_nonce_lane");
        }),
      ));
  });
} else {
  describe("the Postgres store", () => {
    it("needs Postgres, which is not installed", () => expect(bin).toBeNull());
  });
}
