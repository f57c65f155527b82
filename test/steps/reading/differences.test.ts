/** Two runs of the same transactions: what counts as the same story. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { differences, isSameShape, within, withProducer, type Story } from "../../rooms/steps.js";
import type { Approval, BalanceChange, Outcome, OutcomeLog, Transfer } from "../../rooms/report.js";
import { alice, bob, log as logOf, outcome, token, word } from "../parts.js";

const log = (topic: bigint, data = 0n): OutcomeLog => logOf(token, [word(topic)], [word(data)]);
const transfer = (amount: bigint, changed: Partial<Transfer> = {}): Transfer => ({
  ...{ standard: "erc20", token, from: alice, to: bob, amount, tokenId: null, transaction: 0, evidence: "logged" },
  ...changed,
});
const change = (delta: bigint, evidence: BalanceChange["evidence"] = "measured"): BalanceChange => ({
  ...{ account: alice, token, tokenId: null, before: 0n, after: delta, delta, evidence },
});
const approval = (after: bigint): Approval => ({
  ...{ standard: "erc20", token, owner: alice, spender: bob, tokenId: null, before: 0n, after, expiration: null },
  ...{ unlimited: false, spenderKind: "contract", transaction: 0, evidence: "measured" },
});
const story = (part: Partial<Story> = {}): Story => ({
  ...{ outcomes: [outcome()], transfers: [], balanceChanges: [], approvals: [] },
  ...part,
});
const told = (a: Partial<Story>, b: Partial<Story>, tolerance = 0.005) => differences(story(a), story(b), tolerance);
const of = (...outcomes: ReadonlyArray<Outcome>): Partial<Story> => ({ outcomes });

describe("two stories", () => {
  it("are the same as themselves, and a difference is one in both directions", () => {
    const stories = fc
      .record({
        status: fc.constantFrom("success" as const, "reverted" as const, "halted" as const, "unknown" as const),
        topics: fc.array(fc.bigInt(0n, 3n), { maxLength: 3 }),
        amounts: fc.array(fc.bigInt(0n, 2n ** 200n), { maxLength: 3 }),
        delta: fc.bigInt(-(2n ** 200n), 2n ** 200n),
        after: fc.bigInt(0n, 2n ** 200n),
      })
      .map(({ status, topics, amounts, delta, after }) =>
        story({
          outcomes: [outcome({ status, logs: topics.map((topic) => log(topic)) })],
          transfers: amounts.map((amount) => transfer(amount)),
          balanceChanges: [change(delta)],
          approvals: [approval(after)],
        }),
      );
    fc.assert(
      fc.property(stories, stories, (a, b) => {
        expect(differences(a, a, 0)).toEqual([]);
        expect(differences(a, b, 0.005).length > 0).toBe(differences(b, a, 0.005).length > 0);
        expect(differences(a, b, 0).length).toBeGreaterThanOrEqual(differences(a, b, 0.5).length);
      }),
    );
  });

  it("are the same where each pays its own block's producer, unless its place decides", () => {
    const [one, other] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as const;
    const paying = (to: typeof one, held = 0n): Story =>
      story({
        transfers: [transfer(5n, { standard: "native", token: null, to })],
        balanceChanges: [{ ...change(held), account: one, token: null }],
      });
    const as = (paid: Story, producer: string | null, ...concerned: ReadonlyArray<string>) =>
      withProducer(paid, producer, new Set(concerned));
    const [here, there] = [paying(one, 5n), paying(other)];
    expect(differences(here, there, 0).length).toBeGreaterThan(0);
    expect(differences(as(here, one), as(there, other), 0)).toEqual([]);
    expect(differences(as(here, one), as(paying(one), other), 0)).not.toEqual([]);
    expect(differences(as(here, one, one.slice(2)), as(there, other), 0)).not.toEqual([]);
    expect(as(here, null)).toBe(here);
    const inToken = story({ transfers: [transfer(5n, { to: one })] });
    expect(as(inToken, one).transfers).toEqual(inToken.transfers);
  });

  it("differ in status, revert, events and their order", () => {
    expect(told(of(outcome()), of(outcome({ status: "reverted" })))).toHaveLength(1);
    const reverted = (data: string) => outcome({ status: "reverted", revert: { data } as never });
    expect(told(of(reverted("0x01")), of(reverted("0x02")))).toHaveLength(1);
    expect(told(of(reverted("0x01")), of(reverted("0x01")))).toEqual([]);
    const logged = (...topics: ReadonlyArray<bigint>) => of(outcome({ logs: topics.map((topic) => log(topic)) }));
    expect(told(logged(1n), logged())).toHaveLength(1);
    expect(told(logged(1n, 2n), logged(2n, 1n))).toHaveLength(1);
    expect(told(logged(1n), logged(1n))).toEqual([]);
    expect(told(of(outcome({ logs: [log(1n, 5n)] })), of(outcome({ logs: [log(1n, 6n)] })))).toEqual([]);
  });

  it("do not differ in gas, nor where one run did not say", () => {
    expect(told(of(outcome({ gasUsed: 1n })), of(outcome({ gasUsed: 2n })))).toEqual([]);
    expect(told(of(outcome()), of(outcome({ status: "unknown" })))).toEqual([]);
    expect(told({ balanceChanges: [change(5n)] }, { balanceChanges: [change(9n, "logged")] })).toEqual([]);
  });

  it("differ in amounts beyond the tolerance", () => {
    const moved = (amount: bigint) => ({ transfers: [transfer(amount)] });
    expect(told(moved(1_000n), moved(1_005n))).toEqual([]);
    expect(told(moved(1_000n), moved(1_006n))).toHaveLength(1);
    expect(told(moved(1_000n), {})).toHaveLength(1);
    expect(told(moved(5n), { transfers: [transfer(5n, { to: alice })] }).length).toBeGreaterThan(0);
    expect(told({ balanceChanges: [change(1_000n)] }, { balanceChanges: [change(-1_000n)] })).toHaveLength(1);
    expect(told({ approvals: [approval(0n)] }, { approvals: [approval(7n)] })).toHaveLength(1);
    expect(told(moved(1_000n), moved(1_001n), 0)).toHaveLength(1);
  });

  it("have the same shape where only amounts differ", () => {
    const moved = (amount: bigint) => story({ transfers: [transfer(amount)] });
    expect(isSameShape(moved(1n), moved(1_000n))).toBe(true);
    expect(isSameShape(story(of(outcome({ logs: [log(1n, 5n)] }))), story(of(outcome({ logs: [log(1n)] }))))).toBe(
      true,
    );
    expect(isSameShape(story(of(outcome({ logs: [log(1n)] }))), story(of(outcome({ logs: [log(2n)] }))))).toBe(false);
    expect(isSameShape(story(of(outcome())), story(of(outcome({ status: "halted" }))))).toBe(false);
  });

  it("within: exact at the edge, signs apart", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 2n ** 200n), fc.integer({ min: 0, max: 999_999 }), (amount, ppm) => {
        const edge = (amount * BigInt(ppm)) / 1_000_000n;
        expect(within(amount, amount - edge, ppm / 1_000_000)).toBe(true);
        expect(within(amount, amount - edge - 1n, ppm / 1_000_000)).toBe(false);
        expect(within(amount, -amount, 0.999)).toBe(false);
      }),
    );
  });
});
