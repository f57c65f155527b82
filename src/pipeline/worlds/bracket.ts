/**
 * How far the worlds of a proof stand from the next block: they bracket the time in which a clearance may be mined. Pure.
 */
import type { Chain } from "../../Chains.js";
import type * as Eth from "../../eth/index.js";
import type { Hash } from "../../primitives/hex.js";
import { nthWord, type Spacing } from "../../steps/simulate.js";

/** In what steps blocks come. */
export interface Grid {
  /** Seconds from one step to the next. */
  readonly slot: bigint;
  /** True if blocks come at this pace, and at no other time. */
  readonly isPaced: boolean;
}

/** Seconds by which a node simulates after its own pending block, where that is itself the next, and the pace is not known (geth). */
export const afterPending = 12n;

/** A duration in whole seconds, one at least. */
export const inSeconds = (ms: number): bigint => BigInt(Math.max(1, Math.ceil(ms / 1000)));

export const gridOf = ({ blockTimeMs }: Pick<Chain, "blockTimeMs">, isPaced: boolean): Grid => ({
  slot: isPaced ? inSeconds(blockTimeMs) : afterPending,
  isPaced,
});

/** Seconds behind the next block: on the grid where there is one, else an odd number, so that not even their parity is the same. */
export const offsetOf = ({ slot, isPaced }: Grid, steps: number): bigint =>
  slot * BigInt(steps) + (isPaced || steps === 0 ? 0n : 1n);

/** Blocks that one simulation may have in front of the transactions'. */
const mostAhead = 32;

/** By how many blocks a world stands behind the next one; a distance that no simulation holds is that of the next. */
export const blocksOf = (steps: number): number => (steps <= mostAhead ? steps : Math.min(steps, 1));

/** How many blocks come until a world so many steps away, and how many of them it stands behind the next one. */
export const spanOf = (grid: Grid, { blockTimeMs }: Pick<Chain, "blockTimeMs">, steps: number) => ({
  blocks: grid.isPaced ? Math.ceil((Number(offsetOf(grid, steps)) * 1000) / blockTimeMs) : steps,
  covered: blocksOf(steps),
});

/** The reach where nothing runs that could look at its block. */
export const leastReach = 1;
const usualReach = 3;

/**
 * Steps to the far end of what a clearance allows, `seconds` behind the next block: an odd number, for the parity of
 * block numbers.
 */
export const reachOf = (grid: Grid, seconds: bigint): number => {
  const steps = Number((seconds + grid.slot - 1n) / grid.slot);
  return Math.max(usualReach, steps % 2 === 0 ? steps + 1 : steps);
};

/** Distinct steps between the next block and the far end, as evenly as there is room. */
export const stepsBetween = (reach: number, count: number | null): ReadonlyArray<number> => {
  // why: two fill the bracket of a slow chain, and cost more than they show on a fast one
  const most = Math.min(count ?? (reach <= 4 ? 2 : 1), reach - 1);
  return Array.from({ length: Math.max(0, most) }, (_, index) => Math.round(((index + 1) * reach) / (most + 1)));
};

/**
 * The empty blocks from the next one on, of which the first `skipped` are there already. No node is relied on to fill a
 * gap, nor to work out a base fee behind a block that it simulates itself (op-geth crashes from Isthmus on).
 */
export const emptyBlocks = (
  grid: Grid,
  {
    number,
    time,
    skipped,
    baseFee,
    root,
  }: {
    readonly number: bigint;
    readonly time: bigint;
    readonly skipped: number;
    readonly baseFee: bigint | null;
    /** Hash that the beacon roots are made of (EIP-4788): a real block has one, and so have those in front of it. */
    readonly root: Hash | null;
  },
  steps: number,
): ReadonlyArray<Eth.BlockOverrides> =>
  Array.from({ length: blocksOf(steps) }, (_, index) => ({
    number: number + BigInt(index),
    time: time + offsetOf(grid, index),
    ...(index === 0 || baseFee === null ? {} : { baseFeePerGas: baseFee }),
    ...(root === null ? {} : { beaconRoot: nthWord(root, index + 1) }),
  })).slice(skipped);

/** Seconds between the blocks of a bundle where no pace is known: odd, so that not even their parity is the same. */
const gapWithoutGrid = 13n;

/** A bundle that is mined block by block. */
export const closeSpacing = ({ slot, isPaced }: Grid): Spacing => ({
  blocks: 1,
  seconds: isPaced ? slot : gapWithoutGrid,
});

/**
 * One of so many transactions that is mined over half of the bracket, from `step` on and never behind the last of `exact`:
 * by slots that are missed, where no simulation holds as many blocks.
 */
export const wideSpacing = ({ slot }: Grid, reach: number, count: number, step: number): Spacing => {
  const most = 1 + Math.floor((reach - step) / Math.max(1, count - 1));
  const blocks = Math.min(Math.max(2, Math.ceil(reach / 2)), most);
  return blocks * (count - 1) <= mostAhead ? { blocks, seconds: slot } : { blocks: 1, seconds: slot * BigInt(blocks) };
};

/** Seconds from one transaction of a bundle to the next. */
export const gapOf = ({ blocks, seconds }: Spacing): bigint => seconds * BigInt(blocks);

/** True if a fork parts the blocks of `count` transactions, the first of which is at `from`, so many seconds apart. */
export const isParted = (count: number, from: bigint, nextFork: bigint | null, gap: bigint): boolean =>
  nextFork !== null && nextFork > from && nextFork <= from + gap * BigInt(count - 1);

/** When the block of `exact` is: so many steps after the next, and behind a fork that would part a bundle. */
export const contraryTime = (time: bigint, grid: Grid, steps: number, count: number, nextFork: bigint | null) => {
  const from = time + offsetOf(grid, steps);
  if (nextFork === null || !isParted(count, from, nextFork, gapOf(closeSpacing(grid)))) return from;
  if (grid.isPaced) return time + ((nextFork - time + grid.slot - 1n) / grid.slot) * grid.slot;
  return (nextFork - time) % 2n === 0n ? nextFork + 1n : nextFork;
};

/** Slots that are kept for being mined in, where there are so many. */
const slotsKept = 3;

/**
 * Epoch ms until which a clearance holds, where the transactions were seen to run up to a block of the time `last` and no
 * further: three slots before that, but never less than half of what is left.
 */
export const untilOf = (
  { slot, isPaced }: Grid,
  { last, next, now }: { readonly last: bigint; readonly next: bigint; readonly now: number },
): number => {
  const [slotMs, sinceNext] = [Number(slot) * 1000, Number(last - next) * 1000];
  // why: the clock of a chain that mines on demand is nobody's
  const timeLeft = Math.max(0, isPaced ? Math.min(Number(last) * 1000 - now, sinceNext + slotMs) : sinceNext + slotMs);
  return now + timeLeft - Math.min(slotsKept * slotMs, timeLeft / 2);
};
