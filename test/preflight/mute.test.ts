/** Rights that only the calldata of a batch tells, for their contracts announce nothing: seen, measured and judged. */
import { readFileSync } from "node:fs";
import { encodeAbiParameters, parseAbi, parseAbiParameters, type Abi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import * as Report from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { deploying, encode, executing, making, multiSend } from "./safes.js";
import { calldata, nobody, other, owner, preflight, scenesFor, severe, type Scene } from "./scene.js";

const me = owner.address.toLowerCase() as Hex;
const you = other.address.toLowerCase() as Hex;
const permit2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
const codes = JSON.parse(readFileSync(new URL("../fixtures/inner.json", import.meta.url), "utf8")) as Readonly<
  Record<string, { readonly bytecode: Hex } | undefined>
>;
const multicallAbi = parseAbi([
  "function tryAggregate(bool, (address target, bytes callData)[] calls)",
  "function blockAndAggregate((address target, bytes callData)[] calls)",
]) as Abi;
const policies = [Policy.noNewApprovals, Policy.noUnlimitedApprovals];

describe.each(scenesFor("rights that nothing announces"))("rights that nothing announces, on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(artifacts.SilentToken);
  }, 60_000);
  afterAll(() => scene.stop());

  const approving = (amount: bigint) => calldata(artifacts.SilentToken, "approve", [you, amount]);
  const run = async (to: Hex, data: Hex) => {
    const report = await preflight(scene.url, { from: me, to, data }, { policies });
    const [{ outcome } = { outcome: null }] = report.transactions;
    expect(outcome?.status).toBe("success");
    expect(outcome?.logs.filter(({ address }) => address === token || address === permit2)).toEqual([]);
    const rights = report.approvals.map(({ standard, owner: of, spender, before, after, unlimited, evidence }) => [
      ...[standard, of, spender, before, after, unlimited, evidence],
    ]);
    // what is judged is what people are shown
    expect(Report.toText(report)).toContain(other.address);
    const judged = policies.map(({ evaluate }) => evaluate(report)._tag);
    return { report, rights, judged };
  };
  const granted = (standard: string, by: Hex, amount: bigint, isUnlimited = false) => [
    [standard, by.toLowerCase(), you, 0n, amount, isUnlimited, "measured"],
  ];

  it("belong to the Safe in a Safe's batch", async () => {
    const safe = await making(scene, "1.4.1", owner.address);
    const library = await deploying(scene, "MultiSend 1.4.1");
    for (const [amount, judged] of [
      [5n, ["Fail", "Pass"]],
      [2n ** 256n - 1n, ["Fail", "Fail"]],
    ] as const) {
      const batch = multiSend({ to: nobody, data: "0x12345678" }, { to: token, data: approving(amount) });
      const seen = await run(safe, executing({ to: library, data: batch, isDelegate: true }));
      expect([seen.rights, seen.judged]).toEqual([granted("erc20", safe, amount, amount > 5n), judged]);
    }
    await scene.send(owner, { to: safe, data: executing({ to: safe, data: encode("enableModule", me) }) });
    await scene.mine();
    const moduled = encode("execTransactionFromModule", library, 0n, multiSend({ to: token, data: approving(5n) }), 1);
    const seen = await run(safe, moduled);
    expect([seen.rights, seen.judged]).toEqual([granted("erc20", safe, 5n), ["Fail", "Pass"]]);
  });

  it("belong to Multicall3 itself in its calls", async () => {
    const multicall = await scene.deploy({ abi: [], bytecode: codes["Multicall3"]?.bytecode ?? "0x" });
    const calls = [
      { target: nobody, callData: "0x12345678" },
      { target: token, callData: approving(5n) },
    ];
    for (const [form, args] of [
      ["tryAggregate", [false, calls]],
      ["blockAndAggregate", [calls]],
    ] as const) {
      const seen = await run(multicall, calldata({ abi: multicallAbi }, form, args));
      expect([form, seen.rights, seen.judged]).toEqual([form, granted("erc20", multicall, 5n), ["Fail", "Pass"]]);
    }
  });

  if (name === "anvil")
    it("belong to the caller in a router's plan, within Permit2", async () => {
      await scene.ask("anvil_setCode", [permit2, artifacts.MutePermit2.deployedBytecode]);
      const router = await scene.deploy(artifacts.PlanRouter);
      const details = (amount: bigint) => ({ token, amount, expiration: 4_000_000_000, nonce: 0 });
      const single = parseAbiParameters(
        "((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline), bytes",
      );
      const batch = parseAbiParameters(
        "((address token, uint160 amount, uint48 expiration, uint48 nonce)[] details, address spender, uint256 sigDeadline), bytes",
      );
      const one = (amount: bigint) =>
        encodeAbiParameters(single, [{ details: details(amount), spender: you, sigDeadline: 1n }, "0x1234"]);
      const many = encodeAbiParameters(batch, [{ details: [details(6n)], spender: you, sigDeadline: 1n }, "0x1234"]);
      const plan = encodeAbiParameters(parseAbiParameters("bytes, bytes[]"), ["0x0b0a", ["0x", one(7n)]]);
      const plans: ReadonlyArray<readonly [commands: Hex, inputs: ReadonlyArray<Hex>, amount: bigint]> = [
        ["0x0a", [one(5n)], 5n],
        ["0x0b03", ["0x", many], 6n],
        ["0xa1", [plan], 7n],
      ];
      for (const [commands, inputs, amount] of plans) {
        const seen = await run(router, calldata(artifacts.PlanRouter, "execute", [commands, inputs]));
        expect([seen.rights, seen.judged]).toEqual([granted("permit2", me, amount), ["Fail", "Pass"]]);
        // what a plan leaves behind is no purpose of its own
        expect(severe(seen.report)).toContain("ApprovalLeftOver/warning");
      }
    });
});
