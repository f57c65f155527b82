/** What a transaction without fee fields would get, out of everything that was said about fees. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { lookup } from "../../../src/Chains.js";
import { growBaseFee } from "../../rooms/chains.js";
import { Hash } from "../../rooms/primitives.js";
import { checkSources, type FeeContext, type FeeFacts } from "../../rooms/steps.js";
import { chain, codes, hexOf } from "../parts.js";
import { absent, gwei, header, history, quoted, receipts, refused } from "./facts.js";

describe("the base fee of a quote", () => {
  const most = growBaseFee(gwei, 1, chain()).baseFeePerGas;
  const simulated = (simulatedBaseFee: bigint | null, found = header()) =>
    quoted({ header: found }, { simulatedBaseFee });
  const said = (quote: ReturnType<typeof quoted>) => codes(checkSources(quote));
  it("is the larger of the simulated and the computed one, with a finding on a difference in one block", () => {
    expect(simulated(gwei).baseFeePerGas).toBe(gwei);
    expect(said(simulated(gwei))).toEqual([]);
    expect(simulated(gwei + 1n).baseFeePerGas).toBe(gwei + 1n);
    expect(simulated(gwei - 1n).baseFeePerGas).toBe(gwei);
    expect(said(simulated(gwei - 1n))).toEqual(["BaseFeeDisagrees/info"]);
    expect(simulated(gwei - 1n).disagreement).toEqual({ simulated: gwei - 1n, computed: gwei });
    expect(said(simulated(gwei - 1n, header({ hash: Hash.make(`0x${"cd".repeat(32)}`) })))).toEqual([]);
  });
  it("keeps the node's own beside the formula's larger one", () => {
    const { baseFeePerGas, leastFeePerGas } = simulated(gwei - 1n);
    expect([baseFeePerGas, leastFeePerGas]).toEqual([gwei, gwei - 1n]);
    expect(simulated(null).leastFeePerGas).toBe(gwei);
  });
  it.each<readonly [what: string, changed: Partial<FeeContext>, announced: bigint, expected: bigint]>([
    ["that the simulation bounds", {}, 2560n * gwei, most],
    ["that the simulation of a later block bounds", { parentHash: null }, 2560n * gwei, most],
    ["that the formula of a known chain bounds", { simulatedBaseFee: null, chain: lookup(1) }, 2560n * gwei, most],
    ["of a later block than the header's", {}, (gwei * 9n) / 8n, (gwei * 9n) / 8n],
    ["below the others", {}, 1n, gwei],
    ["on a chain whose formula is not known", { simulatedBaseFee: null, chain: lookup(null) }, 3n * gwei, 3n * gwei],
    ["where the simulation contradicts the formula", { simulatedBaseFee: 2n * gwei }, 3n * gwei, 3n * gwei],
  ])("counts what a history announces, %s, up to one full block above the rest", (_, changed, announced, expected) => {
    const told = Result.map(history([[0.5, [1n, 1n, 1n]]]), (one) => ({ ...one, baseFeePerGas: [gwei, announced] }));
    const quote = quoted({ history: told }, changed);
    expect(quote.baseFeePerGas).toBe(expected);
    // a caller's cap is held to no more than that, either
    expect(quote.leastFeePerGas).toBe(announced === 1n ? gwei : expected);
  });
  it("counts a history's no less than the header's, where the formula falls below it", () => {
    const found = header({ gasUsed: 0n });
    const quote = quoted({ header: found, history: history([]) }, { chain: lookup(42161), simulatedBaseFee: null });
    expect(quote.baseFeePerGas).toBe(gwei);
  });
  it("follows the parameters in an OP-stack header", () => {
    const extraData = hexOf(`0x01000000fa00000006${(7n * gwei).toString(16).padStart(16, "0")}`);
    const quote = quoted({ header: header({ gasUsed: 0n, extraData }) }, { chain: lookup(10), simulatedBaseFee: null });
    expect(quote.baseFeePerGas).toBe(7n * gwei);
    expect(quote.evidence).toBe("estimated");
  });
  it("makes the cap unknown where it is unknown", () => {
    const quote = quoted({ history: absent, receipts: refused, header: absent }, { simulatedBaseFee: null });
    expect([quote.baseFeePerGas, quote.maxFeePerGas, quote.evidence]).toEqual([null, null, "unavailable"]);
  });
});

describe("the tip of a quote", () => {
  const tipOf = (facts: Partial<FeeFacts>, changed: Partial<FeeContext> = {}) => {
    const quote = quoted(facts, { chain: chain({ minTip: 1n }), ...changed });
    const { tip, tipSource } = quote;
    return { tip, tipSource, codes: codes(checkSources(quote)) };
  };
  const rows = history([
    [0.5, [1n, 20n, 300n]],
    [0, [9n, 9_000n, 9_000n]],
    [0.5, [3n, 40n, 500n]],
    [0.5, [2n, 30n, 400n]],
    [0.5, [0n, 0n, 0n]],
  ]);
  it("is the median of recent blocks at the chosen level, without empty blocks and zeros", () => {
    for (const [level, tip] of [
      ["slow", 2n],
      ["normal", 30n],
      ["fast", 400n],
    ] as const)
      expect(tipOf({ history: rows }, { level })).toEqual({ tip, tipSource: "feeHistory", codes: [] });
  });
  it("comes from receipts where there is no history, without deposits", () => {
    const seen = receipts(
      ["0x7e", 99n * gwei],
      ["0x2", gwei + 5n],
      ["0x2", gwei + 7n],
      ["0x2", gwei + 9n],
      ["0x0", gwei],
    );
    expect(tipOf({ history: absent, receipts: seen })).toEqual({
      tip: 7n,
      tipSource: "receipts",
      codes: ["MethodNotSupported/info"],
    });
  });
  it("is the chain's minimum where a node gives neither, with weaker evidence", () =>
    expect(tipOf({ history: absent, receipts: refused }, { chain: chain({ minTip: 77n }) })).toEqual({
      tip: 77n,
      tipSource: "minimum",
      codes: ["MethodNotSupported/info", "MethodNotPermitted/info"],
    }));
  it("stays within the chain's most where a node lies, and the node's value is kept", () => {
    const greedy = history([[0.5, [10n ** 15n, 10n ** 15n, 10n ** 15n]]]);
    const { tip, tipNamed } = quoted({ history: greedy }, { chain: chain({ maxTip: 5n * gwei }) });
    expect([tip, tipNamed]).toEqual([5n * gwei, 10n ** 15n]);
  });
});

describe("the cap of a quote", () => {
  it("outlives the horizon of full blocks, in seconds", () => {
    const short = quoted({}, { horizonSeconds: 12 });
    expect(Number((short.maxFeePerGas ?? 0n) - short.tip) / 1e9).toBeCloseTo(1.125, 4);
    const minute = quoted({}, { chain: chain({ minTip: 5n }) });
    expect(Number((minute.maxFeePerGas ?? 0n) - 5n) / 1e9).toBeCloseTo(1.125 ** 5, 3);
    const base = quoted({ header: absent }, { chain: lookup(8453) });
    expect(Number((base.maxFeePerGas ?? 0n) - base.tip) / 1e9).toBeCloseTo(1.004 ** 300, 1);
    expect(base.horizonSeconds).toBe(60);
  });
  it("says how far it reaches where the horizon is beyond reason", () => {
    const long = quoted({}, { horizonSeconds: 86_400 });
    expect(long.horizonSeconds).toBeLessThan(86_400);
    expect(long.maxFeePerGas).toBeLessThan(1n << 98n);
  });
});

describe("the fees of an earlier quote", () => {
  const fresh = quoted({});
  const cap = fresh.maxFeePerGas ?? 0n;
  const kept = (tip: bigint, maxFeePerGas: bigint | null) => {
    const { tip: paid, maxFeePerGas: most, horizonSeconds } = quoted({ earlier: { tip, maxFeePerGas } });
    return [paid, most, horizonSeconds];
  };
  const anew = [fresh.tip, fresh.maxFeePerGas, fresh.horizonSeconds];
  const half = growBaseFee(gwei, 3, chain()).baseFeePerGas + fresh.tip;
  it("stay while they hold for half of the horizon, with the blocks that they outlive", () => {
    expect(kept(fresh.tip, cap)).toEqual(anew);
    expect(kept(fresh.tip, cap + gwei / 10n)).toEqual([fresh.tip, cap + gwei / 10n, fresh.horizonSeconds]);
    const [tip, most, seconds] = kept(fresh.tip, half);
    expect([tip, most]).toEqual([fresh.tip, half]);
    expect(seconds).toBeLessThan(fresh.horizonSeconds);
    expect(Number(seconds) * 2).toBeGreaterThanOrEqual(fresh.horizonSeconds);
  });
  it.each<[string, bigint, bigint | null]>([
    ["hold for less", fresh.tip, gwei + fresh.tip],
    ["hold for not even the next block", fresh.tip, 1n],
    ["have a cap that is more by more than half", fresh.tip, (cap * 3n) / 2n + 1n],
    ["have more than twice the tip", fresh.tip * 2n + 1n, cap + fresh.tip + 1n],
    ["have less than half of it", (fresh.tip - 1n) / 2n, cap],
    ["have no cap", fresh.tip, null],
    ["are of another age altogether", 0n, 2n ** 200n],
  ])("are not kept where they %s", (_, tip, maxFeePerGas) => {
    expect(kept(tip, maxFeePerGas)).toEqual(anew);
  });
  it("are not kept without a base fee", () => {
    const facts = { history: absent, receipts: refused, header: absent, earlier: { tip: 1n, maxFeePerGas: gwei } };
    expect(quoted(facts, { simulatedBaseFee: null }).maxFeePerGas).toBeNull();
  });
});
