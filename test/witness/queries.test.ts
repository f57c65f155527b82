import * as fc from "fast-check";
import { encodeFunctionData, getAddress, parseAbi, type Hex as AnyHex } from "viem";
import { describe, expect, it } from "vitest";
import type { Address, Hex } from "../rooms/primitives.js";
import { queries } from "../rooms/witness.js";

const token = getAddress(`0x${"aa".repeat(20)}`) as Address;
const alice = `0x${"bb".repeat(20)}` as Address;
const bob = `0x${"cc".repeat(20)}` as Address;
const abi = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function balanceOf(address,uint256) view returns (uint256)",
  "function ownerOf(uint256) view returns (address)",
  "function allowance(address,address) view returns (uint256)",
  "function allowance(address,address,address) view returns (uint160,uint48,uint48)",
  "function isApprovedForAll(address,address) view returns (bool)",
  "function getApproved(uint256) view returns (address)",
  "function supportsInterface(bytes4) view returns (bool)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function getL1Fee(bytes) view returns (uint256)",
  "function getOperatorFee(uint256) view returns (uint256)",
  "function isFjord() view returns (bool)",
  "function isIsthmus() view returns (bool)",
  "function isJovian() view returns (bool)",
]);

describe("query builders", () => {
  it("encode as viem does", () => {
    const id = 2n ** 256n - 1n;
    const bytes = `0x${"12".repeat(45)}` as Hex;
    const data = (functionName: string, args: ReadonlyArray<unknown> = []) =>
      encodeFunctionData({ abi, functionName, args } as Parameters<typeof encodeFunctionData>[0]);
    const expected: ReadonlyArray<readonly [queries.CallQuery, AnyHex]> = [
      [queries.balanceOf(token, alice), data("balanceOf", [alice])],
      [queries.balanceOf1155(token, alice, id), data("balanceOf", [alice, id])],
      [queries.ownerOf(token, id), data("ownerOf", [id])],
      [queries.allowance(token, alice, bob), data("allowance", [alice, bob])],
      [queries.permit2Allowance(token, alice, token, bob), data("allowance", [alice, token, bob])],
      [queries.isApprovedForAll(token, alice, bob), data("isApprovedForAll", [alice, bob])],
      [queries.getApproved(token, id), data("getApproved", [id])],
      [queries.supportsInterface(token, "0x80ac58cd" as Hex), data("supportsInterface", ["0x80ac58cd"])],
      [queries.name(token), data("name")],
      [queries.symbol(token), data("symbol")],
      [queries.decimals(token), data("decimals")],
      [queries.getL1Fee(bytes, token), data("getL1Fee", [bytes])],
      [queries.getL1Fee("0x" as Hex, token), data("getL1Fee", ["0x"])],
      [queries.getOperatorFee(21_000n, token), data("getOperatorFee", [21_000n])],
      [queries.isFjord(token), data("isFjord")],
      [queries.isIsthmus(token), data("isIsthmus")],
    ];
    for (const [query, encoded] of expected) {
      expect(query.data).toBe(encoded);
      expect(query.to).toBe(token);
    }
    expect(queries.isFjord().to).toBe("0x420000000000000000000000000000000000000F");
  });
});

describe("encodeQueries", () => {
  it("is compact, in order and in lower case", () => {
    const call = { kind: "call", to: token, data: "0xABCD" as Hex, gas: 0x1234, returnCap: 0x20 } as const;
    const wire = queries.encodeQueries([{ kind: "environment" }, { kind: "account", address: alice }, call]);
    expect(wire).toBe(`0x0102${"bb".repeat(20)}03${"aa".repeat(20)}000012340000002000000002abcd`);
    expect(queries.encodeQueries([])).toBe("0x");
  });

  it("keeps caps within 32 bits for any number", () => {
    const caps = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Infinity, -1, 2 ** 40));
    fc.assert(
      fc.property(caps, caps, (gas, returnCap) => {
        const call = { kind: "call", to: token, data: "0x" as Hex, gas, returnCap } as const;
        expect(queries.encodeQueries([call])).toMatch(/^0x03[0-9a-f]{64}$/);
        expect(() => queries.gasFor([call])).not.toThrow();
      }),
    );
  });
});

describe("the cost of a query", () => {
  it.each<queries.Query>([
    { kind: "environment" },
    { kind: "account", address: alice },
    queries.balanceOf(token, alice),
    { kind: "call", to: token, data: "0x", gas: 1, returnCap: 0 },
  ])("counts the bytes of the question: %j", (query) => {
    expect(queries.costOf(query).bytes).toBe(queries.encodeQueries([query]).length / 2 - 1);
  });
});

describe("gasFor", () => {
  it("covers every cap and the calldata floor, and grows with each query", () => {
    const read = queries.balanceOf(token, alice);
    expect(queries.gasFor([])).toBeGreaterThan(21_000n);
    expect(queries.gasFor([read])).toBeGreaterThan(BigInt(21_000 + queries.readGas));
    const many = Array.from({ length: 50 }, () => read);
    expect(queries.gasFor(many) - queries.gasFor(many.slice(1))).toBeGreaterThan(BigInt(queries.readGas));
    const wide = { ...read, data: `0x${"ff".repeat(100_000)}` as Hex, gas: 0, returnCap: 0 };
    expect(queries.gasFor([wide])).toBeGreaterThanOrEqual(21_000n + 64n * 100_033n);
  });
});
