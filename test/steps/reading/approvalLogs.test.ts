/** Rights out of logs: read by their rules, settled by what the token answers, never thrown over. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nobody } from "../../rooms/abi.js";
import { settleRight, toldIn } from "../../rooms/effects.js";
import { log, word } from "../parts.js";
import { anyLogs, at, topics } from "./arbitrary.js";

const [alice, bob, token] = [at("a"), at("b"), at("1")];
const approval = (spender = bob, amount = 5n) =>
  toldIn([log(token, [topics.approval, word(alice), word(spender)], [word(amount)])], 0).rights[0];
const nft = (spender = bob, id = 7n) =>
  toldIn([log(token, [topics.approval, word(alice), word(spender), word(id)])], 0).rights[0];

describe("an event of a right", () => {
  it("is over an amount or one NFT by the shape of the event", () => {
    expect(approval()).toMatchObject({ standard: "erc20", owner: alice, spender: bob, claim: 5n, tokenId: null });
    expect(nft()).toMatchObject({ standard: "erc721", owner: alice, spender: bob, claim: 1n, tokenId: 7n });
    expect(nft(nobody)).toMatchObject({ claim: 0n });
  });
  it("over everything is one or zero, for any word", () => {
    const forAll = (word_: bigint) =>
      toldIn([log(token, [topics.forAll, word(alice), word(bob)], [word(word_)])], 3).rights[0];
    expect([forAll(9n), forAll(0n)].map((right) => [right?.operator, right?.claim, right?.transaction])).toEqual([
      [true, 1n, 3],
      [true, 0n, 3],
    ]);
  });
  it.each([
    ["ceb576d9f15e4e20", [word(alice), word(bob), word(1n)], "erc6909", null, true, 1n],
    ["b3fd507183588756", [word(alice), word(bob), word(7n), word(5n)], "erc6909", 7n, false, 5n],
    ["f4caeb2d6ca8932a", [word(bob), word(alice)], "erc777", null, true, 1n],
    ["50546e66e5f44d72", [word(bob), word(alice)], "erc777", null, true, 0n],
    ["da919360433220e1", [word(alice), word(bob), word(token), word(5n)], "aaveDebt", null, false, 5n],
    ["d5e969f01efe921d", [word(at("7")), word(alice), word(bob), word(1n)], "morpho", null, true, 1n],
    ["d5e969f01efe921d", [word(at("7")), word(alice), word(bob), word(0n)], "morpho", null, true, 0n],
  ] as const)("by %s %j is one of %s", (kind, values, standard, tokenId, operator, claim) => {
    for (const indexed of [values.length - 1, values.length].filter((count) => count < 4)) {
      const told = log(token, [kind.padEnd(64, "0"), ...values.slice(0, indexed)], values.slice(indexed));
      expect(toldIn([told], 0).rights).toMatchObject([
        { standard, token, keeper: token, owner: alice, spender: bob, tokenId, operator, claim, open: null },
      ]);
    }
    const short = log(token, [kind.padEnd(64, "0")], values.slice(1));
    expect(toldIn([short], 0).rights).toEqual([]);
  });
  it("to buy a CryptoPunk names no owner", () => {
    const offer = log(token, ["3c7b682d5da98001".padEnd(64, "0"), word(8n), word(bob)], [word(99n)]);
    expect(toldIn([offer], 0).rights).toMatchObject([
      { standard: "cryptopunks", owner: nobody, spender: bob, tokenId: 8n, claim: 1n },
    ]);
  });
  it("of either kind has the kind that the token answers", () => {
    const [coin, single] = [approval(), nft()];
    if (coin === undefined || single === undefined) throw new Error("no right");
    expect(settleRight(single, new Map([[token, "erc20"]]))).toMatchObject({
      ...{ standard: "erc20", tokenId: null, claim: 7n },
    });
    expect(settleRight(coin, new Map([[token, "erc721"]]))).toEqual(coin);
    expect(settleRight(single, new Map())).toEqual(single);
  });
  it("of any shape is read without an exception", () =>
    fc.assert(
      fc.property(anyLogs(token), (logs) => {
        for (const right of toldIn(logs, 0).rights)
          expect(settleRight(right, new Map([[token, "erc721"]])).owner).toHaveLength(42);
      }),
      { numRuns: 500 },
    ));
});
