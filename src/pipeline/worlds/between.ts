/** Comparison of the bracket's ends with the worlds between them. Pure. */
import * as Arr from "effect/Array";
import type { OutcomeDifference } from "../../primitives/difference.js";
import type { Run } from "../../steps/simulate.js";
import { compareEffects, isAmount, type Terms } from "../../steps/reading/compare.js";
import type { RunEffects } from "./movements.js";

/** One world of a proof, read once. */
export interface WorldRun {
  readonly run: Run;
  readonly effects: RunEffects;
}

/** From one transaction of a bundle to the next, in blocks and in seconds. */
const stepOf = ({ apart }: Run["plan"]) =>
  apart == null ? ([0n, 0n] as const) : ([BigInt(apart.blocks), BigInt(apart.blocks) * apart.seconds] as const);

/** Tests if numbers differ as time does, or from the block number on as that does; in a bundle up to its last block. */
export const isClockOf = (later: Run, earlier: Run) => {
  const [a, b] = [later.before.environment, earlier.before.environment];
  const [number, time] = [(a?.number ?? 0n) - (b?.number ?? 0n), (a?.timestamp ?? 0n) - (b?.timestamp ?? 0n)];
  const [[blocks, seconds], [otherBlocks, otherSeconds]] = [stepOf(later.plan), stepOf(earlier.plan)];
  const isAbout = (gap: bigint, expected: bigint, step: bigint) =>
    later.plan.calls.some((_, place) => gap === expected + step * BigInt(place));
  return (x: bigint, y: bigint): boolean =>
    isAbout(x - y, time, seconds - otherSeconds) ||
    (b !== null && y >= b.number && isAbout(x - y, number, blocks - otherBlocks));
};

/** Compares what a later world does otherwise than an earlier one. */
export const differ = (later: WorldRun, earlier: WorldRun, by: Omit<Terms, "numbers">) =>
  compareEffects(later.effects, earlier.effects, { ...by, numbers: isClockOf(later.run, earlier.run) });

const hasRun = ({ effects: { outcomes } }: WorldRun): boolean => outcomes.every(({ status }) => status === "success");

/** Amounts that move, and what events book. */
const mayDrift = (difference: OutcomeDifference): boolean =>
  difference.kind === "number" ||
  ((difference.kind === "movement" || difference.kind === "balance") && isAmount(difference));

/**
 * True if what the ends do otherwise comes about little by little: from each world to the one after it no more than is
 * no difference. `line` = all of them, the nearest first.
 */
export const isGradual = (
  ends: ReadonlyArray<OutcomeDifference>,
  line: ReadonlyArray<WorldRun>,
  by: Omit<Terms, "numbers">,
): boolean =>
  line.length > 2 &&
  ends.length > 0 &&
  ends.every(mayDrift) &&
  Arr.zip(line, line.slice(1)).every(([earlier, later]) => differ(later, earlier, by).length === 0);

/** The first world between in which something happens that the ends do not tell; null = there is none. */
export const oddOf = (
  ends: ReadonlyArray<OutcomeDifference>,
  next: WorldRun,
  between: ReadonlyArray<WorldRun>,
  by: Omit<Terms, "numbers">,
): { readonly run: Run; readonly found: ReadonlyArray<OutcomeDifference> } | null => {
  const isDecisive = ({ kind, decides }: OutcomeDifference) => decides || kind === "status";
  if (ends.some(isDecisive)) return null;
  const odd = between
    .map((world) => ({ run: world.run, found: differ(world, next, by) }))
    // why: what the ends do otherwise by themselves is told of them
    .find(({ found }) => (ends.length === 0 ? found.length > 0 : found.some(isDecisive)));
  return odd ?? null;
};

/**
 * In how many of the worlds behind the next one the transactions run before they fail in one; null where they do not
 * run in the next, or run in the last.
 */
export const ranBefore = (next: WorldRun, between: ReadonlyArray<WorldRun>, exact: WorldRun): number | null => {
  if (!hasRun(next) || hasRun(exact)) return null;
  const failed = between.findIndex((world) => !hasRun(world));
  return failed < 0 ? between.length : failed;
};
