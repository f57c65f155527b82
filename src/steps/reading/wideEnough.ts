/** Which of several gas limits is wide enough. Pure. */
import { hasSameShape, isSame, type Result } from "./sameOutcome.js";

/** One run of the cases at some limits, in their order, and the block it was simulated in. */
export interface Tried {
  readonly block: { readonly number: bigint; readonly parentHash: string; readonly timestamp: bigint };
  readonly outcomes: ReadonlyArray<Result>;
}

/** Whether both ran in the same simulated block, so that what differs is owed to the gas. */
const isSameBlock = ({ block: a }: Tried, { block: b }: Tried): boolean =>
  a.number === b.number && a.parentHash === b.parentHash && a.timestamp === b.timestamp;

/** What to do. `index` counts the limits tried, the tightest being 0. */
export type Settled =
  | { readonly kind: "take"; readonly index: number }
  /** The values that the transactions return or emit follow the gas they are given: no limit agrees with another. */
  | { readonly kind: "dependent" }
  /** None of the limits does what ample gas does. */
  | { readonly kind: "wider" };

/**
 * Which of the limits is handed out, the tightest first; null = that run was refused for its gas. `ample` ran
 * with as much gas as there is.
 */
export const settleLimit = (tried: ReadonlyArray<Tried | null>, ample: Tried): Settled => {
  const same = tried.findIndex((run) => run !== null && isSame(run.outcomes, ample.outcomes));
  if (same !== -1) return { kind: "take", index: same };
  const [tight = null, second = null] = tried;
  if (second === null) return { kind: "wider" };
  if (tight === null || !hasSameShape(tight.outcomes, ample.outcomes))
    return hasSameShape(second.outcomes, ample.outcomes) ? { kind: "take", index: 1 } : { kind: "wider" };
  if (!isSameBlock(tight, ample)) return { kind: "take", index: 0 };
  // the same events, but two limits agree with each other against ample gas: a threshold
  return isSame(tight.outcomes, second.outcomes) ? { kind: "wider" } : { kind: "dependent" };
};

/**
 * The first of a row of limits that does what ample gas does; the last is ample gas itself. Where only
 * that agrees in every value, the first with the same events, if the tight limit had others.
 */
export const firstThatHolds = (tried: ReadonlyArray<Tried | null>, ample: Tried, tight: Tried | null): number => {
  const last = tried.length - 1;
  const same = tried.findIndex((run) => run !== null && isSame(run.outcomes, ample.outcomes));
  if (same !== -1 && same < last) return same;
  const alike = tried.findIndex((run) => run !== null && hasSameShape(run.outcomes, ample.outcomes));
  return tight !== null && !hasSameShape(tight.outcomes, ample.outcomes) && alike !== -1 ? alike : last;
};

/** `count` limits from above `from` to `to`, each a constant factor above the one before. */
export const between = (from: bigint, to: bigint, count: number): ReadonlyArray<bigint> => {
  if (to <= from) return [];
  // why: a limit in a report from outside may be 0, of which no factor makes anything
  const least = Math.max(1, Number(from));
  const factor = Math.pow(Number(to) / least, 1 / count);
  return Array.from({ length: count }, (_, index) =>
    index === count - 1 ? to : BigInt(Math.ceil(least * Math.pow(factor, index + 1))),
  );
};
