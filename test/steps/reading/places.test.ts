/** Whose address stands where, in two runs of the same transactions. */
import { describe, expect, it } from "vitest";
import type { Address, Hex } from "../../rooms/primitives.js";
import type { Outcome, OutcomeLog } from "../../rooms/report.js";
import { compareEffects, concernedIn, doubtfulIn, livesIn, unknownOutcome, type Effects } from "../../rooms/steps.js";
import { unseen, type View } from "../../rooms/witness.js";
import { alice, bundle, hexOf } from "../parts.js";

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
const said = (logs: ReadonlyArray<OutcomeLog>, returnData: string = "", producer: string | null = null): Effects => ({
  ...{ transfers: [], balanceChanges: [], approvals: [] },
  outcomes: [
    { ...unknownOutcome(null), status: "success", logs, returnData: `0x${returnData}` as Hex } satisfies Outcome,
  ],
  producer: producer === null ? null : (`0x${producer}` as Address),
});
const movedPlaces = (one: Effects, other: Effects, of: ReadonlySet<string>) => {
  const found = compareEffects(one, other, { tolerance: 0, whose: new Set(), concerned: of, numbers: null });
  return {
    decisive: found.filter(({ kind, decides }) => kind === "place" && decides),
    chance: found.filter(({ kind, decides }) => kind === "address" && !decides),
  };
};
const kinds = (one: Effects, other: Effects) => {
  const { decisive, chance } = movedPlaces(one, other, concerned);
  return [decisive.length > 0, chance.length > 0];
};

describe("two runs that name addresses", () => {
  it("do not move anybody where they are the same", () =>
    expect(kinds(said([log(word("5"), word(user))]), said([log(word("5"), word(user))]))).toEqual([false, false]));

  it.each([
    ["in an indexed word", said([log("", word(user))]), said([log("", word(thief))])],
    ["in the data", said([log(word("5") + word(user))]), said([log(word("5") + word(thief))])],
    ["between two words", said([log(word(user) + word(thief))]), said([log(word(thief) + word(user))])],
    ["packed, at any alignment", said([log(`07${user}${word("9")}`)]), said([log(`07${thief}${word("9")}`)])],
    ["written in capitals", said([log(word(user.toUpperCase()))]), said([log(word(thief))])],
    ["in the return value", said([], word(user)), said([], word(thief))],
  ])("moved the user where only one names them: %s", (_, one, other) => {
    expect(kinds(one, other)[0]).toBe(true);
    expect(kinds(other, one)[0]).toBe(true);
  });

  it("show chance where they name two strangers", () =>
    expect(kinds(said([log("", word(thief))]), said([log("", word(miner))]))).toEqual([false, true]));

  it.each([
    ["numbers", word("5"), word("ffffffffffffffffffffffff")],
    ["hashes", "e3".repeat(32), "17".repeat(32)],
    ["a number for an address", word("0"), word(thief)],
  ])("show no move where they differ in %s beside the same user", (_, one, other) =>
    expect(kinds(said([log(one, word(user))]), said([log(other, word(user))]))).toEqual([false, false]),
  );

  it("name the same party where each names its own block's producer", () => {
    expect(kinds(said([log(word(miner))], "", miner), said([log(word(thief))], "", thief))).toEqual([false, false]);
    // a user who produces blocks is no other party for it
    expect(kinds(said([log(word(user))], "", user), said([log(word(user))], "", miner))).toEqual([false, false]);
    // zero is nobody, and stands in every padding
    const low = "00000000000000000000000000000000dead0001";
    const paid = (producer: string) => said([log(word(low))], word(user), producer);
    expect(movedPlaces(paid("00".repeat(20)), paid(miner), new Set([low, user]))).toEqual({ decisive: [], chance: [] });
    // but whoever takes what was the user's
    expect(kinds(said([log(word(user))], "", miner), said([log(word(thief))], "", thief))[0]).toBe(true);
    // a report may name any producer, also one whose digits stand in the user's place
    for (const graze of [`0${user.slice(0, 39)}`, `00${user.slice(0, 38)}`, `${user.slice(1)}0`]) {
      expect(kinds(said([log(word(user))], "", graze), said([log(word(thief))]))[0]).toBe(true);
      expect(kinds(said([log(word(user) + word("5"))], "", graze), said([log(word(user) + word("6"))]))[0]).toBe(false);
    }
  });

  it("name nobody by a value that an ABI, or a known event, calls a number", () => {
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

  it("are compared elsewhere where one failed, or emitted other events", () => {
    const failed: Effects = { ...said([]), outcomes: [unknownOutcome(null)] };
    expect(kinds(said([log(word(user))]), failed)).toEqual([false, false]);
    expect(kinds(said([log(word(user))]), said([]))).toEqual([false, false]);
  });

  it("show a bounded number of places", () => {
    const many = (who: string) => said(Array.from({ length: 500 }, () => log(word(who))));
    const { decisive, chance } = movedPlaces(many(user), many(thief), concerned);
    expect([decisive.length, chance.length]).toEqual([16, 16]);
  });
});

const permit2 = "000000000022d473030f116ddee9f6b43ac78ba3";
const seaport = "0000000000000068f116a894984e2db1123eb395";
const selector = "0x12345678";
const calldata = (...words: ReadonlyArray<string>) => hexOf(selector + words.map(word).join(""));
/** Whom a call of bob by alice concerns beside the two, where only `living` live. */
const named = (data: Hex, living: ReadonlyArray<string> = [], item: object | null = null) => {
  const cases = bundle({ data, item: item as never });
  const found = concernedIn(cases, [], doubtfulIn(cases), (account) => living.includes(account.slice(2)));
  return [...found].filter((account) => account !== alice.slice(2));
};

describe("the addresses in untyped calldata", () => {
  it.each([
    ["small numbers, whatever follows them", calldata("2", "0", "2", "200", "65a1b2c3", "0", "de0b6b3a7640000", "0")],
    ["numbers as long as amounts get", calldata("d3c21bcecceda1000000", "18ee90ff6c373e0ee4e3f0ad2", "0", "1")],
    [
      "the most that 128, 160 and 256 bits hold",
      calldata("0", "f".repeat(32), "0", "f".repeat(40), "0", "f".repeat(64)),
    ],
    ["negative numbers", calldata("0", `${"f".repeat(58)}f2764c`, "0", `${"f".repeat(60)}0080`)],
    ["a text behind its length", calldata("0", "5", "68656c6c6f".padEnd(64, "0"))],
    ["precompiles", calldata("1", "9", "100")],
  ])("are not found in %s", (_, data) => {
    expect(named(data)).toEqual([]);
    expect(doubtfulIn(bundle({ data })).filter((account) => BigInt(account) < 2n ** 96n)).toEqual([]);
  });

  it("include arguments before pieces of numbers, so that these push nobody out", () => {
    const numbers = Array.from({ length: 200 }, (_, index) => (2n ** 90n + BigInt(index) * 7919n).toString(16));
    const data = calldata(...numbers, user, permit2);
    expect(doubtfulIn(bundle({ data }))[0]).toBe(`0x${permit2}`);
    expect(named(data, [permit2])).toEqual([user, permit2]);
  });

  it("cannot be crowded out by others", () => {
    const junk = Array.from(
      { length: 2_000 },
      (_, index) => `${user.slice(0, 32)}${(index + 0x10000000).toString(16)}`,
    );
    expect(named(calldata(...junk, miner))).toContain(miner);
    expect(
      doubtfulIn(bundle({ data: calldata(...junk.map((one) => `${permit2.slice(0, 32)}${one.slice(32)}`)) })),
    ).toHaveLength(64);
  });

  it("are asked about by look of an address first, then numbers, arguments first", () => {
    const shifted = Array.from({ length: 70 }, (_, index) => `${permit2.slice(0, -2)}${(index + 16).toString(16)}`);
    const data = hexOf(`${selector}00${shifted.map(word).join("")}${"00".repeat(31)}${word(seaport)}${word(user)}`);
    expect(doubtfulIn(bundle({ data })).slice(0, 2)).toContain(`0x${seaport}`);
    expect(named(data, [...shifted, seaport]).slice(0, 2)).toEqual([user, seaport]);
  });

  it.each([
    ["an argument", calldata(user)],
    ["an argument of a call within a call", hexOf(`${selector}${word("20")}${word("44")}a9059cbb${word(user)}`)],
    ["an argument two calls deep", hexOf(`${selector}${word("20")}aabbccdd${word("24")}a9059cbb${word(user)}`)],
    ["an argument in capitals", calldata(user.toUpperCase())],
  ])("include one that looks like an address in %s, though nobody lives there", (_, data) =>
    expect(named(data)).toEqual([user]),
  );

  it("include an argument of a constructor, wherever the code before it ends", () => {
    const cases = bundle({ to: null, data: hexOf(`0x60016002${"5b".repeat(7)}${word(user)}${word("5")}`) });
    expect([...concernedIn(cases, [], [], () => false)]).toEqual([alice.slice(2), user]);
  });

  it.each([
    ["with five zero bytes in front", calldata(permit2), permit2],
    ["with seven", calldata(seaport), seaport],
    ["that ends in zeros", calldata(`${user.slice(0, 32)}00000000`), `${user.slice(0, 32)}00000000`],
    ["beside the grid of words", hexOf(`${selector}07${word(user)}`), user],
  ])("include an address %s where somebody lives there", (_, data, account) => {
    expect(named(data)).toEqual([]);
    expect(named(data, [account])).toContain(account);
  });

  it("include one that nobody looked at, and one with code, a balance or a nonce, before or after", () => {
    const account = `0x${permit2}` as Address;
    const seen = (balance: bigint, codeHash: Hex): View => ({
      ...unseen,
      account: () => ({ kind: "account", balance, codeHash, codeSize: 0n, codePrefix: "0x" }),
    });
    const [empty, nonce] = [`0x${"00".repeat(32)}`, `0x${"c5".repeat(32)}`] as [Hex, Hex];
    expect(livesIn([])(account)).toBe(true);
    expect(livesIn([seen(0n, empty)])(account)).toBe(false);
    expect(livesIn([seen(0n, empty), seen(1n, empty)])(account)).toBe(true);
    expect(livesIn([seen(0n, nonce)])(account)).toBe(true);
  });
});

describe("the addresses in calldata with an ABI", () => {
  const item = {
    type: "function",
    inputs: [{ type: "address" }, { type: "tuple[]", components: [{ type: "address" }] }],
  };
  it("include each of that type, however small, but zero", () => {
    const data = calldata("77ea", "40", "2", "0", permit2);
    expect(named(data, [], item)).toEqual([word("77ea").slice(24), permit2]);
  });

  it("include one that looks like a number in a whole word", () => {
    const small = word("77ea").slice(24);
    const moved = (one: string, other: string) =>
      movedPlaces(said([log(one)]), said([log(other)]), new Set([small])).decisive.length > 0;
    expect(moved(word("77ea"), word(thief))).toBe(true);
    expect(moved(`${word("77ea0")}${word("1")}`, `${word("77eb0")}${word("1")}`)).toBe(false);
  });
});

describe("a thief with zeros in front of the address", () => {
  it.each([permit2, seaport])("is chance beside a stranger: %s", (vain) => {
    expect(kinds(said([log("", word(miner))]), said([log("", word(vain))]))).toEqual([false, true]);
    expect(kinds(said([log("", word(vain))]), said([log("", word(miner))]))).toEqual([false, true]);
  });
  it("is none where both are numbers", () =>
    expect(kinds(said([log("", word(permit2))]), said([log("", word(seaport))]))).toEqual([false, false]));
});
