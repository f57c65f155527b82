/** A proof of a report from outside, on the last head of its connection: in one round where nothing moved, and anew where anything did. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { multicall3Abi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import * as Preflight from "../../src/Preflight.js";
import type { BundleReport } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { RpcError, Transport } from "../rooms/errors.js";
import { Gate } from "../contracts/artifacts.js";
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
  severe,
  startAnvilScene,
  startGethScene,
  tampered,
  type AnyInput,
  type Scene,
} from "./scene.js";

const send = { from: owner.address, to: nobody, value: 1n } as const;
const geth = findGethOrWarn("a remembered head on geth");
const scenes: ReadonlyArray<readonly [string, () => Promise<Scene>]> = [
  ["anvil", () => startAnvilScene(1)],
  ...(geth === null ? [] : [["geth", () => startGethScene(geth, { chainId: 1 })] as const]),
];

interface Fields {
  readonly number: Hex;
  readonly hash: Hex;
}

/** What was asked, by round: the runs by their names; traces keep nobody waiting, and are left out. */
const roundsOf = ({ ledger }: BundleReport) =>
  Array.from({ length: ledger.rounds }, (_, index) =>
    ledger.requests
      .filter(({ round, tries, method }) => round === index + 1 && tries > 0 && method !== "debug_traceCall")
      .map(({ run, method }) => run ?? method),
  );
const headersOf = (report: BundleReport) =>
  roundsOf(report).map((round) => round.filter((method) => method === "eth_getBlockByNumber").length);
const reasonsOf = ({ ledger }: BundleReport) => [...new Set(ledger.requests.map(({ because }) => because))];

describe.each(scenes)("a proof on the remembered head of %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  const block = async (number = "latest") =>
    (await scene.ask("eth_getBlockByNumber", [number, false])) as Fields & Readonly<Record<string, unknown>>;
  const earlier = async () => block(`0x${(BigInt((await block()).number) - 1n).toString(16)}`);

  /** A report, and its proof behind what happens meanwhile, by one connection; on a head that is a moment old. */
  const proven = async (
    between: () => Promise<unknown>,
    {
      input = send,
      layer = layerOf(scene.url),
      options = {},
    }: { input?: AnyInput; layer?: Layer.Layer<Rpc.Rpc>; options?: Preflight.Options } = {},
  ) => {
    await scene.mine();
    return Effect.runPromise(
      Effect.gen(function* () {
        const report = yield* Preflight.preflight(input as never, options);
        yield* Effect.promise(between);
        return [report, yield* Preflight.prove(report)] as const;
      }).pipe(Effect.provide(layer)),
    );
  };
  const nothing = () => Promise.resolve();

  it("takes one round where nothing moved, and one request less than on an unknown head", async () => {
    const proxy = await startProxy({ target: scene.url, inRounds: true });
    for (const input of [send, transferOf(token)]) {
      const reset = async () => proxy.reset();
      const [report, again] = await proven(reset, { input, layer: layerOf(proxy.url) });
      expect([report.verdict, again.verdict, again.digest]).toEqual(["ready", "ready", report.digest]);
      expect([again.ledger.rounds, headersOf(again)]).toEqual([1, [1]]);
      expect(new Set(proxy.seen.map(({ round }) => round)).size).toBe(1);
      expect(again.ledger.requests).toHaveLength(proxy.seen.length);
      const cold = await Effect.runPromise(Effect.provide(Preflight.prove(report), layerOf(scene.url)));
      expect(headersOf(cold)).toEqual([1, 1]);
      const [told = []] = roundsOf(again);
      expect(roundsOf(cold)[1]?.filter((method) => method !== "eth_config")).toEqual(told);
      expect(again.observed).toMatchObject({ freshness: "fresh", latestNumber: BigInt((await block()).number) });
    }
    await proxy.stop();
  });

  it("is made again on the head that its round shows, where a block came since the report", async () => {
    const [, again] = await proven(() => scene.mine());
    expect([again.verdict, again.observed.latestNumber]).toEqual(["ready", BigInt((await block()).number)]);
    expect([headersOf(again), reasonsOf(again)]).toEqual([
      [1, 1],
      [null, "headMoved"],
    ]);
    expect(codesOf(again)).not.toContain("PendingMoved/info");
  });

  it("is not ready where that block closed what was open", async () => {
    await turn({ scene, gate }, "open");
    const [report, again] = await proven(
      async () => {
        await turn({ scene, gate }, "close");
        await scene.mine();
      },
      { input: passing(gate) },
    );
    expect([report.verdict, again.verdict]).toEqual(["ready", "blocked"]);
    expect(codesOf(again)).toContain("ExecutionReverted/blocker");
  });

  it.each<[string, (method: string) => boolean]>([
    ["whatever is in the round", () => true],
    ["the header alone", (method) => method === "eth_getBlockByNumber"],
    ["the runs alone", (method) => method === "eth_simulateV1"],
  ])("sees a block that comes in the middle of the round, before %s", async (_, isBehind) => {
    let isArmed = false;
    const moving = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (node) => {
        let moved: Promise<void> | null = null;
        return Rpc.Rpc.of({
          ...node,
          request: (method, params) =>
            isArmed && isBehind(method)
              ? Effect.andThen(
                  Effect.promise(() => (moved ??= scene.mine())),
                  node.request(method, params),
                )
              : node.request(method, params),
        });
      }),
    ).pipe(Layer.provide(layerOf(scene.url)));
    const arm = async () => void (isArmed = true);
    for (const pending of ["guess", "preconfirmed"] as const) {
      isArmed = false;
      const [, again] = await proven(arm, { layer: moving, options: { pending } });
      const head = BigInt((await block()).number);
      expect([again.verdict, again.observed.latestNumber, again.observed.freshness]).toEqual(["ready", head, "fresh"]);
    }
  });

  it("asks for the head again where the round shows an earlier one, or none, from a lagging node", async () => {
    for (const shown of ["earlier", "none"]) {
      let old: Fields | null = null;
      let left = 0;
      const layer = tampered(scene.url, ({ method, params }) => {
        if (method !== "eth_getBlockByNumber" || params[0] !== "latest" || left === 0) return null;
        left--;
        return shown === "none" ? new RpcError({ method, reason: new Transport({ detail: "" }) }) : () => old;
      });
      const [, again] = await proven(
        async () => {
          old = await earlier();
          left = 1;
        },
        { layer },
      );
      expect([shown, again.verdict, severe(again), again.observed.latestNumber]).toEqual([
        ...[shown, "ready", []],
        BigInt((await block()).number),
      ]);
      // beside the trial, behind it of several nodes, and beside the proof; what never arrived is not in the ledger
      expect([headersOf(again), reasonsOf(again)]).toEqual([
        [shown === "none" ? 0 : 1, 4, 1],
        [null, "headMoved"],
      ]);
    }
  });

  it("counts the later of two nodes behind one address, whichever answers what", async () => {
    for (const places of [[0], [1], [2, 3], [1, 4], [0, 5]]) {
      let old: Fields | null = null;
      let asked = -1;
      const layer = tampered(scene.url, ({ method, params }) => {
        if (method !== "eth_getBlockByNumber" || params[0] !== "latest" || old === null) return null;
        asked++;
        return places.includes(asked) ? () => old : null;
      });
      const [, again] = await proven(
        async () => {
          old = await block();
          await scene.mine();
        },
        { layer },
      );
      const head = BigInt((await block()).number);
      expect([places, again.verdict === "ready" ? again.observed.latestNumber : head]).toEqual([places, head]);
    }
  });

  it("is never ready on an earlier head than the remembered one, unless the chain itself went back", async () => {
    if (name !== "anvil") return;
    const snapshot = await scene.ask("evm_snapshot", []);
    const [, back] = await proven(() => scene.ask("evm_revert", [snapshot]));
    const head = await block();
    expect([back.verdict, back.observed.latestNumber]).toEqual(["ready", BigInt(head.number)]);
    expect([headersOf(back), reasonsOf(back)]).toEqual([
      [1, 4, 1],
      [null, "headMoved"],
    ]);
  });

  it("is made again on another block of the same height", async () => {
    if (name !== "anvil") return;
    await turn({ scene, gate }, "open");
    await scene.mine();
    for (const closes of [false, true]) {
      const snapshot = await scene.ask("evm_snapshot", []);
      const [report, again] = await proven(
        async () => {
          await scene.ask("evm_revert", [snapshot]);
          if (closes) await scene.pool(owner, { to: gate, data: calldata(Gate, "close"), maxFeePerGas: 10n ** 11n });
          else await scene.pool(owner, { to: other.address, value: 1n });
          await scene.mine();
        },
        { input: passing(gate) },
      );
      const head = await block();
      expect([report.verdict, again.verdict]).toEqual(["ready", closes ? "blocked" : "ready"]);
      expect([report.observed.latestNumber, again.observed.latestNumber]).toEqual([
        BigInt(head.number),
        BigInt(head.number),
      ]);
      expect([headersOf(again), reasonsOf(again)]).toEqual([
        [1, 1],
        [null, "headMoved"],
      ]);
    }
  });

  it("reads the head first where that is a block old, by whichever clock", async () => {
    const real = Effect.runSync(Effect.service(Clock.Clock));
    for (const aheadMs of [0, 13_000]) {
      let by = 0;
      const clock: Clock.Clock = Object.assign(Object.create(real) as Clock.Clock, {
        currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + by,
        currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now + by),
      });
      const layer = Layer.provideMerge(layerOf(scene.url), Layer.succeed(Clock.Clock, clock));
      const [, again] = await proven(async () => void (by = aheadMs), { layer });
      expect([aheadMs, headersOf(again)]).toEqual([aheadMs, aheadMs === 0 ? [1] : [1, 1]]);
    }
  });

  it("reads the head first with an unknown pace, with several endpoints, and on a state that a scan would not choose", async () => {
    const [chain, quorum] = [
      Layer.merge(layerOf(scene.url), Chains.layerWith(1, { ...Chains.lookup(1), paceKnown: false })),
      quorumOf([layerOf(scene.url), layerOf(scene.url)]),
    ];
    for (const layer of [chain, quorum]) {
      const [, again] = await proven(nothing, { layer });
      expect(headersOf(again)).toEqual(layer === chain ? [1, 1] : [2, 2]);
    }
    const odd = await Effect.runPromise(
      Effect.gen(function* () {
        const report = yield* Preflight.preflight(send);
        return yield* Preflight.prove({ ...report, observed: { ...report.observed, blockTag: "latest" } });
      }).pipe(Effect.provide(layerOf(scene.url))),
    );
    // why: blocks of a test may be of a later time than its clock (ClockSkew)
    expect(["ready", "caution"]).toContain(odd.verdict);
    expect([odd.observed.blockTag, headersOf(odd)]).toEqual(["pending", [1, 1]]);
  });

  it.runIf(name === "anvil")(
    "traces inner calls of a batch on the state that a scan would choose, whatever a posted report says",
    async () => {
      const batch: Hex = `0x${"ba".repeat(20)}`;
      // answers with ones, of which no results of calls can be read
      await scene.ask("anvil_setCode", [batch, "0x5f195f5260205ff3"]);
      const calls = [{ target: nobody, allowFailure: true, callData: "0x" }];
      const data = calldata({ abi: multicall3Abi }, "aggregate3", [calls]);
      const blocks: Array<unknown> = [];
      const watched = Layer.effect(
        Rpc.Rpc,
        Effect.map(Rpc.Rpc, (node) =>
          Rpc.Rpc.of({
            ...node,
            request: (method, params) => {
              if (method === "debug_traceCall" && JSON.stringify(params[2]).includes("callTracer"))
                blocks.push(params[1]);
              return node.request(method, params);
            },
          }),
        ),
      ).pipe(Layer.provide(layerOf(scene.url)));
      await scene.mine();
      const again = await Effect.runPromise(
        Effect.gen(function* () {
          const report = yield* Preflight.preflight({ from: owner.address, to: batch, data }, { block: "latest" });
          blocks.length = 0;
          return yield* Preflight.prove({ ...report, observed: { ...report.observed, blockTag: 1n } });
        }).pipe(Effect.provide(watched)),
      );
      // the trace beside the runs stands on their block, by its hash
      const named = blocks.filter((block) => typeof block === "string");
      expect([headersOf(again)[0], blocks.length, named]).toEqual([1, 2, ["latest"]]);
    },
  );

  it("forgets the head with everything else that it knew of a connection", async () => {
    const [report] = await proven(nothing);
    const again = await Effect.runPromise(
      Effect.gen(function* () {
        yield* Preflight.scan(send);
        (yield* Rpc.Rpc).memory.forget();
        return yield* Preflight.prove(report);
      }).pipe(Effect.provide(layerOf(scene.url))),
    );
    expect(headersOf(again)).toEqual([1, 1]);
  });
});
