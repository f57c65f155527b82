/** How far the worlds of a proof stand from the next block, and how long a clearance holds that closes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blocksOf,
  closeSpacing,
  emptyBlocks,
  gapOf,
  gridOf,
  offsetOf,
  reachOf,
  stepsBetween,
  untilOf,
  wideSpacing,
} from "../../rooms/pipeline.js";

const [ethereum, base, fast, unknown] = [
  gridOf({ blockTimeMs: 12_000 }, true),
  gridOf({ blockTimeMs: 2_000 }, true),
  gridOf({ blockTimeMs: 200 }, true),
  gridOf({ blockTimeMs: 200 }, false),
];

describe("the last block of a clearance", () => {
  it.each([
    ["three slots on Ethereum", ethereum, 30n, 3, 36n],
    ["five, where a clearance holds a minute", ethereum, 60n, 5, 60n],
    ["never fewer than three", ethereum, 1n, 3, 36n],
    ["fifteen where a slot is 2 s", base, 30n, 15, 30n],
    ["as many as seconds, and one, where several blocks share a second", fast, 30n, 31, 31n],
    ["an odd number of seconds where no pace is known", unknown, 30n, 3, 37n],
  ])("is %s", (_, grid, seconds, steps, offset) => {
    expect([reachOf(grid, seconds), offsetOf(grid, steps)]).toEqual([steps, offset]);
  });

  it("is at least the clearance's length away, by an odd number of steps", () => {
    fc.assert(
      fc.property(fc.constantFrom(ethereum, base, fast, unknown), fc.bigInt(1n, 100_000n), (grid, seconds) => {
        const steps = reachOf(grid, seconds);
        expect([offsetOf(grid, steps) >= seconds, steps % 2]).toEqual([true, 1]);
      }),
    );
  });

  it("is the next block itself where no time is left", () => {
    for (const grid of [ethereum, base, fast, unknown]) expect([offsetOf(grid, 0), blocksOf(0)]).toEqual([0n, 0]);
  });
});

describe("the blocks between next and last", () => {
  it.each([
    [3, null, [1, 2]],
    [5, null, [3]],
    [15, null, [8]],
    [1, null, []],
    [0, null, []],
    [3, 0, []],
    [3, 8, [1, 2]],
    [15, 3, [4, 8, 11]],
  ])("are for a bracket of %i, %j wanted: %j", (reach, wanted, steps) =>
    expect(stepsBetween(reach, wanted)).toEqual(steps),
  );

  it("are distinct, and inside", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 }), fc.option(fc.nat(8)), (reach, wanted) => {
        const steps = stepsBetween(reach, wanted);
        expect(new Set(steps).size).toBe(steps.length);
        expect(steps.every((step) => step > 0 && step < reach)).toBe(true);
      }),
    );
  });
});

describe("the bracket of a bundle", () => {
  it.each([
    ["Ethereum", ethereum, 2, 2, [1, 12n, 2, 12n]],
    ["2 s", base, 2, 8, [1, 2n, 8, 2n]],
    ["2 s, five of them, none of which is mined behind the last of `exact`", base, 5, 8, [1, 2n, 2, 2n]],
    ["200 ms", fast, 2, 16, [1, 1n, 16, 1n]],
    ["no known pace", unknown, 2, 2, [1, 13n, 2, 12n]],
  ] as const)("has it mined close together and over half of the bracket: %s", (_, grid, count, step, said) => {
    const [close, wide] = [closeSpacing(grid), wideSpacing(grid, reachOf(grid, 30n), count, step)];
    expect([close.blocks, close.seconds, wide.blocks, wide.seconds]).toEqual(said);
    expect(gapOf(wide) > gapOf(close)).toBe(true);
  });
});

describe("the empty blocks in front", () => {
  it("leave no room for a wider spacing where many would be mined behind the bracket", () =>
    expect(gapOf(wideSpacing(ethereum, 3, 3, 2))).toBe(12n));

  const from = { number: 100n, time: 1_000n, skipped: 0, baseFee: 7n, root: null };
  it.each([
    [
      "begin with the next",
      ethereum,
      from,
      3,
      [
        [100n, 1_000n],
        [101n, 1_012n],
        [102n, 1_024n],
      ],
    ],
    [
      "begin behind the next, where that is simulated already",
      ethereum,
      { ...from, skipped: 1 },
      3,
      [
        [101n, 1_012n],
        [102n, 1_024n],
      ],
    ],
    ["are none of the next itself", ethereum, from, 0, []],
    [
      "keep an odd distance where no pace is known",
      unknown,
      from,
      3,
      [
        [100n, 1_000n],
        [101n, 1_013n],
        [102n, 1_025n],
      ],
    ],
    ["are one where no simulation holds as many", ethereum, from, 51, [[100n, 1_000n]]],
  ] as const)("%s", (_, grid, at, steps, blocks) =>
    expect(emptyBlocks(grid, at, steps).map(({ number, time }) => [number, time])).toEqual(blocks),
  );

  it("follow each other in number and time, up to the one that comes behind them", () => {
    fc.assert(
      fc.property(fc.constantFrom(ethereum, base, fast, unknown), fc.integer({ min: 1, max: 400 }), (grid, steps) => {
        const blocks = [
          ...emptyBlocks(grid, from, steps).map(
            ({ number, time }) => [BigInt(number ?? 0), BigInt(time ?? 0)] as const,
          ),
          [100n + BigInt(blocksOf(steps)), 1_000n + offsetOf(grid, steps)] as const,
        ];
        blocks.slice(1).forEach(([number, time], index) => {
          const [before, earlier] = blocks[index] ?? [0n, 0n];
          expect([number - before, time > earlier]).toEqual([1n, true]);
        });
      }),
    );
  });
});

describe("a clearance of a call that later fails ends", () => {
  const now = 1_000_000;
  it.each([
    [
      "three slots before the last block in which it ran",
      ethereum,
      { last: 1_100n, next: 1_060n, now: 1_020_000 },
      1_046_000,
    ],
    ["half of what is left before it, where that is less", ethereum, { last: 1_036n, next: 1_012n, now }, 1_018_000],
    ["at once where nothing is left", ethereum, { last: 990n, next: 990n, now }, now],
    ["by slots alone where the chain's clock is nobody's", unknown, { last: 37n, next: 0n, now }, now + 24_500],
  ])("%s", (_, grid, at, until) => expect(untilOf(grid, at)).toBe(until));
});
