/** A token that answers `false` and does nothing: never ready, whatever asks it, and settled as what it is. */
import * as Effect from "effect/Effect";
import { encodeFunctionData, erc20Abi, parseAbi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import { settledText } from "../../src/Report.js";
import { creation } from "../harness/creation.js";
import { sendAll, sign } from "../harness/histories.js";
import { layerOf, other, owner, preflight, scan, scenesFor, type Scene } from "./scene.js";
import { transferOf } from "./furnished.js";
import { Token } from "../contracts/artifacts.js";

/** Answers 1,000 for every `balanceOf`, and a word of zero for all else. */
const quiet = "0x601c600c600039601c6000f3" + "5f3560e01c6370a0823114601257" + "60205ff3" + "5b6103e85f5260205ff3";

const tokens = parseAbi([
  "function transfer(address,uint256)",
  "function transferFrom(address,address,uint256)",
  "function approve(address,uint256)",
  "function setApprovalForAll(address,bool)",
  "function burn(uint256)",
  "function burnFrom(address,uint256)",
  "function mint(address,uint256)",
]);
const approval = "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
const codes = {
  /** Refuses every `balanceOf`, and answers a word of zero for all else. */
  refusing: "5f3560e01c6370a082311460125760205ff35b5f5ffd",
  /** Knows `transfer` alone, and answers a word of zero: it may be the number of what was handed over. */
  registry: "5f3560e01c63a9059cbb146011575f5ffd5b60205ff3",
  /** Tells of an approval that it does not keep, and answers a word of zero for all. */
  loud: `5f3560e01c63095ea7b31460125760205ff35b6024355f5260043533${`7f${approval}`}60205fa35f5f5260205ff3`,
};

describe.each(scenesFor("answers of false"))("a token call that returns false, on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let honest: Hex;
  const others: Partial<Record<keyof typeof codes, Hex>> = {};
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy({ abi: [], bytecode: quiet as Hex });
    for (const name of ["refusing", "registry", "loud"] as const)
      others[name] = await scene.deploy({ abi: [], bytecode: creation(codes[name]) });
    honest = await scene.deploy(Token, ["Token", "TKN", 18]);
    await scene.send(owner, {
      to: honest,
      data: encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [owner.address, 100n] }),
    });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());

  const asking = (functionName: "transfer" | "transferFrom" | "approve", args: ReadonlyArray<unknown>) => ({
    from: owner.address,
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName, args } as never),
  });
  const given = (functionName: string, args: ReadonlyArray<unknown>) => ({
    ...{ from: owner.address, to: token, abi: erc20Abi, functionName, args },
  });
  const payment = { from: owner.address, to: other.address, value: 1n };

  it.each<[string, () => unknown, number]>([
    ["a transfer by its ABI", () => given("transfer", [other.address, 5n]), 0],
    ["a transfer as raw data", () => asking("transfer", [other.address, 5n]), 0],
    ["a transfer for somebody", () => asking("transferFrom", [other.address, owner.address, 5n]), 0],
    ["an approval", () => asking("approve", [other.address, 5n]), 0],
    ["a transfer in front of a payment", () => [asking("transfer", [other.address, 5n]), payment], 0],
    ["a transfer behind an honest one", () => [transferOf(honest), asking("transfer", [other.address, 5n])], 1],
  ])("is not ready, and shows both numbers: %s", async (_, input, place) => {
    const options = { policies: [Policy.maxSpent(token, 5n), Policy.maxSpent("native", 1n)] };
    for (const report of [
      await scan(scene.url, input() as never, options),
      await preflight(scene.url, input() as never, options),
    ]) {
      const found = report.findings.filter(({ code }) => code === "ReturnedFalse");
      expect(found.map(({ transaction, severity }) => [transaction, severity])).toEqual([[place, "warning"]]);
      expect(found[0]?.numbers).toContainEqual({ name: "asked for", unit: "units", value: 5n });
      expect(found[0]?.numbers.at(-1)).toMatchObject({ unit: "units", value: 0n });
      expect(report.verdict).toBe("caution");
    }
  });

  it.each<[string, keyof typeof others | "token", string, ReadonlyArray<unknown>, string]>([
    ["a transfer of a token that refuses to tell balances", "refusing", "transfer", [other.address, 5n], "caution"],
    ["a transfer for somebody there", "refusing", "transferFrom", [other.address, owner.address, 5n], "caution"],
    ["a burn there", "refusing", "burn", [5n], "caution"],
    ["a transfer of what keeps no balances", "registry", "transfer", [other.address, 5n], "ready"],
    ["an approval that is told, and not kept", "loud", "approve", [other.address, 5n], "caution"],
    ["a burn", "token", "burn", [5n], "caution"],
    ["a burn for somebody", "token", "burnFrom", [other.address, 5n], "caution"],
    ["a mint", "token", "mint", [other.address, 5n], "caution"],
    ["an operator", "token", "setApprovalForAll", [other.address, true], "caution"],
    ["no operator where there was none", "token", "setApprovalForAll", [other.address, false], "ready"],
  ])("is judged by what happened: %s", async (_, name, functionName, args, verdict) => {
    const to = name === "token" ? token : others[name];
    const data = encodeFunctionData({ abi: tokens, functionName, args } as never);
    const report = await preflight(scene.url, { from: owner.address, to, data } as never);
    const found = report.findings.filter(({ code }) => code === "ReturnedFalse").map(({ severity }) => severity);
    expect([report.verdict, found]).toEqual([verdict, verdict === "ready" ? [] : ["warning"]]);
  });

  it("is not ready where only a given ABI says that it returns a bool", async () => {
    const abi = parseAbi(["function claim() returns (bool)"]);
    const input = { from: owner.address, to: token, data: encodeFunctionData({ abi, functionName: "claim" }) };
    const codes = async (options: Preflight.Options) =>
      (await preflight(scene.url, input, options)).findings.map(({ code, severity }) => `${code}/${severity}`);
    expect(await codes({ abis: [{ address: token, abi }] })).toContain("ReturnedFalse/warning");
    expect(await codes({ abis: [abi] })).toContain("ReturnedFalse/warning");
    expect(await codes({ abis: [{ address: honest, abi }] })).not.toContain("ReturnedFalse/warning");
    expect(await codes({})).not.toContain("ReturnedFalse/warning");
  });

  it("is settled as unfulfilled, and an honest transfer as the same", async () => {
    const classOf = async (input: object) => {
      const report = await preflight(scene.url, input as never);
      const hashes = await sendAll(scene, await sign(report));
      await scene.mine();
      const asked = Preflight.settle(report, hashes as never);
      const settled = await Effect.runPromise(asked.pipe(Effect.provide(layerOf(scene.url))));
      return { settled, text: settledText(settled, report) };
    };
    expect((await classOf(transferOf(honest))).settled.class).toBe("same");
    const vain = await classOf(asking("transfer", [other.address, 5n]));
    expect(vain.settled.class).toBe("unfulfilled");
    expect(vain.text).toContain("did not happen");
  });
});
