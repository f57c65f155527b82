/** Two runs of the same transactions: what counts as having done the same. */
import fc from "fast-check";
import { keccak256, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import { compareEffects, isAmount, isSameShape, within, type Effects } from "../../rooms/steps.js";
import { differenceText, type Address, type OutcomeDifference } from "../../rooms/primitives.js";
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
  ...{ extended: false, unlimited: false, spenderKind: "contract", transaction: 0, evidence: "measured" },
});
const approvalTopic = keccak256(stringToHex("Approval(address,address,uint256)")).slice(2);
const effects = (part: Partial<Effects> = {}): Effects => ({
  ...{ outcomes: [outcome()], transfers: [], balanceChanges: [], approvals: [], producer: null },
  ...part,
});
const differences = (
  a: Effects,
  b: Effects,
  tolerance: number,
  concerned: ReadonlyArray<string> = [],
): ReadonlyArray<OutcomeDifference> =>
  compareEffects(a, b, { tolerance, whose: new Set([alice]), concerned: new Set(concerned), numbers: null });
const told = (a: Partial<Effects>, b: Partial<Effects>, tolerance = 0.005) =>
  differences(effects(a), effects(b), tolerance);
const of = (...outcomes: ReadonlyArray<Outcome>): Partial<Effects> => ({ outcomes });

describe("two compared runs", () => {
  it("equal themselves, and a difference is one in both directions", () => {
    const runs = fc
      .record({
        status: fc.constantFrom("success" as const, "reverted" as const, "halted" as const, "unknown" as const),
        topics: fc.array(fc.bigInt(0n, 3n), { maxLength: 3 }),
        amounts: fc.array(fc.bigInt(0n, 2n ** 200n), { maxLength: 3 }),
        delta: fc.bigInt(-(2n ** 200n), 2n ** 200n),
        after: fc.bigInt(0n, 2n ** 200n),
      })
      .map(({ status, topics, amounts, delta, after }) =>
        effects({
          outcomes: [outcome({ status, logs: topics.map((topic) => log(topic)) })],
          transfers: amounts.map((amount) => transfer(amount)),
          balanceChanges: [change(delta)],
          approvals: [approval(after)],
        }),
      );
    fc.assert(
      fc.property(runs, runs, (a, b) => {
        expect(differences(a, a, 0)).toEqual([]);
        expect(differences(a, b, 0.005).length > 0).toBe(differences(b, a, 0.005).length > 0);
        expect(differences(a, b, 0).length).toBeGreaterThanOrEqual(differences(a, b, 0.5).length);
      }),
    );
  });

  it("are compared by the sum of movements between two, whatever its parts", () => {
    const moving = (...amounts: ReadonlyArray<bigint>) => ({ transfers: amounts.map((amount) => transfer(amount)) });
    expect(told(moving(5n, 7n), moving(7n, 5n))).toEqual([]);
    expect(told(moving(5n, 7n), moving(905n, 7n))).toMatchObject([{ kind: "movement", a: 12n, b: 912n }]);
  });

  it("are equal where each pays its own block's producer, unless its place decides", () => {
    const [one, other] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as const;
    const paying = (to: Address, held: bigint, producer: Address | null): Effects =>
      effects({
        transfers: [transfer(5n, { standard: "native", token: null, to })],
        balanceChanges: [{ ...change(held), account: one, token: null }],
        producer,
      });
    expect(differences(paying(one, 5n, null), paying(other, 0n, null), 0).length).toBeGreaterThan(0);
    expect(differences(paying(one, 5n, one), paying(other, 0n, other), 0)).toEqual([]);
    expect(differences(paying(one, 5n, one), paying(one, 0n, other), 0)).not.toEqual([]);
    expect(differences(paying(one, 0n, one), paying(one, 0n, other), 0)).not.toEqual([]);
    expect(differences(paying(one, 5n, one), paying(other, 0n, other), 0, [one.slice(2)])).not.toEqual([]);
    const inToken = (to: Address) => effects({ transfers: [transfer(5n, { to })], producer: to });
    expect(differences(inToken(one), inToken(other), 0)).not.toEqual([]);
    // who is paid less is the same party, and decides as little as any other
    const less = {
      ...paying(other, 0n, other),
      transfers: [transfer(4n, { standard: "native", token: null, to: other })],
    };
    expect(differences(paying(one, 5n, one), less, 0)).toMatchObject([
      { kind: "movement", account: alice, to: null, a: 5n, b: 4n, decides: true },
    ]);
  });

  it.each<readonly [string, Partial<Transfer>]>([
    ["token", { token: bob }],
    ["currency", { token: null }],
    ["id", { tokenId: 8n }],
    ["kind of unit", { tokenId: null }],
    ["payer", { from: token }],
    ["receiver", { to: token }],
    ["amount", { amount: 6n }],
  ])("differ where the same moves but for the %s", (_, changed) => {
    const one = transfer(5n, { tokenId: 7n });
    const found = told({ transfers: [one, one] }, { transfers: [one, { ...one, ...changed }] }, 0);
    expect(found.map(({ kind }) => kind)).toContain("movement");
  });

  it.each<readonly [string, ReadonlyArray<bigint>]>([
    ["owner", [2n, 1n]],
    ["spender", [1n, 3n]],
  ])("differ where an event grants the same to another %s", (_, [owner = 0n, spender = 0n]) => {
    const approving = (...of: ReadonlyArray<bigint>) =>
      outcome({ logs: [logOf(token, [approvalTopic, ...of.map((value) => word(value))], [word(5n)])] });
    expect(told(of(approving(1n, 2n)), of(approving(owner, spender)))).toMatchObject([
      { kind: "approval" },
      { kind: "approval" },
    ]);
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

  it("do not differ in gas, nor where one run gave no number", () => {
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
    const isAlike = (a: Partial<Effects>, b: Partial<Effects>) => isSameShape(told(a, b, 0));
    const moved = (amount: bigint): Partial<Effects> => ({ transfers: [transfer(amount)] });
    expect(isAlike(moved(1n), moved(1_000n))).toBe(true);
    expect(isAlike(of(outcome({ logs: [log(1n, 5n)] })), of(outcome({ logs: [log(1n)] })))).toBe(true);
    expect(isAlike(of(outcome({ logs: [log(1n)] })), of(outcome({ logs: [log(2n)] })))).toBe(false);
    expect(isAlike(of(outcome()), of(outcome({ status: "halted" })))).toBe(false);
    expect(isAlike(of(outcome({ status: "halted" })), of(outcome()))).toBe(false);
  });

  it("differ in who came to control a contract, whatever the tolerance", () => {
    const handed = (gains: string) =>
      of(outcome({ logs: [logOf(token, [`8be0079c53165914${"0".repeat(48)}`, word(alice), word(gains as Address)])] }));
    const found = told(handed(alice), handed(bob), 1);
    expect(isSameShape(found)).toBe(false);
    const control = found.filter(({ kind }) => kind === "control");
    expect(control.map(({ kind, to, a, b, decides }) => [kind, to, a, b, decides])).toEqual([
      ["control", alice, 1n, null, true],
      ["control", bob, null, 1n, true],
    ]);
    expect(control.map((one) => differenceText(one))[1]).toBe(
      `only in one run: owner, handed over: ${token} from ${alice} to ${bob}`,
    );
    expect(told(handed(bob), handed(bob), 0)).toEqual([]);
    const granted = keccak256(stringToHex("RoleGranted(bytes32,address,address)")).slice(2);
    const given = (role: bigint) =>
      of(outcome({ logs: [logOf(token, [granted, word(role), word(bob), word(alice)])] }));
    expect(told(given(1n), given(2n), 1).filter(({ kind }) => kind === "control")).toHaveLength(2);
  });

  it("show the asset, owner and size of each difference, and whether it decides", () => {
    const receiving = (amount: bigint) => ({ transfers: [transfer(amount, { from: bob, to: alice })] });
    expect(told({ transfers: [transfer(1n)] }, { transfers: [transfer(2n)] })).toEqual([
      {
        ...{ kind: "movement", transaction: null, event: null, account: alice, to: bob, what: null },
        ...{ unit: { token, tokenId: null }, a: 1n, b: 2n, decides: true },
      },
    ]);
    const decides = (a: Partial<Effects>, b: Partial<Effects>) => told(a, b).map((one) => [one.decides, isAmount(one)]);
    expect(decides(receiving(1n), receiving(2n))).toEqual([[false, true]]);
    expect(decides({}, receiving(2n))).toEqual([[false, false]]);
    expect(decides({ transfers: [transfer(1n)] }, {})).toEqual([[true, false]]);
    expect(decides({ balanceChanges: [change(1n)] }, { balanceChanges: [change(9n)] })).toEqual([[false, true]]);
    expect(decides({ balanceChanges: [change(-1n)] }, { balanceChanges: [change(-9n)] })).toEqual([[true, true]]);
    expect(decides({ balanceChanges: [change(1n)] }, { balanceChanges: [change(-9n)] })).toEqual([[true, false]]);
    expect(decides({ approvals: [approval(1n)] }, { approvals: [approval(9n)] })).toEqual([[true, true]]);
    expect(decides(of(outcome()), of(outcome({ status: "reverted" })))).toEqual([[false, false]]);
    expect(told({ balanceChanges: [change(1n)] }, {})).toEqual([]);
    expect(told({ approvals: [approval(1n)] }, {})).toEqual([]);
  });

  it("measure a movement by the largest between the same two parties", () => {
    const auction = (back: bigint) => ({ transfers: [transfer(100_000n), transfer(back, { from: bob, to: alice })] });
    expect(told(auction(100n), auction(500n))).toEqual([]);
    expect(told(auction(100n), auction(700n))).toHaveLength(1);
  });

  it("are within tolerance at its exact edge, and not with opposite signs", () => {
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
