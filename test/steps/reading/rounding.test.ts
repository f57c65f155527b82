/** What explains that events and balances differ, and what does not. */
import { describe, expect, it } from "vitest";
import type { Address, Hash, Hex } from "../../rooms/primitives.js";
import type { BalanceChange, OutcomeLog, Transfer } from "../../rooms/report.js";
import { toldIn } from "../../rooms/effects.js";
import { reasonOf } from "../../rooms/steps.js";
import { alice, bob, native, token } from "../parts.js";

const stake = "0x00000000000000000000000000000000000057ac" as Address;
const change = (delta: bigint, before: bigint | null, changed: Partial<BalanceChange> = {}): BalanceChange => ({
  ...{ account: alice, token, tokenId: null, before, after: null, delta, evidence: "measured" },
  ...changed,
});
const moves = (from: Address, to: Address, amount: bigint, of: Address | null = token): Transfer => ({
  ...{ ...native(0, from, to, amount), standard: of === null ? "native" : "erc20", token: of },
});
const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, "0");
const topic = (value: string): Hash => `0x${word(value)}`;
/** Aave's own event: amount, interest, index. */
const interest = (amount: bigint, by: Address = token, of: Address = alice): OutcomeLog => ({
  address: by,
  topics: [`0x458f5fa412d0f69b08dd84872b0215675cc67bc1d5b6fd93300a1c3878b86196`, topic(bob), topic(of)],
  data: `0x${word(amount * 10n)}${word(amount)}${word(10n ** 27n)}` as Hex,
  decoded: null,
});
const million = 10n ** 6n;

describe("a difference by rounding", () => {
  const reason = (
    delta: bigint,
    logged: bigint,
    before: bigint | null = 10n * million,
    logs: ReadonlyArray<OutcomeLog> = [],
  ) => {
    const one = logged < 0n ? moves(alice, bob, -logged) : moves(bob, alice, logged);
    return reasonOf({ change: change(delta, before), logged }, { transfers: [one], sums: toldIn(logs, 0).sums });
  };
  it.each([
    ["a wei of a million", -million + 1n, -million],
    ["two wei too many", -million - 2n, -million],
    ["two wei too few that come in", million - 2n, million],
  ])("is %s", (_, delta, logged) => expect(reason(delta, logged, 0n)).toBe("shares are rounded"));
  it("is one of shares that are worth a thousand wei each, too", () =>
    expect(reason(-(10n ** 18n) + 900n, -(10n ** 18n), 0n)).toBe("shares are rounded"));
  it.each([
    ["three wei", million - 3n, million],
    ["one wei of a hundred", 99n, 100n],
    ["one of nothing", 1n, 0n],
    ["a fee of a basis point", million - 100n, million],
    ["a fee of a percent", -million - million / 100n, -million],
  ])("is not %s, where nothing was held", (_, delta, logged) => expect(reason(delta, logged, 0n)).toBe(null));

  it("is not a fee of a basis point, whatever is held", () => {
    expect(reason(-million - 100n, -million, 10n ** 12n)).toBe(null);
    expect(reason(million - 100n, million, 10n ** 12n)).toBe(null);
  });
  it("is interest below a basis point of the movement, in proportion to the holding", () => {
    expect(reason(219_219_917n, 219_222_826n, 10n ** 8n)).toBe("interest is booked on the way");
    expect(reason(219_219_917n, 219_222_826n, 10n ** 5n)).toBe(null);
    expect(reason(219_219_917n, 219_222_826n, null)).toBe(null);
  });
  it("is interest where the token's own event names it, and not of another token, account, or beyond the holding", () => {
    const named = "the events count interest that the balance had already";
    expect(reason(million, million + 50_000n, million, [interest(50_000n)])).toBe(named);
    expect(reason(-million, -million + 50_000n, million, [interest(50_000n)])).toBe(named);
    expect(reason(million, million + 50_003n, million, [interest(50_000n)])).toBe(named);
    expect(reason(million, million + 60_000n, million, [interest(50_000n)])).toBe(null);
    // laid out otherwise, its places are not those of Aave's event
    const [kind, ...parties] = interest(50_000n).topics;
    const words = parties.map((each) => each.slice(2)).join("");
    const unindexed = {
      ...interest(50_000n),
      topics: [kind],
      data: `0x${words}${interest(50_000n).data.slice(2)}` as Hex,
    };
    expect(reason(million, million + 50_000n, million, [unindexed as OutcomeLog])).toBe(null);
    expect(reason(million, million + 50_000n, million, [interest(50_000n, stake)])).toBe(null);
    expect(reason(million, million + 50_000n, million, [interest(50_000n, token, bob)])).toBe(null);
    expect(reason(million, million + 50_000n, 100_000n, [interest(50_000n)])).toBe(null);
  });
});

describe("a change of balance without an event", () => {
  const booked = (delta: bigint, before: bigint, transfers: ReadonlyArray<Transfer>) =>
    reasonOf({ change: change(delta, before, { token: stake }), logged: 0n }, { transfers, sums: [] });
  const told = "a stake is booked without an event";
  it("is a stake where as much went the other way", () => {
    expect(booked(500n, 0n, [moves(alice, stake, 500n)])).toBe(told);
    expect(booked(-500n, 500n, [moves(stake, alice, 500n)])).toBe(told);
    expect(booked(500n, 0n, [moves(alice, stake, 500n, null)])).toBe(told);
  });
  it("may include interest on the former balance", () => {
    expect(booked(510n, 100n, [moves(alice, stake, 500n)])).toBe(told);
    expect(booked(600n, 100n, [moves(alice, stake, 500n)])).toBe(null);
    expect(booked(-500n, 500n, [moves(stake, alice, 510n)])).toBe(told);
  });
  it("is no stake where less comes back, less is booked, nothing moves, or other movements are announced", () => {
    expect(booked(-500n, 500n, [moves(stake, alice, 490n)])).toBe(null);
    expect(booked(490n, 0n, [moves(alice, stake, 500n)])).toBe(null);
    expect(booked(-500n, 500n, [])).toBe(null);
    expect(booked(-500n, 500n, [moves(alice, stake, 500n)])).toBe(null);
    expect(booked(-500n, 500n, [moves(stake, alice, 500n), moves(bob, stake, 1n, stake)])).toBe(null);
  });
});

it("native balances, a token's holding of itself and ids are never rounded", () => {
  const nothing = { transfers: [], sums: [] };
  expect(reasonOf({ change: change(-5n, 9n, { token: null }), logged: 0n }, nothing)).toContain("does not trace");
  expect(reasonOf({ change: change(0n, 0n, { account: token }), logged: -5n }, nothing)).toContain("its own address");
  expect(reasonOf({ change: change(1n, 9n, { tokenId: 7n }), logged: 2n }, nothing)).toBe(null);
});
