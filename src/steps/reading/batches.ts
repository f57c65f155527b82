/**
 * The calls that calldata holds, those within batches included: Multicall, Multicall3, Safe, ERC-7579-like
 * execute. Read by their pointers, without building what they point at, for many may point at the same bytes.
 * Pure and total.
 */
import type { Address, Hex } from "../../primitives/hex.js";

/** One call, from outside or from within a batch. */
export interface Call {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
}

/** What was read of a call. */
export interface Calls {
  /** The call, and every call of its batches behind it. */
  readonly read: ReadonlyArray<Call>;
  /** Batches hold more calls than were read, or lie deeper. */
  readonly isCut: boolean;
}

/** Batches within batches are read this deep, and this many calls in all. */
const mostDepth = 3;
const mostCalls = 256;

/** Where a batch keeps its calls, in words. */
interface Layout {
  /** Which argument points to the list; null where the arguments themselves are one call. */
  readonly list: number | null;
  /** Where a call, target first, points to its data; null where it is data alone, and keeps target and sender. */
  readonly data: number | null;
}

const layouts: Readonly<Record<string, Layout>> = {
  // multicall(bytes[]), multicall(uint256,bytes[]), multicall(bytes32,bytes[])
  "0xac9650d8": { list: 0, data: null },
  "0x5ae401dc": { list: 1, data: null },
  "0x1f0464d1": { list: 1, data: null },
  // Multicall3 aggregate3((address,bool,bytes)[]), aggregate3Value((address,bool,uint256,bytes)[])
  "0x82ad56cb": { list: 0, data: 2 },
  "0x174dea71": { list: 0, data: 3 },
  // Multicall aggregate((address,bytes)[])
  "0x252dba42": { list: 0, data: 1 },
  // execute((address,uint256,bytes)[]), executeBatch of the same
  "0x3f707e6b": { list: 0, data: 2 },
  "0x34fcd5be": { list: 0, data: 2 },
  // execute(address,uint256,bytes); Safe execTransaction
  "0xb61d27f6": { list: null, data: 2 },
  "0x6a761202": { list: null, data: 2 },
};

const wordDigits = 64;
/** Digits of `0x` and the selector: the arguments begin behind them. */
const selectorDigits = 10;

/** The word at a digit as a count; null where it is outside, or more than there is of anything. */
const countAt = (data: Hex, at: number): number | null => {
  const word = data.slice(at, at + wordDigits);
  return word.length === wordDigits && word.startsWith("0".repeat(54)) ? Number.parseInt(word.slice(54), 16) : null;
};

/** The digit that the word at `at` points to, counted from `base`. */
const pointedAt = (data: Hex, at: number, base: number): number | null => {
  const offset = countAt(data, at);
  return offset === null ? null : base + offset * 2;
};

/** The `bytes` at a digit; null where they do not lie within the data. */
const bytesAt = (data: Hex, at: number | null): Hex | null => {
  const size = at === null ? null : countAt(data, at);
  if (at === null || size === null) return null;
  const end = at + wordDigits + size * 2;
  return end > data.length ? null : `0x${data.slice(at + wordDigits, end)}`;
};

/** The call whose target is the word at `at`. */
const targetedCall = ({ to, data }: Call, at: number | null, pointer: number): Call | null => {
  if (at === null) return null;
  const inner = bytesAt(data, pointedAt(data, at + pointer * wordDigits, at));
  const target = data.slice(at + wordDigits - 40, at + wordDigits);
  return inner === null ? null : { from: to, to: `0x${target}` as Address, data: inner };
};

/** The calls right within a batch, one at a time: whoever has enough stops. */
function* innerCalls(call: Call): Generator<Call> {
  const { data } = call;
  const layout = layouts[data.slice(0, selectorDigits)];
  if (layout === undefined) return;
  if (layout.list === null) {
    const only = targetedCall(call, selectorDigits, layout.data ?? 0);
    if (only !== null) yield only;
    return;
  }
  const list = pointedAt(data, selectorDigits + layout.list * wordDigits, selectorDigits);
  const length = list === null ? null : countAt(data, list);
  if (list === null || length === null) return;
  const start = list + wordDigits;
  for (let head = start; head < start + length * wordDigits && head < data.length; head += wordDigits) {
    const at = pointedAt(data, head, start);
    const bytes = layout.data === null ? bytesAt(data, at) : null;
    const inner = layout.data !== null ? targetedCall(call, at, layout.data) : bytes && { ...call, data: bytes };
    if (inner !== null) yield inner;
  }
}

/** The call and, where it is a batch, the calls within it; its data in lower case. */
export const callsIn = (call: Call): Calls => {
  const read: Array<Call> = [];
  let isCut = false;
  const visit = (one: Call, depth: number): void => {
    read.push(one);
    // why: calls that an encoder wrote side by side are no longer than what they lie in; pointers to the same bytes are
    let room = one.data.length;
    for (const inner of innerCalls(one)) {
      room -= inner.data.length - 2;
      if (room < 0 || depth === mostDepth || read.length === mostCalls) {
        isCut = true;
        return;
      }
      visit(inner, depth + 1);
    }
  };
  visit(call, 0);
  return { read, isCut };
};
