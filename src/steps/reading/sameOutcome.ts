/**
 * Whether runs of the same cases did the same at different gas limits. Pure.
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
export const hasSameShape = (a: ReadonlyArray<Result>, b: ReadonlyArray<Result>): boolean =>
  every(a, b, (one, other) => one.returnData?.length === other.returnData?.length && everyLog(one, other, isSameEvent));
