/** Each log once, and back with its block. */
import { describe, expect, it } from "vitest";
import type { Head, Log } from "../../src/Eth.js";
import { doubtfulBelow, knownAt, tellLogs, untellLogs } from "../../src/eth/toldLogs.js";
import type { Hash } from "../../src/primitives/hex.js";

const hash = (name: number): Hash => `0x${name.toString(16).padStart(64, "0")}`;
const log = (block: number, logIndex: number, removed = false): Log =>
  ({ blockHash: hash(block), blockNumber: BigInt(block), logIndex, removed }) as Log;
const name = ({ blockNumber, logIndex, removed }: Log) => `${removed ? "-" : ""}${blockNumber}/${logIndex}`;

describe("logs", () => {
  it("are told once, whoever tells them", () => {
    const first = tellLogs(new Map(), [log(1, 0), log(1, 1), log(1, 0)]);
    const again = tellLogs(first.told, [log(1, 1), log(2, 0)]);
    expect([first.logs.map(name), again.logs.map(name)]).toEqual([["1/0", "1/1"], ["2/0"]]);
  });
  it("are taken back once, by the node or with their block, and only if they were told", () => {
    const { told } = tellLogs(new Map(), [log(1, 0), log(2, 0), log(2, 1)]);
    const byNode = tellLogs(told, [log(2, 1, true), log(9, 9, true)]);
    const byBlock = untellLogs(byNode.told, [{ number: 2n, hash: hash(2) }], { number: 2n, hash: hash(3) });
    expect([byNode.logs.map(name), byBlock.logs.map(name)]).toEqual([["-2/1"], ["-2/0"]]);
    expect(tellLogs(byBlock.told, [log(2, 0)]).logs.map(name)).toEqual(["2/0"]);
  });
  it("are taken back where another block stands at their height, though no head was told of theirs", () => {
    const { told } = tellLogs(new Map(), [log(1, 0), log(2, 0), log(2, 1), log(3, 0)]);
    const head = untellLogs(told, [], { number: 2n, hash: hash(7) });
    expect([head.logs.map(name), [...head.told.keys()]]).toEqual([
      ["-2/1", "-2/0"],
      [hash(1), hash(3)],
    ]);
    expect(untellLogs(told, [], { number: 2n, hash: hash(2) }).logs).toEqual([]);
  });
  it("of long ago are forgotten, and one without a place is none", () => {
    const { told } = tellLogs(new Map(), [log(1, 0), { ...log(2, 0), blockHash: null }]);
    expect([told.size, untellLogs(told, [], { number: 1_000n, hash: hash(3) }).told.size]).toEqual([1, 0]);
  });
});

describe("blocks that are known", () => {
  const at = (...numbers: ReadonlyArray<number>) => new Map(numbers.map((number) => [hash(number), BigInt(number)]));
  const head = (number: number, replaced: ReadonlyArray<number> = [], skipped = 0) =>
    ({
      header: { number: BigInt(number), hash: hash(number) },
      replaced: replaced.map((one) => ({ number: BigInt(one), hash: hash(one + 100) })),
      skipped: BigInt(skipped),
    }) as unknown as Head;
  it.each([
    ["those before, and the head", at(5, 6), head(7), at(5, 6, 7)],
    ["none from the first on that it replaces", at(4, 5, 6), head(6, [5, 6]), at(4, 6)],
    ["none at heights that it skips", at(4, 5, 6), head(7, [], 2), at(4, 7)],
    ["none of long ago", at(1, 200), head(201), at(200, 201)],
  ])("are %s", (_, known, next, expected) => expect(knownAt(known, next)).toEqual(expected));

  it("are doubted below a head, where logs were told of them and nobody knows them", () => {
    const { told } = tellLogs(new Map(), [log(1, 0), log(2, 0), log(3, 0), log(3, 0, true), log(5, 0)]);
    const doubted = (known: ReadonlyArray<number>) =>
      doubtfulBelow(told, at(...known), { number: 5n, hash: hash(9) }).map(({ number }) => number);
    expect([doubted([1]), doubted([1, 2])]).toEqual([[2n], []]);
  });
});
