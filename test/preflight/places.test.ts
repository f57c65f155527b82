/** Contracts that name another party when the block is another: nothing moves, and yet somebody is credited. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codesOf, layerOf, other, owner, preflightOn, scenesFor, type Scene } from "./scene.js";
import { creation } from "../harness/creation.js";

const thief = "b0ee7a142d267c1f36714e4a8f75612f20a79721";
const signature = "7f" + "d1".repeat(32);
/** Leaves the caller's address on the stack where the bit of that block value is set, else the thief's. */
const callerWhere = (bit: string) => `73${thief}3303${bit}6001160273${thief}01`;
const indexed = (party: string) => `${party}${signature}5f5fa200`;
const inData = (party: string) => `${party}5f52${signature}60205fa100`;
const returned = (party: string) => `${party}5f5260205ff3`;
const [randomness, timestamp] = ["44", "42"];

/** The same with another party in the caller's place. */
const partyWhere = (party: string, bit: string) => `73${thief}73${party}03${bit}6001160273${thief}01`;
/** Moves the caller's address, or the thief's where `flag` leaves zero, into an event. */
const callerUnless = (flag: string) => indexed(`73${thief}3303${flag}0273${thief}01`);

describe.each(scenesFor("parties by chance"))("payments to addresses that a block names, on %s", (_, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
  });
  afterAll(() => scene?.stop());
  const proven = async (runtime: string, data: Hex = "0x12345678") => {
    const to = await scene.deploy({ abi: [], bytecode: creation(runtime) });
    return preflightOn(layerOf(scene.url), { from: owner.address, to, data });
  };
  const word = (digits: string) => digits.padStart(64, "0");

  it("take no small argument times a power of 16 in one block alone for an address", async () => {
    // what follows the argument makes 20 bytes of it that begin with it: 0x0000000200…00
    const data: Hex = `0x12345678${word("2")}${word("0")}${word("5")}`;
    const report = await proven(`${randomness}600116610200015f52${signature}60405fa100`, data);
    expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
  });

  const vain = "000000000022d473030f116ddee9f6b43ac78ba3";
  it.each([
    ["an argument with zeros in front", `0x12345678${word(vain)}`],
    ["beside the grid of words", `0x1234567809${word(vain)}`],
    ["behind what is packed", `0x12345678${"ab".repeat(7)}${word(vain)}`],
  ] as const)(
    "are never cleared when they credit a thief in the place of a known address, named by %s",
    async (_name, data) => {
      const before = await proven(indexed(partyWhere(vain, randomness)), data);
      expect(before.verdict).not.toBe("ready");
      await scene.send(owner, { to: `0x${vain}`, value: 1n });
      await scene.mine();
      const report = await proven(indexed(partyWhere(vain, randomness)), data);
      expect([report.verdict, codesOf(report)]).toEqual([
        "blocked",
        expect.arrayContaining(["SimulationDiverged/blocker"]),
      ]);
    },
  );

  it.each([
    ["an indexed word by the randomness", indexed(callerWhere(randomness))],
    ["the data of an event by the randomness", inData(callerWhere(randomness))],
    ["the return value by the randomness", returned(callerWhere(randomness))],
    ["an indexed word by the parity of the time", indexed(callerWhere(timestamp))],
  ])("are never cleared when they credit the user or a thief in %s", async (_name, runtime) => {
    for (let turn = 0; turn < 3; turn++) {
      const report = await proven(runtime);
      // told of the scan, too, where that named the other; what it answers the witness by chance looks like a state that moves
      const codes = new Set(codesOf(report));
      codes.delete("PendingMoved/unavailable");
      expect([report.verdict, [...codes]]).toEqual(["blocked", ["SimulationDiverged/blocker"]]);
    }
  });

  it("are never cleared when they depend on the gas limit of the proof", async () => {
    const { gasLimit } = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly gasLimit: Hex };
    const report = await proven(callerUnless(`63${Number(gasLimit).toString(16).padStart(8, "0")}4514`));
    expect([report.verdict, [...new Set(codesOf(report))]]).toEqual(["blocked", ["SimulationDiverged/blocker"]]);
  });

  it("give a warning where they go to whoever the block favours", async () => {
    const report = await proven(indexed(`${randomness}60601c`));
    expect([report.verdict, codesOf(report)]).toEqual(["caution", ["ChanceDependent/warning"]]);
  });

  it.each([
    ["the caller beside the block's randomness", `${randomness}5f5233${signature}60205fa200`],
    ["the producer of the block", indexed("41")],
    ["the caller beside the time", `425f5233${signature}60205fa200`],
    ["somebody fixed", indexed(`73${other.address.slice(2).toLowerCase()}`)],
  ])("are ready for %s", async (_name, runtime) => {
    const report = await proven(runtime);
    expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
  });
});
