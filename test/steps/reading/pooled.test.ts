/** By how much a replacement must pay more, and what a pool keeps for what is in flight. */
import { describe, expect, it } from "vitest";
import type { PoolTransaction } from "../../rooms/eth.js";
import type { Hash } from "../../rooms/primitives.js";
import { barOf, isOtherKind, isUnderpriced, queuedCost, raised } from "../../rooms/steps.js";
import { alice, caseOf } from "../parts.js";

const hash: Hash = `0x${"11".repeat(32)}`;
const blobs: ReadonlyArray<Hash> = [`0x01${"0".repeat(62)}`];
const inFlight = (fields: Partial<PoolTransaction>): PoolTransaction => ({
  ...{ hash, from: alice, nonce: 4n, gas: 21_000n, value: 5n, gasPrice: null, maxFeePerGas: null },
  ...{ maxPriorityFeePerGas: null, maxFeePerBlobGas: null, blobVersionedHashes: null },
  ...fields,
});
const dynamic = (cap: bigint, tip: bigint, more: Partial<PoolTransaction> = {}) =>
  inFlight({ gasPrice: cap, maxFeePerGas: cap, maxPriorityFeePerGas: tip, ...more });
const price = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
  ...{ gasPrice: null, maxFeePerGas, maxPriorityFeePerGas },
});
const noBlobs = { maxFeePerBlobGas: null };
const ten = { priceBump: 10 };

describe("a replacement", () => {
  // thresholds as geth's core/txpool/legacypool/list.go has them
  it.each([
    [dynamic(100n, 20n), price(110n, 22n), false],
    [dynamic(100n, 20n), price(109n, 22n), true],
    [dynamic(100n, 20n), price(110n, 21n), true],
    [dynamic(105n, 25n), price(115n, 27n), false],
    [dynamic(5n, 5n), price(5n, 5n), true],
    [dynamic(5n, 5n), price(6n, 6n), false],
    [dynamic(7n, 0n), price(8n, 0n), true],
    [dynamic(7n, 0n), price(8n, 1n), false],
    [inFlight({ gasPrice: 100n }), price(110n, 22n), true],
    [inFlight({ gasPrice: 100n }), price(110n, 110n), false],
    [dynamic(100n, 20n), { gasPrice: 110n, maxFeePerGas: null, maxPriorityFeePerGas: null }, false],
    [dynamic(100n, 20n), { gasPrice: 109n, maxFeePerGas: null, maxPriorityFeePerGas: null }, true],
  ])("%# is refused for its fees exactly where geth refuses it", (old, fees, expected) =>
    expect(isUnderpriced(fees, noBlobs, barOf(old, ten))).toBe(expected),
  );
  it("with blobs pays twice on all three", () => {
    const least = barOf(dynamic(100n, 20n, { maxFeePerBlobGas: 7n, blobVersionedHashes: blobs }), ten);
    expect(least).toEqual({ cap: 200n, tip: 40n, blob: 14n });
    const isTooLittle = (cap: bigint, tip: bigint, maxFeePerBlobGas: bigint) =>
      isUnderpriced(price(cap, tip), { maxFeePerBlobGas }, least);
    expect([isTooLittle(200n, 40n, 14n), isTooLittle(199n, 40n, 14n)]).toEqual([false, true]);
    expect([isTooLittle(200n, 39n, 14n), isTooLittle(200n, 40n, 13n)]).toEqual([true, true]);
  });
  it("is of another kind where one of the two has blobs", () => {
    const carrying = inFlight({ blobVersionedHashes: blobs });
    expect([isOtherKind(caseOf(), carrying), isOtherKind(caseOf(), inFlight({}))]).toEqual([true, false]);
    const own = caseOf({ blobVersionedHashes: blobs, maxFeePerBlobGas: 1n });
    expect([isOtherKind(own, carrying), isOtherKind(own, inFlight({}))]).toEqual([false, true]);
  });
  it("is proposed with enough, never below the quote, and always above the old one", () => {
    for (const old of [dynamic(1n, 1n), dynamic(105n, 25n), dynamic(10n ** 12n + 1n, 10n ** 9n + 3n), dynamic(9n, 0n)])
      for (const [cap, tip] of [
        [200n, 30n],
        [10n ** 13n, 5n],
        [10n, 10n],
      ] as const) {
        const proposed = raised({ cap, tip }, old, ten);
        expect(isUnderpriced(price(proposed.cap, proposed.tip), noBlobs, barOf(old, ten))).toBe(false);
        expect([proposed.cap >= cap, proposed.tip >= tip, proposed.cap >= proposed.tip]).toEqual([true, true, true]);
      }
  });
});

describe("the cost of in-flight transactions", () => {
  const pooled = {
    transactions: new Map([
      [4, dynamic(100n, 20n)],
      [5, dynamic(10n, 1n, { blobVersionedHashes: blobs, maxFeePerBlobGas: 2n })],
    ]),
    balance: 1n,
  };
  const four = 5n + 2_100_000n;
  const five = 5n + 210_000n + 262_144n;
  it.each([
    ["both in flight", 2, [], four + five],
    ["one of them, which the bundle replaces", 2, [4], five],
    ["the first alone", 1, [], four],
    ["none", 0, [], 0n],
    ["more than is told", 3, [], null],
  ])("is the sum of %s", (_, count, taken, expected) =>
    expect(queuedCost(pooled, { latest: 4, inFlight: count }, new Set(taken))).toBe(expected),
  );
  it("is unknown where nobody was asked, or counted", () => {
    expect(queuedCost(undefined, { latest: 4, inFlight: 1 }, new Set())).toBe(null);
    expect(queuedCost(pooled, { latest: null, inFlight: null }, new Set())).toBe(null);
    expect(queuedCost(undefined, { latest: 4, inFlight: 0 }, new Set())).toBe(0n);
  });
});
