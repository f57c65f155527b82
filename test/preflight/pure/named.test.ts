/** Foreign access lists: typed and bounded whatever a node says, and held against the gas of the run. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accessListOf, answerTo } from "../../rooms/eth.js";
import { isListOf, namedIn, readNames } from "../../rooms/pipeline.js";
import { Address, Hash } from "../../rooms/primitives.js";
import { knownTokensOf } from "../../rooms/chains.js";
import { alice, bob, transaction } from "../../steps/parts.js";

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: digits, maxLength: digits });
const anyList = fc.array(
  fc.record({
    address: fc.oneof(
      hex(40).map((digits) => Address.make(`0x${digits}`)),
      fc.constantFrom(...knownTokensOf(1), Address.make(`0x${"0".repeat(39)}1`), alice),
    ),
    storageKeys: fc.array(
      hex(64).map((digits) => Hash.make(`0x${digits}`)),
      { maxLength: 40 },
    ),
  }),
  { maxLength: 40 },
);
const read = (answer: unknown) => answerTo(accessListOf({ to: bob }, "latest"), [], Result.succeed(answer));

describe("an access list from a node", () => {
  it("is read whole or refused, whatever it is", () =>
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.record({ accessList: fc.anything(), gasUsed: fc.anything() })),
        (answer) => {
          const result = read(answer);
          if (Result.isFailure(result) || result.success === null) return;
          const { accessList, gasUsed } = result.success;
          expect(accessList.every(({ storageKeys }) => storageKeys.every((key) => /^0x[0-9a-f]{64}$/i.test(key)))).toBe(
            true,
          );
          expect(["bigint", "object"]).toContain(typeof gasUsed);
        },
      ),
    ));
  it("names at most 16 slots of 16 contracts, each once, in one order, without precompiles and known tokens", () =>
    fc.assert(
      fc.property(anyList, fc.array(anyList, { maxLength: 3 }), (accessList, others) => {
        const lists = [accessList, ...others].map((list, index) => ({
          index,
          list: { accessList: list, gasUsed: null },
        }));
        const named = namedIn(lists, 1);
        expect(named).toEqual(namedIn([...lists].reverse(), 1));
        const contracts = named.map(({ address }) => address);
        expect(new Set(contracts).size).toBe(contracts.length);
        for (const address of contracts) {
          expect(address).toBe(address.toLowerCase());
          expect(knownTokensOf(1).has(address)).toBe(false);
        }
        const bounded = readNames(named);
        expect(bounded.some(({ address }) => address.startsWith(`0x${"0".repeat(36)}`))).toBe(false);
        expect(bounded.length).toBeLessThanOrEqual(16);
        expect(Math.max(0, ...bounded.map(({ storageKeys }) => storageKeys.length))).toBeLessThanOrEqual(16);
      }),
    ));
});

describe("the gas of an access list", () => {
  const input = transaction({ from: alice, to: bob });
  const keys = (count: number) =>
    Array.from({ length: count }, (_, index) => Hash.make(`0x${String(index).padStart(64, "0")}`));
  const far = Address.make(`0x${"33".repeat(20)}`);
  /** Of a call that reads two slots of its own and writes one of another's. */
  const accessList = [
    { address: bob, storageKeys: keys(2) },
    { address: far, storageKeys: keys(1) },
  ];
  const price = 2 * 2_400 + 3 * 1_900 - 2_500 - 2 * 2_000 - 2_100;
  const list = { accessList, gasUsed: 100_000n + BigInt(price) };
  it.each<[string, bigint | null, boolean]>([
    ["the same", 100_000n, true],
    ["some hundred less", 99_600n, true],
    ["of a run that writes one more slot", 105_000n, false],
    ["of a run that writes one slot less", 95_000n, false],
    ["of a run whose gas is not known", null, false],
  ])("is that of a run, or not: %s", (_, used, expected) => expect(isListOf(list, input, used)).toBe(expected));
  it("hides no write behind many names", () => {
    const many = { accessList: [{ address: bob, storageKeys: keys(50) }], gasUsed: 100_000n };
    expect([105_100n, 108_000n].map((used) => isListOf(many, input, used))).toEqual([true, false]);
  });
  it("matches no run without a list, without its gas, or with an empty list for a run that writes", () => {
    expect(isListOf(null, input, 100_000n)).toBe(false);
    expect(isListOf({ accessList, gasUsed: null }, input, 100_000n)).toBe(false);
    expect(isListOf({ accessList: [], gasUsed: 21_040n }, input, 43_200n)).toBe(false);
    expect(isListOf({ accessList: [], gasUsed: 21_040n }, input, 21_040n)).toBe(true);
  });
});
