/** Failures inside that take all the gas they are given: told with both prices, on real nodes. */
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
  owner,
  preflight,
  preflightOn,
  prove,
  scenesFor,
  severe,
  tampered,
  type Scene,
} from "./scene.js";

describe.each(scenesFor("burnt gas"))("on %s", (bed, start) => {
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

  const layers = () => [
    layerOf(scene.url),
    tampered(scene.url, ({ method }) =>
      method === "debug_traceCall" ? new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }) : null,
    ),
  ];
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
  ] as const)("%s is told with both prices, and the smaller limit holds", async (_, name, args, value) => {
    for (const layer of layers()) {
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
      const frugal = await preflightOn(layer, { ...call(name, args(), value), gas: enough ?? 0n });
      expect([burnt(frugal), frugal.transactions[0].outcome.logs]).toEqual([
        [],
        report.transactions[0].outcome.logs.map((log) => expect.objectContaining({ data: log.data })),
      ]);
    }
  });

  it("is told of the second of a bundle, too, which nobody estimates", async () => {
    const report = await preflight(scene.url, [{ from: owner.address, to: nobody, value: 1n }, call("curve")]);
    expect(burnt(report).map(({ transaction }) => transaction)).toEqual([1]);
  });

  it.each([
    ["a payment that everybody takes", "pay", () => [[nobody]], 1_000n],
    ["a receiver that may burn little", "payCapped", () => [greedy, 50_000n], 1_000n],
    ["work that is told", "workAloud", () => [50_000n], 0n],
  ] as const)("%s is not", async (_, name, args, value) => {
    for (const layer of layers()) expect(burnt(await preflightOn(layer, call(name, args(), value)))).toEqual([]);
  });

  it("nor is work without a word, where a tracer shows that nothing failed", async () => {
    expect(burnt(await preflight(scene.url, call("work", [50_000n])))).toEqual([]);
  });

  it("what needs its gas asks nothing more", async () => {
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
