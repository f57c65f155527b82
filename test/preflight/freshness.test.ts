/** Reports on nodes that are dead, lag, or live by another clock than ours. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as TestClock from "effect/testing/TestClock";
import { http } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sent } from "../rooms/eth.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { Simulate } from "../rooms/steps.js";
import { mineAnvil, rawRequest, startAnvil, type Node } from "../harness/anvil.js";
import { findGethOrWarn, startGethDev } from "../harness/geth.js";
import { sevenMethods, startProxy } from "../harness/proxy.js";
import { ask, layerOf as layerBy, ways } from "../rpc/asking.js";
import { indexAbis } from "../rooms/abi.js";
import { plan } from "./pure/world.js";
import { layerOf, nobody, other, owner, preflightOn, proveOn, purposeOf, type Purpose } from "./scene.js";
import { CurrentRun, type HeadSighting, type RunContext } from "../rooms/rpc.js";

const send = { from: owner.address, to: nobody, value: 1n } as const;
const hours72 = 72 * 3600;

const idle: RunContext = { round: 1, deadline: null, signal: null, record: () => undefined };

/** What there is to read of it: verdict, freshness, and the findings of the chain. */
const told = (report: Report.Report) => [
  report.verdict,
  report.observed.freshness,
  ...report.findings.filter(({ step }) => step === "chain").map(({ code, severity }) => `${code}/${severity}`),
];

const geth = findGethOrWarn("a head 72 hours old on geth");
describe.runIf(geth !== null)("a head 72 hours old under a running clock, on geth", () => {
  it.each<[number, Preflight.Options["block"]]>([
    [1, "pending"],
    [1, "latest"],
    [59144, "pending"],
  ])("on chain %i by %s is never ready", async (chainId, block) => {
    const node = await startGethDev(geth ?? "", { chainId, age: hours72 });
    const report = await preflightOn(layerOf(node.url), send, block === undefined ? {} : { block });
    // the wall clock of the pending block is what made it fresh
    const pending = (await rawRequest(node.url, "eth_getBlockByNumber", ["pending", false])) as Record<string, string>;
    await node.stop();
    expect(Date.now() / 1000 - Number(pending["timestamp"])).toBeLessThan(60);
    expect(told(report)).toEqual(["unknown", "stale", "PendingStale/unavailable"]);
    const [{ numbers } = { numbers: [] }] = report.findings;
    expect(numbers.at(-1)).toMatchObject({ name: "age of the head", unit: "seconds" });
    expect(Number(numbers.at(-1)?.value) - hours72).toBeLessThan(60);
  });
});

describe("a report on an unknown chain without a pace", () => {
  it.each([
    [100, ["ready", "fresh"]],
    [200, ["caution", "unknown", "HeadOld/warning"]],
    [900, ["unknown", "stale", "PendingStale/unavailable"]],
  ])("judges a head that is %i s old", async (age, expected) => {
    const args = ["--timestamp", String(Math.floor(Date.now() / 1000) - age)];
    const node = await startAnvil({ chainId: 4242, args });
    expect(told(await preflightOn(layerOf(node.url), send))).toEqual(expected);
    await node.stop();
  });

  it("is as fresh as its number on a chain that mines on demand, and says so", async () => {
    const node = await startAnvil({ args: ["--timestamp", String(Math.floor(Date.now() / 1000) - hours72)] });
    const report = await preflightOn(layerOf(node.url), send);
    await node.stop();
    expect(told(report)).toEqual(["ready", "fresh"]);
    const full = { width: 200, full: true };
    for (const text of [Report.toText(report, full), Report.toMarkdown(report, full), Report.toHtml(report)])
      expect(text).toContain("this chain mines on demand");
  });
});

describe("a report on a node that refuses its headers", () => {
  it("is ready, and does not claim that its head was fresh", async () => {
    const node = await startAnvil({ chainId: 4242 });
    const proxy = await startProxy({ target: node.url, only: sevenMethods });
    const report = await preflightOn(layerOf(proxy.url), send);
    expect(told(report)).toEqual(["ready", "unknown", "MethodNotSupported/info", "FreshnessUnknown/info"]);
    expect(Report.toText(report)).not.toContain("every check");
    expect(report.because).toContain("could not be checked");
    await Promise.all([proxy.stop(), node.stop()]);
  });
});

describe("two nodes behind one address", () => {
  let [lagging, newer] = [] as unknown as [Node, Node];
  beforeAll(async () => {
    const args = ["--timestamp", String(Math.floor(Date.now() / 1000) - 30)];
    [lagging, newer] = await Promise.all([startAnvil({ chainId: 1, args }), startAnvil({ chainId: 1, args })]);
    await Promise.all([mineAnvil(lagging.url, 5), mineAnvil(newer.url, 5)]);
  });
  afterAll(() => Promise.all([lagging.stop(), newer.stop()]));

  /** The lagging one, but that the newer answers what is `apart`. */
  const balanced = (apart: (purpose: Purpose, before: number) => boolean) =>
    Layer.effect(
      Rpc.Rpc,
      Effect.gen(function* () {
        const [old, young] = yield* Effect.all([Rpc.Rpc, Effect.provide(Rpc.Rpc, layerOf(newer.url))]);
        const asked = new Map<Purpose, number>();
        return Rpc.Rpc.of({
          ...old,
          request: (method, params) =>
            Effect.flatMap(Effect.service(CurrentRun), (run) => {
              const purpose = purposeOf(method, params, run);
              const before = asked.get(purpose) ?? 0;
              asked.set(purpose, before + 1);
              return (apart(purpose, before) ? young : old).request(method, params);
            }),
        });
      }),
    ).pipe(Layer.provide(layerOf(lagging.url)));

  it("give no proof on the older one, even a block apart", async () => {
    await mineAnvil(newer.url);
    const layer = balanced((purpose) => purpose === "eth_feeHistory");
    expect(told(await preflightOn(layer, send)).slice(0, 2)).toEqual(["unknown", "fresh"]);
  });

  it.each<[Purpose, number]>([
    ["eth_feeHistory", 2],
    ["eth_getBlockReceipts", 2],
    ["readerOnly", 2],
    ["ample", 3],
    ["eth_feeHistory", 20],
  ])("are found out by %s, %i blocks ahead", async (purpose, blocks) => {
    const at = async ({ url }: Node) => Number(await rawRequest(url, "eth_blockNumber"));
    await mineAnvil(newer.url, Math.max(1, (await at(lagging)) + blocks - 1 - (await at(newer))));
    // in a block without transactions there are no receipts to tell
    await rawRequest(newer.url, "eth_sendTransaction", [{ from: other.address, to: nobody, value: "0x1" }]);
    // why: anvil answers before it has mined
    await expect.poll(async () => (await at(newer)) - (await at(lagging))).toBeGreaterThanOrEqual(blocks);
    const report = await preflightOn(
      balanced((one) => one === purpose),
      send,
    );
    expect(told(report)).toEqual(["unknown", "stale", "PendingStale/unavailable"]);
  });

  it("are found out by a head that the one which simulates does not know", async () => {
    await mineAnvil(newer.url, 2);
    const report = await preflightOn(
      balanced((purpose) => purpose === "eth_getBlockByNumber"),
      send,
    );
    expect(report.verdict).toBe("unknown");
    expect(report.findings.map(({ code, severity }) => `${code}/${severity}`)).toContain("BlockNotFound/unavailable");
  });

  it("are not found out by the number that a run was given", async () => {
    const sighted = async (number?: bigint) => {
      const seen: HeadSighting = { block: null, aheadMs: null, testimonies: [] };
      const given = plan({
        before: [{ kind: "environment" }],
        block: "pending",
        blockOverrides: number === undefined ? null : { number },
      });
      await sent(Simulate.ask(given, indexAbis([]))).pipe(
        Effect.provide(layerOf(lagging.url)),
        Effect.provideService(CurrentRun, { ...idle, sighted: seen }),
        Effect.runPromise,
      );
      return seen.block;
    };
    expect([await sighted(), await sighted(1_000n)]).toEqual([5n, null]);
  });

  it("give a report on no block where the first one is simulated, and the report can be kept", async () => {
    const report = await preflightOn(layerOf(newer.url), send, { blockOverrides: { number: 0n } });
    expect([report.observed.simulatedNumber, report.observed.baseNumber]).toEqual([0n, null]);
    expect(Effect.runSync(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))))).toEqual(report);
  });

  it("keep the time that its caller gave for a report that is proven again", async () => {
    const layer = layerOf(newer.url);
    const given = await preflightOn(layer, send, { maxAge: "30 seconds" });
    const left = await preflightOn(layer, send);
    const kept = [given, await proveOn(layer, given), left, await proveOn(layer, left)];
    expect(kept.map(({ options }) => options.isMaxAgeGiven)).toEqual([true, true, undefined, undefined]);
  });

  it("are found out by a report that knew a newer block", async () => {
    const scanned = await Effect.runPromise(Preflight.scan(send).pipe(Effect.provide(layerOf(newer.url))));
    expect(told(scanned)).toEqual(["ready", "fresh"]);
    const proven = await proveOn(layerOf(lagging.url), scanned);
    // the base fee of a block long ago may be a blocker, too
    expect(told(proven).slice(1)).toEqual(["stale", "PendingStale/unavailable"]);
  });
});

describe("a wrong local clock", () => {
  let node: Node;
  beforeAll(async () => {
    node = await startAnvil({ chainId: 4242 });
  });
  afterAll(() => node.stop());
  const by = <A, E>(ms: number, asked: Effect.Effect<A, E, Rpc.Rpc>, layer: Layer.Layer<Rpc.Rpc>): Promise<A> =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.now() + ms);
      return yield* Effect.provide(asked, layer);
    }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise);
  const hour = 3_600_000;

  it.each(ways)("is noticed by the HTTP Date over %s", async (_, options) => {
    await mineAnvil(node.url);
    const layer = layerBy(node.url, options);
    const late = await by(-hour, Preflight.preflight(send), layer);
    expect(told(late)).toEqual(["ready", "fresh", "ClockSkew/info"]);
    expect(late.findings[0]?.numbers[0]?.name).toBe("the local clock is behind by");
    const early = await by(hour, Preflight.preflight(send), layer);
    expect(told(early)).toEqual(["unknown", "stale", "ClockSkew/info", "PendingStale/unavailable"]);
    expect(early.findings[0]?.numbers[0]?.name).toBe("the local clock is ahead by");
  });

  it("is noticed without a Date by the head, until that advances", async () => {
    await mineAnvil(node.url);
    const layer = Rpc.layerTransport(http(node.url));
    const report = await by(-hour, Preflight.preflight(send), layer);
    expect(told(report)).toEqual(["caution", "unknown", "ClockSkew/warning"]);
    await mineAnvil(node.url);
    const later = await by(-hour, Preflight.prove(report), layer);
    expect(told(later)).toEqual(["ready", "fresh", "ClockSkew/info"]);
  });

  it("is not noticed by a malformed HTTP date", async () => {
    const proxy = await startProxy({ target: node.url });
    const dates = ["", "yesterday", "2099-01-01", "Thu, 01 Jan 2099 00:00:00 GMT, x", "Thu, 99 Xyz 2099 00:00:00 GMT"];
    for (const date of dates) {
      const sighted: HeadSighting = { block: null, aheadMs: null, testimonies: [] };
      proxy.fail("eth_chainId", {
        ...{ kind: "status", status: 200, headers: { "content-type": "application/json", date } },
        body: '{"jsonrpc":"2.0","id":1,"result":"0x1"}',
      });
      await ask(proxy.url, {}, "eth_chainId", { sighted });
      expect(sighted).toEqual({ block: null, aheadMs: null, testimonies: [] });
    }
    await proxy.stop();
  });
});
