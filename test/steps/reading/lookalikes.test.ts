/** Accounts that look like addresses that the caller knows (address poisoning). */
import fc from "fast-check";
import { encodeFunctionData, keccak256, parseAbi, toHex, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { checkLookalikes } from "../../rooms/steps.js";
import { alice, bob, bundle, filled, log, outcome, token, word } from "../parts.js";

/** Addresses that look random, and are the same in each run. */
const addressOf = (seed: string): Hex => `0x${keccak256(toHex(seed)).slice(26)}`;
const manyOf = (name: string, count: number) => Array.from({ length: count }, (_, at) => addressOf(`${name} ${at}`));
const bookOf = (accounts: ReadonlyArray<string>) => Object.fromEntries(accounts.map((account) => [account, "friend"]));
const paying = (to: Hex) => bundle({ to, value: 1n }).map((each) => filled(each, { outcome: outcome() }));

/** The address that a poisoner makes of a known one: the first and last digits of it, and others between them. */
const poisoned = (known: Hex, first: number, last: number, seed: string): Hex => {
  const [digits, others] = [known.slice(2), addressOf(seed).slice(2)];
  const between = [...others.slice(first, 40 - last)];
  // the digits beside the equal ones differ, so that exactly so many are equal
  for (const [at, place] of [
    [0, first],
    [between.length - 1, 39 - last],
  ] as const)
    if (between[at] === digits[place]) between[at] = digits[place] === "7" ? "8" : "7";
  return `0x${digits.slice(0, first)}${between.join("")}${digits.slice(40 - last)}`;
};

const lookalikesOf = (to: Hex, book: Readonly<Record<string, string>>) =>
  checkLookalikes(paying(to), [], [], book).map(({ code, severity, numbers }) => [
    `${code}/${severity}`,
    ...numbers.map(({ value }) => value),
  ]);

describe("an account that looks like a known address", () => {
  it("is found among 1,000 that poisoners make of 1, 10, 100 and 1,000 known ones, with the original", () => {
    for (const size of [1, 10, 100, 1_000]) {
      const known = manyOf("known", size);
      const book = bookOf(known);
      const missed = Array.from({ length: 1_000 }, (_, at) => {
        const victim = known[at % size] ?? alice;
        const [first, last] = [4 + (at % 3), 4 + ((at >> 2) % 3)];
        const made = poisoned(victim, first, last, `poison ${at}`);
        return [made, victim, lookalikesOf(made, book)] as const;
      }).filter(
        ([made, victim, [found]]) => found?.join() !== ["LookalikeAddress/warning", made, victim, "friend"].join(),
      );
      expect([size, missed]).toEqual([size, []]);
    }
  });

  it("is found where it looks like the sender itself, unless it is known", () => {
    const made = poisoned(alice, 5, 5, "own");
    const book = bookOf(manyOf("known", 1_000));
    expect(lookalikesOf(made, book)).toEqual([["LookalikeAddress/warning", made, alice, "your own account"]]);
    expect(lookalikesOf(made, { ...book, [made]: "my second account" })).toEqual([]);
    expect(lookalikesOf(made, {})).toEqual([]);
  });

  it("is none of 10,000 random addresses, for any number of known ones", () => {
    const random = manyOf("random", 10_000).map((address) => ({ address }));
    for (const size of [1, 9, 10, 130, 1_000, 5_000]) {
      const found = checkLookalikes(paying(bob), [], random, bookOf(manyOf("known", size)));
      expect([size, found]).toEqual([size, []]);
    }
  });

  it("needs more equal digits where more addresses are known, with some at either end", () => {
    const least = (size: number, digitsOf: (all: number) => readonly [number, number]): number | undefined => {
      const known = manyOf("known", size);
      const victim = known[0] ?? alice;
      return Array.from({ length: 20 }, (_, at) => at).find((all) => {
        const [first, last] = digitsOf(all);
        return lookalikesOf(poisoned(victim, first, last, `least ${all}`), bookOf(known)).length > 0;
      });
    };
    const both = (all: number) => [Math.ceil(all / 2), Math.floor(all / 2)] as const;
    expect([1, 9, 10, 134, 135, 5_000].map((size) => least(size, both))).toEqual([6, 6, 7, 7, 8, 8]);
    expect([1, 100, 1_000].map((size) => least(size, (all) => [all, 1]))).toEqual([undefined, undefined, undefined]);
    expect([1, 100, 1_000].map((size) => least(size, (all) => [1, all]))).toEqual([undefined, undefined, undefined]);
    expect([1, 100, 1_000].map((size) => least(size, (all) => [2, all]))).toEqual([4, 5, 6]);
  });

  it.each([
    [
      "a predeploy of the OP stack",
      "0x4200000000000000000000000000000000000006",
      "0x4200000000000000000000000000000000000016",
    ],
    ["a precompile", "0x0000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000101"],
    ["a system contract", "0x0000000000000000000000000000000000001000", "0x0000000000000000000000000000000000002000"],
    [
      "another address of many zeros",
      "0x000000000022d473030f116ddee9f6b43ac78ba3",
      "0x00000000000000adc04c56bf30ac9d3c0aaf14a3",
    ],
    [
      "the known address itself",
      "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640",
      "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640",
    ],
  ] as const)("is not %s", (_, known, account) => {
    expect(lookalikesOf(account, bookOf([known]))).toEqual([]);
  });

  it("may begin with zeros, which count as two digits", () => {
    const known = "0x0000000041a3d473030f116ddee9f6b43ac78ba3";
    expect(lookalikesOf(poisoned(known, 8, 4, "zeros"), bookOf([known]))).toHaveLength(1);
    expect(lookalikesOf(poisoned(known, 8, 3, "zeros"), bookOf([known]))).toEqual([]);
  });

  it("is found once wherever it is called, paid or given a right, unless it is a sender or known itself", () => {
    const known = addressOf("known");
    const fake = poisoned(known, 5, 5, "fake");
    const book = { [known]: "" };
    const abi = parseAbi([
      "function transfer(address,uint256)",
      "function approve(address,uint256)",
      "function transferOwnership(address)",
    ]);
    const topic = keccak256(toHex("Transfer(address,address,uint256)")).slice(2);
    const moved = log(token, [topic, word(alice), word(fake)], [word(5n)]);
    const transfer = {
      standard: "erc20",
      token,
      from: alice,
      to: fake,
      amount: 5n,
      tokenId: null,
      transaction: 0,
      evidence: "logged",
    } as const;
    const plain = bundle({ to: token, data: "0x12345678" });
    const [entry] = plain.map((each) => filled(each, { outcome: outcome() }));
    if (entry === undefined) throw new Error("no entry");
    const calling = (data: Hex) => bundle({ to: token, data }).map((each) => filled(each, { outcome: outcome() }));
    const found = [
      checkLookalikes(paying(fake), [], [], book),
      ...(["transfer", "approve", "transferOwnership"] as const).map((functionName) =>
        checkLookalikes(
          calling(
            functionName === "transferOwnership"
              ? encodeFunctionData({ abi, functionName, args: [fake] })
              : encodeFunctionData({ abi, functionName, args: [fake, 5n] }),
          ),
          [],
          [],
          book,
        ),
      ),
      checkLookalikes([{ ...entry, outcome: outcome({ logs: [moved] }), transfers: [transfer] }], [], [], book),
      checkLookalikes([entry], [[{ outcome: outcome({ logs: [moved] }), transfers: [transfer] }]], [], book),
      checkLookalikes([entry], [], [{ address: fake }], book),
    ];
    expect(found.map((each) => each.map(({ code, transaction }) => `${code} ${transaction}`))).toEqual([
      ...Array.from({ length: 6 }, () => ["LookalikeAddress 0"]),
      ["LookalikeAddress null"],
    ]);
    expect(checkLookalikes([entry], [], [{ address: fake }], {})).toEqual([]);
    expect(checkLookalikes([entry], [], [{ address: fake }], { ...book, [fake]: "" })).toEqual([]);
    expect(checkLookalikes([{ ...entry, accounts: [fake] }], [], [{ address: fake }], book)).toEqual([]);
    expect(checkLookalikes([entry], [], [{ address: bob }], book)).toEqual([]);
  });

  it("is found by its digits alone, whatever both addresses are", () => {
    const hex = fc.stringMatching(/^[0-9a-f]{40}$/).map((digits): Hex => `0x${digits}`);
    fc.assert(
      fc.property(
        hex,
        hex,
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 0, max: 12 }),
        (known, other, first, last) => {
          const digits = known.slice(2);
          const made: Hex = `0x${digits.slice(0, first)}${other.slice(2 + first, 42 - last)}${digits.slice(40 - last)}`;
          const isKnown = made === known || made === alice;
          expect(lookalikesOf(made, bookOf([known])).length <= (isKnown ? 0 : 1)).toBe(true);
          if (!isKnown && first >= 3 && last >= 3 && !digits.startsWith("000") && !digits.endsWith("000"))
            expect(lookalikesOf(made, bookOf([known]))).toHaveLength(1);
        },
      ),
    );
  });
});
