/** Rights out of logs: read by their rules, settled by what the token answers, never thrown over. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nobody, rightsIn, settleRight } from "../../../src/steps/reading/approvalLogs.js";
import { log, word } from "../parts.js";
import { anyLogs, at, topics } from "./arbitrary.js";

const [alice, bob, token] = [at("a"), at("b"), at("1")];
const approval = (spender = bob, amount = 5n) =>
  rightsIn([log(token, [topics.approval, word(alice), word(spender)], [word(amount)])], 0)[0];
const nft = (spender = bob, id = 7n) =>
  rightsIn([log(token, [topics.approval, word(alice), word(spender), word(id)])], 0)[0];

describe("a right", () => {
  it("over an amount and over one NFT is told apart by the shape of the event", () => {
    expect(approval()).toMatchObject({ standard: "erc20", owner: alice, spender: bob, said: 5n, tokenId: null });
    expect(nft()).toMatchObject({ standard: "erc721", owner: alice, spender: bob, said: 1n, tokenId: 7n });
    expect(nft(nobody)).toMatchObject({ said: 0n });
  });
  it("over everything is one and zero, whatever the word says", () => {
    const forAll = (word_: bigint) =>
      rightsIn([log(token, [topics.forAll, word(alice), word(bob)], [word(word_)])], 3)[0];
    expect([forAll(9n), forAll(0n)].map((right) => [right?.operator, right?.said, right?.transaction])).toEqual([
      [true, 1n, 3],
      [true, 0n, 3],
    ]);
  });
  it("whose shape leaves it open is what the token answers", () => {
    const [coin, single] = [approval(), nft()];
    if (coin === undefined || single === undefined) throw new Error("no right");
    expect(settleRight(single, new Map([[token, "erc20"]]))).toMatchObject({
      ...{ standard: "erc20", tokenId: null, said: 7n },
    });
    expect(settleRight(coin, new Map([[token, "erc721"]]))).toEqual(coin);
    expect(settleRight(single, new Map())).toEqual(single);
  });
  it("out of logs of any shape is read without an exception", () =>
    fc.assert(
      fc.property(anyLogs(token), (logs) => {
        for (const right of rightsIn(logs, 0))
          expect(settleRight(right, new Map([[token, "erc721"]])).owner).toHaveLength(42);
      }),
      { numRuns: 500 },
    ));
});
