/**
 * Tests for sameness: amounts within a tolerance, logs, and whole outcomes. Pure.
 *
 * A call hands on 63/64 of its gas, and contracts may swallow an inner failure or read `gasleft`: too
 * tight a limit then looks like success and does something else. So runs at different gas limits are compared by whole
 * outcomes: status, return data, and every log.
 */
import * as BigInts from "effect/BigInt";
import * as Arr from "effect/Array";
import type { Outcome, OutcomeLog } from "../../report/parts.js";

/** Parts per million. */
const million = 1_000_000n;

/** True if two amounts differ by no more than the share `tolerance` of `scale`, by default the larger of them. */
export const within = (
  a: bigint,
  b: bigint,
  tolerance: number,
  scale: bigint = a < 0n === b < 0n ? BigInts.max(BigInts.abs(a), BigInts.abs(b)) : 0n,
): boolean => a === b || BigInts.abs(a - b) * million <= scale * BigInt(Math.round(tolerance * 1_000_000));

/** One outcome, as far as it is compared. */
export type Result = Pick<Outcome, "status" | "returnData"> & {
  readonly logs: ReadonlyArray<Pick<OutcomeLog, "address" | "topics" | "data">>;
};

type Log = Result["logs"][number];

/** True if two texts are the same bytes, however a node writes them. */
const isSameHex = (a: string | null | undefined, b: string | null | undefined): boolean =>
  a === b || (typeof a === "string" && a.toLowerCase() === b?.toLowerCase());

/** The same contract and indexed values, whatever the data. */
export const isSameHead = (a: Log, b: Log): boolean =>
  isSameHex(a.address, b.address) &&
  a.topics.length === b.topics.length &&
  a.topics.every((topic, index) => isSameHex(topic, b.topics[index]));

export const isSameLog = (a: Log, b: Log): boolean => isSameHead(a, b) && isSameHex(a.data, b.data);

/** The same event by the same contract, whatever its values. */
const isSameEvent = (a: Log, b: Log): boolean =>
  isSameHex(a.address, b.address) &&
  isSameHex(a.topics[0], b.topics[0]) &&
  a.topics.length === b.topics.length &&
  a.data.length === b.data.length;

/** True if both emitted as many events, and each passes beside the one in its place. */
export const everyLog = (a: Pick<Result, "logs">, b: Pick<Result, "logs">, test: (log: Log, other: Log) => boolean) =>
  a.logs.length === b.logs.length && Arr.zip(a.logs, b.logs).every(([log, other]) => test(log, other));

const every = (a: ReadonlyArray<Result>, b: ReadonlyArray<Result>, test: (result: Result, other: Result) => boolean) =>
  a.length === b.length &&
  Arr.zip(a, b).every(([result, other]) => result.status === other.status && test(result, other));

/** Equal in status, return data and logs, case by case. */
export const isSame = (a: ReadonlyArray<Result>, b: ReadonlyArray<Result>): boolean =>
  every(a, b, (result, other) => isSameHex(result.returnData, other.returnData) && everyLog(result, other, isSameLog));

/** Equal but for values: the same statuses and sizes, and the same events by the same contracts in the same order. */
export const hasSameShape = (a: ReadonlyArray<Result>, b: ReadonlyArray<Result>): boolean =>
  every(a, b, (one, its) => one.returnData?.length === its.returnData?.length && everyLog(one, its, isSameEvent));
