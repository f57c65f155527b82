/** Which calls inside a transaction that succeeds failed, as the node's tracer tells it, where neither events nor answers do. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import type { AbiIndex } from "../../abi/abiIndex.js";
import { decodeRevert } from "../../abi/table.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { InnerCalls, InnerFailure } from "../../report/beside.js";
import type { Observed } from "../../report/schema.js";
import type { Rpc } from "../../rpc/index.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";
import { cut, failureOf, innerOf, type Inner } from "../../steps/reading/innerFailures.js";
import { bareCall } from "../../transaction/request.js";
import { frameOf, traceOf, type Frame } from "./trace.js";

/** Frames of a trace that are read. */
const mostFrames = 4_096;

/** Every call inside that was not undone by one around it, in order; null where the trace is of another outcome. */
const framesOf = (trace: unknown, returnData: Hex | null): ReadonlyArray<Frame> | null => {
  const top = frameOf(trace);
  if (top === null || top.error || top.output.toLowerCase() !== (returnData ?? "0x").toLowerCase()) return null;
  const found: Array<Frame> = [];
  const visit = ({ calls }: Frame): void => {
    for (const value of calls) {
      const frame = frameOf(value);
      if (frame === null || found.length >= mostFrames) continue;
      // why: every call is held against every frame
      found.push({
        ...frame,
        from: frame.from.toLowerCase() as Address,
        to: (frame.to?.toLowerCase() ?? null) as Address | null,
        input: frame.input.toLowerCase() as Hex,
      });
      if (!frame.error) visit(frame);
    }
  };
  visit(top);
  return found;
};

const isSame = (a: string | null, b: string | null): boolean => a?.toLowerCase() === b?.toLowerCase();

/** Universal Router's BALANCE_CHECK_ERC20: it fails without a call. */
const isSilent = ({ call }: Inner): boolean => call.command?.type === 0x0e;

/** The frame of an inner call: a call as its calldata has it, a command as the call that it makes. */
const isFrameOf = (one: Inner, { from, to, input }: Frame): boolean =>
  from === one.by &&
  (one.call.to === null ? input.endsWith(one.call.data.slice(2)) : to === one.to && input === one.call.data);

/** What is known of the calls inside, with what a trace adds. */
export const tracedInner = (
  innerCalls: InnerCalls,
  calls: ReadonlyArray<Inner>,
  trace: unknown,
  returnData: Hex | null,
  abis: AbiIndex,
): InnerCalls => {
  const frames = framesOf(trace, returnData);
  if (frames === null) return innerCalls;
  const spent = new Set<Frame>();
  const take = (fits: (frame: Frame) => boolean): Frame | undefined => {
    const fitting = frames.filter((each) => !spent.has(each) && fits(each));
    // why: who is called may call in the caller's place, and succeed, before the call that fails
    const frame = fitting.find(({ error }) => error) ?? fitting[0];
    if (frame !== undefined) spent.add(frame);
    return frame;
  };
  const explained = innerCalls.failed.map((failure): InnerFailure => {
    const { revert, by, to, data } = failure;
    if (data === null) return failure;
    const frame = take(
      (each) => each.error && isSame(each.from, by) && isSame(each.to, to) && isSame(each.input, data),
    );
    return revert !== null || frame === undefined
      ? failure
      : { ...failure, revert: decodeRevert(frame.output, abis, { address: to }) };
  });
  const isKnown = (one: Inner) =>
    innerCalls.failed.some(({ by, index, data }) => by === one.by && index === one.index && data === one.call.data);
  const added: Array<InnerFailure> = [];
  // why: nobody could read the calls, so that no frame tells of them
  let unseen = calls.length === 0 ? innerCalls.unseen : 0;
  for (const one of calls) {
    if (!one.call.mayFail || isKnown(one)) continue;
    const frame = take((each) => isFrameOf(one, each));
    const isCommand = one.call.to === null;
    if (frame === undefined && (!isCommand || isSilent(one))) unseen += 1;
    if (frame?.error === true) added.push(failureOf(one.by, one, { data: frame.output, evidence: "estimated" }, abis));
  }
  // why: a router passes a failure on unless the command may fail
  const routers = new Set(calls.flatMap(({ call, by }) => (call.to === null && call.mayFail ? [by] : [])));
  const further = frames
    .filter((frame) => frame.error && !spent.has(frame) && [...routers].some((router) => isSame(router, frame.from)))
    .map((frame) => () => ({
      ...failureOf(frame.from, null, { data: frame.output, evidence: "estimated" }, abis),
      ...{ to: frame.to, data: frame.input },
    }));
  return {
    failed: cut([...[...explained, ...added].map((failure) => () => failure), ...further]),
    // why: what is within a call that failed has no result of its own
    unseen: Math.min(innerCalls.unseen, unseen),
  };
};

/** The bundle, its first case with what a trace tells of the calls inside. JSON-RPC: `debug_traceCall` with `callTracer`. */
export const withTracedInner = Effect.fnUntraced(function* (
  bundle: Bundle<Filled>,
  blockTag: Observed["blockTag"],
  abis: AbiIndex,
): Effect.fn.Return<Bundle<Filled>, never, Rpc> {
  const [{ input, gas, outcome }] = bundle;
  const { inner, returnData } = outcome;
  if (inner === undefined || input.to === null) return bundle;
  // why: no node traces on top of a block that is not there yet; another outcome there is noticed
  const block = blockTag === "pending" ? "latest" : blockTag;
  const trace = yield* traceOf({ ...bareCall(input, gas.value), block }, "hiddenCall");
  const traced = tracedInner(inner, innerOf(input.data, input.to, abis), trace, returnData, abis);
  return Arr.map(bundle, (one) => (one.index === 0 ? { ...one, outcome: { ...one.outcome, inner: traced } } : one));
});
