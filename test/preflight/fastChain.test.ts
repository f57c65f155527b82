/** A chain of five blocks a second: how long a clearance holds where more blocks come than a simulation holds. */
import * as Layer from "effect/Layer";
import { numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import type { BundleReport } from "../../src/Report.js";
import { mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { creation } from "../harness/creation.js";
import { cleared, codesOf, layerOf, nobody, other, owner, preflightOn } from "./scene.js";
import { assemble, watcher } from "./watchers.js";

const chainId = 4242;
let node: Awaited<ReturnType<typeof startAnvil>>;
const at: Record<"number" | "time" | "proxy", Hex> = { number: "0x", time: "0x", proxy: "0x" };
beforeAll(async () => {
  node = await startAnvil({ noMining: true, chainId });
  let nonce = 0;
  const deploy = async (data: Hex): Promise<Hex> => {
    const raw = await owner.signTransaction({
      ...{ type: "eip1559", chainId, data, nonce: nonce++, gas: 2_000_000n },
      ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
    });
    const hash = await rawRequest(node.url, "eth_sendRawTransaction", [raw]);
    await mineAnvil(node.url);
    const receipt = await rawRequest(node.url, "eth_getTransactionReceipt", [hash]);
    return (receipt as { readonly contractAddress: Hex }).contractAddress;
  };
  const outside = (what: string) => `0 CALLDATALOAD ${what} LT 32 CALLDATALOAD ${what} GT OR`;
  at.number = await deploy(watcher(assemble(outside("NUMBER"))));
  at.time = await deploy(creation("425000"));
  // EIP-1167
  const target = at.number.slice(2).toLowerCase();
  at.proxy = await deploy(creation(`363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`));
});
afterAll(() => node?.stop());

const proven = (to: Hex, data: Hex, options = {}): Promise<BundleReport> =>
  preflightOn(
    Layer.merge(
      layerOf(node.url),
      Chains.layerWith(chainId, {
        blockTimeMs: 200,
        blockTag: "latest",
        feeModel: "ethereum",
        denominator: 1000n,
        elasticity: 5n,
      }),
    ) as never,
    { from: other.address, to, value: 10n ** 15n, data },
    options,
  );
const latest = async () => BigInt((await rawRequest(node.url, "eth_blockNumber", [])) as Hex);
const word = (value: bigint) => numberToHex(value, { size: 32 }).slice(2);
const tells = ["BlocksNotSimulated/info"];
/** Without what anvil's own base fee amounts to. */
const told = (report: BundleReport) => codesOf(report).filter((code) => !code.startsWith("BaseFee"));

it.each(["number", "proxy"] as const)(
  "a clearance for code that may tell blocks apart ends with the simulated blocks: %s",
  async (name) => {
    await mineAnvil(node.url);
    const next = (await latest()) + 1n;
    // steals from a block on that no simulation reaches
    const report = await proven(at[name], `0x${word(next + 40n)}${word(next + 150n)}`);
    expect([report.verdict, told(report)]).toEqual(["ready", tells]);
    const { expiresAt } = await cleared(report);
    // 31 blocks of 200 ms, of which asking took some
    expect(expiresAt - report.observed.at).toBeLessThanOrEqual(6_200);
    expect(expiresAt - report.observed.at).toBeGreaterThan(3_000);
    // within what was simulated it is found
    const near = (await latest()) + 1n;
    expect((await proven(at[name], `0x${word(near + 20n)}${word(near + 150n)}`)).verdict).toBe("blocked");
  },
);

it.each(["20 seconds", "30 seconds"] as const)(
  "a clearance holds the %s that the caller says, with the same findings",
  async (maxAge) => {
    const report = await proven(at.number, `0x${word(1n)}${word(0n)}`, { maxAge });
    expect([report.verdict, report.observed.until]).toEqual(["ready", null]);
    expect(told(report)).toEqual(tells);
  },
);

it("a clearance is as long as ever where nothing reads a block's number, or no code runs", async () => {
  for (const to of [at.time, nobody as Hex]) {
    const report = await proven(to, "0x");
    expect([report.verdict, told(report), report.observed.until]).toEqual(["ready", [], null]);
  }
});
