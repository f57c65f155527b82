/** Each log once, and back with its block. */
import { describe, expect, it } from "vitest";
import type { Head, Log } from "../../src/Eth.js";
import { emitRead, emittedUpTo } from "../rooms/eth.js";
import type { Hash } from "../rooms/primitives.js";

const hash = (name: string): Hash => `0x${Buffer.from(name).toString("hex").padStart(64, "0")}`;
const at = (name: string) => ({ number: BigInt(name.slice(1)), hash: hash(name) });
/** `a7/0` = the first log of the block a7. */
const log = (name: string): Log => {
  const [block = "", index = "0"] = name.split("/");
  return { blockHash: hash(block), blockNumber: at(block).number, logIndex: Number(index), removed: false } as Log;
};
const nameOf = ({ blockHash, logIndex, removed }: Log) =>
  `${removed ? "-" : ""}${Buffer.from(blockHash?.slice(2) ?? "", "hex")
    .toString()
    .replaceAll("\0", "")}/${logIndex}`;
const telling = (told: Parameters<typeof emitRead>[0], from: number, head: string, ...names: ReadonlyArray<string>) =>
  emitRead(told, BigInt(from), at(head), names.map(log));
const words = (...args: Parameters<typeof telling>) => telling(...args).logs.map(nameOf);

describe("the logs that a watcher is told", () => {
  const { told } = telling(new Map(), 1, "a3", "a1/0", "a2/0", "a2/1", "a3/0");

  it("come once, though they are read again, or twice in one answer", () => {
    expect(words(new Map(), 1, "a1", "a1/0", "a1/1", "a1/0")).toEqual(["a1/0", "a1/1"]);
    expect(words(told, 2, "a4", "a2/0", "a2/1", "a3/0", "a4/0")).toEqual(["a4/0"]);
  });

  it("are taken back with their block, the newest first, before those of its replacement come", () =>
    expect(words(told, 2, "b3", "b2/0", "b3/0")).toEqual(["-a3/0", "-a2/1", "-a2/0", "b2/0", "b3/0"]));

  it("stay where the block is still there", () => expect(words(told, 2, "b3", "a2/0", "a2/1")).toEqual(["-a3/0"]));

  it("stay where their block was not read", () => expect(words(told, 4, "a4")).toEqual([]));

  it("come again where their block comes again", () => {
    const without = telling(told, 3, "b3").told;
    expect(words(without, 3, "a3", "a3/0")).toEqual(["a3/0"]);
  });

  it("are forgotten when they are old, once the head is told, not before", () => {
    const far = telling(told, 3, "b900", "b3/0", "b900/0");
    expect(far.logs.map(nameOf)).toEqual(["-a3/0", "b3/0", "b900/0"]);
    expect([...far.told.keys()]).toEqual([hash("b900")]);
  });

  it("leave out logs without a place", () => {
    const bare = { ...log("a1/0"), blockHash: null };
    const removed = { ...log("a1/0"), removed: true };
    expect(emitRead(new Map(), 1n, at("a1"), [bare, removed, { ...log("a1/0"), logIndex: null }]).logs).toEqual([]);
  });
});

it.each<readonly [what: string, upTo: number, newest: number, head: number, skipped: number, expected: number]>([
  ["the next block", 7, 7, 8, 0, 7],
  ["a gap", 7, 7, 20, 12, 7],
  ["a block in place of the last", 7, 7, 7, 0, 6],
  ["a branch of which some was skipped", 7, 7, 9, 4, 4],
  ["one whose logs before were not read", 5, 7, 8, 0, 5],
  ["a shorter chain", 7, 7, 3, 0, 2],
  ["all that is remembered in doubt", 900, 900, 905, 800, 772],
])("a head completes the logs up to its number: %s", (_, upTo, newest, head, skipped, expected) => {
  const one = { header: { number: BigInt(head) }, skipped: BigInt(skipped) } as unknown as Head;
  expect(emittedUpTo(BigInt(upTo), BigInt(newest), one)).toBe(BigInt(expected));
});
