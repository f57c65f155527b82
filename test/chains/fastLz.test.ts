import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../harness/accuracy/cases.js";
import { compressedLength } from "../rooms/chains.js";

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));

/** A transaction of OP Mainnet (0x8eb9dd4e…16b594), as it was signed. */
const contractCall =
  "02f901550a758302df1483be21b88304743f94f80e51afb613d764fa61751affd3313c190a86bb870151bd62fd12adb8" +
  "e41ef24f3f000000000000000000000000000000000000000000000000000000000000006e000000000000000000000000" +
  "af88d065e77c8cc2239327c5edb3a432268e5831000000000000000000000000000000000000000000000000000000000003c1e5" +
  "0000000000000000000000000000000000000000000000000000000000000000" +
  "0000000000000000000000000000000000000000000000000000000000000000" +
  "00000000000000000000000000000000000000000000000000000000000000a0" +
  "0000000000000000000000000000000000000000000000000000000000000014" +
  "8c89ed219d02f1a5be012c689b4f5b731827bebe000000000000000000000000" +
  "c001a033fd89cb37c31b2cba46b6466e040c61fc9b2a3675a7f5f493ebd5ad77c497f8" +
  "a07cdf65680e238392693019b4092f610222e71b7cec06449cb922b93b6a12744e";

describe("the FastLZ length", () => {
  it.each([
    ["nothing", new Uint8Array(0), 0],
    ["1,000 zeros", new Uint8Array(1000), 21],
    ["1,000 ones", new Uint8Array(1000).fill(1), 21],
    ["a contract call of OP Mainnet", bytes(contractCall), 202],
  ])("of %s equals the chain's", (_, data, length) => expect(compressedLength(data)).toBe(length));

  const literalBound = (size: number) => size + Math.ceil(size / 32);
  it("is never above that of literals alone", () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (data) => {
        expect(compressedLength(data)).toBeLessThanOrEqual(literalBound(data.length));
      }),
    ));
  it("is exactly that of literals where nothing repeats", () => {
    const counting = Uint8Array.from({ length: 250 }, (_, index) => index);
    expect(compressedLength(counting)).toBe(literalBound(250));
  });
  it("falls where a part is repeated, and a match reaches across at most 8,191 bytes", () => {
    const random = seeded(1);
    const noise = (length: number) => Uint8Array.from({ length }, () => random(256));
    const part = noise(600);
    const near = new Uint8Array([...part, ...part]);
    expect(compressedLength(near)).toBeLessThan(compressedLength(part) + 40);
    const between = noise(9000);
    const far = new Uint8Array([...part, ...between, ...part]);
    expect(compressedLength(far)).toBeGreaterThan(compressedLength(new Uint8Array([...part, ...between])) + 500);
  });
  it("takes linear time", () => {
    const started = performance.now();
    compressedLength(new Uint8Array(1_000_000));
    compressedLength(Uint8Array.from({ length: 1_000_000 }, (_, index) => (Math.imul(index, 40_503) >>> 7) & 0xff));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
