/** What is lost, and who knows of it: answers of the store, lanes, and payments. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as Scope from "effect/Scope";
import * as PgClient from "@effect/sql-pg/PgClient";
import { SqlClient } from "effect/sql/SqlClient";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ChainIdMismatch, NonceStoreError, PartlySent, RpcError, Timeout } from "../rooms/errors.js";
import { heldError } from "../rooms/promise.js";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import { Listener } from "../rooms/primitives.js";
import { layer as layerPostgres, migrate } from "../../src/postgres.js";
import type { KeepEvent } from "../../src/promise.js";
import type { Rpc } from "../../src/Rpc.js";
import { layerNodeRedis } from "../../src/redis.js";
import { lane, sender, sign, SimulatedChain } from "./chain.js";
import { startDelaying } from "./delaying.js";
import { changed, run, send } from "./running.js";
import {
  findPostgres,
  findRedis,
  startPostgres,
  startRedis,
  type PostgresServer,
  type RedisServer,
} from "./servers.js";

const silent = (operation: string) => new NonceStoreError({ operation, detail: "no answer", isRetryable: true });

describe("store answers that are lost", () => {
  it("leave no lease without a holder: the nonces are free as soon as the store answers", async () => {
    const chain = new SimulatedChain();
    let isDown = false;
    // What is asked is done; the answer is lost
    const lossy = changed((store) => ({
      reserve: (...asked) =>
        Effect.flatMap(store.reserve(...asked), (answer) =>
          isDown ? Effect.fail(silent("reserve")) : Effect.succeed(answer),
        ),
      release: (...asked) => Effect.suspend(() => (isDown ? Effect.fail(silent("release")) : store.release(...asked))),
    }));
    const left = await run(
      chain,
      Effect.gen(function* () {
        yield* Nonces.adopt(lane);
        isDown = true;
        const failed = yield* Effect.all(
          Array.from({ length: 20 }, () => Effect.flip(send())),
          { concurrency: "unbounded" },
        );
        const held = (yield* Nonces.status(lane)).reserved.length;
        isDown = false;
        while ((yield* Nonces.status(lane)).reserved.length > 0) yield* Effect.sleep(5);
        const { reserved, next } = yield* Nonces.status(lane);
        const sent = yield* send();
        return { tags: new Set(failed.map(({ _tag }) => _tag)), held, reserved, next, nonce: sent.nonce };
      }),
      { store: lossy, settings: { storeRetries: 0 } },
    );
    expect(left).toEqual({
      ...{ tags: new Set(["NonceStoreError"]), held: 16, reserved: [], next: 0n, nonce: 0n },
    });
  });
});

describe("500 payments at once", () => {
  it("are all sent, in the order of their places, with few requests each", async () => {
    const chain = new SimulatedChain();
    const mining = setInterval(() => chain.mine(), 25);
    const sent = await run(
      chain,
      Effect.andThen(
        Nonces.adopt(lane),
        Effect.forEach(
          Array.from({ length: 500 }),
          () => Nonces.withNonce(lane, (nonce) => sign(nonce), undefined, { waitMs: 120_000 }),
          { concurrency: "unbounded" },
        ),
      ),
    );
    clearInterval(mining);
    expect(new Set(sent.map(({ nonce }) => nonce)).size).toBe(500);
    expect(chain.duplicates(sender.address)).toEqual([]);
    const requests = Object.values(chain.asked).reduce((sum, each) => sum + each, 0);
    expect(requests / 500).toBeLessThan(9);
  }, 150_000);
});

describe("mayBeSent", () => {
  it("is part of whatever error a payment fails with", () => {
    const reason = new Timeout({ detail: "" });
    const failures = ["eth_getTransactionCount", "eth_sendRawTransaction"].map(
      (method) => new RpcError({ method, reason }),
    );
    expect(failures.map(({ mayBeSent }) => mayBeSent)).toEqual([false, true]);
    expect(new ChainIdMismatch({ expected: 1n, actual: 5n }).mayBeSent).toBe(false);
  });
  it("is not true of a call that committed before, because of a later failed request of its own", () => {
    const one = { lane: "l", nonce: 1n, hash: `0x${"ab".repeat(32)}` as const };
    const holding = { tokens: new Set(["a", "b"]), committed: new Map([[one.hash, one]]) };
    const error = new RpcError({ method: "eth_call", reason: new Timeout({ detail: "" }) });
    expect(heldError(holding, error)).toBeInstanceOf(PartlySent);
  });
});

describe("a payment whose nonce the user's other wallet used", () => {
  it("is reported as burned by keep, and keeps the lane from being healthy", async () => {
    const chain = new SimulatedChain();
    const { told, concerns } = await run(
      chain,
      Effect.gen(function* () {
        yield* Nonces.adopt(lane);
        const { hash } = yield* send();
        chain.mineForeign(sender.address);
        const events: Array<KeepEvent> = [];
        const heard = Effect.provideService(Nonces.keep(lane, { everyMs: 20 }), Listener, (event) =>
          events.push(event as KeepEvent),
        );
        yield* Effect.timeoutOption(heard, 1_000);
        const concerns = Nonces.health(yield* Nonces.status(lane));
        return { told: events.map(({ reason, message }) => [reason, message.includes(hash)]), concerns };
      }),
    );
    expect(told).toEqual([["burned", true]]);
    expect(concerns).toMatchObject([{ kind: "burned", nonce: 0n }]);
  });
});

/** A lane that is started, and what became of it in the eyes of a process that starts after it was lost. */
const startedAndLost = async (
  using: () => Layer.Layer<NonceStore>,
  lose: () => Promise<unknown>,
  ofProcess: "the same" | "another",
) => {
  const chain = new SimulatedChain({ blind: true });
  const first = await Effect.runPromise(Effect.provide(NonceStore, using()));
  const on = <A, E>(store: Store, effect: Effect.Effect<A, E, NonceStore | Rpc>) =>
    run(chain, effect, { store: Layer.succeed(NonceStore, store) });
  await on(first, Effect.andThen(Nonces.adopt(lane), send()));
  await lose();
  const store = ofProcess === "the same" ? first : await Effect.runPromise(Effect.provide(NonceStore, using()));
  const refused = await on(store, Effect.result(Nonces.bootstrap(lane, { settleMs: 1 })));
  await on(store, Nonces.forget(lane));
  const again = await on(store, Effect.result(Nonces.bootstrap(lane, { settleMs: 1 })));
  await on(store, Nonces.forget(lane));
  return { refused, again };
};
const isRefused = { _tag: "Failure", failure: { _tag: "NonceColdStart", lost: expect.any(String) } };
const isStarted = { _tag: "Success", success: true };

const redis = findRedis("lanes lost by Redis");
describe.skipIf(redis === null)("a lane that Redis lost", () => {
  let server: RedisServer;
  let client: Awaited<ReturnType<typeof connect>>;
  const connect = () => createClient({ socket: { path: server.socket, tls: false } }).connect();
  beforeAll(async () => {
    server = await startRedis(redis ?? "");
    client = await connect();
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });
  const key = `evm-preflight:nonces:{31337:${sender.address.toLowerCase()}:0}`;

  it.each([
    ["all that it had", ["FLUSHALL"], "the same"],
    ["the lane, as eviction does,", ["DEL", key], "another"],
  ] as const)("is not started as if it were new, after %s", async (_, words, ofProcess) => {
    const { refused, again } = await startedAndLost(
      () => layerNodeRedis(client),
      () => client.sendCommand([...words]),
      ofProcess,
    );
    expect(refused).toMatchObject(isRefused);
    expect(again).toMatchObject(isStarted);
  });
  it("is a cold start and no known loss to a process that saw nothing of it, though the pool holds its transaction", async () => {
    const chain = new SimulatedChain({ blind: true });
    const on = <A, E>(effect: Effect.Effect<A, E, NonceStore | Rpc>) =>
      run(chain, effect, { store: layerNodeRedis(client) });
    await on(Effect.andThen(Nonces.adopt(lane), send()));
    await client.sendCommand(["FLUSHALL"]);
    const pool = { pending: {}, queued: { "0": {} } };
    const answer = chain.answer.bind(chain);
    chain.answer = (method, params) => (method === "txpool_contentFrom" ? pool : answer(method, params));
    expect(await on(Effect.flip(Nonces.bootstrap(lane, { settleMs: 1 })))).toMatchObject({
      ...{ _tag: "NonceColdStart", lost: null },
    });
  });
});

const postgres = findPostgres("lanes lost by Postgres");
describe.skipIf(postgres === null)("a lane that Postgres may have lost", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(postgres ?? "");
    await sql("SELECT 1");
  }, 60_000);
  afterAll(() => server.stop());
  const client = () => PgClient.layer({ path: server.socket, username: server.user, database: server.database });
  const sql = (...statements: ReadonlyArray<string>) =>
    Effect.runPromise(
      Effect.forEach(statements, (each) => Effect.flatMap(SqlClient, (it) => it.unsafe(each))).pipe(
        Effect.provide(client()),
      ),
    );
  const stores = () => Layer.orDie(layerPostgres.pipe(Layer.provide(client())));
  const migrated = () => Effect.runPromise(migrate.pipe(Effect.provide(client())));

  it("is still there a second later with the settings as they are", async () => {
    await migrated();
    const far = mkdtempSync(join(tmpdir(), "far-"));
    const stop = await startDelaying(server.socket, join(far, ".s.PGSQL.5432"), 500);
    const away = PgClient.layer({
      ...{ path: join(far, ".s.PGSQL.5432"), username: server.user, database: server.database },
    });
    const { storeTimeoutMs, storeRetries } = Nonces.defaults;
    const sent = await run(
      new SimulatedChain(),
      Effect.andThen(
        Nonces.adopt(lane),
        Effect.forEach([1n, 2n, 3n], (value) => send(value), { concurrency: "unbounded" }),
      ),
      {
        store: Layer.orDie(layerPostgres.pipe(Layer.provide(away))),
        settings: { storeTimeoutMs, storeRetries },
      },
    );
    expect(sent.map(({ outcome, nonce }) => [outcome.kind, nonce])).toEqual([
      ["accepted", 0n],
      ["accepted", 1n],
      ["accepted", 2n],
    ]);
    stop();
    rmSync(far, { recursive: true, force: true });
    await run(new SimulatedChain(), Nonces.forget(lane), { store: stores() });
  }, 60_000);

  it.each([
    ["by hand", () => sql("TRUNCATE evm_preflight_nonce_lane CASCADE")],
    [
      "out of sight, by another search_path,",
      async () => {
        await sql("CREATE SCHEMA other", "ALTER DATABASE postgres SET search_path = other");
        await migrated();
      },
    ],
  ] as const)("is not started as if it were new, after %s", async (_, lose) => {
    await migrated();
    // Layers close their pool with their scope: the store keeps one of its own
    const scope = Effect.runSync(Scope.make());
    const using = () =>
      Layer.effect(
        NonceStore,
        Effect.map(Layer.buildWithScope(stores(), scope), (context) => Context.get(context, NonceStore)),
      );
    const { refused } = await startedAndLost(using, lose, "another");
    expect(refused).toMatchObject(isRefused);
    await Effect.runPromise(Scope.close(scope, Exit.void));
  });
});
