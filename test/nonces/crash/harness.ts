/**
 * Several processes share one sender on a real store while they are killed and paused, replies are
 * lost, scripts are flushed and the store is restarted; a simulated chain records every broadcast.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { build } from "esbuild";
import { createClient } from "redis";
import type { NonceStore } from "../../../src/NonceStore.js";
import * as Nonces from "../../../src/Nonces.js";
import { layer as layerPostgres, migrate } from "../../../src/postgres.js";
import { layerNodeRedis } from "../../../src/redis.js";
import type { Rpc } from "../../../src/Rpc.js";
import { lane, NodeError, sender, SimulatedChain, type Lies } from "../chain.js";
import { startCutting } from "../cutting.js";
import { startPostgres, startRedis, type RedisServer, type Server } from "../servers.js";
import { crashSettings, type WorkerOptions } from "./options.js";

export interface CrashOptions {
  readonly kind: "redis" | "postgres";
  /** `redis-server`, or the directory of Postgres's programs. */
  readonly bin: string;
  /** How long the chaos lasts, s. */
  readonly seconds: number;
  readonly workers: number;
  readonly ignoreFence?: boolean;
  readonly lies: Lies;
}

export interface CrashResult {
  readonly mined: number;
  readonly broadcasts: number;
  /** Nonces with more than one transaction: must be none. */
  readonly duplicates: ReadonlyArray<number>;
  /** Transactions that a worker was told are sent, and that were never mined: must be none. */
  readonly lost: ReadonlyArray<string>;
  /** Whether the lane was empty in the end, with all it issued mined. */
  readonly drained: boolean;
  /** Violations of the partition that any probe found: must be none. */
  readonly violations: ReadonlyArray<string>;
  readonly probes: number;
  /** The longest time without a mined transaction, ms. */
  readonly stallMs: number;
  readonly kills: number;
  readonly pauses: number;
  /** Replies of the store that were lost. */
  readonly cut: number;
  readonly restarts: number;
  /** Commits refused to a lease that ended. */
  readonly fenced: number;
  /** What the workers failed with, by tag. */
  readonly failures: Readonly<Record<string, number>>;
  /** Workers that ended by themselves: must be none. */
  readonly broken: number;
}

const bundleWorker = async (directory: string): Promise<string> => {
  const outfile = join(directory, "worker.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minify: true,
    logLevel: "error",
    conditions: ["@evm-preflight/source"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
  return outfile;
};

/** The chain over HTTP. */
const serve = (chain: SimulatedChain): Promise<{ readonly url: string; readonly stop: () => void }> =>
  new Promise((resolve) => {
    const server = createServer((asked, answer) => {
      const chunks: Array<Buffer> = [];
      asked.on("data", (chunk: Buffer) => chunks.push(chunk));
      asked.on("end", () => {
        const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
          readonly id: number;
          readonly method: string;
          readonly params: ReadonlyArray<unknown>;
        };
        const reply = (body: object) => answer.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
        answer.setHeader("content-type", "application/json");
        try {
          reply({ result: chain.answer(method, params) });
        } catch (error) {
          const { code, message } = error instanceof NodeError ? error : new NodeError(String(error), -32603);
          reply({ error: { code, message } });
        }
      });
    });
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        stop: () => {
          server.closeAllConnections();
          server.close();
        },
      }),
    );
  });

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
const between = (low: number, high: number) => low + Math.random() * (high - low);

const storeAt = async (
  kind: CrashOptions["kind"],
  socket: string,
): Promise<{
  readonly layer: Layer.Layer<NonceStore>;
  readonly flush: () => Promise<unknown>;
  readonly close: () => void;
}> => {
  if (kind === "postgres") {
    const client = PgClient.layer({ path: socket, username: "postgres", database: "postgres", maxConnections: 3 });
    await Effect.runPromise(migrate.pipe(Effect.provide(client)));
    return {
      layer: Layer.orDie(layerPostgres.pipe(Layer.provide(client))),
      flush: () => Promise.resolve(),
      close: () => undefined,
    };
  }
  const client = await createClient({ socket: { path: socket, tls: false, reconnectStrategy: () => 20 } })
    .on("error", () => undefined)
    .connect();
  return {
    layer: layerNodeRedis(client),
    flush: () => client.sendCommand(["SCRIPT", "FLUSH"]),
    close: () => client.destroy(),
  };
};

class Herd {
  readonly sent = new Set<string>();
  readonly failures: Record<string, number> = {};
  kills = 0;
  pauses = 0;
  /** Workers that ended by themselves, which none should. */
  broken = 0;
  private readonly alive = new Set<ChildProcess>();
  private readonly command: ReadonlyArray<string>;
  private over = false;
  constructor(worker: string, options: WorkerOptions) {
    this.command = [worker, JSON.stringify(options)];
  }

  start(): void {
    const child = spawn(process.execPath, [...this.command], { stdio: ["ignore", "pipe", "inherit"] });
    this.alive.add(child);
    createInterface({ input: child.stdout }).on("line", (line) => {
      // The last line of a killed worker may be cut
      if (!line.endsWith("}")) return;
      const said = JSON.parse(line) as { readonly type: string; readonly hash?: string; readonly tag?: string };
      if (said.type === "sent" && said.hash !== undefined && said.hash !== "") this.sent.add(said.hash);
      if (said.tag !== undefined) this.failures[said.tag] = (this.failures[said.tag] ?? 0) + 1;
    });
    child.once("exit", (code) => {
      this.alive.delete(child);
      if (code !== null) this.broken += 1;
      if (!this.over && this.broken < 3) this.start();
    });
  }

  /** Kills one, or pauses it for longer than a lease. */
  disturb(): void {
    const herd = [...this.alive];
    const one = herd[Math.floor(Math.random() * herd.length)];
    if (one === undefined) return;
    if (Math.random() < 0.5) {
      this.kills += 1;
      one.kill("SIGKILL");
      return;
    }
    this.pauses += 1;
    one.kill("SIGSTOP");
    setTimeout(() => one.kill("SIGCONT"), between(1.2, 2) * crashSettings.ttlMs);
  }

  async stop(): Promise<void> {
    this.over = true;
    const ended = [...this.alive].map((child) => new Promise((done) => child.once("exit", done)));
    for (const child of this.alive) child.kill("SIGKILL");
    await Promise.all(ended);
  }
}

/** Reconciles, and fills gaps, until nothing is left in flight. */
const drain = async (
  run: <A, E>(effect: Effect.Effect<A, E, NonceStore | Rpc>) => Promise<A>,
  chain: SimulatedChain,
  sign: (nonce: bigint) => Effect.Effect<`0x${string}`>,
): Promise<boolean> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const state = await run(
      Effect.result(
        Effect.andThen(Nonces.reconcile(lane), Effect.andThen(Nonces.fillGap(lane, sign), Nonces.status(lane))),
      ),
    );
    if (state._tag === "Success") {
      const { committed, reserved, floor, next } = state.success;
      const { mined } = chain.account(sender.address);
      if (committed.length === 0 && reserved.length === 0 && floor === next && BigInt(mined.length) === next)
        return true;
    }
    chain.mine();
    await sleep(50);
  }
  return false;
};

/** Runs the chaos and says what came of it. Ends nothing but what it started. */
export const crash = async (
  options: CrashOptions,
  sign: (nonce: bigint) => Effect.Effect<`0x${string}`>,
): Promise<CrashResult> => {
  const directory = mkdtempSync(join(tmpdir(), "crash-"));
  const worker = await bundleWorker(directory);
  const server: Server | RedisServer =
    options.kind === "redis" ? await startRedis(options.bin, { durable: true }) : await startPostgres(options.bin);
  const chain = new SimulatedChain(options.lies);
  const endpoint = await serve(chain);
  let chaos = false;
  const cutting = await startCutting(server.socket, join(directory, "store.sock"), () => chaos && Math.random() < 0.02);
  const store = await storeAt(options.kind, server.socket);
  const runtime = ManagedRuntime.make(Layer.mergeAll(store.layer, chain.layer()));
  const run = <A, E>(effect: Effect.Effect<A, E, NonceStore | Rpc>) =>
    runtime.runPromise(Effect.provideService(effect, Nonces.Settings, crashSettings));
  await run(Nonces.adopt(lane));

  const herd = new Herd(worker, {
    kind: options.kind,
    socket: cutting.socket,
    chainUrl: endpoint.url,
    ignoreFence: options.ignoreFence === true,
    // The control has to be caught in seconds
    slow: options.ignoreFence === true ? 0.3 : 0.03,
  });
  const violations: Array<string> = [];
  let [probes, restarts, stallMs] = [0, 0, 0];
  let lastMined = { count: 0, at: performance.now() };
  const miner = setInterval(() => {
    chain.mine(6);
    const count = chain.account(sender.address).mined.length;
    const now = performance.now();
    if (count > lastMined.count) {
      // Before the first one, processes start
      if (lastMined.count > 0) stallMs = Math.max(stallMs, now - lastMined.at);
      lastMined = { count, at: now };
    }
  }, 20);
  try {
    for (let index = 0; index < options.workers; index += 1) herd.start();
    for (const until = performance.now() + 20_000; chain.account(sender.address).mined.length < 5; await sleep(20)) {
      if (herd.broken > 0 || performance.now() > until)
        throw new Error(`the workers do not work: ${JSON.stringify(herd.failures)}`);
    }
    chaos = true;
    const began = performance.now();
    const end = began + options.seconds * 1_000;
    let nextRestart = began + (options.seconds * 1_000) / 2;
    while (performance.now() < end) {
      await sleep(between(100, 400));
      herd.disturb();
      const found = await run(Effect.result(Nonces.check(lane)));
      if (found._tag === "Success") {
        probes += 1;
        violations.push(...found.success);
      }
      if (Math.random() < 0.1) await store.flush();
      if ("restart" in server && performance.now() > nextRestart) {
        await server.restart();
        restarts += 1;
        nextRestart = performance.now() + 20_000;
      }
    }
    chaos = false;
    await herd.stop();
    clearInterval(miner);
    const drained = await drain(run, chain, sign);
    violations.push(...(await run(Nonces.check(lane))));
    const { mined } = chain.account(sender.address);
    const all = new Set(mined);
    return {
      mined: mined.length,
      broadcasts: chain.broadcasts.length,
      duplicates: chain.duplicates(sender.address),
      lost: [...herd.sent].filter((hash) => !all.has(hash)),
      drained,
      violations,
      probes,
      stallMs: Math.round(stallMs),
      kills: herd.kills,
      pauses: herd.pauses,
      cut: cutting.cut(),
      restarts,
      fenced: herd.failures["LeaseLost"] ?? 0,
      failures: herd.failures,
      broken: herd.broken,
    };
  } finally {
    clearInterval(miner);
    await herd.stop();
    await runtime.dispose();
    store.close();
    await cutting.stop();
    endpoint.stop();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};
