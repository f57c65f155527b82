/**
 * The one reader of batches: the calls that calldata holds, those within batches included. Read by their pointers,
 * without building what they point at, for many may point at the same bytes. Pure and total.
 */
import type { PlainCall, FoundCall, HeldCall } from "./batchForms.js";
import { forms, lenientForms, planWithin } from "./known/batches.js";
import { argumentsAt, wordDigits } from "./words.js";

export type { PlainCall, HeldCall };

/** The calls that were read of a call. */
export interface Calls {
  /** The call, and every call of its batches behind it. */
  readonly read: ReadonlyArray<PlainCall>;
  /** Calls of code that accounts run in their own place (DELEGATECALL), also of calls that are not among `read`. */
  readonly delegates: ReadonlyArray<PlainCall>;
  /** Calls whose function makes a call in some contracts, and a DELEGATECALL in others; also of calls that are not among `read`. */
  readonly either: ReadonlyArray<PlainCall>;
  /** Batches hold more calls than `read` does. */
  readonly isCut: boolean;
  /** Batches hold calls that nobody looked at: too deep, too many, or not written as an encoder would. */
  readonly isUnread: boolean;
}

/** The source that calls are read of: calldata, or the input of a command. */
export type Whole = PlainCall & Partial<Pick<HeldCall, "command">>;

const selectorOf = (data: string): string => data.slice(0, argumentsAt).toLowerCase();

/** True if calldata is for a function that makes calls out of its arguments. */
export const isBatch = (data: string): boolean => forms[selectorOf(data)] !== undefined;

/** True if such a function may pass over failures of its calls. */
export const isLenient = (data: string): boolean => lenientForms[selectorOf(data)] !== undefined;

/** The calls right within a call, one at a time: whoever has enough stops. */
export function* callsWithin(call: Whole): Generator<FoundCall> {
  // why: calls that an encoder wrote side by side are no longer than what they lie in; pointers to the same bytes are
  let room = call.data.length;
  for (const found of call.command == null
    ? (forms[call.data.slice(0, argumentsAt)]?.(call) ?? [])
    : planWithin(call, call.command)) {
    room -= found === null ? wordDigits : Math.max(wordDigits, found.data.length - 2);
    yield room < 0 ? null : found;
    if (room < 0) return;
  }
}

/** Batches within batches are read this deep: a Safe's batch in another's, in an operation of a bundler. */
const mostDepth = 8;
/** How many calls are kept, and looked at: more than the calldata of one transaction holds of a Safe's batch. */
const mostCalls = 256;
const mostLooks = 4_096;

/** The call that makes another, where others run that as a DELEGATECALL. */
const eitherOf = (inner: FoundCall, whole: Whole): ReadonlyArray<PlainCall> =>
  inner?.isEither === true ? [whole] : [];

/** The call and, where it is a batch, the calls within it; its data in lower case. */
export const callsIn = (call: PlainCall): Calls => {
  const read: Array<PlainCall> = [];
  const delegates: Array<PlainCall> = [];
  const either: Array<PlainCall> = [];
  let looks = 0;
  let [isCut, isUnread] = [false, false];
  const keep = ({ from, to, data, as, isMeans }: PlainCall, depth: number): void => {
    const copy = { from, to, data, ...(as && { as }), ...(isMeans && { isMeans }) };
    if (read.length < mostCalls) read.push(copy);
    else isCut = true;
    if (as !== undefined && depth > 0) delegates.push(copy);
  };
  const visit = (whole: Whole, depth: number): void => {
    looks++;
    if (whole.command?.isCall !== false) keep(whole, depth);
    for (const inner of callsWithin(whole)) {
      either.push(...eitherOf(inner, whole));
      if (inner !== null && depth < mostDepth && looks < mostLooks) visit(inner, depth + 1);
      else {
        isUnread = true;
        if (inner !== null) return;
      }
    }
  };
  visit(call, 0);
  return { read, delegates, either, isCut: isCut || isUnread, isUnread };
};
