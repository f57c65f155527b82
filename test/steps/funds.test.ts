/** Whether every payer can pay, at every step of the bundle. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noExtraFees } from "../rooms/chains.js";
import { Hash } from "../rooms/primitives.js";
import { messageOf, type Transfer } from "../rooms/report.js";
import { Funds, type Filled } from "../rooms/steps.js";
import { alice, bob, bundle, codes, fee, filled, gas, native, outcome, transaction } from "./parts.js";

/** What one transaction costs, before it has its place in a bundle. */
interface Cost extends Partial<Pick<Filled, "fee" | "outcome">> {
  readonly input?: ReturnType<typeof transaction>;
  readonly value: bigint;
  readonly limit: bigint;
  readonly price: bigint;
  readonly extra?: typeof noExtraFees | null;
}
const cost = (value: bigint, limit: bigint, price: bigint, changed: Partial<Cost> = {}): Cost => ({
  ...{ value, limit, price },
  ...changed,
});
const casesOf = (costs: ReadonlyArray<Cost>, transfers: ReadonlyArray<Transfer> = []): ReadonlyArray<Filled> =>
  bundle(...costs.map(({ value, input }) => input ?? { value })).map((one, index) => {
    const { limit = 0n, price = 0n, extra = noExtraFees, ...own } = costs[index] ?? cost(0n, 0n, 0n);
    return filled(one, {
      gas: gas(limit),
      fee: own.fee ?? fee(price),
      outcome: own.outcome ?? outcome({ gasUsed: limit }),
      charged: { extra, findings: [] },
      transfers: transfers.filter(({ transaction: of }) => of === index),
    });
  });
const holding = (balance: bigint | null): Parameters<typeof Funds.read>[1] => ({
  ...{ balanceOf: (account) => (account === alice ? balance : null), quote: { baseFeePerGas: 1n }, pools: new Map() },
  flying: () => ({ latest: 4, inFlight: 0 }),
});
const decide = (costs: ReadonlyArray<Cost>, balance: bigint | null, transfers: ReadonlyArray<Transfer> = []) => {
  const cases = casesOf(costs, transfers);
  const [own] = Funds.read(cases, holding(balance));
  if (own === undefined) throw new Error("no payer");
  const findings = Funds.check(own, cases);
  return { own, codes: codes(findings), findings };
};

/** By `eth_call`: it succeeds, and what moves is not seen. */
const called = outcome({ gasUsed: null, evidence: "estimated" });

describe("the required balance", () => {
  it("is value, gas at the cap, and the highest other fees, each by name", () => {
    const extra = { l1Fee: 10n, l1FeeAtMost: 18n, operatorFee: 3n, operatorFeeAtMost: 5n };
    const input = transaction({
      value: 100n,
      blobVersionedHashes: [Hash.make(`0x01${"0".repeat(62)}`), Hash.make(`0x01${"1".repeat(62)}`)],
      maxFeePerBlobGas: 7n,
    });
    const { own } = decide([cost(100n, 21_000n, 4n, { extra, input })], 10n ** 18n);
    expect(own.terms.map(({ name, amount }) => [name, amount])).toEqual([
      ["value", 100n],
      ["gas", 84_000n],
      ["blobGas", 2n * 131_072n * 7n],
      ["l1Fee", 18n],
      ["operatorFee", 5n],
    ]);
    expect(own.required).toBe(own.terms.reduce((sum, { amount }) => sum + amount, 0n));
    expect(own.shortfall).toBe(0n);
    // what it probably pays is at the base fee, and the fees beyond as they are now
    expect(own.expected).toBe(100n + 21_000n + 10n + 3n);
  });
  it("is short where one wei is missing, in wei and in text", () => {
    const {
      own,
      codes: found,
      findings,
    } = decide([cost(10n ** 18n, 21_000n, 10n ** 9n)], 10n ** 18n + 21_000n * 10n ** 9n - 1n);
    expect(own.shortfall).toBe(1n);
    expect(found).toEqual(["InsufficientFunds/blocker"]);
    const [short] = findings;
    expect(short === undefined ? "" : messageOf(short)).toContain("short by 0.000000000000000001 ETH");
    expect(short?.numbers).toContainEqual({ name: "short by", unit: "wei", value: 1n });
    expect(decide([cost(10n ** 18n, 21_000n, 10n ** 9n)], 10n ** 18n + 21_000n * 10n ** 9n).codes).toEqual([]);
  });
  it("counts what earlier transactions bring in, and not what later ones do", () => {
    const [first, second] = [cost(0n, 1_000n, 1n), cost(5_000n, 1_000n, 1n)];
    const costs = [first, second];
    const bringing = decide(costs, 2_000n, [native(0, bob, alice, 5_000n)]);
    expect([bringing.own.required, bringing.own.shortfall]).toEqual([2_000n, 0n]);
    const late = decide(costs, 2_000n, [native(1, bob, alice, 5_000n)]);
    expect([late.own.required, late.own.shortfall]).toEqual([7_000n, 5_000n]);
    const failed = decide([{ ...first, outcome: outcome({ status: "reverted" }) }, second], 2_000n, [
      native(0, bob, alice, 5_000n),
    ]);
    expect(failed.own.shortfall).toBe(5_000n);
  });
  it("must be there at every transaction, not only in the end", () => {
    const costs = [cost(9_000n, 1n, 1n), cost(0n, 1n, 1n)];
    const { own } = decide(costs, 100n, [native(0, alice, bob, 9_000n), native(0, bob, alice, 9_000n)]);
    expect(own.required).toBe(9_001n);
  });
  it("includes what others take, beyond the value attached", () => {
    const { own } = decide([cost(10n, 1n, 1n), cost(0n, 1n, 1n)], 100n, [native(0, alice, bob, 40n)]);
    expect(own.terms.map(({ name, amount }) => [name, amount])).toContainEqual(["spent", 30n]);
    expect(own.required).toBe(42n);
  });
  it("counts no income where the node traced no movements", () => {
    const { own } = decide([cost(5_000n, 1n, 1n), cost(5_000n, 1n, 1n)], 6_000n);
    expect(own.shortfall).toBe(4_002n);
  });
  it("is unknown where a part is, never less", () => {
    const { own, codes: found } = decide([cost(1n, 1n, 1n, { extra: null })], 10n ** 30n);
    expect([own.required, own.shortfall]).toEqual([null, null]);
    expect(found).toEqual(["FundsUnknown/unavailable"]);
    const unseen = decide([cost(1n, 1n, 1n)], null);
    expect([unseen.own.shortfall, unseen.own.evidence, unseen.codes]).toEqual([
      null,
      "unavailable",
      ["FundsUnknown/unavailable"],
    ]);
  });
  it("is short by at least what is known, where a part is unknown", () => {
    const unknown: ReadonlyArray<readonly [Partial<Cost>, bigint]> = [
      [{ extra: null }, 5_012n],
      [{ fee: fee(null), extra: null }, 5_000n],
      [{ extra: null, outcome: called }, 5_012n],
    ];
    for (const [part, least] of unknown) {
      const poor = decide([cost(5_000n, 3n, 4n, part)], least - 1n);
      expect([poor.own.required, poor.own.shortfall, poor.codes]).toEqual([null, 1n, ["InsufficientFunds/blocker"]]);
      expect(poor.findings[0]?.numbers.map(({ name }) => name)).toContain("short by at least");
      expect(poor.findings[0]?.error).toMatchObject({ have: least - 1n, want: least, shortfall: 1n });
      const able = decide([cost(5_000n, 3n, 4n, part)], least);
      expect([able.own.shortfall, able.codes]).toEqual([null, ["FundsUnknown/unavailable"]]);
    }
  });
  it("is not short where an earlier transaction may bring in unseen funds", () => {
    const bundled = (before: Partial<Cost>) => decide([cost(0n, 1n, 1n, before), cost(5_000n, 1n, 1n)], 100n).codes;
    expect(bundled({ extra: null, outcome: called })).toEqual(["FundsUnknown/unavailable"]);
    expect(bundled({ extra: null })).toEqual(["InsufficientFunds/blocker"]);
  });
  it("is one sum per payer, in order of first appearance, with a finding at its first transaction", () => {
    const cases = casesOf([
      cost(0n, 1n, 1n, { input: transaction({ from: bob, value: 7n }) }),
      cost(5n, 1n, 1n),
      cost(0n, 1n, 1n, { input: transaction({ from: bob, value: 2n }) }),
    ]);
    const read = Funds.read(cases, holding(0n));
    expect(read.map(({ account, required }) => [account, required])).toEqual([
      [bob, 11n],
      [alice, 6n],
    ]);
    const findings = read.flatMap((payer) => Funds.check(payer, cases));
    expect(findings.map(({ code, transaction: at }) => [code, at])).toEqual([
      ["FundsUnknown", 0],
      ["InsufficientFunds", 1],
    ]);
  });

  const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  const limits = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
  const extras = fc.record({ l1FeeAtMost: amount, operatorFeeAtMost: amount });
  const inputs = fc.array(fc.record({ value: amount, limit: limits, price: amount, extra: extras }), {
    minLength: 1,
    maxLength: 4,
  });
  const costsOf = (
    parts: ReadonlyArray<{ value: bigint; limit: bigint; price: bigint; extra: Partial<typeof noExtraFees> }>,
  ) =>
    parts.map(({ value, limit, price, extra }) => cost(value, limit, price, { extra: { ...noExtraFees, ...extra } }));
  it("never falls when any input rises, and is never negative or cut to a size", () =>
    fc.assert(
      fc.property(
        inputs,
        fc.nat(3),
        fc.constantFrom("value", "limit", "price", "l1FeeAtMost", "operatorFeeAtMost"),
        fc.bigInt({ min: 0n, max: 2n ** 128n }),
        (parts, at, which, more) => {
          const index = at % parts.length;
          const raised = parts.map((part, position) => {
            if (position !== index) return part;
            return which === "l1FeeAtMost" || which === "operatorFeeAtMost"
              ? { ...part, extra: { ...part.extra, [which]: part.extra[which] + more } }
              : { ...part, [which]: part[which] + more };
          });
          const before = decide(costsOf(parts), 0n).own.required ?? -1n;
          const after = decide(costsOf(raised), 0n).own.required ?? -1n;
          expect(before).toBeGreaterThanOrEqual(0n);
          expect(after).toBeGreaterThanOrEqual(before);
          expect(before).toBe(
            parts.reduce(
              (sum, { value, limit, price, extra }) =>
                sum + value + limit * price + extra.l1FeeAtMost + extra.operatorFeeAtMost,
              0n,
            ),
          );
        },
      ),
    ));
});

describe("the reduction of a price", () => {
  const reductions = (costs: ReadonlyArray<Cost>, balance: bigint) =>
    Funds.reductions(casesOf(costs), holding(balance));
  it("is what the balance allows, to the wei per gas", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ value: fc.bigInt({ min: 0n, max: 1_000n }), limit: fc.bigInt({ min: 1n, max: 1_000n }) }),
          { minLength: 1, maxLength: 4 },
        ),
        fc.bigInt({ min: 1n, max: 1_000n }),
        fc.bigInt({ min: 0n, max: 500_000n }),
        (parts, price, balance) => {
          const costs = (at: bigint) => parts.map(({ value, limit }) => cost(value, limit, at));
          const reduction = reductions(costs(price), balance).get(alice) ?? 0n;
          const shortAt = (at: bigint) => decide(costs(at), balance).own.shortfall ?? -1n;
          if (reduction <= price) expect(shortAt(price - reduction)).toBe(0n);
          if (reduction > 0n && reduction - 1n <= price) expect(shortAt(price - reduction + 1n)).toBeGreaterThan(0n);
        },
      ),
    ));
  it("is null where the price is the caller's, or earlier income is not measured", () => {
    expect(reductions([cost(9n, 10n, 10n, { fee: fee(10n, { by: "caller" }) })], 50n).size).toBe(0);
    const [first, second] = [cost(0n, 1n, 1n, { outcome: called, extra: null }), cost(9n, 10n, 10n)];
    expect(reductions([first, second], 50n).size).toBe(0);
    expect(reductions([second, first], 50n).size).toBe(1);
    expect(reductions([cost(9n, 10n, 10n)], 109n).size).toBe(0);
  });
});
