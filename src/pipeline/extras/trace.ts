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
import { askedBy } from "../../effects/asked.js";
import { failedIn, framesOf, isTraceOf, type Frame } from "../../effects/frames.js";
import { treeOf } from "../../effects/tree.js";
import { ExecutionReverted, OutOfGas, VmHalt } from "../../errors/verdicts.js";
import { callOf, callsOf } from "../../eth/call.js";
import type { BlockParameter } from "../../eth/parameters.js";
import * as Questions from "../../eth/questions.js";
import { asked, one, sent } from "../../eth/round.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { AskRule } from "../../primitives/names.js";
import { address, count, text, hash } from "../../primitives/statement.js";
import { abisOf } from "../../report/options.js";
import { code, type Finding } from "../../report/finding.js";
import type { InnerCalls, InnerFailure } from "../../report/beside.js";
import type { Outcome } from "../../report/parts.js";
import type { Report } from "../../report/schema.js";
import { Rpc } from "../../rpc/index.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";
import type { CallTrace } from "../../steps/reading/answers.js";
import { successOf } from "../../steps/reading/askResult.js";
import { cut, failureOf, innerOf, withLost, type Inner } from "../../steps/reading/innerFailures.js";
import { shortfall, TokenShortfall } from "../../steps/reading/tokenShortfall.js";
import { bareCall } from "../../transaction/request.js";
import { inRound, ledgerSoFar, within } from "../rounds.js";
import { allowance } from "../../witness/queries.js";
import { learnUntraced, method, most } from "./stateTraces.js";
import { Account, Bytes, decoder, list, orNull, Quantity, struct, Word } from "../../eth/shape.js";
import { judged } from "../report.js";

/**
 * The innermost call that failed on the way to a revert with `data`, and how deep: at 1 the transaction's own call made it.
 * null where that failed by itself, and for an answer that tells of another outcome, or nothing that can be read.
 */
export const innermost = (trace: unknown, data: Hex): (Frame & { readonly depth: number }) | null => {
  const path = failedIn(trace);
  const [[top], last] = [path, path.at(-1)];
  const isOther = top?.answer !== data.toLowerCase();
  return last === undefined || last === top || isOther ? null : { ...last, depth: path.length - 1 };
};

/**
 * It explains a revert.
 * @figures count("calls deep", 3), address("from", pool), address("to", usdc), text("reason", "transfer amount exceeds
 *   balance")
 */
export const RevertedInside = code("simulate", ["info"], "RevertedInside", [
  "the node's trace shows which call inside failed; the verdict does not depend on it",
]);

const revertedInside = (
  report: Report,
  { depth, from, to, data, answer }: Frame & { readonly depth: number },
): Finding => {
  const abis = abisOf(report.options);
  return RevertedInside.info(
    { transaction: 0, evidence: "estimated" },
    count("calls deep", depth),
    address("from", from),
    address("to", to),
    text("call", describeRawCall(data, abis, { address: to })),
    text("reason", describeRevert(decodeRevert(answer, abis, { address: to }), { sources: true })),
  );
};

/** True if the EVM undid it. */
const isStopped = ({ status }: Outcome): boolean => status === "reverted" || status === "halted";

/**
 * Returns what to trace; null where the first transaction does not fail. Later ones stand on what earlier ones leave,
 * which a call that is traced by itself does not have: it may fail in another place there.
 */
const subjectOf = ({ verdict, options, observed, transactions: [first] }: Report) => {
  if (first === undefined) return null;
  const { outcome, input } = first;
  const isOurs = options.stateOverrides === null && options.blockOverrides === null;
  if (!options.traceReverts || verdict !== "blocked" || !isStopped(outcome) || !isOurs) return null;
  // why: no node traces on top of a block that is not there yet; another outcome there is noticed
  const block = observed.blockTag === "pending" ? "latest" : observed.blockTag;
  // why: a halt takes all that it was given, and the same is asked of the trace
  const gas = outcome.status === "halted" ? outcome.gasUsed : first.gas.limit;
  return { data: outcome.returnData ?? "0x", call: { ...bareCall(input, gas), block } };
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
 * The allowance that the innermost call of a revert lacks, where that takes a token for another. JSON-RPC: `eth_call`, there
 * alone.
 */
const shortfallIn = Effect.fnUntraced(function* (path: ReadonlyArray<Frame>, block: BlockParameter) {
  // why: borrowed code is asked what the contract was asked that borrows it
  const pull = path.findLast(({ isBorrowed }) => !isBorrowed);
  if (pull?.to == null) return [];
  const { from: spender, to: token, data } = pull;
  const [move] = askedBy({ from: spender, to: token, data }, 0).moves;
  if (move?.from == null || move.from === spender || move.amount === null) return [];
  const { to, data: query } = allowance(token, move.from, spender);
  const answer = yield* sent(asked({ step: "funds" }, one(callOf({ to, data: query, block }, false))));
  const word = successOf(answer);
  const has = word?.length === 66 ? BigInt(word) : move.amount;
  const lack = { what: "allowance", account: spender, has, needs: move.amount } as const;
  return has < move.amount ? [shortfall({ transaction: 0, evidence: "estimated" }, token, lack)] : [];
});

/** True if a finding tells what a token lacks in the first transaction. */
const isShortfall = ({ code: name, transaction }: Finding): boolean =>
  name === TokenShortfall.code && transaction === 0;

/** The failure with the contract that failed. */
const failedAt = (failure: Outcome["failure"], contract: Address): Outcome["failure"] => {
  if (failure?._tag === "VmHalt") return new VmHalt({ ...failure, contract });
  if (failure?._tag === "OutOfGas") return new OutOfGas({ ...failure, contract });
  return failure?._tag === "ExecutionReverted" ? new ExecutionReverted({ ...failure, contract }) : failure;
};

/** The outcome with what its trace tells: the calls, and of a revert the contract. */
const withTree = (outcome: Outcome, trace: unknown, abis: AbiIndex): Outcome => {
  const { failure } = outcome;
  const last = failedIn(trace).at(-1);
  // why: borrowed code is the contract's that borrows it
  const contract = last?.isBorrowed === true ? last.from : last?.to;
  return { ...outcome, trace: treeOf(trace, abis), failure: contract == null ? failure : failedAt(failure, contract) };
};

/** A finding of the first transaction's revert, with the contract that reverted. */
const pointed = (finding: Finding, failure: Outcome["failure"]): Finding => {
  if (finding.transaction !== 0 || failure === null || finding.error?._tag !== failure._tag) return finding;
  const inside = failure.statement.numbers.filter(({ name }) => name === "reverted in" || name === "halted in");
  return { ...finding, error: failure, numbers: [...finding.numbers, ...inside] };
};

/**
 * The report, with the calls of its first transaction where that reverts, the contract that reverted, `RevertedInside` where
 * it is another, and token and spender of an allowance that is short. Verdict, requests and digest stay. JSON-RPC:
 * `debug_traceCall` with `callTracer`, `eth_call`.
 */
export const withTrace = Effect.fnUntraced(function* <R extends Report>(report: R): Effect.fn.Return<R, never, Rpc> {
  const { memory } = yield* Rpc;
  const { findings, transactions, options } = report;
  const subject = subjectOf(report);
  if (subject === null || memory.refused(method) !== null) return report;
  const trace = yield* traceOf(subject.call, "revertTrace");
  const inside = innermost(trace, subject.data);
  const isNamed = findings.some((one) => isShortfall(one) && one.numbers.some(({ name }) => name === "token"));
  const short = inside === null || isNamed ? [] : yield* shortfallIn(failedIn(trace), subject.call.block);
  const traced = transactions.map((one, place) =>
    place > 0 || !isTraceOf(trace, one.outcome)
      ? one
      : { ...one, outcome: withTree(one.outcome, trace, abisOf(options)) },
  );
  const failure = traced[0]?.outcome.trace == null ? null : traced[0].outcome.failure;
  return judged({ ...report, transactions: traced, ledger: yield* ledgerSoFar }, [
    ...findings.filter((one) => short.length === 0 || !isShortfall(one)).map((one) => pointed(one, failure)),
    ...(inside === null ? [] : [revertedInside(report, inside)]),
    ...short,
  ]);
});

const isSame = (a: string | null, b: string | null): boolean => a?.toLowerCase() === b?.toLowerCase();

/** Universal Router's BALANCE_CHECK_ERC20: it fails without a call. */
const isSilent = ({ call }: Inner): boolean => call.command?.type === 0x0e;

/** The frame of an inner call: a call as its calldata has it, a command as the call that it makes. */
const isFrameOf = (inner: Inner, { from, to, data }: Frame): boolean =>
  from === inner.by &&
  (inner.call.to === null ? data.endsWith(inner.call.data.slice(2)) : to === inner.to && data === inner.call.data);

/** Returns what is known of the calls inside, with what a trace adds. */
export const tracedInner = (
  innerCalls: typeof InnerCalls.Type,
  calls: ReadonlyArray<Inner>,
  trace: unknown,
  abis: AbiIndex,
): typeof InnerCalls.Type => {
  const frames = framesOf(trace);
  const used = new Set<Frame>();
  const take = (fits: (frame: Frame) => boolean): Frame | undefined => {
    const fitting = frames.filter((each) => !used.has(each) && fits(each));
    // why: who is called may call in the caller's place, and succeed, before the call that fails
    const frame = fitting.find(({ hasFailed }) => hasFailed) ?? fitting[0];
    if (frame !== undefined) used.add(frame);
    return frame;
  };
  const explained = innerCalls.failed.map((failure): InnerFailure => {
    const { revert, by, to, data } = failure;
    if (data === null) return failure;
    const frame = take(
      (each) => each.hasFailed && isSame(each.from, by) && isSame(each.to, to) && isSame(each.data, data),
    );
    return revert !== null || frame === undefined
      ? failure
      : { ...failure, revert: decodeRevert(frame.answer, abis, { address: to }) };
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
    if (frame?.hasFailed === true)
      added.push(failureOf(inner.by, inner, { data: frame.answer, evidence: "estimated" }, abis));
  }
  // why: a router passes a failure on unless the command may fail
  const routers = new Set(calls.flatMap(({ call, by }) => (call.to === null && call.mayFail ? [by] : [])));
  const further = frames
    .filter((frame) => frame.hasFailed && !used.has(frame) && [...routers].some((router) => isSame(router, frame.from)))
    .map((frame) => () => ({
      ...failureOf(frame.from, null, { data: frame.answer, evidence: "estimated" }, abis),
      ...{ to: frame.to, data: frame.data },
    }));
  return {
    failed: cut([...[...explained, ...added].map((failure) => () => failure), ...further]),
    // why: what is within a call that failed has no result of its own
    unseen: Math.min(innerCalls.unseen, unseen),
  };
};

/** The bundle with what traces of its outcomes tell: the calls, and those that failed inside. */
export const withTraces = (bundle: Bundle<Filled>, traces: ReadonlyArray<CallTrace>, abis: AbiIndex): Bundle<Filled> =>
  Arr.map(bundle, (entry) => {
    const { input, transfers, outcome } = entry;
    const trace = traces[entry.index]?.trace;
    const { inner, status } = outcome;
    // why: it is of the next block, whose outcome it was held to, and what is returned there may be a time
    if (!isTraceOf(trace, { status })) return entry;
    const calls = inner === undefined || input.to === null ? [] : innerOf(input.data, input.to, abis);
    const known = tracedInner(inner ?? { failed: [], unseen: 0 }, calls, trace, abis);
    const failed = withLost(known.failed, framesOf(trace), transfers, abis, traces[entry.index]?.tokens);
    const told = inner === undefined && failed.length === 0 ? {} : { inner: { ...known, failed } };
    return { ...entry, outcome: withTree({ ...outcome, ...told }, trace, abis) };
  });

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
  // why: what the proof's own trace told is not told twice
  const calls = innerOf(input.data, input.to, abis);
  const isTold = outcome.trace === null && isTraceOf(trace, { status: "success", returnData });
  const traced = isTold ? tracedInner(inner, calls, trace, abis) : inner;
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
