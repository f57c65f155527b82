/** What to pay per gas: the quote, with what the caller fixed left as it is, and what stands against it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fee, type Quote } from "../rooms/steps.js";
import type { Transaction } from "../../src/Transaction.js";
import { filled, alice, bundle, caseOf, chain, codes } from "./parts.js";
import { absent, gwei, history, quoted, refused } from "./reading/facts.js";

const quote = quoted({}, { chain: chain({ minTip: 5n }) });
const choose = (changed: Partial<Transaction> = {}, on: Quote = quote) => Fee.choose(caseOf(changed), on);
const checked = (changed: Partial<Transaction> = {}, on: Quote = quote) =>
  codes(Fee.check(filled(caseOf(changed), { fee: choose(changed, on) }), on));

describe("the gas price of a request", () => {
  it("is never changed where the caller gave it", () => {
    expect(choose({ gasPrice: 3n * gwei })).toMatchObject({
      value: { gasPrice: 3n * gwei, maxFeePerGas: null, maxPriorityFeePerGas: null },
      ...{ by: "caller", tipSource: "caller", horizonSeconds: null },
    });
    expect(choose({ maxFeePerGas: 2n * gwei })).toMatchObject({
      value: { gasPrice: null, maxFeePerGas: 2n * gwei, maxPriorityFeePerGas: 5n },
      ...{ by: "caller", tipSource: "minimum", horizonSeconds: null },
    });
    expect(choose({ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }).value).toMatchObject({
      maxFeePerGas: 2n,
      maxPriorityFeePerGas: 1n,
    });
    expect(choose({ maxFeePerGas: 2n }).value).toMatchObject({ maxFeePerGas: 2n, maxPriorityFeePerGas: 2n });
    expect(choose({ maxPriorityFeePerGas: 9n })).toMatchObject({
      value: { maxFeePerGas: (quote.maxFeePerGas ?? 0n) + 4n, maxPriorityFeePerGas: 9n },
      ...{ by: "us", tipSource: "caller", horizonSeconds: 60 },
    });
  });
  it("is the quote's where the caller gave none, and is judged by the base fee", () => {
    const fee = choose();
    expect(fee).toMatchObject({ by: "us", value: { maxFeePerGas: quote.maxFeePerGas, maxPriorityFeePerGas: 5n } });
    expect(Fee.read(filled(caseOf(), { fee }), quote)).toEqual({
      ...{ baseFeePerGas: gwei, gasPrice: null, maxFeePerGas: quote.maxFeePerGas, maxPriorityFeePerGas: 5n },
      ...{ by: "us", tipNamed: null, tipSource: "minimum", horizonSeconds: 60, shortenedFrom: null },
      evidence: "measured",
    });
  });
  it("is a blocker below the base fee", () => {
    expect(checked({ maxFeePerGas: gwei - 1n })).toEqual(["FeeCapTooLow/blocker"]);
    expect(checked({ gasPrice: gwei - 1n })).toEqual(["FeeCapTooLow/blocker"]);
    expect(checked({ maxFeePerGas: gwei })).toEqual(["FeeCapShort/info", "TipLow/info"]);
  });
  it("has a finding where one full block ends it, or builders get too little; our choice has room for both", () => {
    const grown = (gwei * 9n) / 8n;
    const room = grown + gwei / 1_000n;
    expect(checked({ maxFeePerGas: grown - 1n, maxPriorityFeePerGas: 5n })).toEqual(["FeeCapShort/info"]);
    expect(checked({ maxFeePerGas: room, maxPriorityFeePerGas: 5n })).toEqual([]);
    expect(checked({ maxFeePerGas: room, maxPriorityFeePerGas: 4n })).toEqual(["TipLow/info"]);
    expect(checked({ gasPrice: gwei + 5n })).toEqual(["FeeCapShort/info"]);
    expect(checked({ gasPrice: room })).toEqual([]);
    expect(checked()).toEqual([]);
  });
  it("gives only a warning below the formula's base fee and not below the node's own", () => {
    const lower = quoted({}, { simulatedBaseFee: gwei / 2n });
    expect(checked({ maxFeePerGas: gwei / 2n }, lower)).toEqual(["FeeCapTooLow/warning"]);
    expect(checked({ maxFeePerGas: gwei / 2n - 1n }, lower)).toEqual(["FeeCapTooLow/blocker"]);
  });
  it("is unknown without a base fee, with a finding", () => {
    const unknown = quoted({ history: absent, receipts: refused, header: absent }, { simulatedBaseFee: null });
    expect(checked({}, unknown)).toEqual(["BaseFeeUnknown/unavailable"]);
    expect(choose({}, unknown)).toMatchObject({ value: { maxFeePerGas: null }, horizonSeconds: null });
  });
  it("does not follow a tip beyond the chain's most, and names it, unless the tip is the caller's", () => {
    const greedy = quoted(
      { history: history([[0.5, [10n ** 15n, 10n ** 15n, 10n ** 15n]]]) },
      { chain: chain({ maxTip: 5n * gwei }) },
    );
    expect(choose({}, greedy).value.maxPriorityFeePerGas).toBe(5n * gwei);
    expect(checked({}, greedy)).toEqual(["TipCapped/warning"]);
    expect(checked({ maxPriorityFeePerGas: 1n }, greedy)).toEqual([]);
  });
});

describe("a cap above what the balance allows", () => {
  it("is shortened to the next block's need at least, and the reached horizon is shown", () => {
    const fee = choose();
    const cap = fee.value.maxFeePerGas ?? 0n;
    const room = cap - gwei - 5n;
    expect(Fee.shorten(fee, room, quote)).toMatchObject({
      value: { maxFeePerGas: gwei + 5n },
      ...{ horizonSeconds: 0, shortenedFrom: { maxFeePerGas: cap, horizonSeconds: 60 } },
    });
    expect(Fee.shorten(fee, room + 1n, quote)).toBeNull();
    const half = Fee.shorten(fee, room / 2n, quote);
    expect(half?.horizonSeconds).toBeGreaterThanOrEqual(12);
    expect(half?.horizonSeconds).toBeLessThan(60);
    if (half === null) throw new Error("it can be shortened");
    expect(codes(Fee.check(filled(caseOf(), { fee: half }), quote))).toEqual(["FeeHorizonShort/warning"]);
  });
  it("stays where it is the caller's", () => {
    const fee = choose({ maxFeePerGas: 2n * gwei });
    expect(Fee.shorten(fee, gwei, quote)).toBe(fee);
  });
  it("holds for as long as it says, for any reduction", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n * gwei }), (reduction) => {
        const shorter = Fee.shorten(choose(), reduction, quote);
        if (shorter === null) return;
        let base = gwei;
        for (let seconds = 0; seconds < (shorter.horizonSeconds ?? 0); seconds += 12) base += base / 8n;
        expect(shorter.value.maxFeePerGas).toBeGreaterThanOrEqual(base + 5n);
      }),
    ));
});

it("a caller's own tip takes nothing off the cap of a replacement", () => {
  const [one] = bundle({ maxPriorityFeePerGas: 3n });
  const old = {
    ...{ hash: `0x${"11".repeat(32)}` as const, from: alice, nonce: 4n, gas: 21_000n, value: 0n, gasPrice: null },
    ...{ maxFeePerGas: 100n * gwei, maxPriorityFeePerGas: 2n, maxFeePerBlobGas: null, blobVersionedHashes: null },
  };
  const pools = new Map([[alice, { transactions: new Map([[4, old]]), balance: null }]]);
  const numbered = { ...one, nonce: { value: 4, by: "caller", evidence: "assumed" } } as const;
  const replacing = { priceBump: 10, isKnown: true };
  for (const maxTip of [5n * gwei, 1n]) {
    const own = Fee.quoteFor(numbered, { quote, pools, replacing, chain: { maxTip } });
    expect(Fee.choose(numbered, own).value).toEqual({
      ...{ gasPrice: null, maxFeePerGas: 110n * gwei, maxPriorityFeePerGas: 3n },
    });
  }
});
