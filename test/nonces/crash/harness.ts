/**
 * Several processes share senders on a real store while they are killed and paused, replies are lost,
 * the chain reorganises and the store is restarted or fails over; a simulated chain records every broadcast.
 * What goes wrong is counted by nonces, so that a fast machine gets no less of it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import type { NonceStore } from "../../../src/NonceStore.js";
import * as Nonces from "../../../src/Nonces.js";
import type { Rpc } from "../../../src/Rpc.js";
import { SimulatedChain, type Lies } from "../chain.js";
import { bundleWorker, Herd } from "./herd.js";
import { crashSettings, newPayment, readSelfPaid, shared, type WorkerOptions } from "./options.js";
import { judged, type CrashResult } from "./result.js";
import { serve } from "./served.js";
import { startStore, type StoreOptions } from "./store.js";

export interface CrashOptions extends StoreOptions {
  /** It ends when so many nonces are mined, over all lanes. */
  readonly nonces: number;
  /** It ends after this time as well, s. */
  readonly seconds: number;
  readonly workers: number;
  /** Senders, each shared by all workers. */
  readonly lanes: number;
  /** Nonces from one killed or paused worker to the next. */
  readonly every: number;
  /** Nonces from one killed store to the next. */
  readonly crashEvery: number;
  readonly client?: WorkerOptions["client"];
  readonly ignoreFence?: boolean;
  /** It ends as well when a nonce is used twice, or the library refuses a store that went back: a control. */
  readonly untilCaught?: boolean;
  readonly lies: Lies;
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Does something each time that so many more nonces are mined. */
const each = (nonces: number) => {
  let next = nonces;
  return (mined: number): boolean => {
    if (mined < next) return false;
    next = mined + nonces;
    return true;
  };
};

/** The longest time for which any lane had no nonce mined, ms. */
const stallClock = (chain: SimulatedChain, addresses: ReadonlyArray<string>) => {
  const last = addresses.map(() => ({ count: 0, at: performance.now() }));
  let longestMs = 0;
  return {
    tick: () => {
      const now = performance.now();
      for (const [index, address] of addresses.entries()) {
        const { count, at } = last[index] ?? { count: 0, at: now };
        const { length } = chain.account(address).mined;
        if (length <= count) continue;
        // Before the first one, processes start
        if (count > 0) longestMs = Math.max(longestMs, now - at);
        last[index] = { count: length, at: now };
      }
    },
    longestMs: () => longestMs,
  };
};

/** Runs the chaos and says what came of it. Ends nothing but what it started. */
export const crash = async (options: CrashOptions): Promise<CrashResult> => {
  const directory = mkdtempSync(join(tmpdir(), "crash-"));
  const worker = await bundleWorker(directory);
  let chaos = false;
  let silentUntil = 0;
  const store = await startStore(options, directory, () =>
    performance.now() < silentUntil
      ? "silent"
      : chaos && Math.random() < 0.005
        ? Math.random() < 0.2
          ? "silent"
          : true
        : false,
  );
  const chain = new SimulatedChain(options.lies, 31337, readSelfPaid);
  chain.unfinal = 8;
  const endpoint = await serve(chain);
  const runtime = ManagedRuntime.make(Layer.mergeAll(store.layer, chain.layer()));
  const run = <A, E>(effect: Effect.Effect<A, E, NonceStore | Rpc>) =>
    runtime.runPromise(Effect.provideService(effect, Nonces.Settings, crashSettings));
  const senders = shared(options.lanes);
  for (const { lane } of senders) await run(Nonces.adopt(lane));
  const minedOf = (address: string) => chain.account(address).mined.length;
  const mined = () => senders.reduce((sum, { lane }) => sum + minedOf(lane.address), 0);

  const { kind, lanes, replicas, ignoreFence = false, client = "node-redis" } = options;
  const herd = new Herd(worker, {
    ...{ kind, client, lanes, replicas, ignoreFence, socket: store.socket, chainUrl: endpoint.url },
    // The control has to be caught in seconds
    slow: ignoreFence ? 0.3 : 0.01,
  });
  const violations: Array<string> = [];
  const counts = { probes: 0, silences: 0, crashes: 0, outages: 0, flushes: 0, reorganisations: 0 };
  const stalls = stallClock(
    chain,
    senders.map(({ lane }) => lane.address),
  );
  const pick = () => senders[Math.floor(Math.random() * senders.length)]?.lane;
  const miner = setInterval(() => {
    chain.mine();
    stalls.tick();
  }, 20);

  const check = async (lane: Nonces.Lane) => {
    const found = await run(Effect.result(Nonces.check(lane)));
    if (found._tag === "Success") {
      counts.probes += 1;
      violations.push(...found.success);
    }
    return found._tag === "Success";
  };

  /** Reconciles, and fills gaps, until nothing is left in flight, and for as long as it takes to tell what is burned. */
  const drain = async ({ lane, sign }: (typeof senders)[number]): Promise<boolean> => {
    const fill = (nonce: bigint) => sign(nonce, newPayment());
    const reconcile = Effect.tap(Nonces.reconcile(lane), ({ ended }) =>
      Effect.sync(() => (herd.burned += ended.filter(({ end }) => end === "burned").length)),
    );
    const settled = performance.now() + 2 * crashSettings.burnedAfterMs;
    for (const until = performance.now() + 60_000; performance.now() < until; await sleep(50)) {
      const state = await run(
        Effect.result(Effect.andThen(reconcile, Effect.andThen(Nonces.fillGap(lane, fill), Nonces.status(lane)))),
      );
      if (state._tag !== "Success" || performance.now() < settled) continue;
      const { committed, reserved, floor, next } = state.success;
      const isEmpty = committed.length === 0 && reserved.length === 0 && floor === next;
      if (isEmpty && BigInt(minedOf(lane.address)) === next) return check(lane);
    }
    return false;
  };

  const began = performance.now();
  try {
    for (let index = 0; index < options.workers; index += 1) herd.start();
    for (const until = performance.now() + 60_000; mined() < 5; await sleep(20)) {
      if (herd.broken > 0 || performance.now() > until)
        throw new Error(`the workers do not work: ${JSON.stringify(herd.failures)}`);
    }
    chaos = true;
    const end = performance.now() + options.seconds * 1_000;
    const [disturbs, reorganises, displaces, silences, flushes, fails, crashes] = [1, 1.3, 1.7, 4.1, 3.1, 5.3]
      .map((times) => each(times * options.every))
      .concat(each(options.crashEvery));
    const isCaught = () => options.untilCaught === true && (herd.wentBack > 0 || chain.isPaidDouble());
    while (performance.now() < end && mined() < options.nonces && !isCaught()) {
      await sleep(20);
      const now = mined();
      const lane = pick();
      if (lane === undefined) break;
      if (disturbs?.(now) === true) {
        herd.disturb();
        await check(lane);
      }
      if (reorganises?.(now) === true) {
        const depth = Math.min(minedOf(lane.address), Math.ceil(Math.random() * 3));
        chain.reorganise(lane.address, depth);
        counts.reorganisations += 1;
      }
      if (displaces?.(now) === true && options.untilCaught !== true) chain.displace(lane.address);
      // Every answer of the store is lost, for longer than its tries take
      if (silences?.(now) === true) {
        silentUntil = performance.now() + crashSettings.storeTimeoutMs * 4;
        counts.silences += 1;
      }
      // A store that is down cannot be told to do anything
      if (flushes?.(now) === true)
        await store.flush().then(
          () => (counts.flushes += 1),
          () => undefined,
        );
      if (fails?.(now) === true)
        await store.fail().then(
          () => (counts.outages += 1),
          () => undefined,
        );
      if (crashes?.(now) === true) {
        await store.crash();
        counts.crashes += 1;
      }
    }
    const seconds = (performance.now() - began) / 1_000;
    chaos = false;
    silentUntil = 0;
    await herd.stop();
    const drained = options.untilCaught !== true && (await Promise.all(senders.map(drain))).every((each) => each);
    return judged(chain, senders, herd, {
      ...{ drained, violations, seconds, cut: store.cut(), stallMs: Math.round(stalls.longestMs()), ...counts },
    });
  } finally {
    clearInterval(miner);
    await herd.stop();
    await runtime.dispose();
    endpoint.stop();
    await store.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};
