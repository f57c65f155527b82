/** Movements out of logs of any shape: read by their rules, never believed, never thrown over. */
import { encodeAbiParameters, parseAbiParameters } from "viem";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutcomeLog } from "../../rooms/report.js";
import type { Address } from "../../rooms/primitives.js";
import { settle, transfersOf } from "../../rooms/effects.js";
import { log, word } from "../parts.js";
import { anyLogs, at, eip7708, topics, traced } from "./arbitrary.js";

const [alice, bob, token, other, zero] = [at("a"), at("b"), at("1"), at("2"), at("0")];
const native = (emitter: Address, from: Address, to: Address, amount: bigint) =>
  log(emitter, [topics.transfer, word(from), word(to)], [word(amount)]);
const movements = (...logs: ReadonlyArray<OutcomeLog>) =>
  transfersOf(logs, 0, "measured").map(({ standard, from, to, amount, tokenId }) => [
    standard,
    from,
    to,
    amount,
    tokenId,
  ]);

describe("movements read from logs", () => {
  it("have dirty upper bytes masked, and indexed and unindexed values alike", () => {
    const dirty = `deadbeef${"0".repeat(16)}${alice.slice(2)}`;
    expect(movements(log(token, [topics.transfer, dirty, word(bob)], [word(5n)]))).toEqual([
      ["erc20", alice, bob, 5n, null],
    ]);
    expect(movements(log(token, [topics.transfer], [word(alice), word(bob), word(5n)]))).toEqual([
      ["erc20", alice, bob, 5n, null],
    ]);
    expect(movements(log(token, [topics.transfer, word(alice), word(bob), word(5n)]))).toEqual([
      ["erc721", alice, bob, 1n, 5n],
    ]);
  });

  it("count a native movement once, whichever log shows it, and each of several", () => {
    const once = ["native", alice, bob, 3n, null];
    expect(movements(native(traced, alice, bob, 3n))).toEqual([once]);
    expect(movements(native(eip7708, alice, bob, 3n))).toEqual([once]);
    expect(movements(native(traced, alice, bob, 3n), native(eip7708, alice, bob, 3n))).toEqual([once]);
    expect(
      movements(
        ...[native(traced, alice, bob, 3n), native(traced, alice, bob, 3n)],
        ...[native(eip7708, alice, bob, 3n), native(eip7708, alice, bob, 3n)],
      ),
    ).toEqual([once, once]);
  });

  it("leave out native movements of zero", () => expect(movements(native(traced, alice, bob, 0n))).toEqual([]));

  it("count a Deposit as wrapping only where the native amount goes the other way", () => {
    const deposit = log(token, [topics.deposit, word(alice)], [word(9n)]);
    expect(movements(deposit)).toEqual([["erc20", zero, alice, 9n, null]]);
    expect(movements(native(traced, bob, token, 9n), deposit)).toHaveLength(2);
    expect(movements(native(traced, bob, token, 8n), deposit)).toHaveLength(1);
    const minted = log(token, [topics.transfer, word(zero), word(alice)], [word(9n)]);
    expect(movements(deposit, minted)).toHaveLength(1);
  });

  it("include a batch whole or not at all", () => {
    const batchOf = (ids: ReadonlyArray<bigint>, amounts: ReadonlyArray<bigint>) =>
      encodeAbiParameters(parseAbiParameters("uint256[], uint256[]"), [ids, amounts]).slice(2);
    const batch = (...data: ReadonlyArray<string>) =>
      movements(log(token, [topics.batch, word(bob), word(alice), word(bob)], data));
    expect(batch(batchOf([1n, 2n], [3n, 4n]))).toEqual([
      ["erc1155", alice, bob, 3n, 1n],
      ["erc1155", alice, bob, 4n, 2n],
    ]);
    expect(batch(batchOf([1n, 2n], [3n]))).toEqual([]);
    expect(batch(word(2n ** 200n), word(64n))).toEqual([]);
  });

  it("have the token's standard", () => {
    const [nft] = transfersOf([log(token, [topics.transfer, word(alice), word(bob), word(5n)])], 0, "measured");
    const [coin] = transfersOf([log(token, [topics.transfer, word(alice), word(bob)], [word(5n)])], 0, "measured");
    if (nft === undefined || coin === undefined) throw new Error("no movement");
    expect(settle([nft], new Map([[token, "erc20"]]))[0]).toMatchObject({
      standard: "erc20",
      amount: 5n,
      tokenId: null,
    });
    expect(settle([coin], new Map([[token, "erc721"]]))[0]).toMatchObject({
      standard: "erc721",
      amount: 1n,
      tokenId: 5n,
    });
    expect(settle([nft, coin], new Map([[other, "erc20"]]))).toEqual([nft, coin]);
  });

  it("are logged in a measured run, and have any other run's evidence", () => {
    const evidence = (of: "measured" | "assumed" | "estimated") =>
      transfersOf([native(traced, alice, bob, 3n)], 4, of).map((one) => [one.transaction, one.evidence]);
    expect([evidence("measured"), evidence("assumed"), evidence("estimated")]).toEqual([
      [[4, "logged"]],
      [[4, "assumed"]],
      [[4, "estimated"]],
    ]);
  });

  it("are read from logs of any shape without an exception", () =>
    fc.assert(
      fc.property(anyLogs(token), (logs) => {
        for (const { amount } of transfersOf(logs, 0, "measured")) expect(amount >= 0n).toBe(true);
      }),
      { numRuns: 500 },
    ));
});
