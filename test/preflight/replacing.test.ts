/** Replacements and what pools keep: what is cleared is taken by a real pool, what it refuses is not cleared. */
import * as Layer from "effect/Layer";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import type { Options } from "../rooms/pipeline.js";
import type { BundleReport } from "../../src/Report.js";
import { faults, startProxy } from "../harness/proxy.js";
import { findGethOrWarn } from "../harness/geth.js";
import {
  cleared,
  codesOf,
  layerOf,
  other,
  owner,
  preflight,
  preflightOn,
  refusedWith,
  severe,
  signAll,
  startGethScene,
  third,
  type Scene,
} from "./scene.js";

const bin = findGethOrWarn("replacements");
const gwei = 10n ** 9n;
/** Takes any bytes: the identity. */
const precompile: Hex = "0x0000000000000000000000000000000000000004";

interface Fields {
  readonly nonce: number;
  readonly gas?: bigint;
  readonly value?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
}

/** What the pool says of a transaction: null = taken. */
const refusal = async (send: () => Promise<unknown>): Promise<string | null> => {
  try {
    await send();
    return null;
  } catch (error) {
    return String(error);
  }
};

describe.skipIf(bin === null)("a replacement on geth", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startGethScene(bin ?? "");
  });
  afterAll(() => scene?.stop());

  /** Signed as it is, and in the pending state when this returns. */
  const pool = async (from: typeof owner, { gas = 21_000n, value = 1n, ...fields }: Fields): Promise<Hex> => {
    const hash = await scene.broadcast(
      await from.signTransaction({ to: other.address, value, gas, chainId: scene.chainId, ...fields } as never),
    );
    await scene.untilNext(from.address, fields.nonce + 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return hash;
  };
  const old = { maxFeePerGas: 30n * gwei, maxPriorityFeePerGas: 2n * gwei };
  /** One transaction of `from` in flight, then what is made of another of its nonce. */
  const replacing = async (
    from: typeof owner,
    inFlight: object,
    fees: object,
    options: Options = { priceBump: 10 },
  ): Promise<{ readonly report: BundleReport; readonly refused: string | null }> => {
    const nonce = await scene.count(from.address);
    await pool(from, { nonce, ...inFlight });
    const report = await preflight(
      scene.url,
      { from: from.address, to: other.address, value: 2n, nonce, ...fees },
      options,
    );
    const { chainId, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = {
      chainId: scene.chainId,
      ...{ maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: undefined },
      ...report.transactions[0].fee,
    };
    const price = gasPrice == null ? { maxFeePerGas, maxPriorityFeePerGas } : { gasPrice };
    const raw = await from.signTransaction({
      ...{ to: other.address, value: 2n, nonce, gas: 21_000n, chainId },
      ...(price as { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }),
    });
    const refused = await refusal(() => scene.broadcast(raw));
    await scene.mine();
    return { report, refused };
  };
  const bumped = (cap: bigint, tip: bigint) => ({ maxFeePerGas: cap, maxPriorityFeePerGas: tip });
  const tooLittle = (nonce: number) => ({
    ...{ from: owner.address, to: other.address, value: 2n, nonce },
    ...bumped(31n * gwei, 21n * 10n ** 8n),
  });

  it.each([
    ["a wei more", bumped(old.maxFeePerGas + 1n, old.maxPriorityFeePerGas + 1n)],
    ["a wei too little of the cap", bumped(33n * gwei - 1n, 22n * 10n ** 8n)],
    ["a wei too little of the tip", bumped(33n * gwei, 22n * 10n ** 8n - 1n)],
    ["the tip alone", bumped(old.maxFeePerGas, 3n * gwei)],
    ["a legacy price that is no higher cap", { gasPrice: 31n * gwei }],
  ])("is refused, as the blocked report said: %s", async (_, fees) => {
    const { report, refused } = await replacing(owner, old, fees);
    expect(refused).toContain("underpriced");
    expect([report.verdict, (await refusedWith(report))._tag]).toEqual(["blocked", "ReplacementRefused"]);
  });

  it.each([
    ["ten percent more", old, bumped(33n * gwei, 22n * 10n ** 8n)],
    ["a legacy price", old, { gasPrice: 33n * gwei }],
    ["over a legacy price", { gasPrice: 20n * gwei }, bumped(22n * gwei, 22n * gwei)],
    ["fees that are chosen", old, {}],
    ["fees that are chosen over a high tip", bumped(60n * gwei, 50n * gwei), {}],
    ["a cap of the caller's and a tip that is chosen", old, { maxFeePerGas: 60n * gwei }],
    ["rounding down", bumped(30n * gwei + 5n, 2n * gwei + 5n), bumped(33n * gwei + 5n, 22n * 10n ** 8n + 5n)],
  ])("is accepted, as the ready report said: %s", async (_, inFlight, fees) => {
    const { report, refused } = await replacing(third, inFlight, fees);
    expect(refused).toBe(null);
    expect([report.verdict, severe(report)]).toEqual(["ready", []]);
    expect(codesOf(report)).toContain("ReplacesPending/info");
  });

  it("is not cleared on an undescribed chain with too low fees, where the refusal is not certain", async () => {
    const { report, refused } = await replacing(owner, old, bumped(31n * gwei, 21n * 10n ** 8n), {});
    expect(refused).toContain("underpriced");
    expect([report.verdict, severe(report)]).toEqual(["unknown", ["ReplacementRefused/unavailable"]]);
    const known = Layer.merge(layerOf(scene.url), Chains.layerWith(scene.chainId, { priceBump: 10 }));
    const nonce = await scene.count(owner.address);
    await pool(owner, { nonce, ...old });
    const request = tooLittle(nonce);
    expect((await preflightOn(known, request)).verdict).toBe("blocked");
    const relayed = await preflightOn(known, request, { priceBump: 0 });
    expect([relayed.verdict, codesOf(relayed)]).toEqual(["ready", expect.arrayContaining(["ReplacesPending/info"])]);
    await scene.mine();
  });

  it("has a finding that nothing was compared where no method shows the fees of the first", async () => {
    const proxy = await startProxy({ target: scene.url });
    try {
      for (const method of ["txpool_contentFrom", "eth_getTransactionBySenderAndNonce"])
        proxy.fail(method, faults.notFound);
      const nonce = await scene.count(owner.address);
      await pool(owner, { nonce, ...old });
      const request = tooLittle(nonce);
      proxy.fail("eth_getBlockByNumber", {
        kind: "map",
        map: (result, { params }) => (params[0] === "pending" ? { ...(result as object), transactions: [] } : result),
      });
      const report = await preflight(proxy.url, request, { priceBump: 10 });
      const said = report.findings.find(({ code }) => code === "ReplacesPending");
      expect([report.verdict, said?.severity]).toEqual(["ready", "info"]);
      expect(said?.numbers).toContainEqual({
        name: "fees",
        unit: "text",
        value: "not compared: its fees are not known",
      });
      await scene.mine();
    } finally {
      await proxy.stop();
    }
  });

  it("leaves the first one's highest cost reserved, and the pool refuses what exceeds the rest", async () => {
    const spare = privateKeyToAccount(generatePrivateKey());
    const balance = gwei * gwei;
    await scene.send(owner, { to: spare.address, value: balance });
    await scene.mine();
    const nonce = 0;
    // worth little when mined, and reserved at its fee cap
    const gas = 1_000_000n;
    const cap = (balance * 6n) / 10n / gas;
    await pool(spare, { nonce, gas, maxFeePerGas: cap, maxPriorityFeePerGas: gwei });
    const half = { from: spare.address, to: other.address, value: balance / 2n };
    const report = await preflight(scene.url, half);
    expect([report.verdict, severe(report)]).toEqual(["caution", ["QueuedCostTooHigh/warning"]]);
    const clearance = await cleared(report);
    expect(clearance.waits).toEqual([{ transaction: 0, account: spare.address.toLowerCase(), nonce: nonce + 1 }]);
    const sign = (one: BundleReport) =>
      spare.signTransaction({ ...one.transactions[0].request, type: "eip1559", nonce: nonce + 1 } as never);
    const raw = await sign(report);
    expect(await refusal(() => scene.broadcast(raw))).toContain("queued cost");
    const little = await preflight(scene.url, { ...half, value: balance / 10n });
    expect([little.verdict, severe(little)]).toEqual(["ready", []]);
    expect(await refusal(async () => scene.broadcast(await sign(little)))).toBe(null);
    await scene.mine();
  });

  it.each([
    ["no tip", { maxFeePerGas: 30n * gwei, maxPriorityFeePerGas: 0n }, "gas tip cap 0"],
    [
      "too many bytes",
      { data: `0x${"00".repeat(131_072)}` as Hex, gas: 6_000_000n, to: precompile as Hex },
      "oversized",
    ],
  ])("is refused by the pool, and not ready: %s", async (_, fields, words) => {
    const request = { from: owner.address, to: other.address, ...fields };
    const report = await preflight(scene.url, request);
    expect([report.verdict, severe(report)]).toEqual(["caution", ["NodeMayRefuse/warning"]]);
    const [raw] = await signAll(await cleared(report));
    expect(await refusal(() => scene.broadcast(raw as Hex))).toContain(words);
  });

  it("has findings for a cap that one full block ends, and a tip that no builder takes", async () => {
    const block = (await scene.ask("eth_getBlockByNumber", ["pending", false])) as { readonly baseFeePerGas: Hex };
    const base = BigInt(block.baseFeePerGas);
    const of = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
      preflight(scene.url, { from: owner.address, to: other.address, value: 1n, maxFeePerGas, maxPriorityFeePerGas });
    expect(codesOf(await of(base + base / 20n, 2n * 10n ** 6n))).toContain("FeeCapShort/info");
    expect(codesOf(await of(2n * base, 1n))).toContain("TipLow/info");
    const fine = codesOf(await of(2n * base, 2n * 10n ** 6n));
    expect(fine.filter((code) => /FeeCapShort|TipLow/.test(code))).toEqual([]);
  });
});
