/**
 * Whether runs of the same cases did the same at different gas limits, and which limit is wide enough. Pure.
 *
 * A call hands on 63/64 of its gas, and contracts may swallow an inner failure or read `gasleft`: too
 * tight a limit then looks like success and does something else. So outcomes are compared whole: status,
 * return data, and every log.
 */
import * as Arr from "effect/Array";
import type { Outcome, OutcomeLog } from "../../report/parts.js";

/** One outcome, as far as it is compared. */
export type Result = Pick<Outcome, "status" | "returnData"> & {
  readonly logs: ReadonlyArray<Pick<OutcomeLog, "address" | "topics" | "data">>;
};

/** One run of the cases at some limits, in their order, and the block it was simulated in. */
export interface Tried {
  readonly block: { readonly number: bigint; readonly parentHash: string; readonly timestamp: bigint };
  readonly outcomes: ReadonlyArray<Result>;
}

type Log = Result["logs"][number];

/** Whether two texts are the same bytes, however a node writes them. */
const isSameHex = (a: string | null | undefined, b: string | null | undefined): boolean =>
  a === b || (typeof a === "string" && a.toLowerCase() === b?.toLowerCase());

const isSameLog = (a: Log, b: Log): boolean =>
  isSameHex(a.address, b.address) &&
  a.topics.length === b.topics.length &&
  a.topics.every((topic, index) => isSameHex(topic, b.topics[index])) &&
  isSameHex(a.data, b.data);

/** The same event by the same contract, whatever its values. */
const isSameEvent = (a: Log, b: Log): boolean =>
  isSameHex(a.address, b.address) &&
  isSameHex(a.topics[0], b.topics[0]) &&
  a.topics.length === b.topics.length &&
  a.data.length === b.data.length;

const everyLog = (a: Result, b: Result, test: (one: Log, other: Log) => boolean): boolean =>
  a.logs.length === b.logs.length && Arr.zip(a.logs, b.logs).every(([one, other]) => test(one, other));

const every = (
  a: ReadonlyArray<Result>,
  b: ReadonlyArray<Result>,
  test: (one: Result, other: Result) => boolean,
): boolean =>
  a.length === b.length && Arr.zip(a, b).every(([one, other]) => one.status === other.status && test(one, other));

/** Equal in status, return data and logs, case by case. */
export const isSame = (a: ReadonlyArray<Result>, b: ReadonlyArray<Result>): boolean =>
  every(a, b, (one, other) => isSameHex(one.returnData, other.returnData) && everyLog(one, other, isSameLog));

/** Equal but for values: the same statuses and sizes, and the same events by the same contracts in the same order. */
const hasSameShape = (a: ReadonlyArray<Result>, b: ReadonlyArray<Result>): boolean =>
  every(a, b, (one, other) => one.returnData?.length === other.returnData?.length && everyLog(one, other, isSameEvent));

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
  const factor = Math.pow(Number(to) / Number(from), 1 / count);
  return Array.from({ length: count }, (_, index) =>
    index === count - 1 ? to : BigInt(Math.ceil(Number(from) * Math.pow(factor, index + 1))),
  );
};
