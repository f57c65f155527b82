/** Calls within calldata: the usual batches, and bytes that were made to cost as much as they can. */
import { encodeFunctionData, parseAbi, type Hex as ViemHex } from "viem";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../rooms/primitives.js";
import { callsIn } from "../../rooms/abi.js";
import { word } from "../parts.js";
import { at, hex } from "./arbitrary.js";

const [alice, target, other] = [at("a"), at("1"), at("2")];
const abi = parseAbi([
  "function multicall(bytes[] data)",
  "function multicall(uint256 deadline, bytes[] data)",
  "function aggregate((address target, bytes data)[] calls)",
  "function aggregate3((address target, bool mayFail, bytes data)[] calls)",
  "function aggregate3Value((address target, bool mayFail, uint256 value, bytes data)[] calls)",
  "function executeBatch((address target, uint256 value, bytes data)[] calls)",
  "function execute(address target, uint256 value, bytes data)",
]);
const reading = (data: string) => callsIn({ from: alice, to: target, data: data as Hex });
const multicall = (...data: ReadonlyArray<ViemHex>) =>
  encodeFunctionData({ abi, functionName: "multicall", args: [data] });

/** `multicall(bytes[])` whose pointers all point to one blob of so many bytes. */
const bomb = (pointers: number, bytes: number): string =>
  `0xac9650d8${word(32n)}${word(BigInt(pointers))}${word(BigInt(pointers * 32)).repeat(pointers)}${word(BigInt(bytes))}${"00".repeat(bytes)}`;

describe("the calls of a batch", () => {
  const [first, second] = ["0x11223344", `0x55667788${"ab".repeat(40)}`] as const;
  it("keep target and sender in a multicall", () => {
    const own = [first, second].map((data) => ({ from: alice, to: target, data }));
    const timed = encodeFunctionData({ abi, functionName: "multicall", args: [9n, [first, second]] });
    for (const data of [multicall(first, second), timed])
      expect(reading(data)).toEqual({
        ...{
          read: [{ from: alice, to: target, data }, ...own],
          delegates: [],
          either: [],
          isCut: false,
          isUnread: false,
        },
      });
  });
  it("have the batcher as sender, and their own target, in all others", () => {
    const calls = [first, second].map((data) => ({ target: other, mayFail: true, value: 7n, data }));
    const batches = [
      encodeFunctionData({ abi, functionName: "aggregate", args: [calls] }),
      encodeFunctionData({ abi, functionName: "aggregate3", args: [calls] }),
      encodeFunctionData({ abi, functionName: "aggregate3Value", args: [calls] }),
      encodeFunctionData({ abi, functionName: "executeBatch", args: [calls] }),
    ];
    const inner = [first, second].map((data) => ({ from: target, to: other, data }));
    for (const data of batches) expect(reading(data).read.slice(1)).toEqual(inner);
    const one = encodeFunctionData({ abi, functionName: "execute", args: [other, 7n, second] });
    expect(reading(one).read.slice(1)).toEqual(inner.slice(1));
  });
  it("are read where an encoder would not have put them, and beside pointers to nowhere", () => {
    const [nowhere, there] = [word(2n ** 255n), word(96n)];
    const data = `0xac9650d8${word(32n)}${word(2n)}${nowhere}${there}${word(0n)}${word(4n)}11223344`;
    expect(reading(data).read.slice(1)).toEqual([{ from: alice, to: target, data: "0x11223344" }]);
    expect(reading(data).isUnread).toBe(true);
  });
  it("are marked as unread where a pointer goes back, and the others are read", () => {
    const calls = [first, second].map((data) => ({ target: other, mayFail: true, data }));
    const data = encodeFunctionData({ abi, functionName: "aggregate3", args: [calls] });
    // why: Solidity reads the offset of an item as a number with a sign
    const back = `${data.slice(0, 138)}${word(2n ** 256n - 32n)}${data.slice(202)}`;
    expect(reading(back)).toMatchObject({ isUnread: true, isCut: true });
    expect(reading(back).read.slice(1)).toEqual([{ from: target, to: other, data: second }]);
    expect(reading(data).isUnread).toBe(false);
  });
});

describe("calldata made to be expensive", () => {
  it("by many pointers to the same bytes is not read to its end, and says so", () => {
    // why: decoded as it says, it is 120 MB of bytes, and 240 MB of digits
    const { read, isCut } = reading(bomb(2_000, 60_000));
    expect([read.length, isCut]).toEqual([3, true]);
  });
  it("by batches within batches, or by many calls, is read to a depth and a number", () => {
    let data: ViemHex = "0x11223344";
    for (let depth = 0; depth < 12; depth++) data = multicall(data, data);
    expect(reading(data)).toMatchObject({ isCut: true, isUnread: true, read: { length: 256 } });
    const many = (count: number) => reading(multicall(...Array.from({ length: count }, () => "0x11223344" as const)));
    expect([many(255).isCut, many(256).isCut, many(9_000).read.length]).toEqual([false, true, 256]);
  });
  it("has at each depth no more than at the depth above it, for any words", () => {
    const words = fc.array(fc.constantFrom(...[0n, 1n, 4n, 32n, 64n, 96n, 2n ** 40n, 2n ** 256n - 1n]), {
      maxLength: 40,
    });
    const selectors = [
      ...["ac9650d8", "5ae401dc", "82ad56cb", "174dea71", "252dba42", "b61d27f6", "8d80ff0a", "e9ae5c53"],
      ...["765e827f", "dbed18e0", "47e1da2a", "1688f0b9", "b63e800d", "24856bc3", "3593564c"],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...selectors), words, hex(80), (selector, said, rest) => {
        const data = `0x${selector}${said.map(word).join("")}${rest.slice(0, rest.length & ~1)}`;
        const { read } = reading(data);
        expect(read.reduce((sum, one) => sum + one.data.length - 2, 0)).toBeLessThanOrEqual(9 * data.length);
      }),
      { numRuns: 500 },
    );
  });
});
