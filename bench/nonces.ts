/**
 * Reserve+commit pairs: `npm run bench:nonces`. Memory: µs per pair, to stay below 20. Redis on a Unix
 * socket, from one process: pairs per second, to stay above 5,000. Postgres: pairs per second.
 */
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { createClient } from "redis";
import { layerMemory, NonceStore, type LaneId, type Store } from "../src/NonceStore.js";
import { layer as layerPostgres, migrate } from "../src/postgres.js";
import { layerNodeRedis } from "../src/redis.js";
import { at, freshLane, hashOf, keepAll, newToken } from "../test/nonces/lanes.js";
import { findPostgres, findRedis, startPostgres, startRedis } from "../test/nonces/servers.js";

const raw = `0x02${"ab".repeat(110)}` as never;

/** Pairs on a lane whose transactions are mined at once. */
const pairs = (store: Store, lane: LaneId, count: number) =>
  Effect.gen(function* () {
    for (let index = 0; index < count; index += 1) {
      const token = newToken();
      const { answer } = yield* store.reserve(lane, {
        ...{ token, ttlMs: 60_000, width: 1, cap: 16, gapOnly: false },
        ...{ counts: at(BigInt(index)), keep: { ...keepAll, settledMs: 1_000 } },
      });
      if (answer._tag !== "Granted") return yield* Effect.die(answer);
      const attempt = { hash: hashOf(answer.nonce), raw };
      const committed = yield* store.commit(lane, { token, nonce: answer.nonce }, attempt);
      if (committed !== "committed") return yield* Effect.die(committed);
    }
  });

/** Seconds for `lanes` × `count` pairs, the lanes side by side. */
const measure = (store: Store, lanes: number, count: number) =>
  Effect.gen(function* () {
    const all = Array.from({ length: lanes }, () => freshLane());
    yield* Effect.forEach(all, (lane) => store.bootstrap(lane, at(0n), keepAll));
    const began = performance.now();
    yield* Effect.forEach(all, (lane) => pairs(store, lane, count), { concurrency: "unbounded", discard: true });
    return (performance.now() - began) / 1_000;
  });

const report = (name: string, store: Store, lanes: number, count: number) =>
  Effect.gen(function* () {
    yield* measure(store, lanes, Math.ceil(count / 10));
    const seconds = yield* measure(store, lanes, count);
    const total = lanes * count;
    const micros = (seconds * 1e6) / total;
    console.log(
      `${name.padEnd(28)} ${Math.round(total / seconds)
        .toLocaleString("en")
        .padStart(9)} pairs/s  ${micros.toFixed(1).padStart(8)} µs/pair`,
    );
  });

const using = (layer: Layer.Layer<NonceStore>, use: (store: Store) => Effect.Effect<void, unknown>) =>
  Effect.runPromise(Effect.flatMap(NonceStore, use).pipe(Effect.provide(layer)));

await using(layerMemory, (store) => report("memory", store, 1, 100_000));

const redis = findRedis("the bench on Redis");
if (redis !== null) {
  for (const durable of [false, true]) {
    const server = await startRedis(redis, { durable });
    const client = await createClient({ socket: { path: server.socket, tls: false } }).connect();
    const name = durable ? "redis, appendfsync always" : "redis, no persistence";
    await using(layerNodeRedis(client), (store) =>
      Effect.andThen(report(`${name}, 64 lanes`, store, 64, 400), report(`${name}, 1 lane`, store, 1, 3_000)),
    );
    client.destroy();
    await server.stop();
  }
}

const postgres = findPostgres("the bench on Postgres");
if (postgres !== null) {
  const server = await startPostgres(postgres);
  const client = PgClient.layer({ path: server.socket, username: server.user, database: server.database });
  await Effect.runPromise(migrate.pipe(Effect.provide(client)));
  await using(Layer.orDie(layerPostgres.pipe(Layer.provide(client))), (store) =>
    report("postgres (no fsync), 8 lanes", store, 8, 100),
  );
  await server.stop();
}
