/** What batches, proxies and contracts ask for, beside what happens, on nodes: never ready where nothing does, and ready where it does. */
import { concat, encodeFunctionData, erc20Abi, pad, toHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { creation } from "../harness/creation.js";
import { nobody, other, owner, preflight, scan, scenesFor, type Scene } from "./scene.js";
import { Payroll, Proxy, Token, Wallet } from "../contracts/artifacts.js";

/** Answers 1,000 for every `balanceOf`, and a word of zero for all else. */
const quiet = "5f3560e01c6370a0823114601257" + "60205ff3" + "5b6103e85f5260205ff3";
/** Takes what it is paid with any call, as wrapped currency does, and answers `allowance` and `balanceOf` with zero. */
const fallback = "5f3560e01c8063dd62ed3e146019576370a082311460195700" + "5b60205ff3";

/** Slot of an implementation (EIP-1967). */
const implementation = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [other.address, 5n] });
const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [other.address, 5n] });

describe.each(scenesFor("what is asked for"))("a call that does not do what its calldata asks, on %s", (_, start) => {
  let scene: Scene;
  const at: Record<string, Hex> = {};
  beforeAll(async () => {
    scene = await start();
    at["quiet"] = await scene.deploy({ abi: [], bytecode: creation(quiet) });
    at["fallback"] = await scene.deploy({ abi: [], bytecode: creation(fallback) });
    at["wallet"] = await scene.deploy(Wallet);
    await scene.send(owner, {
      to: at["wallet"],
      data: encodeFunctionData({ abi: Wallet.abi, functionName: "initialise", args: [owner.address] }),
    });
    at["payroll"] = await scene.deploy(Payroll);
    at["proxy"] = await scene.deploy(Proxy, [nobody]);
    // keeps the second word of what it is called with in the slot that is the first, and runs no other code
    at["keeper"] = await scene.deploy({ abi: [], bytecode: creation("6020355f355500") });
    await scene.send(owner, { to: at["keeper"], data: concat([implementation, pad(owner.address)]) });
    at["honest"] = await scene.deploy(Token, ["Token", "TKN", 18]);
    for (const to of [owner.address, at["wallet"], at["payroll"]])
      await scene.send(owner, {
        to: at["honest"],
        data: encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [to, 100n] }),
      });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());

  const batch = (...calls: ReadonlyArray<readonly [name: string, data: Hex]>) => ({
    ...{ from: owner.address, to: at["wallet"], abi: Wallet.abi, functionName: "execute" },
    args: [calls.map(([name, data]) => ({ target: at[name] ?? name, value: 0n, data }))],
  });
  const pay = (token: string) => ({
    ...{ from: owner.address, to: at["payroll"], abi: Payroll.abi, functionName: "pay" },
    args: [at[token], BigInt(other.address), 1n, 1n],
  });
  const call = (to: string, data: Hex) => ({ from: owner.address, to: at[to], data });

  it.each<[string, () => object, string | null]>([
    [
      "a batch that moves, and one call that does not",
      () => batch(["honest", transfer], ["quiet", transfer]),
      "AskedInVain",
    ],
    ["a batch that moves", () => batch(["honest", transfer], ["honest", transfer]), null],
    ["a batch that calls nobody", () => batch(["honest", transfer], [nobody, transfer]), "CalledNobody"],
    ["a batch with a note", () => batch(["honest", transfer], [nobody, toHex("thank you")]), null],
    ["a grant that a fallback swallows", () => call("fallback", approve), "AskedInVain"],
    ["a contract that does not look whether it paid", () => pay("quiet"), "AskedInVain"],
    ["a contract that pays", () => pay("honest"), null],
    ["a proxy whose code is nobody's", () => call("proxy", "0x60fe47b1"), "CalledNobody"],
    [
      "an address where proxies keep their code, of a contract that runs no other's",
      () => call("keeper", concat([pad("0x05"), pad("0x01")])),
      null,
    ],
  ])("is a warning only where nothing is done: %s", async (_, input, code) => {
    const report = await preflight(scene.url, input() as never);
    const found = report.findings.filter(({ severity }) => severity === "warning").map((finding) => finding.code);
    expect([report.verdict, found]).toEqual(code === null ? ["ready", []] : ["caution", [code]]);
  });

  it("is a warning in a scan and in its proof alike", async () => {
    const input = batch(["quiet", transfer], [nobody, transfer]);
    for (const report of [await scan(scene.url, input as never), await preflight(scene.url, input as never)])
      expect(report.findings.map(({ code }) => code)).toEqual(expect.arrayContaining(["AskedInVain", "CalledNobody"]));
  });
});
