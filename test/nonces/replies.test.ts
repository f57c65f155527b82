/** Replies that are lost after the store acted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { createClient } from "redis";
import { describe, expect, it, onTestFinished } from "vitest";
import type { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import { layer as layerPostgres, migrate } from "../../src/postgres.js";
import { layerNodeRedis } from "../../src/redis.js";
import { lane, sender, sign, SimulatedChain } from "./chain.js";
import { startCutting } from "./cutting.js";
import { findPostgres, findRedis, startPostgres, startRedis } from "./servers.js";

const redis = findRedis("lost replies of Redis");
const postgres = findPostgres("lost replies of Postgres");

/** Sends `count` transactions over a store whose every `nth` reply is lost. */
const sendAll = async (
  socket: string,
  layerAt: (socket: string) => Layer.Layer<NonceStore>,
  count: number,
  nth: number,
) => {
  const directory = mkdtempSync(join(tmpdir(), "replies-"));
  const chain = new SimulatedChain();
  let [replies, started] = [0, false];
  const cutting = await startCutting(socket, join(directory, "store.sock"), () => {
    if (started) replies += 1;
    return started && replies % nth === 0;
  });
  try {
    const sent = await Effect.runPromise(
      Effect.gen(function* () {
        yield* Nonces.adopt(lane);
        started = true;
        const nonces = yield* Effect.forEach(Array.from({ length: count }), () =>
          Effect.tap(Nonces.withNonce(lane, sign), () => Effect.sync(() => chain.mine())),
        );
        started = false;
        yield* Nonces.reconcile(lane);
        expect(yield* Nonces.check(lane)).toEqual([]);
        expect(yield* Nonces.committed(lane)).toEqual([]);
        return nonces.map(({ nonce }) => nonce);
      }).pipe(
        Effect.provide(Layer.merge(chain.layer(), layerAt(cutting.socket))),
        Effect.provideService(Nonces.Settings, { ...Nonces.defaults, storeRetries: 6 }),
      ),
    );
    return { sent, duplicates: chain.duplicates(sender.address), cut: cutting.cut() };
  } finally {
    await cutting.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

const expected = (count: number) => Array.from({ length: count }, (_, index) => BigInt(index));

describe("replies that are lost after the store acted", () => {
  it("lose no nonce on Redis and use none twice", async () => {
    if (redis === null) return expect(redis).toBeNull();
    const server = await startRedis(redis);
    onTestFinished(server.stop);
    const clients: Array<{ destroy: () => void }> = [];
    const at = (path: string) =>
      Layer.unwrap(
        Effect.promise(async () => {
          const client = await createClient({ socket: { path, tls: false, reconnectStrategy: () => 5 } })
            .on("error", () => undefined)
            .connect();
          clients.push(client);
          return layerNodeRedis(client);
        }),
      );
    const { sent, duplicates, cut } = await sendAll(server.socket, at, 30, 7);
    expect([sent, duplicates]).toEqual([expected(30), []]);
    expect(cut).toBeGreaterThan(5);
    for (const client of clients) client.destroy();
  });
  it("lose no nonce on Postgres and use none twice", async () => {
    if (postgres === null) return expect(postgres).toBeNull();
    const server = await startPostgres(postgres);
    onTestFinished(server.stop);
    const client = (path: string) =>
      PgClient.layer({ path, username: server.user, database: server.database, maxConnections: 2 });
    await Effect.runPromise(migrate.pipe(Effect.provide(client(server.socket))));
    const at = (path: string) => Layer.orDie(layerPostgres.pipe(Layer.provide(client(path))));
    const { sent, duplicates, cut } = await sendAll(server.socket, at, 20, 7);
    expect([sent, duplicates]).toEqual([expected(20), []]);
    expect(cut).toBeGreaterThan(3);
  });
});
