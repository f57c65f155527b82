/** Clearances that must not be given, and honest transactions that must get one: each was wrong once. */
import * as Effect from "effect/Effect";
import { getContractAddress, parseEther, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import { Token, WETH9 } from "../contracts/artifacts.js";
import { startProxy } from "../harness/proxy.js";
import {
  calldata,
  cleared,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  prove,
  refusedWith,
  scenesFor,
  third,
  type Scene,
} from "./scene.js";
import { furnish } from "./furnished.js";
import { creation } from "../harness/creation.js";

describe.each(scenesFor("clearances that must not be given"))("on %s", (_name, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  it("refuses a call to what only a later transaction of the bundle deploys", async () => {
    const nonce = await scene.count(owner.address, "pending");
    const at = getContractAddress({ from: owner.address, nonce: BigInt(nonce + 2) });
    const report = await preflight(scene.url, [
      { from: owner.address, to: nobody, value: 1n },
      { from: owner.address, to: at, data: "0xd0e30db0", value: parseEther("5") },
      { from: owner.address, data: WETH9.bytecode },
    ]);
    expect(report.verdict).toBe("blocked");
    expect((await refusedWith(report))._tag).toBe("NoCode");
  });

  it("does not take eth_getCode's word for code that the simulated state has not", async () => {
    const proxy = await startProxy({ target: scene.url });
    proxy.fail("eth_getCode", { kind: "map", map: () => "0x6080604052" });
    const report = await preflight(proxy.url, { from: third.address, to: nobody, data: "0x12345678", value: 3n });
    await proxy.stop();
    expect(report.verdict).not.toBe("ready");
    expect(report.verdict).not.toBe("caution");
    expect(report.transactions[0].code.to?.kind).toBe("unknown");
  });

  it("does not let a nonce that it chose replace what was sent meanwhile", async () => {
    const report = await preflight(scene.url, { from: other.address, to: nobody, value: 1n });
    await cleared(report);
    await scene.send(other, { to: nobody, value: 2n });
    const again = await prove(scene.url, report);
    expect(again.verdict).toBe("blocked");
    expect(codesOf(again)).toContain("NonceTooLow/blocker");
    await scene.mine();
  });

  it("simulates a replacement on the state without what it replaces", async () => {
    const held = 10n ** 24n;
    const nonce = await scene.count(owner.address, "pending");
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 5_000n]), nonce });
    const fees = { nonce, maxFeePerGas: 60_000_000_000n, maxPriorityFeePerGas: 5_000_000_000n };
    const transfer = (amount: bigint) => ({
      from: owner.address,
      to: token,
      data: calldata(Token, "transfer", [other.address, amount]),
      ...fees,
    });
    const needing = await preflight(scene.url, transfer(held + 500n));
    expect(needing.verdict).toBe("blocked");
    expect(codesOf(needing)).toContain("ExecutionReverted/blocker");
    const honest = await preflight(scene.url, transfer(held - 100n));
    expect(codesOf(honest)).toContain("ReplacesPending/info");
    expect(honest.verdict).toBe("ready");
    await cleared(honest);
    await scene.mine();
  });

  it("clears a payout that follows the gas price, and says so", async () => {
    // pays tx.gasprice × 50,000 to its caller
    const runtime = "5f5f5f5f3a61c35002335af100";
    const keeper = await scene.deploy({ abi: [], bytecode: creation(runtime) });
    await scene.send(third, { to: keeper, value: parseEther("1") });
    await scene.mine();
    const report = await preflight(scene.url, { from: owner.address, to: keeper, data: "0x12345678" });
    expect([report.verdict, codesOf(report)]).toEqual(["ready", expect.arrayContaining(["PriceDependent/info"])]);
    expect(codesOf(report).filter((code) => code.endsWith("blocker"))).toEqual([]);
    await cleared(report);
  });

  it("warns where an amount that comes in follows the base fee by more than the base fee moves", async () => {
    // pays block.basefee² ÷ 10^6 to its caller: an eighth more where the base fee is a sixteenth higher
    const runtime = "5f5f5f5f484802620f42409004335af100";
    const steep = await scene.deploy({ abi: [], bytecode: creation(runtime) });
    await scene.send(third, { to: steep, value: parseEther("1") });
    await scene.mine();
    const report = await preflight(scene.url, { from: owner.address, to: steep, data: "0x12345678" });
    expect([report.verdict, codesOf(report).includes("ChanceDependent/warning")]).toEqual(["caution", true]);
  });

  it("gives none to a report whose findings were cut away, nor for an old block", async () => {
    const report = await preflight(scene.url, { from: owner.address, to: nobody, value: 1n });
    const [first] = report.transactions;
    const failing: Report.Report = {
      ...report,
      findings: [],
      verdict: "ready",
      transactions: [{ ...first, outcome: { ...first.outcome, status: "reverted" } }],
    };
    const json = await Effect.runPromise(Report.fromJson(Report.toJson(failing)));
    expect((await refusedWith(json))._tag).toBe("NotProven");
    const old = await preflight(scene.url, { from: owner.address, to: nobody, value: 1n }, { block: 0n });
    expect(["NotProven", "NonceTooHigh", "InsufficientFunds"]).toContain((await refusedWith(old))._tag);
  });
});
