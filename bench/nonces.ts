/**
 * Reserve+commit pairs per second: `npm run bench:nonces [seconds] [words of the points to run]`. Memory;
 * Redis without and with `appendfsync always`; Postgres. On one lane: one fiber, 16 fibers, and 4 threads
 * with a client and 4 fibers each; and 64 lanes at once. A transaction is mined when all below it are committed.
 */
import { Worker, isMainThread, workerData } from "node:worker_threads";
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { createClient } from "redis";
import { layerMemory, NonceStore, type LaneId, type Store } from "../src/NonceStore.js";
import { layer as layerPostgres, migrate } from "../src/postgres.js";
import { layerNodeRedis } from "../src/redis.js";
import { at, freshLane, hashOf, keepAll, newToken } from "../test/nonces/lanes.js";
import { findPostgres, findRedis, startPostgres, startRedis } from "../test/nonces/servers.js";

interface Point {
  readonly kind: "memory" | "redis" | "postgres";
  readonly socket: string;
  readonly lanes: ReadonlyArray<LaneId>;
  /** Per thread and lane. */
  readonly fibers: number;
  readonly seconds: number;
  readonly threads: number;
  /** How many threads are ready: they begin together. */
  readonly gate: Int32Array;
  /** What all threads know of a lane: how many are mined, then one cell per nonce. */
  readonly chain: ReadonlyArray<Int32Array>;
}

const raw = `0x02${"ab".repeat(110)}` as never;
const most = 2_000_000;

const layerOf = async ({ kind, socket }: Point): Promise<{ layer: Layer.Layer<NonceStore>; close: () => void }> => {
  if (kind === "memory") return { layer: layerMemory, close: () => undefined };
  if (kind === "postgres") {
    const client = PgClient.layer({ path: socket, username: "postgres", database: "postgres", maxConnections: 8 });
    return { layer: Layer.orDie(layerPostgres.pipe(Layer.provide(client))), close: () => undefined };
  }
  const client = await createClient({ socket: { path: socket, tls: false } }).connect();
  return { layer: layerNodeRedis(client), close: () => client.destroy() };
};

/** Latencies of pairs, ms, until the time is over. */
const pairs = (store: Store, lane: LaneId, chain: Int32Array, until: number, latencies: Array<number>) =>
  Effect.gen(function* () {
    while (performance.now() < until) {
      const began = performance.now();
      const token = newToken();
      const { answer } = yield* store.reserve(lane, {
        ...{ token, ttlMs: 60_000, width: 1, cap: 64, gapOnly: false },
        ...{ counts: at(BigInt(Atomics.load(chain, 0))), keep: { ...keepAll, settledMs: 1_000 } },
      });
      if (answer._tag === "Busy") {
        yield* Effect.sleep(1);
        continue;
      }
      if (answer._tag !== "Granted") return yield* Effect.die(answer);
      const { nonce } = answer;
      const committed = yield* store.commit(lane, { token, nonce }, { hash: hashOf(nonce), raw });
      if (committed !== "committed") return yield* Effect.die(committed);
      Atomics.store(chain, Number(nonce) + 1, 1);
      for (let mined = Atomics.load(chain, 0); Atomics.load(chain, mined + 1) === 1; mined = Atomics.load(chain, 0))
        Atomics.compareExchange(chain, 0, mined, mined + 1);
      latencies.push(performance.now() - began);
    }
  });

const work = async (point: Point): Promise<ReadonlyArray<number>> => {
  const { layer, close } = await layerOf(point);
  const latencies: Array<number> = [];
  await Effect.gen(function* () {
    const store = yield* NonceStore;
    Atomics.add(point.gate, 0, 1);
    while (Atomics.load(point.gate, 0) < point.threads) yield* Effect.sleep(5);
    const until = performance.now() + point.seconds * 1_000;
    yield* Effect.forEach(
      point.lanes.flatMap((lane, index) => Array.from({ length: point.fibers }, () => ({ lane, index }))),
      ({ lane, index }) => pairs(store, lane, point.chain[index] as Int32Array, until, latencies),
      { concurrency: "unbounded", discard: true },
    );
  }).pipe(Effect.provide(layer), Effect.runPromise);
  close();
  return latencies;
};

const inThread = (point: Point): Promise<ReadonlyArray<number>> =>
  new Promise((resolve, reject) => {
    // A thread does not inherit the loader of TypeScript
    const loader = JSON.stringify(import.meta.resolve("tsx/esm/api"));
    const code = `import { register } from ${loader}; register(); await import(${JSON.stringify(import.meta.url)});`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData: point });
    worker.once("message", resolve).once("error", reject);
  });

const measure = async (
  name: string,
  { kind, socket }: Pick<Point, "kind" | "socket">,
  seconds: number,
  shape: { readonly lanes: number; readonly threads: number; readonly fibers: number },
) => {
  const lanes = Array.from({ length: shape.lanes }, () => freshLane());
  const cells = shape.lanes === 1 ? most : most / 16;
  const chain = lanes.map(() => new Int32Array(new SharedArrayBuffer(4 * cells)));
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const point: Point = { kind, socket, lanes, chain, seconds, gate, threads: shape.threads, fibers: shape.fibers };
  const { layer, close } = await layerOf(point);
  const begin = Effect.flatMap(NonceStore, (store) =>
    Effect.forEach(lanes, (lane) => store.bootstrap(lane, at(0n), keepAll)),
  );
  await Effect.runPromise(Effect.provide(begin, layer));
  close();
  const cpuBefore = process.cpuUsage();
  const all = await Promise.all(
    Array.from({ length: shape.threads }, () => (shape.threads === 1 ? work : inThread)(point)),
  );
  const { user, system } = process.cpuUsage(cpuBefore);
  const sorted = all.flat().sort((a, b) => a - b);
  const of = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2);
  const what = `${name}, ${shape.lanes} × ${shape.threads} × ${shape.fibers}`;
  console.log(
    `${what.padEnd(40)} ${String(Math.round(sorted.length / seconds)).padStart(7)} pairs/s   p50 ${of(0.5)} ms   p99 ${of(0.99)} ms   ${Math.round((user + system) / sorted.length)} µs of CPU`,
  );
};

const shapes = [
  { lanes: 1, threads: 1, fibers: 1 },
  { lanes: 1, threads: 1, fibers: 16 },
  { lanes: 1, threads: 4, fibers: 4 },
  { lanes: 64, threads: 1, fibers: 1 },
];

const main = async (seconds: number, only: string) => {
  console.log("store, lanes × threads × fibers");
  const isAsked = (name: string) => name.includes(only);
  if (isAsked("memory"))
    for (const shape of shapes.slice(0, 2)) await measure("memory", { kind: "memory", socket: "" }, seconds, shape);
  const redis = findRedis("the bench on Redis");
  for (const durable of [false, true]) {
    const name = durable ? "redis, appendfsync always" : "redis, no persistence";
    if (redis === null || !isAsked(name)) continue;
    const server = await startRedis(redis, { durable });
    for (const shape of shapes) await measure(name, { kind: "redis", socket: server.socket }, seconds, shape);
    await server.stop();
  }
  const postgres = findPostgres("the bench on Postgres");
  if (postgres !== null && isAsked("postgres (no fsync)")) {
    const server = await startPostgres(postgres);
    const client = PgClient.layer({ path: server.socket, username: server.user, database: server.database });
    await Effect.runPromise(migrate.pipe(Effect.provide(client)));
    for (const shape of shapes)
      await measure("postgres (no fsync)", { kind: "postgres", socket: server.socket }, seconds, shape);
    await server.stop();
  }
};

if (isMainThread) await main(Number(process.argv[2] ?? 3), process.argv[3] ?? "");
else {
  const { parentPort } = await import("node:worker_threads");
  parentPort?.postMessage(await work(workerData as Point));
}
