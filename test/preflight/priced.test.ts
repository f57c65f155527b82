/** Calls that fail where gas has no price: what a scan pretends is no reason to block. */
import { numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  cleared,
  codesOf,
  other,
  owner,
  preflight,
  prove,
  scan,
  scenesFor,
  signAll,
  type AnyInput,
  type Scene,
} from "./scene.js";
import { creation } from "../harness/creation.js";

/** Reverts where `condition` leaves nothing on the stack. */
const demanding = (condition: string): Hex => {
  const target = (condition.length / 2 + 6).toString(16).padStart(2, "0");
  return creation(`${condition}60${target}575f5ffd5b00`);
};

describe.each(scenesFor("calls that ask for a price"))("calls that ask for a gas price, on %s", (_, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
  });
  afterAll(() => scene?.stop());

  it.each([
    ["a gas price", "3a"],
    ["a base fee", "48"],
    ["a tip", "48" + "3a" + "03"],
  ])("of the kind %s are ready, and work when they are mined", async (_name, condition) => {
    const to = await scene.deploy({ abi: [], bytecode: demanding(condition) });
    const call: AnyInput = { from: other.address, to, data: "0x01" };
    const report = await preflight(scene.url, call);
    expect([report.verdict, codesOf(report), report.ledger.rounds]).toEqual(["ready", [], 3]);
    const again = await prove(scene.url, await scan(scene.url, { ...call, gas: 60_000n }));
    expect([again.verdict, codesOf(again)]).toEqual(["ready", []]);
    const [raw] = await signAll(await cleared(report));
    const hash = await scene.broadcast(raw ?? "0x");
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x1");
  });

  it("that bound the gas limit of their block from above or below are ready, and work when they are mined", async () => {
    // reverts where the block's limit is above the first word of calldata
    const above = await scene.deploy({ abi: [], bytecode: creation("5f354511600857005b5f5ffd") });
    // reverts where it is not above 20 M
    const below = await scene.deploy({ abi: [], bytecode: demanding("6301312d004511") });
    const word = (limit: bigint) => numberToHex(limit, { size: 32 });
    const calls = [
      { to: above, data: word(120_000_000n) },
      { to: above, data: word(900_000_000n) },
      { to: below, data: "0x01" as const },
    ];
    for (const call of calls) {
      expect((await scan(scene.url, { from: other.address, ...call })).verdict).not.toBe("blocked");
      const report = await preflight(scene.url, { from: other.address, ...call });
      expect([call, report.verdict, codesOf(report)]).toEqual([call, "ready", []]);
      const [raw] = await signAll(await cleared(report));
      const hash = await scene.broadcast(raw ?? "0x");
      await scene.mine();
      expect((await scene.receipt(hash)).status).toBe("0x1");
    }
    // no block of the chain holds so little
    const never = await preflight(scene.url, { from: other.address, to: above, data: word(1_000_000n) });
    expect(never.verdict).toBe("blocked");
    // what the caller pretends is what the block has
    const blockOverrides = { gasLimit: 500_000_000n };
    const pretended = await scan(scene.url, { from: other.address, ...calls[0] }, { blockOverrides });
    expect(pretended.verdict).toBe("blocked");
  });

  it("are blocked where they fail at any price, with the reason that they give without one", async () => {
    const to = await scene.deploy({ abi: [], bytecode: demanding("5f") });
    const report = await preflight(scene.url, { from: other.address, to, data: "0x01" });
    expect([report.verdict, report.ledger.rounds]).toEqual(["blocked", 2]);
    expect(report.findings[0]).toMatchObject({ step: "simulate", severity: "blocker" });
  });

  it("are short of money where the sender cannot pay any price for them", async () => {
    const to = await scene.deploy({ abi: [], bytecode: demanding("3a") });
    const poor = "0x00000000000000000000000000000000dead4411";
    await scene.send(owner, { to: poor, value: 1_000n });
    await scene.mine();
    const report = await preflight(scene.url, { from: poor, to, data: "0x01" });
    expect(report.verdict).toBe("blocked");
    expect(codesOf(report)).toContain("InsufficientFunds/blocker");
  });
});
