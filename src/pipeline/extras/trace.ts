/**
 * Which calls inside a transaction failed, as the node's tracer tells it. Of one that reverts, said after the verdict,
 * which rests on none of it; of one that succeeds, where neither events nor answers do. One request, asked only then, and
 * not again of a node that has no answer.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../../abi/abiIndex.js";
import { describeRawCall } from "../../abi/calls.js";
import { decodeRevert } from "../../abi/table.js";
import { describeRevert } from "../../abi/print.js";
import { callsOf } from "../../eth/call.js";
import * as Questions from "../../eth/questions.js";
import { asked, one, sent } from "../../eth/round.js";
import { isAddress, isBytes, type Address, type Hex } from "../../primitives/hex.js";
import type { AskRule } from "../../primitives/names.js";
import { isRecord } from "../../primitives/record.js";
import { address, count, text, hash } from "../../primitives/statement.js";
import { abisOf } from "../../report/options.js";
import { inOrder, code, type Finding } from "../../report/finding.js";
import type { InnerCalls, InnerFailure } from "../../report/beside.js";
import type { Report } from "../../report/schema.js";
import { Rpc } from "../../rpc/index.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";
import { cut, failureOf, innerOf, type Inner } from "../../steps/reading/innerFailures.js";
import { bareCall } from "../../transaction/request.js";
import { inRound, ledgerSoFar, within } from "../rounds.js";
import { learnUntraced, method } from "./stateTraces.js";
import { Account, Bytes, decoder, list, orNull, Quantity, struct, Word } from "../../eth/shape.js";
import { judged } from "../report.js";

/** Ms that a trace may take of what the deadline leaves, and calls within calls that are followed. */
const most = { ms: 3_000, depth: 1_024 } as const;

/** One call of a trace, as far as it says what we ask. */
interface Frame {
  readonly from: Address;
  /** null = a deployment without an address. */
  readonly to: Address | null;
  readonly input: Hex;
  readonly output: Hex;
  readonly error: boolean;
  readonly calls: ReadonlyArray<unknown>;
}

const frameOf = (value: unknown): Frame | null => {
  if (!isRecord(value)) return null;
  const { from, to, input = "0x", output = "0x", error, calls = [] } = value;
  if (!isAddress(from) || !isBytes(input) || !isBytes(output) || !Array.isArray(calls)) return null;
  return { from, to: isAddress(to) ? to : null, input, output, error: typeof error === "string", calls };
};

/** A call that failed inside another, with what it returned; at depth 1 the transaction's own call made it. */
type Inside = Pick<Frame, "from" | "to" | "input" | "output"> & { readonly depth: number };

/** The call in a frame that made it fail: the last it made, or the one whose words it repeats; null where it failed by itself. */
const culpritIn = ({ calls, output }: Frame): Frame | null => {
  const last = frameOf(calls.at(-1));
  if (last?.error === true) return last;
  // why: a caller may look at something else between a failure and the telling of it
  const repeated =
    output === "0x" ? undefined : calls.map(frameOf).findLast((call) => call?.error && call.output === output);
  return repeated ?? null;
};

/**
 * The innermost call that failed on the way to a revert with `data`; null where the transaction's own call failed by
 * itself, and for an answer that tells of another outcome, or nothing that can be read.
 */
export const innermost = (trace: unknown, data: Hex): Inside | null => {
  let frame = frameOf(trace);
  if (frame === null || !frame.error || frame.output.toLowerCase() !== data.toLowerCase()) return null;
  let found: Inside | null = null;
  for (let depth = 1; depth <= most.depth; depth++) {
    const next: Frame | null = culpritIn(frame);
    if (next === null) return found;
    found = { depth, from: next.from, to: next.to, input: next.input, output: next.output };
    frame = next;
  }
  return found;
};

/**
 * It explains a revert.
 * @figures count("calls deep", 3), address("from", pool), address("to", usdc), text("reason", "transfer amount exceeds
 *   balance")
 */
export const RevertedInside = code("simulate", ["info"], "RevertedInside", [
  "the node's trace shows which call inside failed; the verdict does not depend on it",
]);

const revertedInside = (report: Report, { depth, from, to, input, output }: Inside): Finding => {
  const abis = abisOf(report.options);
  return RevertedInside.info(
    { transaction: 0, evidence: "estimated" },
    count("calls deep", depth),
    address("from", from),
    address("to", to),
    text("call", describeRawCall(input, abis, { address: to })),
    text("reason", describeRevert(decodeRevert(output, abis, { address: to }), { sources: true })),
  );
};

/**
 * Returns what to trace; null where the first transaction does not revert. Later ones stand on what earlier ones leave,
 * which a call that is traced by itself does not have: it may fail in another place there.
 */
const subjectOf = ({ verdict, options, observed, transactions: [first] }: Report) => {
  if (first === undefined) return null;
  const { outcome, input } = first;
  const isOurs = options.stateOverrides === null && options.blockOverrides === null;
  if (!options.traceReverts || verdict !== "blocked" || outcome.status !== "reverted" || !isOurs) return null;
  // why: no node traces on top of a block that is not there yet; another outcome there is noticed
  const block = observed.blockTag === "pending" ? "latest" : observed.blockTag;
  return { data: outcome.returnData ?? "0x", call: { ...bareCall(input, first.gas.limit), block } };
};

/** The node's trace of a call; null where it has no answer, and is not asked again. JSON-RPC: `debug_traceCall` with `callTracer`. */
const traceOf = Effect.fnUntraced(function* (call: Parameters<typeof callsOf>[0], because: AskRule) {
  const { memory } = yield* Rpc;
  if (memory.refused(method) !== null) return null;
  const ask = asked({ step: "simulate" }, one(callsOf(call, most.ms)));
  const answer = yield* within(most.ms, inRound(because, sent(ask)));
  if (Result.isSuccess(answer)) return answer.success;
  // why: a node that takes too long or says too much does so the next time, too
  learnUntraced(memory, method);
  return null;
});

/**
 * The report, with `RevertedInside` where its first transaction reverts in a call within. Verdict, requests and digest
 * stay. JSON-RPC: `debug_traceCall` with `callTracer`.
 */
export const withTrace = Effect.fnUntraced(function* <R extends Report>(report: R): Effect.fn.Return<R, never, Rpc> {
  const { memory } = yield* Rpc;
  const subject = subjectOf(report);
  if (subject === null || memory.refused(method) !== null) return report;
  const inside = innermost(yield* traceOf(subject.call, "revertTrace"), subject.data);
  const findings = inside === null ? report.findings : inOrder([...report.findings, revertedInside(report, inside)]);
  return { ...report, findings, ledger: yield* ledgerSoFar };
});

const isSame = (a: string | null, b: string | null): boolean => a?.toLowerCase() === b?.toLowerCase();

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

/** Universal Router's BALANCE_CHECK_ERC20: it fails without a call. */
const isSilent = ({ call }: Inner): boolean => call.command?.type === 0x0e;

/** The frame of an inner call: a call as its calldata has it, a command as the call that it makes. */
const isFrameOf = (inner: Inner, { from, to, input }: Frame): boolean =>
  from === inner.by &&
  (inner.call.to === null ? input.endsWith(inner.call.data.slice(2)) : to === inner.to && input === inner.call.data);

/** Returns what is known of the calls inside, with what a trace adds. */
export const tracedInner = (
  innerCalls: typeof InnerCalls.Type,
  calls: ReadonlyArray<Inner>,
  trace: unknown,
  returnData: Hex | null,
  abis: AbiIndex,
): typeof InnerCalls.Type => {
  const frames = framesOf(trace, returnData);
  if (frames === null) return innerCalls;
  const used = new Set<Frame>();
  const take = (fits: (frame: Frame) => boolean): Frame | undefined => {
    const fitting = frames.filter((each) => !used.has(each) && fits(each));
    // why: who is called may call in the caller's place, and succeed, before the call that fails
    const frame = fitting.find(({ error }) => error) ?? fitting[0];
    if (frame !== undefined) used.add(frame);
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
  const isKnown = (inner: Inner) =>
    innerCalls.failed.some(
      ({ by, index, data }) => by === inner.by && index === inner.index && data === inner.call.data,
    );
  const added: Array<InnerFailure> = [];
  // why: nobody could read the calls, so that no frame tells of them
  let unseen = calls.length === 0 ? innerCalls.unseen : 0;
  for (const inner of calls) {
    if (!inner.call.mayFail || isKnown(inner)) continue;
    const frame = take((each) => isFrameOf(inner, each));
    const isCommand = inner.call.to === null;
    if (frame === undefined && (!isCommand || isSilent(inner))) unseen += 1;
    if (frame?.error === true)
      added.push(failureOf(inner.by, inner, { data: frame.output, evidence: "estimated" }, abis));
  }
  // why: a router passes a failure on unless the command may fail
  const routers = new Set(calls.flatMap(({ call, by }) => (call.to === null && call.mayFail ? [by] : [])));
  const further = frames
    .filter((frame) => frame.error && !used.has(frame) && [...routers].some((router) => isSame(router, frame.from)))
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
  { observed: { blockTag }, options }: Pick<Report, "observed" | "options">,
): Effect.fn.Return<Bundle<Filled>, never, Rpc> {
  const [{ input, gas, outcome }] = bundle;
  const { inner, returnData } = outcome;
  if (inner === undefined || input.to === null) return bundle;
  // why: no node traces on top of a block that is not there yet; another outcome there is noticed
  const block = blockTag === "pending" ? "latest" : blockTag;
  const trace = yield* traceOf({ ...bareCall(input, gas.value), block }, "hiddenCall");
  const abis = abisOf(options);
  const traced = tracedInner(inner, innerOf(input.data, input.to, abis), trace, returnData, abis);
  return Arr.map(bundle, (entry) =>
    entry.index === 0 ? { ...entry, outcome: { ...entry.outcome, inner: traced } } : entry,
  );
});

const PendingCalls = struct({
  transactions: list(struct({ hash: Word, from: Account, to: orNull(Account), input: Bytes, value: Quantity })),
});

const read = decoder("eth_getBlockByNumber", PendingCalls);

/**
 * This one reverts, and the other is in the node's pending block: it was probably sent twice.
 * @figures hash("in flight", sent)
 */
export const AlreadySent = code("simulate", ["warning"], "AlreadySent", [
  "the same call is already in flight",
  "wait until that transaction is mined",
]);

/** Reports transactions whose sender, target, calldata and value are those of one in flight. */
const alreadySent = ({ transactions }: Report, transactionsInFlight: typeof PendingCalls.Type.transactions) =>
  transactions.flatMap(({ input }, transaction) => {
    const same = transactionsInFlight.filter(
      ({ from, to, input: data, value }) =>
        isSame(from, input.from) && isSame(to, input.to) && isSame(data, input.data) && value === input.value,
    );
    const hashes = same.map((one) => hash("in flight", one.hash));
    return same.length === 0 ? [] : [AlreadySent.warning({ transaction, evidence: "measured" }, ...hashes)];
  });

/**
 * The report of a call that fails while others of its sender are in flight, with `AlreadySent` where it is in the node's
 * pending block already. A node without one adds nothing. JSON-RPC: `eth_getBlockByNumber` on `pending` with its
 * transactions.
 */
export const withSent = Effect.fnUntraced(function* <R extends Report>(report: R): Effect.fn.Return<R, never, Rpc> {
  const answer = yield* inRound("alreadySent", sent(asked({ step: "simulate" }, one(Questions.pending))));
  const { transactions } = Result.getOrElse(Result.flatMap(answer, read), () => ({ transactions: [] }));
  const findings = alreadySent(report, transactions);
  return judged({ ...report, ledger: yield* ledgerSoFar }, [...report.findings, ...findings]);
});
