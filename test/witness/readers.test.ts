import * as fc from "fast-check";
import { encodeAbiParameters, padHex, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../rooms/primitives.js";
import {
  readAddress,
  readBool,
  readPermit2Allowance,
  readString,
  readUint256,
  readUint8,
  stringCap,
  type WitnessAnswer,
} from "../rooms/witness.js";
import { runs } from "../harness/parts.js";

const returned = (data: string, success = true, cap = stringCap): WitnessAnswer => ({
  kind: "call",
  success,
  size: BigInt((data.length - 2) / 2),
  data: data.slice(0, 2 + cap * 2) as Hex,
});
const uints = (...values: ReadonlyArray<bigint>): string =>
  `0x${values.map((value) => value.toString(16).padStart(64, "0")).join("")}`;
const readers = [readUint256, readUint8, readBool, readAddress, readPermit2Allowance, readString];

describe("readers of words and text", () => {
  it("give null, never zero, for unknown values", () => {
    const unknown: ReadonlyArray<WitnessAnswer | undefined> = [
      undefined,
      { kind: "unavailable" },
      returned("0x"),
      returned(`0x${"00".repeat(31)}`),
      returned(uints(1n, 1n, 1n), false),
    ];
    for (const read of readers) for (const answer of unknown) expect(read(answer)).toBeNull();
  });

  it("give a value for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), fc.nat(stringCap), (bytes, small, cap) => {
        // Small words make offsets and lengths that nearly fit.
        const list = small ? bytes.map((byte, index) => (index % 32 === 31 ? byte : 0)) : bytes;
        const answer = returned(`0x${Buffer.from(list).toString("hex")}`, true, cap);
        for (const read of readers) expect(() => read(answer)).not.toThrow();
        const text = readString(answer);
        expect(text === null || text.length <= 128).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("read words as Solidity would, and refuse what it would refuse", () => {
    const max = 2n ** 256n - 1n;
    expect(readUint256(returned(uints(max)))).toBe(max);
    expect(readUint256(returned(uints(7n, 8n)))).toBe(7n);
    expect([0n, 255n, 256n].map((value) => readUint8(returned(uints(value))))).toEqual([0, 255, null]);
    expect([0n, 1n, 2n, max].map((value) => readBool(returned(uints(value))))).toEqual([false, true, null, null]);
    const address = `0x${"ab".repeat(20)}`;
    expect(readAddress(returned(uints(BigInt(address))))).toBe(address);
    expect(readAddress(returned(uints(2n ** 160n)))).toBeNull();
    expect(readPermit2Allowance(returned(uints(5n, 6n, 7n)))).toEqual({ amount: 5n, expiration: 6n, nonce: 7n });
    expect(readPermit2Allowance(returned(uints(2n ** 160n, 6n, 7n)))).toBeNull();
    expect(readPermit2Allowance(returned(uints(5n, 2n ** 48n, 7n)))).toBeNull();
    expect(readPermit2Allowance(returned(uints(5n, 6n)))).toBeNull();
  });

  it("read ABI strings of any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 30 }), (text) => {
        expect(readString(returned(encodeAbiParameters([{ type: "string" }], [text])))).toBe(text);
      }),
    );
  });

  it("read bytes32 strings", () => {
    expect(readString(returned(padHex(stringToHex("MKR"), { size: 32, dir: "right" })))).toBe("MKR");
    expect(readString(returned(stringToHex("x".repeat(32))))).toBe("x".repeat(32));
    expect(readString(returned(uints(0n))), "nothing").toBeNull();
    expect(readString(returned(uints(18n))), "a number").toBeNull();
  });

  it("bound long strings and refuse nonsense", () => {
    const long = returned(encodeAbiParameters([{ type: "string" }], ["y".repeat(5000)]));
    expect(readString(long)).toBe("y".repeat(128));
    expect(readString(long, 10)).toBe("y".repeat(10));
    expect(readString(returned(uints(32n, 0n))), "empty").toBeNull();
    expect(readString(returned(uints(32n, 33n, 0n))), "a length beyond the data").toBeNull();
    expect(readString(returned(uints(2n ** 255n, 1n, 0n))), "an offset beyond the data").toBeNull();
    expect(readString(returned(uints(32n, 2n ** 256n - 1n, 0n))), "an absurd length").toBeNull();
    expect(readString(returned("0x6162636465")), "not a word").toBeNull();
    expect(readString(returned(`0x${"ff".repeat(32)}`)), "not UTF-8").toBe("\ufffd".repeat(32));
  });
});
