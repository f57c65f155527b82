/** The native currency is the chain's: as the caller's viem chain names it, in every rendering, policy text and after JSON. */
import { describe, expect, it } from "vitest";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { type Chain, custom } from "viem";
import * as viemChains from "viem/chains";
import { Chains, Errors, Policy, Report, Rpc } from "../../src/index.js";
import { createPreflight, type Connection } from "../../src/promise.js";
import { chainsInUse } from "../rooms/eth.js";
import { fromError } from "../rooms/report.js";
import { alice, bob, report } from "./fixtures.js";

const distinct = new Map<string, Chain>();
for (const chain of Object.values(viemChains) as ReadonlyArray<Chain>)
  if (chain.nativeCurrency.symbol !== "ETH") distinct.set(chain.nativeCurrency.symbol, chain);
const thirty = [...distinct.values()].slice(0, 30);

const viemCurrencies = (...ids: ReadonlyArray<number>) =>
  ids.map((id) => {
    const chain = (Object.values(viemChains) as ReadonlyArray<Chain>).find((one) => one.id === id);
    if (chain === undefined) throw new Error(`viem has no chain ${id}`);
    return [chain.nativeCurrency.symbol, chain] as const;
  });

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

  it("has precedence over the layer, and that over the table", () => {
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

  it("counts by its own decimals", () => {
    const tron = report({ chain: { name: "Tron", symbol: "TRX", decimals: 6 } });
    expect(Report.summary(tron)).toContain("1,500,000,000,000 TRX");
  });

  it("is escaped in a report from elsewhere", () => {
    const forged = report({ chain: { name: "READY\nchain 1", symbol: "\u001b[31m\u202eETH", decimals: 18 } });
    for (const text of [Report.summary(forged), Report.toText(forged)])
      expect([text.includes("\u001b"), text.includes("\u202e")]).toEqual([false, false]);
    expect(Report.toText(forged)).toContain('"READY');
  });
});

/** A node of which nothing is known but its chain. */
const nodeOf = (chainId: number) => ({
  url: "http://127.0.0.1:8545",
  fetch: (_: string, { body }: RequestInit) => {
    const { id, method } = JSON.parse(String(body)) as { readonly id: number; readonly method: string };
    const answer =
      method === "eth_chainId"
        ? { result: `0x${chainId.toString(16)}` }
        : { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
    return Promise.resolve(Response.json({ jsonrpc: "2.0", id, ...answer }));
  },
});

const reportBy = async (connection: Connection) => {
  await using preflight = createPreflight(connection);
  return await preflight.scan(
    { from: alice, to: bob, value: 1_500_000_000_000_000_000n },
    { policies: [Policy.maxFee(1n), Policy.maxSpent("native", 1n)] },
  );
};

const everywhere = (made: Report.Report): ReadonlyArray<string> => {
  const again = Effect.runSync(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(made)))));
  return [made, again].flatMap((one) => [
    ...[Report.summary, Report.toText, Report.toMarkdown, Report.toHtml, Report.toSvg].map((render) =>
      render(one).replaceAll("\\", ""),
    ),
    JSON.stringify([Policy.maxFee(1n), Policy.maxSpent("native", 1n)].map((p) => p.evaluate(one))),
  ]);
};

describe("the currency of a chain by its URL", () => {
  it.each([
    ["Celo", 42220],
    ["Sonic", 146],
    ["Mantle", 5000],
    ["Berachain", 80094],
    ["Cronos", 25],
  ])("is never a false name: %s", async (_, chainId) => {
    const made = await reportBy(nodeOf(chainId));
    expect(made.chainId).toBe(chainId);
    expect(Report.summary(made)).toContain("1.5 native");
    for (const text of everywhere(made)) expect(text).not.toMatch(/\bETH\b/);
  });

  it.each(viemCurrencies(42220, 146, 5000, 80094, 25))("is what `chain` says: %s", async (symbol, chain) => {
    const made = await reportBy({ ...nodeOf(chain.id), chain });
    expect(made.chain).toEqual({ name: chain.name, symbol, decimals: 18 });
    expect(Report.summary(made)).toContain(`1.5 ${symbol}`);
    for (const text of everywhere(made)) expect(text).not.toMatch(/\bETH\b|\bnative\b(?!")/);
    expect(made.transactions[0].input.chainId).toBe(chain.id);
  });

  it.each([1337, 31337, 1])("is ETH on chain %d", async (chainId) =>
    expect(Report.summary(await reportBy(nodeOf(chainId)))).toContain("1.5 ETH"),
  );

  it("is what `chain` says for every way to a node", () => {
    const chain = { id: 146, nativeCurrency: { symbol: "S", decimals: 18 } };
    const provider = { request: () => Promise.resolve(null) };
    const layers = [
      Rpc.layerProvider(provider, { chain }),
      Rpc.layerClient(provider, { chain }),
      Rpc.layerTransport(custom(provider), { chain }),
      Rpc.layerHttp("http://127.0.0.1:8545", { chain }),
      Rpc.quorum(
        ["one", "two"].map((provider) => ({ url: "http://127.0.0.1:8545", provider })),
        { chain },
      ),
    ];
    return Promise.all(
      layers.map(async (layer) => {
        const [symbol, defaults] = await Effect.runPromise(
          Effect.all([
            Effect.map(chainsInUse, (chains) => chains(146).symbol),
            Effect.map(Effect.service(Rpc.Rpc), (rpc) => rpc.defaults),
          ]).pipe(Effect.provide(layer)),
        );
        expect([symbol, defaults]).toEqual(["S", { chainId: 146, from: null }]);
      }),
    );
  });
});

describe("errors of a report", () => {
  it("show amounts in its currency, from `ready` too", async () => {
    const poor = () =>
      new Errors.InsufficientFunds({ have: 1n, want: 15n * 10n ** 17n + 1n, shortfall: 15n * 10n ** 17n });
    const found = fromError(poor(), "blocker", { step: "funds", evidence: "measured" });
    const chain = { name: "Celo", symbol: "CELO", decimals: 18 };
    const made = report({ chainId: 42220, chain, findings: [found] });
    const read = await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(made)))));
    const failure = await Effect.runPromise(Effect.flip(Report.ready(read)));
    expect(failure.message).toContain("short by 1.5 CELO");
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({ message: failure.message });
    expect(poor().message).toContain("short by 1500000000 gwei");
  });
});
