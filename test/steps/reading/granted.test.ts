/** A call counts only if it is known that it had the gas it asked for: as it is shown, else by what a reader found left. */
import { describe, expect, it } from "vitest";
import { cutIn, gasCapIn, grantedOf, isLarge, type Metered } from "../../rooms/steps.js";

const call = (asked: bigint, used: bigint, shown: bigint | null = null, peak = used): Metered => ({
  ...{ asked, used, shown, peak },
});

describe("the gas that calls demonstrably had", () => {
  it.each<[string, ReadonlyArray<Metered>, bigint | null, ReadonlyArray<bigint>]>([
    ["is what is shown", [call(100n, 10n, 100n), call(100n, 50n, 60n)], null, [100n, 60n]],
    ["is never more than was asked for", [call(100n, 10n, 500n)], 900n, [100n]],
    ["is nothing where nobody tells", [call(100n, 10n), call(50n, 5n)], null, [0n, 0n]],
    [
      "is what the reader found left, less what was used",
      [call(300n, 40n), call(100n, 100n), call(150n, 1n)],
      290n,
      [290n, 100n, 150n],
    ],
    ["is less where that was used up", [call(300n, 40n), call(200n, 190n), call(150n, 1n)], 290n, [290n, 200n, 60n]],
    ["counts refunds as used", [call(300n, 40n), call(200n, 10n, null, 190n), call(150n, 1n)], 290n, [290n, 200n, 60n]],
    ["never falls below nothing", [call(300n, 290n), call(200n, 190n)], 200n, [200n, 0n]],
    ["is the better of both", [call(300n, 40n, 300n), call(200n, 10n, 5n)], 290n, [300n, 200n]],
  ])("%s", (_, calls, left, granted) => expect(grantedOf(calls, left)).toEqual(granted));
});

describe("the node's cap", () => {
  it.each<[string, ReadonlyArray<Metered>, bigint | null]>([
    [
      "is what was used until a call got less than it asked for, and what that got",
      [call(9n, 4n, 9n), call(9n, 5n, 9n), call(9n, 2n, 1n), call(9n, 0n, 0n)],
      10n,
    ],
    ["is not known where all got what they asked for", [call(9n, 4n, 9n)], null],
    ["is not known where nothing is shown", [call(9n, 4n), call(9n, 4n)], null],
  ])("%s", (_, calls, cap) => expect(gasCapIn(calls)).toBe(cap));
});

describe("the first call that does not count", () => {
  const full = { gas: 100n, least: 100n, granted: 100n, isSuccess: true };
  it.each([
    ["is none where all had what they asked for", [full, { ...full, isSuccess: false }], null],
    ["is one that had less", [full, { ...full, granted: 99n }, { ...full, granted: 0n }], 1],
    ["is none where less is enough, and it succeeded", [{ ...full, least: 0n, granted: 60n }], null],
    ["is one that failed with less", [{ ...full, least: 0n, granted: 60n, isSuccess: false }], 0],
    ["is one below what it must have", [{ ...full, least: 70n, granted: 60n }], 0],
    ["is one of which nothing is known", [{ ...full, least: 0n, granted: 0n }], 0],
  ])("%s", (_, calls, cut) => expect(cutIn(calls)).toBe(cut));
});

it.each([
  [[2_000_000n], false],
  [[2_000_001n], true],
  [[2_000_000n, 2_000_000n, 2_000_000n, 2_000_000n, 2_000_000n], false],
  [[2_000_000n, 2_000_000n, 2_000_000n, 2_000_000n, 2_000_000n, 1n], true],
])("the transactions of %s are shown as %s", (limits, shown) => expect(isLarge(limits)).toBe(shown));
