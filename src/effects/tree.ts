/** The calls of a transaction as a report shows them: a bounded tree, out of whatever a tracer says. Loaded where there is a trace. Pure. */
import type { AbiIndex } from "../abi/abiIndex.js";
import { functionsOf } from "../abi/decodeCall.js";
import { describeRevert } from "../abi/print.js";
import { decodeRevert } from "../abi/table.js";
import { argumentsAt } from "../abi/words.js";
import { escapeText } from "../primitives/text.js";
import type { CallFrame } from "../report/beside.js";
import { culpritIn, frameOf, type Frame } from "./frames.js";

/** Calls that are shown, calls within calls, and characters of a node's word. */
const most = { frames: 256, depth: 32, word: 120 } as const;

const kindOf = ({ isCreation, isBorrowed, isStatic }: Frame): CallFrame["kind"] =>
  isCreation ? "creation" : isBorrowed ? "delegate" : isStatic ? "static" : "call";

/** The function of a call by its signature, or by its selector where nothing names it; null for none. */
const functionIn = ({ data, to, isCreation }: Frame, abis: AbiIndex): string | null => {
  if (isCreation || data.length < argumentsAt) return null;
  return escapeText(functionsOf(data, abis, { address: to })[0]?.signature ?? data.slice(0, argumentsAt));
};

/** Why a call failed, in words. */
const reasonOf = ({ answer, error, to }: Frame, abis: AbiIndex): string =>
  answer === "0x"
    ? escapeText(error, most.word)
    : describeRevert(decodeRevert(answer, abis, { address: to }), { sources: true });

/** The tree of a trace; null for what is none. */
export const treeOf = (trace: unknown, abis: AbiIndex): CallFrame | null => {
  let left: number = most.frames;
  const build = (frame: Frame, depth: number, isOnPath: boolean): CallFrame => {
    left -= 1;
    const culprit = isOnPath ? culpritIn(frame) : -1;
    const shown = new Map<number, CallFrame>();
    // why: the way to the failure comes before all else
    for (const place of depth < most.depth ? [culprit, ...frame.calls.keys()] : []) {
      if (left <= 0) break;
      const within = shown.has(place) ? null : frameOf(frame.calls[place]);
      if (within !== null) shown.set(place, build(within, depth + 1, place === culprit));
    }
    const { from, to: contract, value, gasUsed, hasFailed } = frame;
    const calls = [...shown].sort(([a], [b]) => a - b).map(([, call]) => call);
    return {
      ...{ kind: kindOf(frame), from, contract, function: functionIn(frame, abis), value, gasUsed },
      ...{ reason: hasFailed ? reasonOf(frame, abis) : null, isCause: isOnPath && culprit < 0 },
      ...{ calls, more: frame.calls.length - calls.length },
    };
  };
  const top = frameOf(trace);
  return top === null ? null : build(top, 0, top.hasFailed);
};
