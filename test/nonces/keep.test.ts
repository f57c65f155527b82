/** `keep` goes on whatever fails, and is heard. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Logger from "effect/Logger";
import * as Metric from "effect/Metric";
import { describe, expect, it } from "vitest";
import { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import type { Rpc } from "../../src/Rpc.js";
import { lane, sender, SimulatedChain } from "./chain.js";
import { changed, itOnChain, run, send, until } from "./running.js";

interface Line {
  readonly level: string;
  readonly text: string;
}

/** Runs with a keep beside it, and tells what was logged and counted. */
const kept = async (
  use: (lines: ReadonlyArray<Line>) => Effect.Effect<unknown, unknown, NonceStore | Rpc>,
  chain = new SimulatedChain(),
  store?: Layer.Layer<NonceStore>,
) => {
  const lines: Array<Line> = [];
  const logger = Logger.make<unknown, void>(
    ({ logLevel, message }) => void lines.push({ level: logLevel, text: String(message) }),
  );
  const metrics = await run(
    chain,
    Effect.andThen(use(lines), Metric.snapshot).pipe(
      Effect.provideContext(Context.make(Metric.MetricRegistry, new Map())),
      Effect.provide(Logger.layer([logger])),
    ),
    store === undefined ? {} : { store },
  );
  const failed = metrics
    .filter(({ id }) => id === "evm_preflight_nonces_keep_failed_total")
    .map(({ attributes, state }) => [attributes?.["reason"], "count" in state ? Number(state.count) : 0] as const);
  return { lines, failed: Object.fromEntries(failed) };
};

describe("keep", () => {
  it("logs failures at Warning and counts them, backs off, and works again", async () => {
    const chain = new SimulatedChain();
    const { pool } = chain.account(sender.address);
    let failedForMs = 0;
    const { lines, failed } = await kept(
      (told) =>
        Effect.gen(function* () {
          yield* send();
          pool.clear();
          Object.assign(chain, { chainId: 5 });
          const keeping = yield* Effect.forkChild(Nonces.keep(lane, { everyMs: 10 }));
          const started = performance.now();
          yield* until(() => told.length >= 5);
          failedForMs = performance.now() - started;
          Object.assign(chain, { chainId: 31337 });
          yield* until(() => pool.size === 1);
          yield* Fiber.interrupt(keeping);
        }),
      chain,
    );
    const id = `31337:${sender.address.toLowerCase()}:0`;
    expect(lines.map(({ level }) => level)).toEqual(lines.map(() => "Warn"));
    expect(lines[0]?.text).toContain(id);
    expect(failed).toEqual({ ChainIdMismatch: lines.length });
    // 20, 40, 80 and 160 ms, each a quarter less at most; every 10 ms it would be 40
    expect(failedForMs).toBeGreaterThan(200);
  });

  it("outlives a store that dies, and reports once what a node refuses", async () => {
    const chain = new SimulatedChain();
    let asked = 0;
    const dying = changed((store) => ({
      reconcile: (...given) => ((asked += 1) === 1 ? Effect.die("broken") : store.reconcile(...given)),
    }));
    const { lines, failed } = await kept(
      () =>
        Effect.gen(function* () {
          chain.refusals.push(...Array<string>(1_000).fill("insufficient funds for gas * price + value"));
          yield* Effect.flip(send());
          const keeping = yield* Effect.forkChild(Nonces.keep(lane, { everyMs: 5 }));
          yield* until(() => chain.broadcasts.length > 4);
          yield* Fiber.interrupt(keeping);
        }),
      chain,
      dying,
    );
    expect(failed).toEqual({ _OTHER: 1, rejected: 1 });
    expect(lines[1]?.text).toContain("nonce 0 is refused");
  });

  itOnChain("is a layer that lives as long as its scope", function* (chain) {
    const { pool } = chain.account(sender.address);
    const store = yield* NonceStore;
    yield* Effect.gen(function* () {
      yield* send();
      pool.clear();
      yield* until(() => pool.size === 1);
    }).pipe(Effect.provide(Layer.provide(Nonces.layerKeep([lane], { everyMs: 5 }), Layer.succeed(NonceStore, store))));
    pool.clear();
    yield* Effect.sleep(50);
    expect(pool.size).toBe(0);
    const bad = Effect.scoped(Layer.build(Nonces.layerKeep([{ ...lane, key: 1n }])));
    expect(yield* Effect.flip(bad)).toMatchObject({ _tag: "InvalidLane" });
  });
});
