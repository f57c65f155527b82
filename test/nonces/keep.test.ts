/** `keep` goes on whatever fails, and is heard; lanes are started by one call. */
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
import { lane, sender, sign, SimulatedChain } from "./chain.js";
import { at } from "./lanes.js";
import { changed, run, send } from "./running.js";

interface Line {
  readonly level: string;
  readonly text: string;
}

/** Runs with a keep beside it, and tells what was logged and counted. */
const kept = async (
  effect: Effect.Effect<unknown, unknown, NonceStore | Rpc>,
  chain = new SimulatedChain(),
  store?: Layer.Layer<NonceStore>,
) => {
  const lines: Array<Line> = [];
  const logger = Logger.make<unknown, void>(
    ({ logLevel, message }) => void lines.push({ level: logLevel, text: String(message) }),
  );
  const metrics = await run(
    chain,
    Effect.andThen(effect, Metric.snapshot).pipe(
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
  it("logs at Warning and counts what failed, backs off, and works again", async () => {
    const chain = new SimulatedChain();
    const { lines, failed } = await kept(
      Effect.gen(function* () {
        yield* send();
        chain.account(sender.address).pool.clear();
        Object.assign(chain, { chainId: 5 });
        const keeping = yield* Effect.forkChild(Nonces.keep(lane, { everyMs: 10 }));
        yield* Effect.sleep(200);
        Object.assign(chain, { chainId: 31337 });
        yield* Effect.sleep(400);
        yield* Fiber.interrupt(keeping);
      }),
      chain,
    );
    const id = `31337:${sender.address.toLowerCase()}:0`;
    expect(lines.map(({ level }) => level)).toEqual(lines.map(() => "Warn"));
    expect(lines[0]?.text).toContain(id);
    expect(failed).toEqual({ ChainIdMismatch: lines.length });
    // every 10 ms it would be twenty
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.length).toBeLessThan(8);
    expect(chain.account(sender.address).pool.size).toBe(1);
  });

  it("outlives a store that dies, and says once what a node refuses", async () => {
    const chain = new SimulatedChain();
    let asked = 0;
    const dying = changed((store) => ({
      reconcile: (...given) => ((asked += 1) === 1 ? Effect.die("broken") : store.reconcile(...given)),
    }));
    const { lines, failed } = await kept(
      Effect.gen(function* () {
        chain.refusals.push(...Array<string>(1_000).fill("insufficient funds for gas * price + value"));
        yield* Effect.flip(send());
        const keeping = yield* Effect.forkChild(Nonces.keep(lane, { everyMs: 5 }));
        yield* Effect.sleep(150);
        yield* Fiber.interrupt(keeping);
      }),
      chain,
      dying,
    );
    expect(failed).toEqual({ _OTHER: 1, rejected: 1 });
    expect(lines[1]?.text).toContain("nonce 0 is refused");
    expect(chain.broadcasts.length).toBeGreaterThan(2);
  });

  it("works for a lane with a key, whose counts it is given; without them it fails at once", async () => {
    const keyed = { ...lane, key: 7n };
    const { lines } = await kept(
      Effect.gen(function* () {
        expect(yield* Nonces.bootstrap(keyed, { settleMs: 1, counts: () => Effect.succeed(at(0n)) })).toBe(true);
        const counts = at(0n);
        const lease = yield* Nonces.reserve(keyed, { counts });
        yield* Nonces.commit(lease, { raw: yield* sign(lease.nonce) });
        const asked: Array<string> = [];
        const keeping = yield* Effect.forkChild(
          Nonces.keep(keyed, {
            everyMs: 5,
            counts: ({ id }) => {
              asked.push(id);
              return Effect.succeed(at(1n));
            },
          }),
        );
        yield* Effect.sleep(50);
        yield* Fiber.interrupt(keeping);
        expect(asked[0]).toMatch(/:7$/);
        expect((yield* Nonces.status(keyed)).floor).toBe(1n);
        expect(yield* Effect.flip(Nonces.keep(keyed))).toMatchObject({ _tag: "InvalidLane", field: "key" });
      }).pipe(Effect.scoped),
    );
    expect(lines).toEqual([]);
  });

  it("is a layer that lives as long as its scope", async () => {
    const chain = new SimulatedChain();
    await run(
      chain,
      Effect.gen(function* () {
        const store = yield* NonceStore;
        yield* Effect.gen(function* () {
          yield* send();
          chain.account(sender.address).pool.clear();
          yield* Effect.sleep(50);
          expect(chain.account(sender.address).pool.size).toBe(1);
        }).pipe(
          Effect.provide(Layer.provide(Nonces.layerKeep([lane], { everyMs: 5 }), Layer.succeed(NonceStore, store))),
        );
        chain.account(sender.address).pool.clear();
        yield* Effect.sleep(50);
        expect(chain.account(sender.address).pool.size).toBe(0);
        const bad = Effect.scoped(Layer.build(Nonces.layerKeep([{ ...lane, key: 1n }])));
        expect(yield* Effect.flip(bad)).toMatchObject({ _tag: "InvalidLane" });
      }),
    );
  });
});

describe("a lane", () => {
  it("that is cold names the one call that starts it, which answers at once when it is known", async () => {
    const lasting = changed(() => ({ persistent: true }));
    const chain = new SimulatedChain();
    const [cold, unchecked, isNew, again, sound] = await run(
      chain,
      Effect.gen(function* () {
        const first = yield* Effect.flip(send());
        const second = yield* Effect.flip(Nonces.check(lane));
        const third = yield* Nonces.bootstrap(lane, { settleMs: 1 });
        const before = performance.now();
        const fourth = yield* Nonces.bootstrap(lane);
        expect(performance.now() - before).toBeLessThan(5_000);
        return [first, second, third, fourth, yield* Nonces.check(lane)] as const;
      }),
      { store: lasting },
    );
    expect(cold.message).toContain("Nonces.bootstrap(lane)");
    expect(cold.message).toContain("preflight.nonces.bootstrap(lane)");
    expect([unchecked._tag, isNew, again, sound]).toEqual(["NonceColdStart", true, false, []]);
  });
});
