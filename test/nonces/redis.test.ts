import * as NodeRedis from "@effect/platform-node/NodeRedis";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { Redis as Ioredis } from "ioredis";
import { createClient } from "redis";
import { createClient as createClient6 } from "redis6";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import { layer, layerIoredis, layerNodeRedis, type NodeRedisClient, type Options } from "../../src/redis.js";
import { at, attempt, freshLane, keepAll, newToken, request } from "./lanes.js";
import { findRedis, startRedis, type RedisServer } from "./servers.js";
import { coldWhenLost, contract } from "./suite.js";

const bin = findRedis("the Redis store");

interface Client extends NodeRedisClient {
  readonly destroy: () => void;
}

const at20 = (socket: string) => ({ socket: { path: socket, tls: false, reconnectStrategy: () => 20 } }) as const;
const ignore = () => undefined;
const clients: ReadonlyArray<readonly [name: string, connect: (socket: string) => Promise<Client>]> = [
  ["redis 5", (socket) => createClient(at20(socket)).on("error", ignore).connect()],
  ["redis 6", (socket) => createClient6(at20(socket)).on("error", ignore).connect()],
];

for (const [name, connect] of bin === null ? [] : clients) {
  describe(`the Redis store over ${name}`, () => {
    let server: RedisServer;
    let client: Client;
    beforeAll(async () => {
      server = await startRedis(bin ?? "");
      client = await connect(server.socket);
    });
    afterAll(async () => {
      client.destroy();
      await server.stop();
    });
    const using = <A, E>(use: (store: Store) => Effect.Effect<A, E>, given: Layer.Layer<NonceStore>) =>
      Effect.runPromise(Effect.flatMap(NonceStore, use).pipe(Effect.provide(given)));
    const run = <A, E>(use: (store: Store) => Effect.Effect<A, E>, options?: Options) =>
      using(use, layerNodeRedis(client, options));

    const itOnStore = (what: string, use: (store: Store) => Generator<Effect.Effect<unknown, unknown>, void>) =>
      it(what, () => run((store) => Effect.gen(() => use(store))));

    contract((use) => run(use), 60);

    /** A commit of a fresh lane's first nonce. */
    const oneCommit = (store: Store) =>
      Effect.gen(function* () {
        const lane = freshLane();
        const token = newToken();
        yield* store.bootstrap(lane, at(5n), keepAll);
        yield* store.reserve(lane, request({ token, counts: at(5n) }));
        return yield* store.commit(lane, { token, nonce: 5n }, attempt(5));
      });

    it("works over an ioredis client", async () => {
      const other = new Ioredis({ path: server.socket });
      expect(await using(oneCommit, layerIoredis(other))).toBe("committed");
      other.disconnect();
    });
    it("works over effect's Redis service", async () => {
      const redis = NodeRedis.layer({ socket: { path: server.socket, tls: false } });
      expect(await using(oneCommit, Layer.orDie(layer().pipe(Layer.provide(redis))))).toBe("committed");
    });
    it("keeps a lane in one key, under the prefix, with one hash tag", async () => {
      const lane = freshLane();
      await run((store) => store.bootstrap(lane, at(5n), keepAll), { prefix: "mine" });
      const keys = (await client.sendCommand(["KEYS", "mine:*"])) as ReadonlyArray<string>;
      expect([...keys].sort()).toEqual(["mine:nonces:lanes", `mine:nonces:{${lane.id}}`]);
    });
    it("drops an answer to another question, whoever mixed them up", async () => {
      const answers: Array<Promise<unknown>> = [];
      let mixes = false;
      const mixing = {
        // each of two that are asked at once is given the other's
        sendCommand: (args: Array<string>): Promise<unknown> => {
          const answer = client.sendCommand(args);
          if (!mixes) return answer;
          const place = answers.push(answer) - 1;
          return new Promise((resolve) => setTimeout(() => resolve(answers[1 - place]), 20));
        },
      };
      await using(
        (store) =>
          Effect.gen(function* () {
            const [token, nonce] = [newToken(), 5n];
            const [owned, notOwned] = [freshLane(), freshLane()];
            for (const lane of [owned, notOwned]) yield* store.bootstrap(lane, at(nonce), keepAll);
            yield* store.reserve(owned, request({ token, counts: at(nonce) }));
            mixes = true;
            const commits = [owned, notOwned].map((lane, index) =>
              Effect.flip(store.commit(lane, { token, nonce }, attempt(index))),
            );
            const failures = yield* Effect.all(commits, { concurrency: "unbounded" });
            mixes = false;
            for (const failure of failures)
              expect(failure).toMatchObject({ _tag: "NonceStoreError", isRetryable: true, mayBeSent: true });
            expect(failures[0]?.detail).toContain("another question");
          }),
        layerNodeRedis(mixing),
      );
    });
    itOnStore("loads its script again after SCRIPT FLUSH", function* (store) {
      expect(yield* oneCommit(store)).toBe("committed");
      yield* Effect.promise(() => client.sendCommand(["SCRIPT", "FLUSH"]));
      expect(yield* oneCommit(store)).toBe("committed");
    });
    coldWhenLost(
      (use) => run(use),
      () => client.sendCommand(["FLUSHALL"]),
    );
    itOnStore(
      "writes again what is repeated, for WAIT covers only what its connection wrote (Redis 7.2, Valkey)",
      function* (store) {
        const lane = freshLane();
        const claim = { token: newToken(), nonce: 5n };
        yield* store.bootstrap(lane, at(5n), keepAll);
        yield* store.reserve(lane, request({ token: claim.token, counts: at(5n) }));
        const writes = Effect.promise(async () => {
          const info = String(await client.sendCommand(["INFO", "persistence"]));
          return Number(/rdb_changes_since_last_save:(\d+)/.exec(info)?.[1]);
        });
        const writesOf = <A, E>(operation: Effect.Effect<A, E>) =>
          Effect.gen(function* () {
            const before = yield* writes;
            yield* operation;
            return (yield* writes) - before;
          });
        const commit = store.commit(lane, claim, attempt(5));
        const replace = store.replace(lane, 5n, attempt(5).hash, attempt(6));
        yield* commit;
        expect(yield* writesOf(commit)).toBeGreaterThan(0);
        yield* replace;
        expect(yield* writesOf(replace)).toBeGreaterThan(0);
      },
    );
    itOnStore(
      "refuses a lane that went back in time, and one of a newer format; one of 0.1.0 it upgrades",
      function* (store) {
        const lane = freshLane();
        const key = `evm-preflight:nonces:{${lane.id}}`;
        const say = (...command: ReadonlyArray<string>) => Effect.promise(() => client.sendCommand([...command]));
        const token = newToken();
        yield* store.bootstrap(lane, at(5n), keepAll);
        yield* store.reserve(lane, request({ token, counts: at(5n) }));
        // why: redis 6 speaks RESP3, where it is a map
        const all = (yield* say("HGETALL", key)) as ReadonlyArray<string> | Readonly<Record<string, string>>;
        const before = Array.isArray(all) ? (all as ReadonlyArray<string>) : Object.entries(all).flat();
        expect(yield* store.commit(lane, { token, nonce: 5n }, attempt(5))).toBe("committed");
        yield* say("DEL", key);
        yield* say("HSET", key, ...before);
        const back = yield* Effect.flip(store.reserve(lane, request({ counts: at(5n) })));
        expect(back).toMatchObject({ operation: "reserve", isRetryable: false });
        expect(back.detail).toContain("went back in time: 1 commits");

        const next = freshLane();
        const other = `evm-preflight:nonces:{${next.id}}`;
        yield* store.bootstrap(next, at(5n), keepAll);
        yield* say("HSET", other, "format", "3");
        const newer = yield* Effect.flip(store.reserve(next, request({ counts: at(5n) })));
        expect(newer).toMatchObject({ detail: expect.stringContaining("format 3"), isRetryable: false });

        const old = freshLane();
        const oldKey = `evm-preflight:nonces:{${old.id}}`;
        yield* say("HSET", oldKey, "floor", "5", "next", "5", "tail", "5");
        expect((yield* store.reserve(old, request({ counts: at(5n) }))).answer).toMatchObject({ nonce: 5n });
        expect(yield* say("HGET", oldKey, "format")).toBe("2");
      },
    );
    itOnStore("names no blocking nonce where the lane's head was lost", function* (store) {
      const lane = freshLane();
      yield* store.bootstrap(lane, at(5n), keepAll);
      yield* store.reserve(lane, request({ counts: at(5n) }));
      yield* Effect.promise(() => client.sendCommand(["HDEL", `evm-preflight:nonces:{${lane.id}}`, "5"]));
      const { answer } = yield* store.reserve(lane, request({ counts: at(5n), cap: 1 }));
      expect(answer).toEqual({ _tag: "Busy", inFlight: 1, cap: 1, retryInMs: null, head: null });
    });
    itOnStore("finds a damaged lane", function* (store) {
      const lane = freshLane();
      const key = `evm-preflight:nonces:{${lane.id}}`;
      yield* store.bootstrap(lane, at(5n, 7n), keepAll);
      yield* Effect.promise(() => client.sendCommand(["HDEL", key, "5"]));
      const { answer } = yield* store.reserve(lane, request({ counts: at(5n, 7n) }));
      expect(answer).toMatchObject({ _tag: "Granted", nonce: 7n });
      yield* Effect.promise(() => client.sendCommand(["HSET", key, "6", "q|what", "r9.1", "0x"]));
      expect(yield* store.check(lane)).toEqual([
        "field 6 is damaged",
        "field r9.1 belongs to no transaction",
        "nonce 5 is in no state",
        "nonce 6 is in no state",
      ]);
      expect(yield* Effect.flip(store.read(lane))).toMatchObject({ isRetryable: false });
      yield* Effect.promise(() => client.sendCommand(["HDEL", key, "floor"]));
      expect(yield* Effect.flip(store.bootstrap(lane, at(5n), keepAll))).toMatchObject({
        detail: "the lane has lost its bounds",
        isRetryable: false,
      });
      yield* Effect.promise(() => client.sendCommand(["SET", key, "mine"]));
      expect(yield* Effect.flip(store.read(lane))).toMatchObject({ operation: "read", isRetryable: false });
    });
  });

  describe(`a Redis with appendfsync always, over ${name}`, () => {
    it("loses nothing acknowledged when it is killed and started again", async () => {
      const server = await startRedis(bin ?? "", { durable: true });
      onTestFinished(server.stop);
      const client = await connect(server.socket);
      const lane = freshLane();
      const run = <A, E>(use: (store: Store) => Effect.Effect<A, E>) =>
        Effect.runPromise(Effect.flatMap(NonceStore, use).pipe(Effect.provide(layerNodeRedis(client))));
      const token = newToken();
      await run((store) => store.bootstrap(lane, at(5n), keepAll));
      await run((store) => store.reserve(lane, request({ token, counts: at(5n) })));
      expect(await run((store) => store.commit(lane, { token, nonce: 5n }, attempt(5)))).toBe("committed");
      const before = await run((store) => store.read(lane));
      await server.restart();
      const after = await run((store) => Effect.eventually(store.read(lane)));
      expect({ ...after, now: 0 }).toEqual({ ...before, now: 0 });
      expect(await run((store) => store.commit(lane, { token, nonce: 5n }, attempt(5)))).toBe("committed");
      client.destroy();
    });
  });
}

if (bin === null)
  describe("the Redis store without a server", () => {
    it("is skipped: redis-server is not installed", () => expect(bin).toBeNull());
  });
