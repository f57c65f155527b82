/** What a failover forgets, and what it may not: commits that a replica had to have (`replicas: 1`). */
import * as Effect from "effect/Effect";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as NodeRedis from "@effect/platform-node/NodeRedis";
import * as Layer from "effect/Layer";
import { Redis as Ioredis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, it, onTestFinished } from "vitest";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import { layer, layerIoredis, layerNodeRedis, type NodeRedisClient, type Options } from "../../src/redis.js";
import { startCutting } from "./cutting.js";
import { at, attempt, freshLane, keepAll, newToken, request } from "./lanes.js";
import { startReplicated } from "./replicated.js";
import { findRedis, findValkey, freePort, startRedis } from "./servers.js";

const servers = [
  { name: "Redis", bin: findRedis("failover on Redis") },
  { name: "Valkey", bin: findValkey("failover on Valkey, where WAIT covers only what its own connection wrote") },
];

describe.each(servers)("$name with a replica", ({ bin }) => {
  if (bin === null) {
    it("is tested only where a server is installed", () => expect(bin).toBeNull());
    return;
  }
  const connect = async (path: string) => {
    const client = await createClient({ socket: { path, tls: false, reconnectStrategy: false } })
      .on("error", () => undefined)
      .connect();
    onTestFinished(() => {
      if (client.isOpen) client.destroy();
    });
    return client;
  };
  const storeOf = (layer: Layer.Layer<NonceStore>): Promise<Store> => {
    const runtime = ManagedRuntime.make(layer);
    onTestFinished(() => runtime.dispose());
    return runtime.runPromise(NonceStore);
  };
  /** A process: its connection, and what it remembers of lanes. */
  const process = (client: NodeRedisClient) =>
    storeOf(layerNodeRedis(client, { replicas: 1, replicaTimeoutMs: 1_500 }));
  const start = async () => {
    const replicated = await startReplicated(bin);
    onTestFinished(replicated.stop);
    return { replicated, newProcess: async () => process(await connect(replicated.socket)) };
  };
  const lane = freshLane();
  const run = Effect.runPromise;
  const reserved = async (store: Store) => {
    const token = newToken();
    const { answer } = await run(store.reserve(lane, request({ token, counts: at(0n) })));
    if (answer._tag !== "Granted") throw new Error(answer._tag);
    return { token, nonce: answer.nonce };
  };

  it("has every acknowledged commit after a failover, and handed out none of the others", async () => {
    const { replicated, newProcess } = await start();
    const store = await newProcess();
    await run(store.bootstrap(lane, at(0n), keepAll));
    const kept = await reserved(store);
    expect(await run(store.commit(lane, kept, attempt(1)))).toBe("committed");
    const forgotten = await reserved(store);
    replicated.stall();
    const commit = (each: Store) => run(Effect.flip(each.commit(lane, forgotten, attempt(2))));
    expect((await commit(store)).detail).toContain("0 of 1 replicas");
    // On a connection that has written nothing: the commit is there, and the replica still has it not
    const other = await newProcess();
    expect((await commit(other)).detail).toContain("0 of 1 replicas");
    const due = request({ counts: at(0n) });
    const asked = run(Effect.result(other.reconcile(lane, { counts: due.counts, keep: keepAll, resendAfterMs: 0 })));
    expect(await asked).toMatchObject({ _tag: "Failure", failure: { operation: "reconcile", isRetryable: true } });

    await replicated.failover();
    await replicated.connected();
    const after = await newProcess();
    const slots = (await run(after.read(lane)))?.slots.map(({ nonce, state }) => [nonce, state]);
    expect(slots?.[0]).toEqual([kept.nonce, "committed"]);
    expect(slots?.[1]?.[1]).not.toBe("committed");
  }, 90_000);

  it("is refused as a lane that went back in time by a process whose unacknowledged commit it lost", async () => {
    const { replicated } = await start();
    let client = await connect(replicated.socket);
    const store = await process({ sendCommand: (words) => client.sendCommand(words) });
    await run(store.bootstrap(lane, at(0n), keepAll));
    const claim = await reserved(store);
    // The lease is to reach the replica, the commit is not
    await new Promise((done) => setTimeout(done, 300));
    replicated.stall();
    expect((await run(Effect.flip(store.commit(lane, claim, attempt(1))))).isRetryable).toBe(true);
    expect((await run(store.read(lane)))?.slots[0]?.state).toBe("committed");
    await replicated.failover();
    await replicated.connected();
    client = await connect(replicated.socket);
    expect(await run(store.commit(lane, claim, attempt(1)))).toBe("committed");
  }, 90_000);

  /** Each as its package makes it: what had no answer is sent again on the next connection, or is not. */
  const clients = {
    "node-redis": async (path: string) => {
      const client = await createClient({ socket: { path, tls: false } })
        .on("error", () => undefined)
        .connect();
      onTestFinished(() => client.destroy());
      return (options: Options) => layerNodeRedis(client, options);
    },
    ioredis: async (path: string) => {
      const client = new Ioredis({ path }).on("error", () => undefined);
      onTestFinished(() => client.disconnect());
      return (options: Options) => layerIoredis(client, options);
    },
    "effect's own": async (path: string) => {
      const redis = NodeRedis.layer({ socket: { path, tls: false } });
      return (options: Options) => Layer.orDie(layer(options).pipe(Layer.provide(redis)));
    },
  };

  it.each(Object.entries(clients))(
    "ignores another server's replicas when it counts those of a commit, over %s",
    async (_, make) => {
      const { replicated, newProcess } = await start();
      const directory = mkdtempSync(join(tmpdir(), "proxy-"));
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
      const proxy = await startCutting(replicated.socket, join(directory, "p"), () => false);
      onTestFinished(proxy.stop);
      const over = await make(proxy.socket);
      const store = await storeOf(over({ replicas: 1, replicaTimeoutMs: 5_000 }));
      await run(store.bootstrap(lane, at(0n), keepAll));
      replicated.stall();
      const claim = await reserved(store);
      const committing = run(Effect.result(store.commit(lane, claim, attempt(1))));
      await new Promise((done) => setTimeout(done, 300));
      await replicated.failover();
      await replicated.connected();
      proxy.lead(replicated.socket);
      proxy.cutAll();
      expect(await committing).toMatchObject({ _tag: "Failure", failure: { mayBeSent: true, isRetryable: true } });
      // Whoever is next takes the nonce for another transaction: the first must not have been sent
      const next = await newProcess();
      const other = await reserved(next);
      expect(other.nonce).toBe(claim.nonce);
      expect(await run(next.commit(lane, other, attempt(2)))).toBe("committed");
      expect(await run(store.commit(lane, claim, attempt(1)))).toBe("lost");
    },
    90_000,
  );

  it("refuses requests to a replica, though that could be written", async () => {
    const port = await freePort();
    const primary = await startRedis(bin, { args: ["--port", String(port)] });
    onTestFinished(primary.stop);
    const replica = await startRedis(bin, {
      args: ["--replicaof", "127.0.0.1", String(port), "--replica-read-only", "no"],
    });
    onTestFinished(replica.stop);
    const client = await connect(replica.socket);
    const store = await storeOf(layerNodeRedis(client));
    const refused = await run(Effect.flip(store.bootstrap(lane, at(0n), keepAll)));
    expect(refused.detail).toContain("REPLICA");
    await client.sendCommand(["REPLICAOF", "NO", "ONE"]);
    expect(await run(store.bootstrap(lane, at(0n), keepAll))).toBe(true);
    const claim = await reserved(store);
    await client.sendCommand(["REPLICAOF", "127.0.0.1", String(port)]);
    expect((await run(Effect.flip(store.commit(lane, claim, attempt(1))))).detail).toContain("REPLICA");
  }, 60_000);
});
