/** The store of a crash run: its server, the proxy before it, and what can be done to both. */
import { join } from "node:path";
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { SqlClient } from "effect/sql/SqlClient";
import { createClient } from "redis";
import type { NonceStore } from "../../../src/NonceStore.js";
import { layer as layerPostgres, migrate } from "../../../src/postgres.js";
import { layerNodeRedis } from "../../../src/redis.js";
import { startCutting } from "../cutting.js";
import { command, startReplicated } from "../replicated.js";
import { startPostgres, startRedis } from "../servers.js";

/** How the store is kept. `snapshots` (Redis): so that a restart goes back in time. `replica` (Redis): it fails over. */
export type Kept = "log" | "snapshots" | "replica";

export interface StoreOptions {
  readonly kind: "redis" | "postgres";
  /** `redis-server` or `valkey-server`, or the directory of Postgres's programs. */
  readonly bin: string;
  readonly kept: Kept;
  /** Replicas that a commit waits for (Redis). */
  readonly replicas: number;
}

export interface CrashStore {
  /** Where the workers connect. */
  readonly socket: string;
  /** For the harness itself. */
  readonly layer: Layer.Layer<NonceStore>;
  /** Replies that were lost so far. */
  readonly cut: () => number;
  readonly flush: () => Promise<unknown>;
  /** Does not answer for a moment, or ends all connections. */
  readonly fail: () => Promise<unknown>;
  /** Kills the server: it starts again, or its replica takes over what it was given. */
  readonly crash: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

const redisServer = async (bin: string, kept: Kept) => {
  if (kept === "replica") return startReplicated(bin);
  return startRedis(bin, kept === "log" ? { durable: true } : { args: ["--save", "1 1"] });
};

const startOnRedis = async (
  bin: string,
  { kept, replicas }: Pick<StoreOptions, "kept" | "replicas">,
  proxy: string,
  lose: () => boolean | "silent",
) => {
  const server = await redisServer(bin, kept);
  const cutting = await startCutting(server.socket, proxy, lose);
  const own = await startCutting(server.socket, `${proxy}.own`, () => false);
  const connect = () =>
    createClient({ socket: { path: own.socket, tls: false, reconnectStrategy: () => 20 } })
      .on("error", () => undefined)
      .connect();
  const client = await connect();
  const failOver = async () => {
    if (!("failover" in server)) return;
    await server.connected();
    // What is committed from now on is not on the replica, and its WAIT is cut in the middle
    server.stall();
    await sleep(150);
    cutting.cutAll();
    await sleep(250);
    await server.failover();
    for (const each of [cutting, own]) {
      each.lead(server.socket);
      each.cutAll();
    }
  };
  return {
    socket: cutting.socket,
    layer: layerNodeRedis(client, { replicas }),
    cut: cutting.cut,
    flush: () => command(server.socket, "SCRIPT", "FLUSH"),
    fail: () => command(server.socket, "CLIENT", "PAUSE", String(Math.round(50 + Math.random() * 550))),
    crash: () => ("restart" in server ? server.restart() : failOver()),
    stop: async () => {
      client.destroy();
      await Promise.all([cutting.stop(), own.stop()]);
      await server.stop();
    },
  } satisfies CrashStore;
};

const startOnPostgres = async (bin: string, proxy: string, lose: () => boolean | "silent") => {
  const server = await startPostgres(bin);
  const cutting = await startCutting(server.socket, proxy, lose);
  const client = PgClient.layer({
    ...{ path: server.socket, username: server.user, database: server.database },
    maxConnections: 3,
  });
  await Effect.runPromise(migrate.pipe(Effect.provide(client)));
  const others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
  const end = Effect.flatMap(SqlClient, (sql) => sql.unsafe(`SELECT pg_terminate_backend(pid) ${others}`));
  return {
    socket: cutting.socket,
    layer: Layer.orDie(layerPostgres.pipe(Layer.provide(client))),
    cut: cutting.cut,
    flush: () => Promise.resolve(),
    fail: () => Effect.runPromise(Effect.ignore(Effect.provide(end, client))),
    crash: server.restart,
    stop: async () => {
      await cutting.stop();
      await server.stop();
    },
  } satisfies CrashStore;
};

/** `lose` says of every chunk that the server sends whether the workers get it. */
export const startStore = (
  options: StoreOptions,
  directory: string,
  lose: () => boolean | "silent",
): Promise<CrashStore> => {
  const proxy = join(directory, "store.sock");
  return options.kind === "redis"
    ? startOnRedis(options.bin, options, proxy, lose)
    : startOnPostgres(options.bin, proxy, lose);
};
