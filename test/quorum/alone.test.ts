/** What one endpoint of a quorum alone is asked: its lies make no verdict better, no limit too low and no price too dear. */
import { numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Token } from "../contracts/artifacts.js";
import { findGethOrWarn } from "../harness/geth.js";
import { liar, liesAlone } from "../harness/lies.js";
import { pairOf } from "../harness/pairs.js";
import { furnish, transferOf } from "../preflight/furnished.js";
import {
  calldata,
  cleared,
  codesOf,
  layerOf,
  other,
  owner,
  preflightOn,
  scenesFor,
  signAll,
  startGethScene,
  type AnyInput,
  type Scene,
} from "../preflight/scene.js";

const bin = findGethOrWarn("a fork that one endpoint hides");

describe.skipIf(bin === null)("a fork that is near, on one of two endpoints,", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startGethScene(bin ?? "", { forks: { osakaTime: 0, amsterdamTime: 600 } });
  }, 30_000);
  afterAll(() => scene?.stop());

  const saying = (change: (config: object) => unknown) =>
    liar(scene.url, { method: "eth_config", tell: (config) => change(config as object) }, null, { count: 0 });
  const told = async (first: ReturnType<typeof saying>, second: ReturnType<typeof saying>) => {
    const input = { from: owner.address, to: other.address, value: 1n };
    const report = await preflightOn(pairOf(first, second), input, { maxAge: "20 minutes" });
    return codesOf(report);
  };

  it.each([
    ["says that there is none", (config: object) => ({ ...config, next: null })],
    ["says that it comes much later", (config: object) => ({ ...config, next: { activationTime: 99_999_999_999 } })],
    ["says nothing that can be read", () => "none"],
    ["does not serve it", () => null],
  ] as const)("is reported, where one of two %s", async (_, change) => {
    for (const [first, second] of [
      [saying(change), layerOf(scene.url)],
      [layerOf(scene.url), saying(change)],
    ] as const)
      expect(await told(first, second)).toEqual(expect.arrayContaining(["ForkAhead/warning"]));
  });
});

const ranks = ["ready", "caution", "unknown", "blocked"];

describe.each(scenesFor("lies of one"))("endpoints of which one lies, on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
  }, 30_000);
  afterAll(() => scene?.stop());

  it.each(Object.entries(liesAlone))("give no better verdict than one honest endpoint: %s", async (name, lie) => {
    const told = { count: 0 };
    const inputs: ReadonlyArray<AnyInput> = [
      transferOf(token),
      // why: it fails, whatever anybody says of its gas
      { from: owner.address, to: token, data: calldata(Token, "transferFrom", [other.address, owner.address, 1n]) },
    ];
    for (const input of inputs) {
      const [lying, honest] = [liar(scene.url, lie, null, told), layerOf(scene.url)];
      const truth = await preflightOn(honest, input);
      const report = await preflightOn(pairOf(lying, honest), input);
      expect(ranks.indexOf(report.verdict)).toBeGreaterThanOrEqual(ranks.indexOf(truth.verdict));
      if (report.verdict !== "ready") continue;
      const clearance = await cleared(report);
      const [raw = "0x"] = await signAll(clearance);
      const hash = await scene.broadcast(raw);
      await scene.mine();
      const { status, effectiveGasPrice, blockNumber } = await scene.receipt(hash);
      const block = (await scene.ask("eth_getBlockByNumber", [blockNumber, false])) as { baseFeePerGas: Hex };
      expect(status).toBe("0x1");
      // why: no tip above the chain's most is proposed, whatever a node says that others pay
      expect(BigInt(effectiveGasPrice) - BigInt(block.baseFeePerGas)).toBeLessThanOrEqual(5_000_000_000n);
    }
    // not every node tells its rules or receipts
    const isAsked = ["eth_estimateGas", "eth_feeHistory"].includes(String(lie.method));
    expect([name, numberToHex(told.count)]).not.toEqual([name, isAsked ? "0x0" : ""]);
    // what a plain transfer touches nobody asks
    if (lie.method === "eth_createAccessList") expect(told.count).toBeLessThanOrEqual(1);
  });
});
