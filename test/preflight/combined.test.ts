/** What one block does not show: that a bundle is mined in several, and what is booked for somebody by the block. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import { InvalidParams, RpcError } from "../rooms/errors.js";
import { Beneficiary, Books, Twice } from "../contracts/artifacts.js";
import {
  calldata,
  cleared,
  codesOf,
  nobody,
  other,
  preflight,
  scenesFor,
  severe,
  signAll,
  preflightOn,
  tampered,
  third,
  type Scene,
} from "./scene.js";

const value = 10n ** 18n;

describe.each(scenesFor("what one block does not show"))("a bundle by its blocks, on %s", (_, start) => {
  let scene: Scene;
  let [books, pair]: [Hex, Hex] = ["0x", "0x"];
  beforeAll(async () => {
    scene = await start();
    [books, pair] = [await scene.deploy(Books), await scene.deploy(Twice)];
  });
  afterAll(() => scene?.stop());

  const paid = (functionName: string) =>
    preflight(scene.url, { from: other.address, to: books, data: calldata(Books, functionName), value });

  it.each(["byRandomness", "byNumber", "byTime"])(
    "is caution where a credit differs in another block: %s",
    async (name) => {
      for (let turn = 0; turn < 2; turn++) {
        const report = await paid(name);
        expect([report.verdict, severe(report)]).toEqual(["caution", ["ChanceDependent/warning"]]);
      }
    },
  );

  it("is caution where a credit follows the parity of the base fee", async () =>
    expect((await paid("byPrice")).verdict).toBe("caution"));

  it("is ready where a credit follows the clock or the price of gas", async () => {
    const report = await paid("byClock");
    expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
  });

  const both = (functionName: string) => [
    { from: other.address, to: pair, data: calldata(Twice, "warn") },
    { from: other.address, to: pair, data: calldata(Twice, functionName), value },
  ];

  it.each(["payByNumber", "payByTime", "payByRandomness", "paySoon"])(
    "is blocked where the money comes back only in the block of the first transaction: %s",
    async (name) => {
      const report = await preflight(scene.url, both(name), { policies: [Policy.maxSpent("native", 10n)] });
      expect(report.verdict).toBe("blocked");
      expect(codesOf(report)).toEqual(
        expect.arrayContaining(["PolicyViolation/blocker", "SimulationDiverged/blocker"]),
      );
    },
  );

  const preconfirmed = { pending: "preconfirmed", policies: [Policy.maxSpent("native", 10n)] } as const;

  it.each(["payByNumber", "payByTime", "payByRandomness", "paySoon"])(
    "is caution, %s, where pending state that is ordered before it has it in one block",
    async (name) => {
      const report = await preflight(scene.url, both(name), preconfirmed);
      expect([report.verdict, severe(report)]).toEqual(["caution", ["BundleInOneBlock/warning"]]);
    },
  );

  it("is caution where the node simulates one block at a time, and cannot tell", async () => {
    const layer = tampered(scene.url, ({ method, params }) =>
      method === "eth_simulateV1" &&
      (params[0] as { readonly blockStateCalls: ReadonlyArray<unknown> }).blockStateCalls.length > 1
        ? new RpcError({ method, reason: new InvalidParams({ detail: "not taken" }) })
        : null,
    );
    const ask = () => preflightOn(layer, both("payAlways"), preconfirmed);
    for (const report of [await ask(), await ask()])
      expect([report.verdict, severe(report)]).toEqual(["caution", ["BundleInOneBlock/warning"]]);
  });

  it("is ready where it is honest under such pending state, after one more run", async () => {
    const report = await preflight(scene.url, both("payAlways"), preconfirmed);
    expect([report.verdict, severe(report)]).toEqual(["ready", []]);
    expect(report.observed.worlds).toContainEqual(expect.objectContaining({ run: "oneBlockEach", agrees: true }));
  });

  it("is ready where it is honest, and does the same in two blocks", async () => {
    const report = await preflight(scene.url, both("payAlways"), { policies: [Policy.maxSpent("native", 10n)] });
    expect([report.verdict, severe(report)]).toEqual(["ready", []]);
    const [first, second] = await signAll(await cleared(report));
    for (const raw of [first, second]) {
      await scene.broadcast(raw ?? "0x");
      await scene.mine();
    }
    expect(await scene.balance(pair)).toBe(0n);
  });

  it("is blocked where it depends on the place of an account that only a policy names", async () => {
    const to = await scene.deploy(Beneficiary, [third.address]);
    const go = { from: other.address, to, data: calldata(Beneficiary, "go") } as const;
    const on = (account: Hex) => preflight(scene.url, go, { policies: [Policy.minReceived("native", 0n, account)] });
    expect([...new Set(codesOf(await on(third.address)))]).toEqual(["SimulationDiverged/blocker"]);
    expect(codesOf(await on(nobody))).toEqual(["ChanceDependent/warning"]);
  });
});
