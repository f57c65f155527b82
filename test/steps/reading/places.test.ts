/** Whose address stands where, in two runs of the same transactions. */
import { describe, expect, it } from "vitest";
import type { Address, Hex } from "../../../src/primitives/hex.js";
import type { Outcome, OutcomeLog } from "../../../src/report/parts.js";
import { movedPlaces, type Said } from "../../../src/steps/reading/places.js";
import { unknownOutcome } from "../../../src/steps/reading/outcome.js";

const user = "a0ee7a142d267c1f36714e4a8f75612f20a79720";
const thief = "b0ee7a142d267c1f36714e4a8f75612f20a79721";
const miner = "c0ee7a142d267c1f36714e4a8f75612f20a79722";
const word = (text: string) => text.padStart(64, "0");
const concerned = new Set([user]);

const log = (data: string, ...topics: ReadonlyArray<string>): OutcomeLog =>
  ({
    address: "0x00000000000000000000000000000000dead0001",
    topics: [`0x${"11".repeat(32)}`, ...topics.map((topic) => `0x${topic}`)],
    data: `0x${data}`,
    decoded: null,
  }) as OutcomeLog;
const said = (logs: ReadonlyArray<OutcomeLog>, returnData: string = "", producer: string | null = null): Said => ({
  outcomes: [
    { ...unknownOutcome(null), status: "success", logs, returnData: `0x${returnData}` as Hex } satisfies Outcome,
  ],
  producer: producer === null ? null : (`0x${producer}` as Address),
});
const kinds = (one: Said, other: Said) => {
  const { decisive, chance } = movedPlaces(one, other, concerned);
  return [decisive.length > 0, chance.length > 0];
};

describe("two runs", () => {
  it("that said the same moved nobody", () =>
    expect(kinds(said([log(word("5"), word(user))]), said([log(word("5"), word(user))]))).toEqual([false, false]));

  it.each([
    ["in an indexed word", said([log("", word(user))]), said([log("", word(thief))])],
    ["in the data", said([log(word("5") + word(user))]), said([log(word("5") + word(thief))])],
    ["between two words", said([log(word(user) + word(thief))]), said([log(word(thief) + word(user))])],
    ["packed, at any alignment", said([log(`07${user}${word("9")}`)]), said([log(`07${thief}${word("9")}`)])],
    ["written in capitals", said([log(word(user.toUpperCase()))]), said([log(word(thief))])],
    ["in the return value", said([], word(user)), said([], word(thief))],
  ])("of which only one names the user %s moved it", (_, one, other) => {
    expect(kinds(one, other)[0]).toBe(true);
    expect(kinds(other, one)[0]).toBe(true);
  });

  it("that name two strangers leave it to chance", () =>
    expect(kinds(said([log("", word(thief))]), said([log("", word(miner))]))).toEqual([false, true]));

  it.each([
    ["numbers", word("5"), word("ffffffffffffffffffffffff")],
    ["hashes", "e3".repeat(32), "17".repeat(32)],
    ["a number for an address", word("0"), word(thief)],
  ])("that differ in %s beside the same user say nothing of places", (_, one, other) =>
    expect(kinds(said([log(one, word(user))]), said([log(other, word(user))]))).toEqual([false, false]),
  );

  it("that each name their own block's producer name the same party", () => {
    expect(kinds(said([log(word(miner))], "", miner), said([log(word(thief))], "", thief))).toEqual([false, false]);
    // a user who produces blocks is no other party for it
    expect(kinds(said([log(word(user))], "", user), said([log(word(user))], "", miner))).toEqual([false, false]);
    // zero is nobody, and stands in every padding
    const low = "00000000000000000000000000000000dead0001";
    const paid = (producer: string) => said([log(word(low))], word(user), producer);
    expect(movedPlaces(paid("00".repeat(20)), paid(miner), new Set([low, user]))).toEqual({ decisive: [], chance: [] });
    // but whoever takes what was the user's
    expect(kinds(said([log(word(user))], "", miner), said([log(word(thief))], "", thief))[0]).toBe(true);
  });

  it("that differ in what an ABI, or a known event, calls a number name nobody by it", () => {
    const input = (type: string, indexed: boolean) => ({ type, indexed });
    const by = (inputs: ReadonlyArray<object>, topic: string, data: string) =>
      said([
        { ...log(word(data), word(topic)), decoded: { item: { type: "event", inputs } } } as unknown as OutcomeLog,
      ]);
    const chance = (inputs: ReadonlyArray<object>, [topic, other]: readonly [string, string], data = thief) =>
      kinds(by(inputs, topic, thief), by(inputs, other, data))[1];
    const [address, number] = [input("address", true), input("uint160", false)];
    expect(chance([address, number], [user, user], miner)).toBe(false);
    expect(chance([address, number], [thief, miner])).toBe(true);
    expect(chance([address, input("address", false)], [user, user], miner)).toBe(true);
    expect(chance([input("uint256", true), number], [thief, miner], miner)).toBe(false);
    // the user's own place decides, whatever it is called
    expect(kinds(by([address, number], user, user), by([address, number], user, miner))[0]).toBe(true);
    const swap = `0xc42079f94a6350d7${"0".repeat(48)}` as Hex;
    const v3 = (data: string) => said([{ ...log(word(data)), topics: [swap] }]);
    expect(kinds(v3(thief), v3(miner))).toEqual([false, false]);
  });

  it("of which one failed, or emitted other events, are compared elsewhere", () => {
    const failed: Said = { outcomes: [unknownOutcome(null)], producer: null };
    expect(kinds(said([log(word(user))]), failed)).toEqual([false, false]);
    expect(kinds(said([log(word(user))]), said([]))).toEqual([false, false]);
  });

  it("tell a bounded number of places", () => {
    const many = (who: string) => said(Array.from({ length: 500 }, () => log(word(who))));
    const { decisive, chance } = movedPlaces(many(user), many(thief), concerned);
    expect([decisive.length, chance.length]).toEqual([16, 16]);
  });
});
