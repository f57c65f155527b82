/** The numbers of a gas limit that a node refuses without saying them. */
import { describe, expect, it } from "vitest";
import { IntrinsicGasTooLow, OutOfGas } from "../../rooms/errors.js";
import { withIntrinsic } from "../../rooms/steps.js";
import type { Transaction } from "../../../src/Transaction.js";
import { alice, bob, hexOf, transaction } from "../parts.js";

const numbersOf = (input: Partial<Transaction>, said: object = {}, isAmsterdam = false) => {
  const failure = withIntrinsic(new IntrinsicGasTooLow(said), transaction(input), isAmsterdam);
  return failure._tag === "IntrinsicGasTooLow" ? [failure.have, failure.want] : failure._tag;
};

const word = hexOf(`0x${"00".repeat(32)}`);

describe("the finding about a gas limit below the intrinsic cost", () => {
  it.each([
    ["a transfer", { data: "0x" }, 21_000n],
    ["calldata (its floor, EIP-7623)", { data: hexOf("0x00ff") }, 21_050n],
    ["a deployment (EIP-2, EIP-3860)", { to: null, data: hexOf(`0x${"00".repeat(33)}`) }, 53_136n],
    ["an access list (EIP-2930)", { data: "0x", accessList: [{ address: bob, storageKeys: [word, word] }] }, 27_200n],
  ] as const)("names the cost beside what %s needs", (_, input, want) => {
    expect(numbersOf({ gas: 5n, ...input })).toEqual([5n, want]);
    expect(numbersOf({ ...input, gas: want - 1n })[1]).toBeGreaterThanOrEqual(want);
  });

  it("names the floor of calldata (EIP-7623), where the limit covers the rest", () => {
    expect(numbersOf({ data: hexOf("0xffff"), gas: 21_050n })).toEqual([21_050n, 21_080n]);
  });

  it("keeps the node's own numbers, and adds none that our rule lacks", () => {
    expect(numbersOf({ gas: 5n, data: "0x" }, { have: 6n, want: 7n })).toEqual([6n, 7n]);
    expect(numbersOf({ gas: null, data: "0x" })).toEqual([null, null]);
    expect(numbersOf({ gas: 21_000n, data: "0x" })).toEqual([21_000n, null]);
    expect(numbersOf({ gas: 5n, data: "0x" }, {}, true)).toEqual([5n, null]);
    expect(withIntrinsic(new OutOfGas({}), transaction({ from: alice }), false)._tag).toBe("OutOfGas");
  });
});
