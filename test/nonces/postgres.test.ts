import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { SqlClient } from "effect/sql/SqlClient";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePostgres, writeLane } from "../rooms/nonces.js";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import { layer, migrate } from "../../src/postgres.js";
import { at, attempt, freshLane, keepAll, newToken, request } from "./lanes.js";
import { findPostgres, startPostgres, type PostgresServer } from "./servers.js";
import { history, liveThrough } from "./model.js";
import { coldWhenLost, contract } from "./suite.js";

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

    /** Two processes by turns: what one remembers of a lane, the other has changed. */
    const byTurns = (stores: readonly [Store, Store]): Store => {
      let turn = 0;
      const next = () => stores[(turn += 1) % 2 === 0 ? 0 : 1];
      const methods = [
        "bootstrap",
        "reserve",
        "commit",
        "release",
        "recycle",
        "replace",
        "report",
        "reconcile",
      ] as const;
      const taken = methods.map((name) => [name, (...given: Array<never>) => Reflect.apply(next()[name], null, given)]);
      return { ...stores[0], ...(Object.fromEntries(taken) as Partial<Store>) };
    };
    it(
      "behaves like the model through random histories in two processes by turns",
      () =>
        run(() =>
          Effect.gen(function* () {
            const sql = yield* SqlClient;
            const store = byTurns([yield* makePostgres(sql), yield* makePostgres(sql)]);
            yield* Effect.promise(() =>
              fc.assert(
                fc.asyncProperty(history, (commands) => Effect.runPromise(liveThrough(store, commands))),
                { numRuns: 15, endOnFailure: false },
              ),
            );
          }),
        ),
      120_000,
    );
    it("gives distinct nonces to many in several processes at once", () =>
      run(() =>
        Effect.gen(function* () {
          const sql = yield* SqlClient;
          const stores = yield* Effect.all([makePostgres(sql), makePostgres(sql), makePostgres(sql)]);
          const lane = freshLane();
          yield* stores[0].bootstrap(lane, at(5n), keepAll);
          const answers = yield* Effect.forEach(
            Array.from({ length: 48 }, (_, index) => stores[index % 3] ?? stores[0]),
            (store) =>
              Effect.gen(function* () {
                const token = newToken();
                const { answer } = yield* store.reserve(lane, request({ token, cap: 64, counts: at(5n) }));
                if (answer._tag !== "Granted") return -1;
                const { nonce } = answer;
                expect(yield* store.commit(lane, { token, nonce }, attempt(nonce))).toBe("committed");
                return Number(nonce);
              }),
            { concurrency: "unbounded" },
          );
          expect(answers.sort((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, index) => index + 5));
          expect(yield* stores[0].check(lane)).toEqual([]);
        }),
      ));
    it("needs one statement for an operation, and no more for many that wait on a lane", () =>
      run(() =>
        Effect.gen(function* () {
          const sql = yield* SqlClient;
          let asked = 0;
          const counting = {
            ...sql,
            withoutTransforms: () => {
              const client = sql.withoutTransforms();
              return {
                ...client,
                unsafe: (...given: Parameters<typeof client.unsafe>) => ((asked += 1), client.unsafe(...given)),
              };
            },
          } as SqlClient;
          const store = yield* makePostgres(counting);
          const lane = freshLane();
          const reserve = Effect.gen(function* () {
            const token = newToken();
            const { answer } = yield* store.reserve(lane, request({ token, counts: at(5n) }));
            return { token, nonce: answer._tag === "Granted" ? answer.nonce : -1n };
          });
          const askedBy = <A, E>(operation: Effect.Effect<A, E>) =>
            Effect.suspend(() => {
              asked = 0;
              return Effect.map(operation, (answer) => [asked, answer] as const);
            });
          yield* store.bootstrap(lane, at(5n), keepAll);
          const [first, claim] = yield* askedBy(reserve);
          const [second] = yield* askedBy(store.commit(lane, claim, attempt(5)));
          const [many] = yield* askedBy(
            Effect.all(
              Array.from({ length: 12 }, () => reserve),
              { concurrency: "unbounded" },
            ),
          );
          expect([first, second]).toEqual([1, 1]);
          // The first of them does not wait for the others
          expect(many).toBeLessThanOrEqual(2);
        }),
      ));

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
              yield* sql.unsafe(writeLane, [lane.id, "none", "some", ...Array<string>(7).fill("0"), "[]", "[]"]);
              return [before, yield* execute("SHOW synchronous_commit")];
            }),
          );
          expect(inside).toEqual([[{ synchronous_commit: "off" }], [{ synchronous_commit: "on" }]]);
          yield* execute("ALTER SYSTEM RESET synchronous_commit");
          yield* execute("SELECT pg_reload_conf()");
        }),
      ));
    it("works where transactions are serializable by default", () =>
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
    it("refuses a lane that went back in time, and one of another format", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          const claim = { token: newToken(), nonce: 5n };
          // What somebody else wrote moves the version
          const set = (what: string) =>
            execute(`UPDATE evm_preflight_nonce_lane SET version = version || 'x', ${what} WHERE lane = '${lane.id}'`);
          const reserve = store.reserve(lane, request({ counts: at(5n) }));
          yield* store.bootstrap(lane, at(5n), keepAll);
          yield* store.reserve(lane, request({ token: claim.token, counts: at(5n) }));
          expect(yield* store.commit(lane, claim, attempt(5))).toBe("committed");
          yield* set("commits = commits - 1");
          const back = yield* Effect.flip(reserve);
          expect(back).toMatchObject({ operation: "reserve", isRetryable: false });
          expect(back.detail).toContain("went back");
          yield* set("commits = commits + 1, format = 4");
          const newer = yield* Effect.flip(reserve);
          expect(newer).toMatchObject({ detail: expect.stringContaining("format 4"), isRetryable: false });
          yield* set("format = 2");
          const older = yield* Effect.flip(reserve);
          expect(older).toMatchObject({ detail: expect.stringContaining("migrate"), isRetryable: false });
          yield* migrate;
          expect((yield* reserve).answer._tag).toBe("Granted");
        }),
      ));
    it("reads the tables of 0.1.0 once they are migrated", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n), keepAll);
          yield* execute(
            "ALTER TABLE evm_preflight_nonce_lane DROP doubt, DROP doubt_at, DROP commits, DROP format, DROP version",
          );
          yield* migrate;
          expect((yield* store.reserve(freshLane(), request())).answer._tag).toBe("Cold");
          const back = yield* Effect.flip(store.reserve(lane, request({ counts: at(5n) })));
          expect(back.detail).toContain("went back");
          const other = yield* makePostgres(yield* SqlClient);
          expect((yield* other.reserve(lane, request({ counts: at(5n) }))).answer._tag).toBe("Granted");
        }),
      ));
    coldWhenLost(
      (use) => run(use),
      ({ id }) => runtime.runPromise(execute(`DELETE FROM evm_preflight_nonce_lane WHERE lane = '${id}'`)),
    );
    it("detects a damaged row, and does not take it for an answer", () =>
      run((store) =>
        Effect.gen(function* () {
          const lane = freshLane();
          yield* store.bootstrap(lane, at(5n, 7n), keepAll);
          yield* execute(`DELETE FROM evm_preflight_nonce_slot WHERE lane = '${lane.id}' AND nonce = 5`);
          expect(yield* store.check(lane)).toEqual(["nonce 5 is in no state"]);
          const other = yield* makePostgres(yield* SqlClient);
          const { answer } = yield* other.reserve(lane, request({ counts: at(5n, 7n) }));
          expect(answer).toMatchObject({ _tag: "Granted", nonce: 7n });
          yield* execute(`UPDATE evm_preflight_nonce_slot SET attempts = '{"a":1}' WHERE lane = '${lane.id}'`);
          expect(yield* Effect.flip(store.check(lane))).toMatchObject({ operation: "check", isRetryable: false });
        }),
      ));
    it("enforces the lane's invariants in the tables as well", () =>
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
    it("names the failure when the tables are missing", () =>
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
  describe("the Postgres store without a server", () => {
    it("is skipped: Postgres is not installed", () => expect(bin).toBeNull());
  });
}
