/** A transaction's calls as a tracer tells them: those that nothing around them has undone, as rows, and the way to a failure. Pure. */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import { memoize } from "effect/Function";
import { isAddress, isBytes, isQuantity, lower, type Address, type Hex } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import type { Outcome } from "../report/parts.js";

/** One call of a trace. */
export interface Frame {
  readonly from: Address;
  /** The account whose code runs; null = a contract that could not be made. */
  readonly to: Address | null;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  readonly answer: Hex;
  readonly hasFailed: boolean;
  /** The node's word for its failure; empty where it succeeded. */
  readonly error: string;
  /** Gas that it got; null = not told. */
  readonly gas: bigint | null;
  /** Gas that it used, with all calls inside; null = not told. */
  readonly gasUsed: bigint | null;
  /** True if it makes a contract. */
  readonly isCreation: boolean;
  /** True if the code of `to` runs in the place of `from`. */
  readonly isBorrowed: boolean;
  /** True if it may change nothing (STATICCALL). */
  readonly isStatic: boolean;
  /** True if nothing ran: no gas was used, nothing was called and nothing was answered. */
  readonly isIdle: boolean;
  /** The calls inside, as they came. */
  readonly calls: ReadonlyArray<unknown>;
}

/** Frames that are read of one trace, and how deep: the EVM goes no deeper. */
const most = { frames: 4_096, depth: 1_024 } as const;

/** Calls that run another's code in the caller's place. */
const borrowing: ReadonlySet<unknown> = new Set(["DELEGATECALL", "CALLCODE"]);

const quantityOf = (value: unknown): bigint | null => (isQuantity(value) ? BigInt(value) : null);

/** Reads one call of a trace; null for what is none. */
export const frameOf = (value: unknown): Frame | null => {
  if (!isRecord(value)) return null;
  const { type, from, to, input = "0x", output = "0x", error, gas, gasUsed, value: wei, calls = [] } = value;
  if (!isAddress(from) || !isBytes(input) || !isBytes(output) || !Array.isArray(calls)) return null;
  const hasFailed = typeof error === "string";
  const isBorrowed = borrowing.has(type);
  return {
    ...{ from: lower(from), to: isAddress(to) ? lower(to) : null, hasFailed, isBorrowed, calls },
    ...{ error: hasFailed ? error : "", isCreation: type === "CREATE" || type === "CREATE2" },
    ...{ isStatic: type === "STATICCALL", gas: quantityOf(gas), gasUsed: quantityOf(gasUsed) },
    ...{ data: input.toLowerCase() as Hex, answer: output.toLowerCase() as Hex },
    // why: borrowed code is told with the value of the call that it is within
    value: isBorrowed ? 0n : (quantityOf(wei) ?? 0n),
    isIdle: !hasFailed && gasUsed === "0x0" && output === "0x" && calls.length === 0,
  };
};

const readFrames = memoize((trace: object): ReadonlyArray<Frame> => {
  const frames: Array<Frame> = [];
  const visit = (calls: ReadonlyArray<unknown>, depth: number): void => {
    for (const value of calls) {
      const frame = frameOf(value);
      if (frame === null || frames.length >= most.frames) continue;
      frames.push(frame);
      // why: what fails takes back all that it called
      if (!frame.hasFailed && depth < most.depth) visit(frame.calls, depth + 1);
    }
  };
  const top = frameOf(trace);
  if (top?.hasFailed === false) visit(top.calls, 0);
  return frames;
});

/** The calls inside, in their order; none where the call failed. A trace is read once, whoever asks for them. */
export const framesOf = (trace: unknown): ReadonlyArray<Frame> => (isRecord(trace) ? readFrames(trace) : []);

/** True if a trace tells of an outcome: that it failed or did not, and what it returned and used, where that is given. */
export const isTraceOf = (trace: unknown, { status, returnData, gasUsed }: Partial<Outcome>): boolean => {
  const top = frameOf(trace);
  if (top === null || (gasUsed !== undefined && top.gasUsed !== gasUsed)) return false;
  const isAnswer = returnData === undefined || top.answer === (returnData ?? "0x").toLowerCase();
  return isAnswer && top.hasFailed === (status !== "success");
};

/** The place of the call that made one fail: the last in it, or the one whose words it repeats; −1 where it failed by itself. */
export const culpritIn = ({ calls, answer }: Frame): number => {
  const frames = calls.map(frameOf);
  if (frames.at(-1)?.hasFailed === true) return frames.length - 1;
  // why: a caller may look at something else between a failure and the telling of it
  return frames.findLastIndex((call) => call?.hasFailed === true && answer !== "0x" && call.answer === answer);
};

/** The calls that failed one for the other, from the transaction's own to the innermost; none where it succeeded. */
export const failedIn = (trace: unknown): ReadonlyArray<Frame> => {
  const path: Array<Frame> = [];
  for (let frame = frameOf(trace); frame?.hasFailed === true && path.length <= most.depth;) {
    path.push(frame);
    frame = frameOf(frame.calls[culpritIn(frame)]);
  }
  return path;
};

/** Gas that is left at the end of a call; none where it is not told. */
const leftIn = ({ gas, gasUsed }: Frame): bigint => (gas ?? 0n) - (gasUsed ?? 0n);

/** The least gas that is left at the end of a call behind a failure inside it; `rest` = at the end of the transaction. */
export const leastLeft = (trace: unknown, rest: bigint): bigint =>
  framesOf(trace)
    .filter(({ hasFailed, calls }) => !hasFailed && calls.some((call) => frameOf(call)?.hasFailed === true))
    .map(leftIn)
    .reduce(BigInts.min, rest);

/** A call and its result. why: what is inside one that fails has no effect */
const callOf = ({ from, to, data, value, answer, hasFailed, isCreation, isBorrowed }: Frame): string =>
  String([from, to, data, value, answer, hasFailed, isCreation, isBorrowed]);

/**
 * True if a transaction makes the same calls with less gas, with the same results, and those inside that succeed have `spare` gas
 * left, or got as much as with the larger limit.
 */
export const isSameWork = (larger: unknown, smaller: unknown, spare: bigint): boolean => {
  const [frames, others] = [framesOf(larger), framesOf(smaller)];
  const hasRoom = (a: Frame, b: Frame): boolean => b.hasFailed || leftIn(b) >= spare || a.gas === b.gas;
  const isSame = Arr.zip(frames, others).every(([a, b]) => callOf(a) === callOf(b) && hasRoom(a, b));
  // why: no more are read
  return isSame && frames.length === others.length && frames.length < most.frames;
};
