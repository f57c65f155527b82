/** Approvals that are all that a bundle is for, or are spent to the last unit: no warning; what is left of others is one. */
import { concatHex, numberToHex, pad, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toText } from "../../src/Report.js";
import { Token } from "../contracts/artifacts.js";
import { calldata, owner, preflight, scan, scenesFor, type Scene } from "./scene.js";

/** Takes of the token that its first word names as much as the second says, from its caller. */
const taker = "0x6021600c60003960216000f3" + "6323b872dd5f523360205230604052602035606052" + "5f5f6064601c5f5f355af100";

describe.each(scenesFor("approvals alone"))("a bundle that only approves, on %s", (_, start) => {
  let scene: Scene;
  let [token, spender, second]: ReadonlyArray<Hex> = [];
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Token", "TKN", 18]);
    spender = await scene.deploy({ abi: [], bytecode: taker as Hex });
    second = await scene.deploy({ abi: [], bytecode: taker as Hex });
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 10n ** 6n]) });
    await scene.send(owner, { to: token, data: calldata(Token, "approve", [spender, 50n]) });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());

  const from = owner.address;
  const approve = (who: Hex | undefined, amount: bigint) => ({
    ...{ from, to: token, data: calldata(Token, "approve", [who, amount]) },
  });
  const pay = (amount: bigint) => ({
    ...{ from, to: spender, data: concatHex([pad(token as Hex), numberToHex(amount, { size: 32 })]) },
  });
  it.each<[string, () => ReadonlyArray<unknown>, string]>([
    ["a reset, and an approval", () => [approve(spender, 0n), approve(spender, 200n)], "ready"],
    ["two spenders", () => [approve(spender, 200n), approve(second, 9n)], "ready"],
    ["two revocations", () => [approve(spender, 0n), approve(second, 0n)], "ready"],
    ["one that is spent to the last unit", () => [approve(spender, 300n), pay(300n)], "ready"],
    ["a payment, and an approval behind it", () => [pay(5n), approve(second, 7n)], "ready"],
    ["one of which some is left", () => [approve(spender, 300n), pay(200n)], "caution"],
  ])("is judged the same in a scan and a proof: %s", async (_, input, verdict) => {
    for (const report of [await scan(scene.url, input() as never), await preflight(scene.url, input() as never)]) {
      const left = report.findings.some(({ code }) => code === "ApprovalLeftOver");
      expect([report.verdict, left]).toEqual([verdict, verdict === "caution"]);
    }
  });
  it("takes nothing back where nothing was given, and a right that was given is shown as it was", async () => {
    const told = async (...input: ReadonlyArray<unknown>) => toText(await preflight(scene.url, input as never));
    expect(await told(approve(second, 0n))).not.toMatch(/take back|no longer/);
    expect(await told(approve(second, 300n), approve(second, 0n))).not.toMatch(/take back|no longer/);
    expect(await told(approve(spender, 0n))).toMatch(/may no longer spend up to 0\.0{16}5/);
  });
});
