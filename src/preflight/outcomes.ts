/** The outcome of each transaction out of whatever answered, and what stood in the way. Pure. */
import * as Result from "effect/Result";
import { looksLikeRevert } from "../errors/classify.js";
import { decodeResult } from "../abi/decodeLogs.js";
import type { AbiIndex } from "../abi/decodeRevert.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Hex } from "../primitives/hex.js";
import { ExecutionReverted } from "../errors/verdicts.js";
import type { Outcome } from "../report/parts.js";
import * as Simulate from "../steps/simulate.js";
import { senders } from "../steps/nonce.js";
import type { Transaction } from "../transaction/schema.js";
import type { Facts, Failure, World } from "./facts.js";

/** Outcomes of the tier without simulation: status and return value, nothing more. */
const calledOutcome = (
  answer: Result.Result<Hex, Failure> | null,
  transaction: Transaction,
  abis: AbiIndex,
): Outcome => {
  if (answer === null) return Simulate.unknownOutcome(null);
  if (Result.isSuccess(answer)) {
    const data = answer.success;
    if (!looksLikeRevert(data)) {
      const result = transaction.item === null ? null : decodeResult(data, transaction.item);
      return { ...Simulate.unknownOutcome(null), status: "success", returnData: data, result, evidence: "estimated" };
    }
    const failure = Simulate.explain(new ExecutionReverted({ data }), transaction.to, abis);
    return Simulate.failedOutcome(failure, data);
  }
  if (answer.failure._tag === "RpcError") return Simulate.unknownOutcome(null);
  const failure = Simulate.explain(answer.failure, transaction.to, abis);
  return Simulate.failedOutcome(failure, failure._tag === "ExecutionReverted" ? failure.data : null);
};

/** A probe that failed costs a source, not the report: what it alone could say is missing where it is needed. */
const lostProbe = (facts: Facts): ReadonlyArray<Finding> =>
  Result.isFailure(facts.probe) && facts.called === null
    ? [fromError(facts.probe.failure, "info", { step: "simulate", evidence: "unavailable" })]
    : [];

/** The outcome of each transaction, and what stood in the way of learning it. */
export const readOutcomes = (
  transactions: ReadonlyArray<Transaction>,
  facts: Facts,
  world: World,
  abis: AbiIndex,
): { readonly readings: ReadonlyArray<Simulate.Reading>; readonly findings: ReadonlyArray<Finding> } => {
  const where = { step: "simulate" } as const;
  if (world.main !== null) {
    const evidence = facts.pretended ? "assumed" : "measured";
    const readings = transactions.map((transaction, index) => {
      const call = world.main?.calls[index];
      return call === undefined
        ? Simulate.unread(null)
        : Simulate.readCall(call, facts.gasGiven[index] ?? 0n, transaction, abis, evidence);
    });
    // why: where our own sum finds nothing missing, a refusal for want of funds stands against it
    const disputed =
      facts.refusal !== null && !reallyShort(transactions, world)
        ? [fromError(facts.refusal, "unavailable", where)]
        : [];
    const judged = readings.flatMap(({ outcome }, index) => Simulate.judge(outcome, index));
    const findings = [...lostProbe(facts), ...disputed, ...judged];
    if (world.main.witnessed) return { readings, findings };
    const blind = note(
      "WitnessUnavailable",
      "warning",
      { verdict: "balances could not be measured inside the simulation", remedy: "movements rest on events alone" },
      where,
    );
    return { readings, findings: [...findings, blind] };
  }
  if (facts.called !== null) {
    const outcomes = transactions.map((transaction, index) =>
      calledOutcome(facts.called?.calls[index] ?? null, transaction, abis),
    );
    const unanswered = facts.called.calls.flatMap((answer, index) =>
      answer !== null && Result.isFailure(answer) && answer.failure._tag === "RpcError"
        ? [fromError(answer.failure, "unavailable", { ...where, transaction: index })]
        : [],
    );
    const refused = Result.isFailure(facts.main) ? [fromError(facts.main.failure, "unavailable", where)] : [];
    const failed = outcomes.flatMap((outcome, index) =>
      outcome.failure === null ? [] : Simulate.judge(outcome, index),
    );
    return {
      readings: outcomes.map((outcome) => ({ outcome, traced: [] })),
      findings: [...refused, ...unanswered, ...failed],
    };
  }
  if (Result.isSuccess(facts.main)) return { readings: transactions.map(() => Simulate.unread(null)), findings: [] };
  const failure = facts.main.failure;
  const alone = transactions.length === 1;
  const disputed = failure._tag === "InsufficientFunds" && !reallyShort(transactions, world);
  const severity = failure._tag === "RpcError" || disputed ? "unavailable" : "blocker";
  const finding = fromError(failure, severity, { ...where, transaction: alone ? 0 : null });
  return {
    readings: transactions.map(() =>
      Simulate.unread(alone && severity === "blocker" && failure._tag !== "RpcError" ? failure : null),
    ),
    findings: [...lostProbe(facts), finding],
  };
};

/** Whether the measured balances agree that somebody cannot even pay the values. */
const reallyShort = (transactions: ReadonlyArray<Transaction>, world: World): boolean => {
  const payers = senders(transactions);
  const balances = world.balances(payers);
  return payers.some((address) => {
    const values = transactions.reduce((sum, { from, value }) => (from === address ? sum + value : sum), 0n);
    return (balances.get(address) ?? -1n) < values;
  });
};
