/** Failures inside that take all the gas they are given: a smaller limit, or both prices, on real nodes. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BundleReport } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { MethodNotSupported, RpcError } from "../rooms/errors.js";
import {
  calldata,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  prove,
  scenesFor,
  severe,
  tampered,
  type Scene,
} from "./scene.js";

describe.each(scenesFor("burnt gas"))("a call that burns its gas on %s", (bed, start) => {
  let scene: Scene;
  let payout: Hex;
  let greedy: Hex;
  beforeAll(async () => {
    scene = await start();
    payout = await scene.deploy(artifacts.Payout);
    greedy = await scene.deploy(artifacts.Greedy);
    await scene.send(owner, { to: payout, data: calldata(artifacts.Payout, "make") });
    await scene.mine();
  });
  afterAll(() => scene?.stop());

  const withoutTracer = () =>
    tampered(scene.url, ({ method }) =>
      method === "debug_traceCall" ? new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }) : null,
    );
  const layers = () => [layerOf(scene.url), withoutTracer()];
  const call = (name: string, args: ReadonlyArray<unknown> = [], value = 0n) => ({
    ...{ from: owner.address, to: payout, value },
    data: calldata(artifacts.Payout, name, args),
  });
  const burnt = ({ findings }: BundleReport) => findings.filter(({ code }) => code === "GasBurnt");
  const trials = ({ ledger }: BundleReport) => ledger.requests.filter(({ run }) => run === "gas").length;

  it.each([
    ["a receiver that loops", "pay", () => [[nobody, greedy]], 1_000n],
    ["an old assert", "poke", () => [greedy], 0n],
    ["a point that is not on the curve", "curve", () => [], 0n],
    ["a contract that is there already", "make", () => [], 0n],
  ] as const)(
    "shows both prices of %s without a tracer, and keeps the smaller limit as proposed",
    async (_, name, args, value) => {
      const layer = withoutTracer();
      const report = await preflightOn(layer, call(name, args(), value));
      expect([report.verdict, severe(report)]).toEqual(["caution", expect.arrayContaining(["GasBurnt/warning"])]);
      const [{ numbers = [] } = {}] = burnt(report);
      const [limit, cost, enough, less] = numbers.map(({ value: each }) => BigInt(String(each)));
      const { request, gas } = report.transactions[0];
      expect([limit, cost]).toEqual([gas.limit, (limit ?? 0n) * (request?.maxFeePerGas ?? 0n)]);
      // why: geth estimates none below what was used, so that the least is taken to be twice an empty slot's slack
      expect((less ?? 0n) * (bed === "geth" ? 2n : 4n)).toBeLessThan(cost ?? 0n);
      // why: two questions beside the others
      expect([trials(report), report.ledger.rounds]).toEqual([2, 2]);
      expect(severe(await prove(scene.url, report))).toContain("GasBurnt/warning");
      for (const each of [layer, layerOf(scene.url)]) {
        const frugal = await preflightOn(each, { ...call(name, args(), value), gas: enough ?? 0n });
        expect([burnt(frugal), frugal.transactions[0].outcome.logs]).toEqual([
          [],
          report.transactions[0].outcome.logs.map((log) => expect.objectContaining({ data: log.data })),
        ]);
      }
    },
  );

  const lowered = ({ findings }: BundleReport) => findings.filter(({ code }) => code === "GasLimitLowered");
  const mined = async (report: BundleReport) => {
    const { request } = report.transactions[0];
    if (request === null) throw new Error("no request");
    const hash = await scene.broadcast(await owner.signTransaction(request));
    await scene.mine();
    return scene.receipt(hash);
  };

  it.each([
    ["an old assert", "poke", () => [greedy]],
    ["a point that is not on the curve", "curve", () => []],
    ["a contract that is there already", "make", () => []],
  ] as const)("gets a smaller limit where a tracer shows %s", async (_, name, args) => {
    const report = await preflight(scene.url, call(name, args()));
    const [{ numbers = [], severity = null, transaction = null } = {}, ...others] = lowered(report);
    const [limit, cost, smaller, less] = numbers.map(({ value: each }) => BigInt(String(each)));
    const { request, gas, outcome } = report.transactions[0];
    const price = request?.maxFeePerGas ?? 0n;
    expect([severity, transaction, others]).toEqual(["info", 0, []]);
    expect([gas.limit, request?.gas, gas.by, gas.evidence]).toEqual([smaller, smaller, "us", "measured"]);
    expect([cost, less]).toEqual([(limit ?? 0n) * price, (smaller ?? 0n) * price]);
    expect((less ?? 0n) * 4n).toBeLessThan(cost ?? 0n);
    // why: a failure that the transaction ignores is told all the same, and nothing of the limit beside it
    expect([report.stage, severe(report)]).toEqual(["proven", ["InnerCallFailed/warning"]]);
    expect([trials(report), report.ledger.rounds]).toEqual([6, 4]);
    const again = await prove(scene.url, report);
    expect([again.stage, severe(again), again.transactions[0].request?.gas]).toEqual([
      "proven",
      ["InnerCallFailed/warning"],
      smaller,
    ]);
    expect([lowered(again).length, trials(again)]).toEqual([1, 0]);
    const receipt = await mined(report);
    expect([receipt.status, BigInt(receipt.gasUsed)]).toEqual(["0x1", outcome.gasUsed]);
  });

  it("pays by the smaller limit for a slot that becomes empty before it is mined", async () => {
    const cliff = await scene.deploy(artifacts.Cliff);
    const note = { from: owner.address, to: cliff, data: calldata(artifacts.Cliff, "note", [greedy, 7n]) };
    const report = await preflight(scene.url, note);
    expect(lowered(report).length).toBe(1);
    await scene.send(other, { to: cliff, data: calldata(artifacts.Cliff, "clear") });
    await scene.mine();
    expect((await mined(report)).status).toBe("0x1");
    expect(await scene.ask("eth_getStorageAt", [cliff, "0x0", "latest"])).toBe(`0x${"7".padStart(64, "0")}`);
  });

  it("keeps the larger limit where a receiver would skip work in silence with less gas", async () => {
    const [cliff, diligent] = [await scene.deploy(artifacts.Cliff), await scene.deploy(artifacts.Diligent)];
    const data = calldata(artifacts.Cliff, "paySilently", [[greedy, diligent]]);
    const report = await preflight(scene.url, { from: owner.address, to: cliff, value: 1_000n, data });
    expect([report.transactions[0].gas.limit, lowered(report)]).toEqual([16_777_216n, []]);
  });

  it("keeps the larger limit, and proposes no smaller one, where storage depends on the gas left", async () => {
    const cliff = await scene.deploy(artifacts.Cliff);
    const data = calldata(artifacts.Cliff, "noteGas", [greedy]);
    const report = await preflight(scene.url, { from: owner.address, to: cliff, data });
    expect([report.transactions[0].gas.limit, lowered(report), burnt(report)]).toEqual([16_777_216n, [], []]);
    expect(report.verdict).toBe("caution");
  });

  it("keeps the caller's own limit, and shows both prices", async () => {
    const report = await preflight(scene.url, { ...call("poke", [greedy]), gas: 16_000_000n });
    expect([report.transactions[0].request?.gas, lowered(report)]).toEqual([16_000_000n, []]);
    expect([burnt(report).length, trials(report)]).toEqual([1, 2]);
  });

  it("is found as the second of a bundle, too, which no estimate covers", async () => {
    const bundle = [{ from: owner.address, to: nobody, value: 1n }, call("curve")] as const;
    const [report, traced] = [await preflightOn(withoutTracer(), bundle), await preflight(scene.url, bundle)];
    expect(burnt(report).map(({ transaction }) => transaction)).toEqual([1]);
    expect([lowered(traced).map(({ transaction }) => transaction), burnt(traced)]).toEqual([[1], []]);
  });

  it.each([
    ["a payment that everybody takes", "pay", () => [[nobody]], 1_000n],
    ["a receiver that may burn little", "payCapped", () => [greedy, 50_000n], 1_000n],
    ["work that is told", "workAloud", () => [50_000n], 0n],
  ] as const)("is not found in %s", async (_, name, args, value) => {
    for (const layer of layers()) expect(burnt(await preflightOn(layer, call(name, args(), value)))).toEqual([]);
  });

  it("is not found in work without a word, where a tracer shows that nothing failed", async () => {
    expect(burnt(await preflight(scene.url, call("work", [50_000n])))).toEqual([]);
  });

  it("costs no request where a call needs its gas", async () => {
    const reader = await scene.deploy(artifacts.GasReader);
    const clearer = await scene.deploy(artifacts.StorageClearer);
    const inputs = [
      { from: owner.address, to: reader, data: calldata(artifacts.GasReader, "burn", [6_000_000n]) },
      { from: owner.address, to: clearer, data: calldata(artifacts.StorageClearer, "fill", [300n]) },
      call("pay", [[nobody]], 1_000n),
    ];
    for (const input of inputs) {
      const report = await preflight(scene.url, input);
      expect([codesOf(report).includes("GasBurnt/warning"), trials(report)]).toEqual([false, 0]);
    }
  });
});
