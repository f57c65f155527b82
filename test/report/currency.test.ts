/** The native currency is the chain's: as the caller's viem chain names it, in every rendering, policy text and after JSON. */
import { describe, expect, it } from "vitest";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { Chain } from "viem";
import * as viemChains from "viem/chains";
import { Chains, Policy, Report, Rpc } from "../../src/index.js";
import { chainsInUse } from "../rooms/eth.js";
import { report } from "./fixtures.js";

const distinct = new Map<string, Chain>();
for (const chain of Object.values(viemChains) as ReadonlyArray<Chain>)
  if (chain.nativeCurrency.symbol !== "ETH") distinct.set(chain.nativeCurrency.symbol, chain);
const thirty = [...distinct.values()].slice(0, 30);

const described = (chain: unknown, layer: Layer.Layer<never> = Layer.empty) =>
  Effect.runSync(
    Effect.provide(
      Effect.map(chainsInUse, (chains) => chains((chain as Chain).id)),
      Layer.merge(Rpc.layerClient({ request: () => Promise.resolve(null), chain: chain as Chain }), layer),
    ),
  );

describe("the currency of a viem chain", () => {
  it.each(thirty.map((chain) => [chain.name, chain] as const))("%s stands in every rendering", (_, chain) => {
    const { name, symbol, decimals } = described(chain);
    expect([name, symbol, decimals]).toEqual([chain.name, chain.nativeCurrency.symbol, chain.nativeCurrency.decimals]);
    const made = report({ chainId: chain.id, chain: { name, symbol, decimals } });
    const again = Effect.runSync(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(made)))));
    for (const one of [made, again]) {
      const renderings = [Report.summary, Report.toText, Report.toMarkdown, Report.toHtml, Report.toSvg];
      for (const render of renderings) {
        const text = render(one).replaceAll("\\", "");
        expect(text).toContain(` ${symbol}`);
        expect(text).not.toMatch(/\bETH\b/);
      }
      const judged = Policy.maxFee(1n).evaluate(one);
      expect(JSON.stringify(judged)).not.toContain("ETH");
    }
  });

  it("goes before the layer, which goes before the table", () => {
    const layer = Chains.layerWith(137, { symbol: "LAYER", name: "by the layer", blockTimeMs: 7 });
    const own = { id: 137, name: "by viem", nativeCurrency: { name: "V", symbol: "VIEM", decimals: 6 }, blockTime: 9 };
    expect(described(own, layer)).toMatchObject({ symbol: "VIEM", name: "by viem", decimals: 6, blockTimeMs: 9 });
    expect(described({ id: 137 }, layer)).toMatchObject({
      symbol: "LAYER",
      name: "by the layer",
      decimals: 18,
      blockTimeMs: 7,
    });
    expect(described({ id: 137 })).toMatchObject({ symbol: "POL", blockTimeMs: 2_000 });
    const oracle = "0x00000000000000000000000000000000000000aa";
    expect(described({ id: 5, contracts: { gasPriceOracle: { address: oracle } } }).gasPriceOracle).toBe(oracle);
  });

  it.each([
    ["no name", { symbol: "", decimals: 18 }],
    ["no number", { symbol: "X", decimals: "18" }],
    ["less than none", { symbol: "X", decimals: -1 }],
    ["more than any has", { symbol: "X", decimals: 400 }],
  ])("is left alone where it has %s", (_, nativeCurrency) =>
    expect(described({ id: 137, nativeCurrency, blockTime: -1, contracts: 5 })).toEqual(described({ id: 137 })),
  );

  it("counts by its decimals", () => {
    const tron = report({ chain: { name: "Tron", symbol: "TRX", decimals: 6 } });
    expect(Report.summary(tron)).toContain("1,500,000,000,000 TRX");
  });

  it("escapes what a report from elsewhere says", () => {
    const forged = report({ chain: { name: "READY\nchain 1", symbol: "\u001b[31m\u202eETH", decimals: 18 } });
    for (const text of [Report.summary(forged), Report.toText(forged)])
      expect([text.includes("\u001b"), text.includes("\u202e")]).toEqual([false, false]);
    expect(Report.toText(forged)).toContain('"READY');
  });
});
