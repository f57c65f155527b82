import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atMostWithin, dataFootprint, estimatedSize, fjordL1Fee, oracleLength } from "../rooms/chains.js";
import { Hex } from "../rooms/primitives.js";

/**
 * Receipts as they were recorded on main networks after Jovian. The FastLZ length of a transaction is not
 * in its receipt; `l1GasUsed` is 16 × its estimated size, which leaves one length for the first and any
 * length below the minimum for the second.
 */
const recorded: ReadonlyArray<{
  readonly name: string;
  readonly length: number;
  readonly parameters: Parameters<typeof fjordL1Fee>[1];
  readonly scalar: bigint;
  readonly l1Fee: bigint;
  readonly l1GasUsed: bigint;
  readonly blobGasUsed: bigint;
}> = [
  {
    name: "Base 0x99933efa…8852",
    length: 536,
    parameters: {
      l1BaseFee: 0x5f19cf3n,
      blobBaseFee: 0x56d33bn,
      baseFeeScalar: 0x8ddn,
      blobBaseFeeScalar: 0x101c12n,
    },
    scalar: 0x94n,
    l1Fee: 0xe8dbcf6an,
    l1GasUsed: 0x195cn,
    blobGasUsed: 0xea24n,
  },
  {
    name: "OP Mainnet, block 0x9087826",
    length: 120,
    parameters: {
      l1BaseFee: 0xcdb8f78n,
      blobBaseFee: 0xa92fc3n,
      baseFeeScalar: 0x146bn,
      blobBaseFeeScalar: 0xf79c5n,
    },
    scalar: 0x190n,
    l1Fee: 0xae8f1995n,
    l1GasUsed: 0x640n,
    blobGasUsed: 0x9c40n,
  },
];

describe("the L1 fee of Fjord and the data footprint of Jovian", () => {
  it.each(recorded)("equal the receipt's: $name", ({ length, parameters, scalar, ...receipt }) => {
    expect((estimatedSize(length) * 16n) / 1_000_000n).toBe(receipt.l1GasUsed);
    expect(fjordL1Fee(length, parameters)).toBe(receipt.l1Fee);
    expect(dataFootprint(length, scalar)).toBe(receipt.blobGasUsed);
  });
  it("count 68 bytes for the signature and never less than 100 bytes", () => {
    expect(oracleLength(Hex.make("0x02c0"))).toBe(71);
    expect(estimatedSize(0)).toBe(100_000_000n);
    expect(estimatedSize(170)).toBe(100_000_000n);
    expect(estimatedSize(171)).toBe(100_455_900n);
  });
});

describe("the reserve for an L1 fee", () => {
  it("grows by an eighth with every L1 block of the horizon", () => {
    expect(atMostWithin(800n, 1)).toBe(900n);
    expect(atMostWithin(800n, 12)).toBe(900n);
    expect(atMostWithin(800n, 13)).toBe(1013n);
    expect(Number(atMostWithin(10n ** 12n, 60)) / 1e12).toBeCloseTo(1.125 ** 5, 6);
  });
  it("is never below the fee, never falls with it, and is bounded for any horizon", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1n << 127n }), fc.nat(), fc.double({ min: 0 }), (fee, more, seconds) => {
        const held = atMostWithin(fee, seconds);
        expect(held).toBeGreaterThanOrEqual(fee);
        expect(atMostWithin(fee + BigInt(more), seconds)).toBeGreaterThanOrEqual(held);
        expect(held).toBeLessThanOrEqual(fee * 11n + 200n);
      }),
    ));
});
