/**
 * The calls that calldata holds, those within batches included: Multicall, Multicall3, Safe, MultiSend, ERC-7579,
 * ERC-4337. Read by their pointers, without building what they point at, for many may point at the same bytes.
 * Pure and total.
 */
import { callsWithin, type Call } from "./batchForms.js";

export type { Call };

/** What was read of a call. */
export interface Calls {
  /** The call, and every call of its batches behind it. */
  readonly read: ReadonlyArray<Call>;
  /** What accounts run in their own place (DELEGATECALL), also of calls that are not among `read`. */
  readonly delegates: ReadonlyArray<Call>;
  /** Batches hold more calls than `read` does. */
  readonly isCut: boolean;
  /** Batches hold calls that nobody looked at: too deep, too many, or not written as an encoder would. */
  readonly isUnread: boolean;
}

/** Batches within batches are read this deep: a Safe's batch in another's, in an operation of a bundler. */
const mostDepth = 8;
/** How many calls are kept, and looked at: more than the calldata of one transaction holds of a Safe's batch. */
const mostCalls = 256;
const mostLooks = 4_096;

/** The call and, where it is a batch, the calls within it; its data in lower case. */
export const callsIn = (call: Call): Calls => {
  const read: Array<Call> = [];
  const delegates: Array<Call> = [];
  let looks = 0;
  let isUnread = false;
  const visit = (one: Call, depth: number): void => {
    looks++;
    if (read.length < mostCalls) read.push(one);
    if (one.as !== undefined && depth > 0) delegates.push(one);
    // why: calls that an encoder wrote side by side are no longer than what they lie in; pointers to the same bytes are
    let room = one.data.length;
    for (const inner of callsWithin(one)) {
      if (inner === null) {
        isUnread = true;
        continue;
      }
      room -= inner.data.length - 2;
      if (room < 0 || depth === mostDepth || looks === mostLooks) {
        isUnread = true;
        return;
      }
      visit(inner, depth + 1);
    }
  };
  visit(call, 0);
  return { read, delegates, isCut: looks > read.length || isUnread, isUnread };
};
