/** Which of the gas limits that ran side by side is handed out, and proven. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { note, type Finding } from "../report/finding.js";
import { formatGas } from "../primitives/units.js";
import type { Rpc } from "../Rpc.js";
import { choose, isExhausted, settle, type Choice } from "../steps/reading/sameOutcome.js";
import type { Simulated } from "../steps/simulate.js";
import type { Request } from "../transaction/request.js";
import { askLimits, askProof, type Exam, type Examined, type Run } from "./askProof.js";
import { isComparable } from "./comparison.js";
import { searchBetween } from "./ladder.js";

const simulated = (run: Run | null | undefined): Simulated | null =>
  run !== null && run !== undefined && Result.isSuccess(run) ? run.success : null;

/** A request that the node refuses for its gas alone: more of it may do. */
const isTooTight = (run: Run): boolean =>
  Result.isFailure(run) && (run.failure._tag === "IntrinsicGasTooLow" || run.failure._tag === "OutOfGas");

const choiceOf = ({ facts, beside, exam, second }: Examined): Choice => {
  if (beside === null || exam.ladder === null) return { kind: "take", index: 0 };
  const reference = simulated(beside.reference);
  const handed = beside.candidates.map(simulated);
  if (isTooTight(facts.main)) {
    const working = handed.findIndex((run) => run?.calls.every(({ status }) => status === "success") === true);
    return { kind: "take", index: working + 1 };
  }
  // ample gas agrees with itself, which says nothing
  const compared = beside.isReferenceHanded ? handed.slice(0, -1) : handed;
  const choice = choose([simulated(facts.main), ...compared], reference);
  const later = simulated(second);
  const limits = exam.requests.map(({ gas }) => gas);
  // a limit that is used up in the other block context does not hold until inclusion
  return choice.kind === "take" && choice.index === 0 && later !== null && isExhausted(later.calls, limits)
    ? { kind: "take", index: 1 }
    : choice;
};

const gasNote = (code: "GasDependent" | "GasHeadroomThin", exam: Exam): Finding => {
  const limits = exam.requests.map(({ gas }) => formatGas(gas)).join(", ");
  const ample = exam.ladder?.reference.map(({ gas }) => formatGas(gas)).join(", ") ?? "";
  return code === "GasDependent"
    ? note(
        code,
        "warning",
        {
          verdict: "what the transaction returns or emits follows the gas it is given",
          evidence: `limit ${limits}, compared with ${ample}`,
          remedy: "read the outcome as that of exactly this gas limit",
        },
        { step: "proof" },
      )
    : note(
        code,
        "warning",
        {
          verdict: "with more gas the transaction would do something else: an inner call may run out of it",
          evidence: `limit ${limits}, compared with ${ample}`,
          remedy: "raise the gas limit, or leave `gas` out",
        },
        { step: "proof" },
      );
};

interface Settled {
  /** The requests to hand out instead; null = those that were examined. */
  readonly requests: ReadonlyArray<Request> | null;
  /** The round that is free now. */
  readonly round: number;
  readonly findings: ReadonlyArray<Finding>;
}

const settleLimits = Effect.fnUntraced(function* (
  examined: Examined,
  round: number,
): Effect.fn.Return<Settled, never, Rpc> {
  const { exam, beside, facts } = examined;
  const { ladder } = exam;
  const stay = (...findings: ReadonlyArray<Finding>): Settled => ({ requests: null, round, findings });
  if (ladder === null || beside === null) return stay();
  const choice = choiceOf(examined);
  if (choice.kind === "dependent") return stay(gasNote("GasDependent", exam));
  if (choice.kind === "take")
    return { requests: choice.index === 0 ? null : (ladder.candidates[choice.index - 1] ?? null), round, findings: [] };
  const reference = simulated(beside.reference);
  if (!beside.isReferenceHanded || reference === null) return stay(gasNote("GasHeadroomThin", exam));
  const rungs = searchBetween(exam.requests, ladder);
  const runs = yield* askLimits(exam, rungs, round);
  const found = runs.map(simulated);
  // the last rung is ample gas again, in the same block context as the others
  const index = settle(found, found[found.length - 1] ?? reference, simulated(facts.main));
  return { requests: rungs[index] ?? null, round: round + 1, findings: [] };
});

/**
 * Examines the requests; where a tighter limit does not do what ample gas does, the smallest that does is
 * examined instead, which costs a round (two, when it has to be searched for). Runs that stood on
 * different blocks are asked for once more.
 */
export const examine = Effect.fnUntraced(function* (exam: Exam, round: number): Effect.fn.Return<Examined, never, Rpc> {
  const first = yield* askProof(exam, round);
  const { requests, round: free, findings } = yield* settleLimits(first, round + 1);
  const examined =
    requests !== null
      ? yield* askProof({ ...exam, requests, ladder: null, widened: true }, free)
      : isComparable(first)
        ? first
        : // why: heads move between two requests; asked once more, the two runs may stand on the same block
          yield* askProof({ ...exam, ladder: null }, free);
  const { facts } = examined;
  return findings.length === 0
    ? examined
    : { ...examined, facts: { ...facts, findings: [...facts.findings, ...findings] } };
});
