/** A proof whose requests go out beside the scan, as the last report of the same call would be proven: used where it is what is wanted now. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Tracer from "effect/Tracer";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import type { BundleReport } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import * as Step from "../../src/Step.js";
import { Gate } from "../contracts/artifacts.js";
import { CurrentRun } from "../rooms/rpc.js";
import { findGethOrWarn } from "../harness/geth.js";
import { quorumOf } from "../harness/pairs.js";
import { startProxy } from "../harness/proxy.js";
import { furnish, passing, transferOf, turn } from "./furnished.js";
import {
  calldata,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  startAnvilScene,
  startGethScene,
  type AnyInput,
  type Scene,
} from "./scene.js";

const send = { from: owner.address, to: nobody, value: 1n } as const;
const geth = findGethOrWarn("a proof sent beside its scan on geth");
const scenes: ReadonlyArray<readonly [string, () => Promise<Scene>]> = [
  ["anvil", () => startAnvilScene(1)],
  ...(geth === null ? [] : [["geth", () => startGethScene(geth, { chainId: 1 })] as const]),
];
const ahead: Preflight.Options = { speculate: true };

/** A layer of a user's own, which asks the node in its own way. */
const through = (
  ask: (
    node: Rpc.Rpc["Service"],
    ...asked: Parameters<Rpc.Rpc["Service"]["request"]>
  ) => ReturnType<Rpc.Rpc["Service"]["request"]>,
) =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => Rpc.Rpc.of({ ...node, request: (...asked) => ask(node, ...asked) })),
  );

const sentAhead = ({ ledger }: BundleReport) =>
  ledger.requests.filter(
    ({ because, tries, method }) => because === "speculated" && tries > 0 && method !== "debug_traceCall",
  );
const reasonsOf = ({ ledger }: BundleReport) => [...new Set(ledger.requests.map(({ because }) => because))];
const isHit = (report: BundleReport) => [report.ledger.rounds, sentAhead(report).length > 0];

/** A report without what hangs on when and how it was asked. */
const saidBy = ({ options, observed, ...report }: BundleReport): unknown => {
  const worlds = observed.worlds.map(({ run, agrees }) => [run, agrees]);
  const said = {
    ...report,
    options: { ...options, speculate: false },
    observed: { ...observed, worlds, at: 0 },
    ledger: null,
  };
  return JSON.parse(JSON.stringify(said, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
};

describe.each(scenes)("a preflight that sends its proof ahead, on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  /** One call again and again by one connection, each time behind what happens before. */
  const repeated = async (
    input: AnyInput,
    befores: ReadonlyArray<() => Promise<unknown>>,
    {
      layer = layerOf(scene.url),
      preflight = Preflight.preflight as never,
    }: {
      layer?: Layer.Layer<Rpc.Rpc>;
      preflight?: (input: never, options: Preflight.Options) => Effect.Effect<BundleReport, unknown, Rpc.Rpc>;
    } = {},
  ) => {
    await scene.mine();
    return Effect.runPromise(
      Effect.forEach(befores, (before) =>
        Effect.andThen(Effect.promise(before), preflight(input as never, ahead)),
      ).pipe(Effect.provide(layer)),
    );
  };
  const nothing = () => Promise.resolve();

  // the node's clock may pass a slot between two of them
  it("takes one round from the second time on, asks no more, and reports the same", { retry: 2 }, async () => {
    const proxy = await startProxy({ target: scene.url, inRounds: true });
    const approve = { ...transferOf(token), functionName: "approve" };
    const both = [transferOf(token), { from: other.address, to: nobody, value: 2n } as const];
    for (const input of [send, transferOf(token), approve, both]) {
      const layer = layerOf(proxy.url);
      const reset = async () => proxy.reset();
      const reports = await repeated(input as AnyInput, [nothing, reset, reset], { layer });
      const [first, second, third] = reports;
      if (first === undefined || second === undefined || third === undefined) throw new Error("no report");
      expect([second.verdict, second.stage, second.digest]).toEqual([first.verdict, "proven", first.digest]);
      expect(reports.map(isHit)).toEqual([
        [2, false],
        [1, true],
        [1, true],
      ]);
      expect(new Set(proxy.seen.map(({ round }) => round)).size).toBe(1);
      expect(third.ledger.requests.filter(({ tries }) => tries > 0)).toHaveLength(proxy.seen.length);
      const plain = await Effect.runPromise(
        Effect.gen(function* () {
          yield* Preflight.preflight(input as never);
          return yield* Preflight.preflight(input as never);
        }).pipe(Effect.provide(layerOf(scene.url))),
      );
      expect(third.ledger.requests.length).toBe(plain.ledger.requests.length);
      expect(saidBy(third)).toEqual(saidBy(plain));
    }
    await proxy.stop();
  });

  it("proves in a round of its own where a block came since, with the earlier requests in the ledger", async () => {
    const [, again] = await repeated(transferOf(token), [nothing, () => scene.mine()]);
    const head = BigInt((await scene.ask("eth_blockNumber", [])) as Hex);
    expect([again?.verdict, again?.observed.latestNumber, again?.ledger.rounds]).toEqual(["ready", head, 2]);
    expect([again && sentAhead(again).length > 0, again && reasonsOf(again)]).toEqual([
      true,
      [null, "speculated", "proof"],
    ]);
  });

  it("drops them where the scan needs another request proven, by nonce or possible movements", async () => {
    const pay = { from: other.address, to: nobody, value: 3n } as const;
    const [, next] = await repeated(pay, [
      nothing,
      async () => {
        await scene.send(other, { to: nobody, value: 1n });
      },
    ]);
    expect([next?.transactions[0].nonce.inFlight, next?.ledger.rounds]).toEqual([1, 2]);
    expect(next && reasonsOf(next)).toContain("proof");
    await scene.mine();
  });

  it("is not ready where a block closed what was open", async () => {
    await turn({ scene, gate }, "open");
    const [report, again] = await repeated(passing(gate), [
      nothing,
      async () => {
        await turn({ scene, gate }, "close");
        await scene.mine();
      },
    ]);
    expect([report?.verdict, again?.verdict]).toEqual(["ready", "blocked"]);
    expect(again && codesOf(again)).toContain("ExecutionReverted/blocker");
  });

  it.each<[string, (method: string) => boolean]>([
    ["whatever is in the round", () => true],
    ["the headers alone", (method) => method === "eth_getBlockByNumber"],
    ["the runs alone", (method) => method === "eth_simulateV1"],
  ])("sees a block that comes in the middle of the one round, before %s", async (_, isBehind) => {
    await turn({ scene, gate }, "open");
    let isArmed = false;
    let moved: Promise<void> | null = null;
    const close = async () => {
      await scene.pool(owner, { to: gate, data: calldata(Gate, "close"), maxFeePerGas: 10n ** 11n });
      await scene.mine();
    };
    const moving = through((node, method, params) =>
      isArmed && isBehind(method)
        ? Effect.andThen(
            Effect.promise(() => (moved ??= close())),
            node.request(method, params),
          )
        : node.request(method, params),
    ).pipe(Layer.provide(layerOf(scene.url)));
    const [, again] = await repeated(passing(gate), [nothing, async () => void (isArmed = true)], { layer: moving });
    expect(again?.verdict).toBe("blocked");
  });

  it("stands on no earlier block than the scan: it sees one that comes before the scan's own run alone", async () => {
    for (const block of ["pending", "latest"] as const) {
      let isArmed = false;
      const moving = through((node, method, params) =>
        Effect.flatMap(CurrentRun, ({ run }) => {
          if (!isArmed || run !== "ample") return node.request(method, params);
          isArmed = false;
          // behind all else that is asked in that round
          const moved = Effect.promise(async () => {
            await new Promise((resolve) => setTimeout(resolve, 300));
            await scene.mine();
          });
          return Effect.andThen(moved, node.request(method, params));
        }),
      ).pipe(Layer.provide(layerOf(scene.url)));
      const latest = { ...ahead, block };
      const preflight = (input: never) => Preflight.preflight(input, latest);
      const befores = [nothing, nothing, async () => void (isArmed = true)];
      const [, , again] = await repeated(transferOf(token), befores, { layer: moving, preflight });
      const head = BigInt((await scene.ask("eth_blockNumber", [])) as Hex);
      expect([block, again?.verdict, again?.observed.latestNumber]).toEqual([block, "ready", head]);
    }
  });

  it("does not wait for them where the scan is the answer", async () => {
    await turn({ scene, gate }, "open");
    let isClosed = false;
    const silent = through((node, method, params) =>
      isClosed && JSON.stringify(params).includes("blockHash") ? Effect.never : node.request(method, params),
    ).pipe(Layer.provide(layerOf(scene.url)));
    const started = Date.now();
    const [, again] = await repeated(
      passing(gate),
      [
        nothing,
        async () => {
          isClosed = true;
          await turn({ scene, gate }, "close");
        },
      ],
      { layer: silent },
    );
    expect([again?.verdict, again?.stage]).toEqual(["blocked", "scanned"]);
    expect(Date.now() - started).toBeLessThan(9_000);
    await scene.mine();
  });

  it("works over every layer, and with spans on", async () => {
    const own = through((node, ...asked) => node.request(...asked)).pipe(Layer.provide(layerOf(scene.url)));
    const spans: Array<string> = [];
    const tracer = Tracer.make({
      span: (options) => {
        spans.push(options.name);
        return new Tracer.NativeSpan(options);
      },
    });
    const traced = Layer.provideMerge(layerOf(scene.url), Layer.succeedContext(Context.make(Tracer.Tracer, tracer)));
    for (const layer of [own, traced]) {
      const reports = await repeated(transferOf(token), [nothing, nothing, nothing, nothing], { layer });
      expect(reports.map(({ verdict }) => verdict)).toEqual(reports.map(() => "ready"));
      // the node's clock may pass a slot between two of them
      expect(reports.map(isHit)).toContainEqual([1, true]);
    }
    expect(spans.length).toBeGreaterThan(0);
  });

  it("sends nothing ahead unasked, with several endpoints, own steps, unknown pace, or a reservation", async () => {
    const step = Step.make({ name: "acme/nothing", check: () => [] });
    const pace = Layer.merge(layerOf(scene.url), Chains.layerWith(1, { ...Chains.lookup(1), paceKnown: false }));
    const told = [
      await repeated(send, [nothing, nothing], { preflight: ((input: never) => Preflight.preflight(input)) as never }),
      await repeated(send, [nothing, nothing], { layer: quorumOf([layerOf(scene.url), layerOf(scene.url)]) }),
      await repeated(send, [nothing, nothing], { layer: pace }),
      await repeated(send, [nothing, nothing], { preflight: Preflight.make({ steps: [step] }).preflight as never }),
      await repeated(send, [nothing, nothing], {
        preflight: Preflight.reserving(({ transactions }) => Effect.succeed(transactions.map(() => null))) as never,
      }),
    ];
    for (const [place, reports] of told.entries())
      expect([place, reports.map((report) => [report.verdict, sentAhead(report)])]).toEqual([
        place,
        reports.map(() => ["ready", []]),
      ]);
  });

  it("recognises a call by its transactions and options, and forgets it with its connection", async () => {
    const reports = await Effect.runPromise(
      Effect.gen(function* () {
        const one = yield* Preflight.preflight(send, ahead);
        const dearer = yield* Preflight.preflight({ ...send, value: 2n }, ahead);
        const fast = yield* Preflight.preflight(send, { ...ahead, feeLevel: "fast" });
        const again = yield* Preflight.preflight(send, ahead);
        (yield* Rpc.Rpc).memory.forget();
        return [one, dearer, fast, again, yield* Preflight.preflight(send, ahead)];
      }).pipe(Effect.provide(layerOf(scene.url))),
    );
    expect(reports.map((report) => sentAhead(report).length > 0)).toEqual([false, false, false, true, false]);
  });

  it("counts no round without a request", async () => {
    const confirming = (input: never) => Preflight.preflight(input, { ...ahead, confirmHead: true });
    const [, again] = await repeated(transferOf(token), [nothing, nothing], { preflight: confirming });
    expect([again?.verdict, again?.ledger.rounds, again && sentAhead(again).length > 0]).toEqual(["ready", 2, true]);
    expect(new Set(again?.ledger.requests.map(({ round }) => round))).toEqual(new Set([1, 2]));
  });

  it("continues where a caller has changed the report that it got", async () => {
    const clear = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const field of Object.keys(value)) {
        clear((value as Record<string, unknown>)[field]);
        Reflect.set(value, field, null);
      }
    };
    for (const change of [
      (report: BundleReport) => void Reflect.set(report.transactions[0].input, "data", null),
      (report: BundleReport) => void Reflect.set(report.options, "accounts", null),
      clear,
    ]) {
      await scene.mine();
      const verdict = await Effect.runPromise(
        Effect.gen(function* () {
          change(yield* Preflight.preflight(transferOf(token) as never, ahead));
          return (yield* Preflight.preflight(transferOf(token) as never, ahead)).verdict;
        }).pipe(Effect.provide(layerOf(scene.url))),
      );
      // why: blocks of a test may be of a later time than its clock (ClockSkew)
      expect(["ready", "caution"]).toContain(verdict);
    }
  });

  it("does not wait for useless requests, and logs those that had no answer yet", async () => {
    await turn({ scene, gate }, "open");
    let isClosed = false;
    const slowly = (ask: (node: Rpc.Rpc["Service"]) => ReturnType<Rpc.Rpc["Service"]["request"]>) =>
      through((node, method, params) =>
        Effect.flatMap(CurrentRun, ({ because, run }) =>
          isClosed && because === "speculated" && run === "next" ? ask(node) : node.request(method, params),
        ),
      );
    const proxy = await startProxy({ target: scene.url });
    proxy.fail("eth_silent", { kind: "hang" });
    const close = async () => {
      isClosed = true;
      await turn({ scene, gate }, "close");
    };
    const [, told] = await repeated(passing(gate), [nothing, close], {
      layer: slowly((node) => node.request("eth_silent", [])).pipe(Layer.provide(layerOf(proxy.url))),
    });
    expect([told?.verdict, told?.stage]).toEqual(["blocked", "scanned"]);
    expect(told && sentAhead(told).some(({ run }) => run === "next")).toBe(true);
    isClosed = false;
    await turn({ scene, gate }, "open");
    const started = Date.now();
    const [, again] = await repeated(passing(gate), [nothing, close], {
      layer: slowly((node) =>
        Effect.uninterruptible(Effect.delay(node.request("eth_blockNumber", []), "20 seconds")),
      ).pipe(Layer.provide(layerOf(scene.url))),
    });
    expect(again?.verdict).toBe("blocked");
    expect(Date.now() - started).toBeLessThan(15_000);
    await scene.mine();
    await proxy.stop();
  });

  // the first report has to be there before its block is three seconds old
  it("asks again where the next block is due by then", { retry: 2 }, async () => {
    const chain = { ...Chains.lookup(1), blockTimeMs: 3_000 };
    let isSlow = false;
    const slow = through((node, method, params) =>
      isSlow && method === "eth_feeHistory"
        ? Effect.delay(node.request(method, params), "3500 millis")
        : node.request(method, params),
    ).pipe(Layer.provide(layerOf(scene.url)));
    const layer = Layer.merge(slow, Chains.layerWith(1, chain));
    const [, again] = await repeated(transferOf(token), [nothing, async () => void (isSlow = true)], { layer });
    expect([again?.verdict, again?.ledger.rounds]).toEqual(["ready", 2]);
    expect(again && reasonsOf(again)).toEqual([null, "speculated", "proof"]);
  });

  it("asks again where the scan took more than one round", async () => {
    let isLost = false;
    const lost = through((node, method, params) => {
      if (!isLost || method !== "eth_feeHistory") return node.request(method, params);
      // the second time it is answered, and the scan wants the very request proven that was sent ahead
      isLost = false;
      return Effect.succeed({});
    }).pipe(Layer.provide(layerOf(scene.url)));
    // no block is due while this test runs, however slow its machine is
    const layer = Layer.merge(lost, Chains.layerWith(1, { ...Chains.lookup(1), blockTimeMs: 120_000 }));
    const priced = { ...transferOf(token), maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
    const [, third] = await repeated(priced, [nothing, async () => void (isLost = true)], { layer });
    expect([third?.verdict, third?.ledger.rounds]).toEqual(["ready", 3]);
    expect(third && reasonsOf(third)).toEqual([null, "speculated", "missingAnswer", "proof"]);
  });

  if (name === "anvil")
    it("keeps its fees while they are good enough, and takes new ones then", async () => {
      const gwei = 10n ** 9n;
      const at = (fee: bigint) => async () => {
        await scene.ask("anvil_setNextBlockBaseFeePerGas", [`0x${fee.toString(16)}`]);
        await scene.mine();
      };
      // no tip is told of by blocks before this test
      await scene.ask("anvil_mine", ["0xc"]);
      const reports = await repeated(transferOf(token), [
        at(10n * gwei),
        at(11n * gwei),
        at(9n * gwei),
        at(17n * gwei),
        at(2n * gwei),
      ]);
      expect(reports.map(({ verdict }) => verdict)).toEqual(reports.map(() => "ready"));
      const [a, b, c, d, e] = reports.map(({ transactions: [{ fee }] }) => fee.maxFeePerGas);
      expect([a === b, b === c, c === d, d === e]).toEqual([true, true, false, false]);
      const [, held] = reports.map(({ transactions: [{ fee }] }) => fee.horizonSeconds);
      expect(held).toBeLessThanOrEqual(60);
      expect(held).toBeGreaterThanOrEqual(30);
    });

  if (name === "anvil")
    it("keeps no fees from another chain that the endpoint served", async () => {
      const elsewhere = await startAnvilScene(31_337);
      const at = async (fee: bigint) => {
        for (const { ask, mine } of [scene, elsewhere]) {
          await ask("anvil_mine", ["0xc"]);
          await ask("anvil_setNextBlockBaseFeePerGas", [`0x${fee.toString(16)}`]);
          await mine();
        }
      };
      let isElsewhere = false;
      const there = await Effect.runPromise(Rpc.Rpc.pipe(Effect.provide(layerOf(elsewhere.url))));
      const moved = through((node, ...asked) => (isElsewhere ? there : node).request(...asked)).pipe(
        Layer.provide(layerOf(scene.url)),
      );
      await at(10n ** 10n);
      const [first, again] = await repeated(
        send,
        [
          nothing,
          async () => {
            await at(11n * 10n ** 9n);
            isElsewhere = true;
          },
        ],
        { layer: moved },
      );
      expect([first?.chainId, again?.chainId]).toEqual([1, 31_337]);
      const quoted = await Effect.runPromise(Preflight.preflight(send).pipe(Effect.provide(layerOf(elsewhere.url))));
      const cap = (report: BundleReport | undefined) => report?.transactions[0].fee.maxFeePerGas;
      expect(cap(again)).toBe(cap(quoted));
      expect(cap(again)).not.toBe(cap(first));
      await elsewhere.stop();
    });

  if (name === "anvil")
    it("keeps no fees that a balance or a policy does not allow, where the present ones are lower", async () => {
      const gwei = 10n ** 9n;
      const at = async (fee: bigint) => {
        await scene.ask("anvil_setNextBlockBaseFeePerGas", [`0x${fee.toString(16)}`]);
        await scene.mine();
      };
      await scene.ask("anvil_mine", ["0xc"]);
      const pay = { from: other.address, to: nobody, value: 1n } as const;
      const had = await scene.balance(other.address);
      for (const isPolicy of [true, false]) {
        await at(100n * gwei);
        const again = await Effect.runPromise(
          Effect.gen(function* () {
            const { transactions } = yield* Preflight.preflight(pay, ahead);
            const most = ((transactions[0].fee.maxFeePerGas ?? 0n) * 21_000n * 85n) / 100n;
            yield* Effect.promise(() => at(75n * gwei));
            if (isPolicy) return yield* Preflight.preflight(pay, { ...ahead, policies: [Policy.maxFee(most)] });
            yield* Effect.promise(() => scene.ask("anvil_setBalance", [other.address, `0x${most.toString(16)}`]));
            return yield* Preflight.preflight(pay, ahead);
          }).pipe(Effect.provide(layerOf(scene.url))),
        );
        expect([isPolicy, again.verdict, codesOf(again)]).toEqual([isPolicy, "ready", []]);
      }
      await scene.ask("anvil_setBalance", [other.address, `0x${had.toString(16)}`]);
    });
});
