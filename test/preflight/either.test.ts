/** `execute(address,bytes)`, which some contracts make as a call and others as a DELEGATECALL: judged by the contract's code. */
import { encodeFunctionData, erc20Abi, parseAbi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../src/Report.js";
import { Token } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { calldata, cleared, other, owner, preflight, scan, scenesFor, signAll, type Scene } from "./scene.js";

/** Runs the second argument on the first by an instruction, and reverts where that does. */
const executor = (instruction: string, end: string, behind = "") =>
  creation(`5f3560e01c631cff79cd146011575f5ffd5b60443560645f37${instruction}60${end}575f5ffd5b00${behind}`);
const called = "5f5f6044355f5f6004355a";

describe.each(scenesFor("execute(address,bytes)"))("execute(address,bytes) on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  const contracts: Record<string, Hex> = {};
  const put = async (name: string, bytecode: Hex) => {
    contracts[name] = await scene.deploy({ abi: [], bytecode });
  };
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Token", "TKN", 18]);
    await put("calls", executor(`${called}f1`, "2b"));
    await put("calls, and has metadata", executor(`${called}f1`, "2b", "fea264f4f4f2f4"));
    await put("delegates", executor("5f5f6044355f6004355af4", "2a"));
    await put("delegates by CALLCODE", executor(`${called}f2`, "2b"));
    await put(
      "is a clone",
      creation(`363d3d373d3d3d363d73${contracts["delegates"]?.slice(2)}5af43d82803e903d91602b57fd5bf3`),
    );
    for (const to of Object.values(contracts))
      await scene.send(owner, { to: token, data: calldata(Token, "mint", [to, 100n]) });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());

  const paying = () => encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [other.address, 5n] });
  const execute = (name: string, cut = 0) => ({
    ...{ from: owner.address, to: contracts[name] ?? "0x" },
    data: encodeFunctionData({
      abi: parseAbi(["function execute(address,bytes)"]),
      args: [token, paying()],
    }).slice(0, cut === 0 ? undefined : -2 * cut) as Hex,
  });
  const told = ({ findings }: Report) =>
    findings.flatMap(({ code, severity, numbers }) =>
      code === "CalldataCut" ? [[severity, numbers.find(({ unit }) => unit === "address")?.value ?? null]] : [],
    );

  it.each(["calls", "calls, and has metadata"])(
    "names a contract that %s in a caution, and does what was reported",
    async (name) => {
      const report = await preflight(scene.url, execute(name));
      expect([report.verdict, told(report)]).toEqual(["caution", [["warning", contracts[name]]]]);
      expect(told(await scan(scene.url, execute(name)))).toEqual([["warning", contracts[name]]]);
      expect(report.transfers).toMatchObject([
        { token, from: contracts[name], to: other.address.toLowerCase(), amount: 5n },
      ]);
      const [raw = "0x"] = await signAll(await cleared(report));
      const hash = await scene.broadcast(raw);
      await scene.mine();
      expect((await scene.receipt(hash)).logs.map(({ address }) => address)).toEqual([token]);
    },
  );
  it.each(["delegates", "delegates by CALLCODE", "is a clone"])("is unknown for a contract that %s", async (name) => {
    const report = await preflight(scene.url, execute(name));
    expect(told(report)).toEqual([["unavailable", contracts[name]]]);
    expect(["unknown", "blocked"]).toContain(report.verdict);
  });
  it("is unknown with truncated calldata, whatever contract is called", async () => {
    const report = await preflight(scene.url, execute("calls", 40));
    expect(told(report)).toEqual([["unavailable", null]]);
    expect(["unknown", "blocked"]).toContain(report.verdict);
  });
});
