/**
 * Which call inside a reverting transaction failed, as the node's tracer tells it: said after the verdict, which rests on
 * none of it. One request, asked only then, and not again of a node that has no answer.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { describeRawCall } from "../../abi/calls.js";
import { decodeRevert } from "../../abi/table.js";
import { describeRevert } from "../../abi/print.js";
import { MethodNotSupported, RpcError } from "../../errors/rpc.js";
import { asking } from "../../eth/ask.js";
import { askTrace } from "../../eth/call.js";
import { isBytes, type Address, type Hex } from "../../primitives/hex.js";
import type { AskRule } from "../../primitives/names.js";
import { isRecord } from "../../primitives/record.js";
import { address, count, text, hash } from "../../primitives/statement.js";
import { abisOf } from "../../report/options.js";
import { inOrder, note, type Finding } from "../../report/finding.js";
import type { Report } from "../../report/schema.js";
import { CurrentRun, Rpc } from "../../rpc/index.js";
import { bareCall } from "../../transaction/request.js";
import { inRound, ledgerSoFar } from "../rounds.js";
import { Account, Bytes, decoder, list, orNull, Quantity, struct, Word } from "../../eth/shape.js";
import { judged } from "../report.js";

const method = "debug_traceCall";

/** Ms that a trace may take of what the deadline leaves, and calls within calls that are followed. */
const most = { ms: 3_000, depth: 1_024 } as const;

/** One call of a trace, as far as it says what we ask. */
export interface Frame {
  readonly from: Address;
  /** null = a deployment without an address. */
  readonly to: Address | null;
  readonly input: Hex;
  readonly output: Hex;
  readonly error: boolean;
  readonly calls: ReadonlyArray<unknown>;
}

const isAddress = (value: unknown): value is Address => typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value);

export const frameOf = (value: unknown): Frame | null => {
  if (!isRecord(value)) return null;
  const { from, to, input = "0x", output = "0x", error, calls = [] } = value;
  if (!isAddress(from) || !isBytes(input) || !isBytes(output) || !Array.isArray(calls)) return null;
  return { from, to: isAddress(to) ? to : null, input, output, error: typeof error === "string", calls };
};

/** A call that failed inside another. */
export interface Inside {
  /** 1 = called by the transaction's own call. */
  readonly depth: number;
  readonly from: Address;
  readonly to: Address | null;
  readonly input: Hex;
  /** What it returned when it failed. */
  readonly output: Hex;
}

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

const told = (report: Report, { depth, from, to, input, output }: Inside): Finding => {
  const abis = abisOf(report.options);
  return note(
    "RevertedInside",
    "info",
    { transaction: 0, evidence: "estimated" },
    count("calls deep", depth),
    address("from", from),
    address("to", to),
    text("call", describeRawCall(input, abis, { address: to })),
    text("reason", describeRevert(decodeRevert(output, abis, { address: to }), { sources: true })),
  );
};

/**
 * What to trace; null where the first transaction does not revert. Later ones stand on what earlier ones leave,
 * which a call that is traced by itself does not have: it may fail in another place there.
 */
const subjectOf = ({ verdict, options, observed, transactions: [first] }: Report) => {
  const { outcome, input } = first;
  const isOurs = options.stateOverrides === null && options.blockOverrides === null;
  if (!options.traceReverts || verdict !== "blocked" || outcome.status !== "reverted" || !isOurs) return null;
  // why: no node traces on top of a block that is not there yet; another outcome there is noticed
  const block = observed.blockTag === "pending" ? "latest" : observed.blockTag;
  return { data: outcome.returnData ?? "0x", call: { ...bareCall(input, first.gas.limit), block } };
};

/** The node's trace of a call; null where it has no answer, and is not asked again. JSON-RPC: `debug_traceCall` with `callTracer`. */
export const traceOf = Effect.fnUntraced(function* (
  call: Parameters<typeof askTrace>[0],
  because: AskRule,
): Effect.fn.Return<unknown, never, Rpc> {
  const { memory } = yield* Rpc;
  if (memory.refused(method) !== null) return null;
  const run = yield* Effect.service(CurrentRun);
  const deadline = Math.min(run.deadline ?? Infinity, (yield* Clock.currentTimeMillis) + most.ms);
  const ask = Effect.provideService(
    inRound(because, asking({ step: "simulate" }, askTrace(call, most.ms))),
    CurrentRun,
    { ...run, deadline },
  );
  const answer = yield* Effect.result(ask);
  if (Result.isSuccess(answer)) return answer.success;
  // why: a node that takes too long or says too much does so the next time, too
  memory.heard(method, Result.fail(new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) })));
  return null;
});

/**
 * The report, with `RevertedInside` where its first transaction reverts in a call within. Verdict, requests and digest
 * stay. JSON-RPC: `debug_traceCall` with `callTracer`.
 */
export const withTrace = Effect.fnUntraced(function* (report: Report): Effect.fn.Return<Report, never, Rpc> {
  const { memory } = yield* Rpc;
  const subject = subjectOf(report);
  if (subject === null || memory.refused(method) !== null) return report;
  const inside = innermost(yield* traceOf(subject.call, "revertTrace"), subject.data);
  const findings = inside === null ? report.findings : inOrder([...report.findings, told(report, inside)]);
  return { ...report, findings, ledger: yield* ledgerSoFar };
});

const PendingCalls = struct({
  transactions: list(struct({ hash: Word, from: Account, to: orNull(Account), input: Bytes, value: Quantity })),
});
type Sent = typeof PendingCalls.Type.transactions;

const read = decoder("eth_getBlockByNumber", PendingCalls);

const isSame = (one: string | null, other: string | null): boolean => one?.toLowerCase() === other?.toLowerCase();

/** Where target, calldata and value are those of a transaction in flight. */
const alreadySent = ({ transactions }: Report, sent: Sent): ReadonlyArray<Finding> =>
  transactions.flatMap(({ input }, transaction) => {
    const same = sent.filter(
      ({ from, to, input: data, value }) =>
        isSame(from, input.from) && isSame(to, input.to) && isSame(data, input.data) && value === input.value,
    );
    const hashes = same.map((one) => hash("in flight", one.hash));
    return same.length === 0 ? [] : [note("AlreadySent", "warning", { transaction, evidence: "measured" }, ...hashes)];
  });

/**
 * The report of a call that fails while others of its sender are in flight, with `AlreadySent` where it is in the node's
 * pending block already. A node without one adds nothing. JSON-RPC: `eth_getBlockByNumber` on `pending` with its
 * transactions.
 */
export const withSent = Effect.fnUntraced(function* (report: Report): Effect.fn.Return<Report, never, Rpc> {
  const { request } = yield* Rpc;
  const ask = asking({ step: "simulate" }, request("eth_getBlockByNumber", ["pending", true]));
  const answer = yield* Effect.result(inRound("alreadySent", ask));
  const { transactions } = Result.getOrElse(Result.flatMap(answer, read), () => ({ transactions: [] }));
  const findings = alreadySent(report, transactions);
  return judged({ ...report, ledger: yield* ledgerSoFar }, [...report.findings, ...findings]);
});
