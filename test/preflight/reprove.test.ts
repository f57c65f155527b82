/** A report that is proven again says no less against its requests than it did: they are the same requests. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Hex } from "viem";
import { withLimits } from "../rooms/pipeline.js";
import { Aggregator, GasReader, Spoofer, Token, Unfamiliar } from "../contracts/artifacts.js";
import { nested } from "../harness/accuracy/cases.js";
import { calldata, codesOf, other, owner, preflight, prove, scan, startAnvilScene, type Scene } from "./scene.js";

let scene: Scene;
let contracts: Readonly<Record<"aggregator" | "reader", Hex>>;
beforeAll(async () => {
  scene = await startAnvilScene();
  contracts = { aggregator: await scene.deploy(Aggregator), reader: await scene.deploy(GasReader) };
});
afterAll(() => scene.stop());

describe("a report that is proven again", () => {
  it("stays ready with the same requests where nothing is against it", async () => {
    const first = await preflight(scene.url, { from: owner.address, to: other.address, value: 1n });
    const again = await prove(scene.url, first);
    expect([first.verdict, again.verdict, again.digest]).toEqual(["ready", "ready", first.digest]);
    const { nonce, gas, fee, request } = again.transactions[0];
    expect({ nonce, gas, fee, request }).toEqual({ nonce, gas, fee, request: first.transactions[0].request });
    expect(first.transactions[0]).toMatchObject({ nonce, gas, fee });
  });

  it("is blocked where its request is not that of its input, though it succeeds", async () => {
    const first = await preflight(scene.url, { from: owner.address, to: other.address, value: 1n });
    const [one] = first.transactions;
    const altered = { ...one, request: one.request && { ...one.request, value: 2n } };
    const again = await prove(scene.url, { ...first, transactions: [altered] });
    expect([again.verdict, codesOf(again).includes("NotProven/unavailable")]).toEqual(["unknown", true]);
  });

  it("that somebody changed in place is judged by the node's answers, not by the change", async () => {
    const unfamiliar = await scene.deploy(Unfamiliar);
    const data = calldata(Unfamiliar, "entrust", [other.address]);
    const first = await preflight(scene.url, { from: owner.address, to: unfamiliar, data });
    expect([first.verdict, codesOf(first)]).toEqual([
      "ready",
      ["EventUnexplained/info", "ContractControlChanged/info"],
    ]);
    const second = await prove(scene.url, first);
    const [{ outcome }] = first.transactions;
    // types forbid it; plain JavaScript does it
    Reflect.set(outcome.logs, "length", 0);
    expect(second.transactions[0].outcome.logs).toHaveLength(1);
    const again = await prove(scene.url, first);
    expect(again.transactions[0].outcome.logs).toHaveLength(1);
    const codes = ["ContractControlChanged/info", "EventUnexplained/info", "OutcomeChanged/warning"];
    expect([again.verdict, codesOf(again).toSorted()]).toEqual(["caution", codes]);
  });

  it("whose decoded events somebody changed in place shows the node's events", async () => {
    const token = await scene.deploy(Token, ["Token", "TKN", 18]);
    const first = await preflight(scene.url, {
      ...{ from: owner.address, to: token, abi: Token.abi },
      ...{ functionName: "approve", args: [other.address, 5n] },
    });
    const decoded = first.transactions[0].outcome.logs[0]?.decoded;
    expect(decoded?.args).toMatchObject({ spender: other.address });
    // types forbid it; plain JavaScript does it
    Reflect.set(decoded?.topics ?? [], 2, `0x${"0".repeat(24)}${owner.address.slice(2)}`);
    Reflect.set(decoded?.provenance[0] ?? {}, "source", "elsewhere");
    const again = (await prove(scene.url, first)).transactions[0].outcome.logs[0]?.decoded;
    expect(again?.args).toMatchObject({ spender: other.address });
    expect(again?.provenance.map(({ source }) => source)).not.toContain("elsewhere");
  });

  it("still warns where the gas limit starves an inner call", async () => {
    const starved = { target: contracts.reader, callData: calldata(GasReader, "need", [400_011n]) };
    const data = nested(contracts.aggregator, starved, 2, true);
    const first = await preflight(scene.url, { from: owner.address, to: contracts.aggregator, data, gas: 200_000n });
    expect(codesOf(first)).toContain("GasHeadroomThin/warning");
    const again = await prove(scene.url, first);
    expect(codesOf(again)).toContain("GasHeadroomThin/warning");
    expect(again.verdict).toBe("caution");
  });

  it("still warns where the outcome follows the gas", async () => {
    const data = calldata(GasReader, "record");
    const first = await preflight(scene.url, { from: owner.address, to: contracts.reader, data });
    expect(codesOf(first)).toContain("GasDependent/warning");
    const again = await prove(scene.url, first);
    expect(codesOf(again)).toContain("GasDependent/warning");
    expect(again.verdict).toBe("caution");
  });

  it("stays unknown, however often it is proven, where its gas limit needs a new scan", async () => {
    const trapped = { target: contracts.reader, callData: calldata(GasReader, "need", [400_013n]) };
    const data = nested(contracts.aggregator, trapped, 30, true);
    const scanned = await scan(scene.url, { from: owner.address, to: contracts.aggregator, data });
    // the node's own estimate is satisfied with the outer success
    const tight = withLimits(scanned, [scanned.transactions[0].gas.estimate ?? 0n]);
    const first = await prove(scene.url, tight);
    expect([first.verdict, codesOf(first).includes("ScanAgain/unavailable")]).toEqual(["unknown", true]);
    const again = await prove(scene.url, first);
    expect([again.verdict, codesOf(again).includes("ScanAgain/unavailable")]).toEqual(["unknown", true]);
  });

  it("stays blocked where its runs differ: the same requests face the same contract", async () => {
    const token = await scene.deploy(Token, ["Gold", "GLD", 18]);
    // honest where there is no base fee, as in a scan
    const spoofer = await scene.deploy(Spoofer, [token, 2, 0n]);
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [other.address, 10_000n]) });
    await scene.send(other, { to: token, data: calldata(Token, "approve", [spoofer, 1_000n]) });
    await scene.mine();
    const claim = { from: other.address, to: spoofer, data: calldata(Spoofer, "claim") };
    const first = await preflight(scene.url, claim);
    expect([first.verdict, codesOf(first).includes("SimulationDiverged/blocker")]).toEqual(["blocked", true]);
    expect((await prove(scene.url, first)).verdict).not.toBe("ready");
  });
});
