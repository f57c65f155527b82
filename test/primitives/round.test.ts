import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundUnits } from "../rooms/primitives.js";

describe("a rounded amount", () => {
  it.each<[amount: bigint, decimals: number, up: boolean, text: string, isExact: boolean]>([
    [0n, 18, true, "0", true],
    [15n * 10n ** 17n, 18, true, "1.5", true],
    [1_234_567n, 6, true, "1.23457", false],
    [1_234_567n, 6, false, "1.23456", false],
    [-1_234_567n, 6, true, "-1.23457", false],
    [999_999_9n, 6, true, "10", false],
    [123_456_789_012n, 6, true, "123,457", false],
    [1_234_567_890_123n, 6, false, "1,234,567", false],
    [1n, 18, true, "0.000000000000000001", true],
    [1_234_567n, 18, true, "0.00000000000123457", false],
    [5n, 0, false, "5", true],
    [123_456_789n, 0, false, "123,456,789", true],
    [10n ** 18n - 1n, 0, true, "999,999,999,999,999,999", true],
    [10n ** 18n, 0, true, "1 × 10^18", true],
    [2n ** 256n - 1n, 18, true, "1.15793 × 10^59", false],
    [2n ** 256n - 1n, 18, false, "1.15792 × 10^59", false],
  ])("of %d at %i decimals, up: %s", (amount, decimals, up, text, isExact) =>
    expect(roundUnits(amount, decimals, up)).toEqual({ text, isExact }),
  );

  const valueOf = (text: string, decimals: number): bigint => {
    const [whole = "", fraction = ""] = text.replace(/,/g, "").split(".");
    return BigInt(whole + fraction.padEnd(decimals, "0"));
  };
  it("is never on the other side of the exact one, and within a hundred-thousandth of it", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 23n }), fc.integer({ min: 6, max: 18 }), (amount, decimals) => {
        fc.pre(amount < 10n ** BigInt(18 + decimals));
        const [most, least] = [true, false].map((up) => valueOf(roundUnits(amount, decimals, up).text, decimals));
        expect([least, most].map((value) => value !== undefined && value >= 0n)).toEqual([true, true]);
        if (most === undefined || least === undefined) return;
        expect(least <= amount && amount <= most).toBe(true);
        expect((most - least) * 100_000n <= amount).toBe(true);
      }),
    );
  });
});
