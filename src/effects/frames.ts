/** The calls that a tracer saw inside a transaction that succeeded, as rows: those that nothing around them has undone. Pure. */
import { isAddress, isBytes, isHex, lower, type Address, type Hex } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";

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
  /** True if it makes a contract. */
  readonly isCreation: boolean;
  /** True if the code of `to` runs in the place of `from`. */
  readonly isBorrowed: boolean;
  /** True if nothing ran: no gas was used, nothing was called and nothing was answered. */
  readonly isIdle: boolean;
}

/** Frames that are read of one trace, and how deep: the EVM goes no deeper. */
const most = { frames: 4_096, depth: 1_024 } as const;

/** Calls that run another's code in the caller's place. */
const borrowing: ReadonlySet<unknown> = new Set(["DELEGATECALL", "CALLCODE"]);

const frameOf = (value: unknown): (Frame & { readonly calls: ReadonlyArray<unknown> }) | null => {
  if (!isRecord(value)) return null;
  const { type, from, to, input, output = "0x", error, gasUsed, value: wei = "0x0", calls = [] } = value;
  if (!isAddress(from) || !isBytes(input) || !isBytes(output) || !Array.isArray(calls)) return null;
  const hasFailed = typeof error === "string";
  const isBorrowed = borrowing.has(type);
  return {
    ...{ from: lower(from), to: isAddress(to) ? lower(to) : null, hasFailed, isBorrowed, calls },
    isCreation: type === "CREATE" || type === "CREATE2",
    ...{ data: input.toLowerCase() as Hex, answer: output.toLowerCase() as Hex },
    // why: borrowed code is told with the value of the call that it is within
    value: !isBorrowed && isHex(wei) && wei.length > 2 && wei.length <= 66 ? BigInt(wei) : 0n,
    isIdle: !hasFailed && gasUsed === "0x0" && output === "0x" && calls.length === 0,
  };
};

/** A trace of a call that succeeded: what that returned, and the calls inside in their order. */
const traceOf = (trace: unknown) => {
  const top = frameOf(trace);
  if (top === null || top.hasFailed) return null;
  const frames: Array<Frame> = [];
  const visit = (calls: ReadonlyArray<unknown>, depth: number): void => {
    for (const value of calls) {
      const frame = frameOf(value);
      if (frame === null || frames.length >= most.frames) continue;
      const { calls: within, ...row } = frame;
      frames.push(row);
      // why: what fails takes back all that it called
      if (!row.hasFailed && depth < most.depth) visit(within, depth + 1);
    }
  };
  visit(top.calls, 0);
  return { answer: top.answer, frames };
};

/** The calls inside; none where the call failed. */
export const framesOf = (trace: unknown): ReadonlyArray<Frame> => traceOf(trace)?.frames ?? [];

/** The calls inside; none where the trace is of another outcome than the simulated one. */
export const framesIn = (trace: unknown, returnData: Hex | null): ReadonlyArray<Frame> => {
  const read = traceOf(trace);
  return read === null || read.answer !== (returnData ?? "0x").toLowerCase() ? [] : read.frames;
};
