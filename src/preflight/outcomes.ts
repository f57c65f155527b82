/** The outcome of each case out of whatever answered, and what stood in the way of learning it. Pure. */
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { decodeResult } from "../abi/decodeLogs.js";
import { looksLikeRevert } from "../abi/revertBytes.js";
import { ExecutionReverted } from "../errors/verdicts.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Outcome } from "../report/parts.js";
import { signers, type Case, type Ran } from "../steps/reading/bundle.js";
import * as Simulate from "../steps/simulate.js";
import type { Answers, Called } from "./answers.js";

/** Whether the measured balances agree that somebody cannot even pay the values. */
const isReallyShort = (bundle: ReadonlyArray<Case>, { balanceOf }: Answers): boolean =>
  signers(bundle).some((account) => {
    const values = bundle.reduce((sum, { signer, input }) => (signer === account ? sum + input.value : sum), 0n);
    return (balanceOf(account) ?? -1n) < values;
  });

/** Outcome of the tier without simulation: status and return value, nothing more. */
const calledOutcome = ({ first }: Called, { input }: Case, abis: AbiIndex): Outcome => {
  if (Result.isSuccess(first)) {
    const data = first.success;
    if (looksLikeRevert(data))
      return Simulate.failedOutcome(Simulate.explain(new ExecutionReverted({ data }), input.to, abis), data);
    const result = input.item === null ? null : decodeResult(data, input.item);
    return { ...Simulate.unknownOutcome(null), status: "success", returnData: data, result, evidence: "estimated" };
  }
  if (first.failure._tag === "RpcError") return Simulate.unknownOutcome(null);
  const failure = Simulate.explain(first.failure, input.to, abis);
  return Simulate.failedOutcome(failure, failure._tag === "ExecutionReverted" ? failure.data : null);
};

/**
 * How bad it is that the whole run was refused: a verdict is a blocker, unless our own sum of the funds
 * stands against it.
 */
const refusalSeverity = (bundle: ReadonlyArray<Case>, answers: Answers): "blocker" | "unavailable" => {
  const { refused } = answers;
  const disputed = refused?._tag === "InsufficientFunds" && !isReallyShort(bundle, answers);
  return refused === null || refused._tag === "RpcError" || disputed ? "unavailable" : "blocker";
};

/** A case with what it did, as far as anybody could say. */
export const outcomeOf = <C extends Case>(
  one: C,
  bundle: ReadonlyArray<Case>,
  answers: Answers,
  abis: AbiIndex,
): C & Ran => {
  const { run, called, refused } = answers;
  if (run !== null) return Simulate.ranIn(run, one);
  if (called !== null)
    return one.index === 0
      ? { ...one, outcome: calledOutcome(called, one, abis), traced: [] }
      : { ...one, ...Simulate.unread(null) };
  const isItsOwn =
    bundle.length === 1 &&
    refused !== null &&
    refused._tag !== "RpcError" &&
    refusalSeverity(bundle, answers) === "blocker";
  return { ...one, ...Simulate.unread(isItsOwn ? refused : null) };
};

/** What stood in the way of learning the outcomes, and what the outcomes themselves say. */
export const checkOutcomes = (bundle: ReadonlyArray<Ran>, answers: Answers): ReadonlyArray<Finding> => {
  const { run, called, refused, unfunded, aloneRefused } = answers;
  const where = { step: "simulate", evidence: "unavailable" } as const;
  if (run === null && called !== null)
    return [
      ...(refused === null ? [] : [fromError(refused, "unavailable", where)]),
      ...(Result.isFailure(called.first) && called.first.failure._tag === "RpcError"
        ? [fromError(called.first.failure, "unavailable", { ...where, transaction: 0 })]
        : []),
      ...bundle.filter(({ outcome }) => outcome.failure !== null).flatMap(Simulate.check),
    ];
  // why: the witness alone costs a source when it fails, not the report: what it alone could say is missing where it is needed
  const lost = aloneRefused === null || called !== null ? [] : [fromError(aloneRefused, "info", where)];
  if (run !== null) {
    // why: where our own sum finds nothing missing, a refusal for want of funds stands against it
    const disputed =
      unfunded !== null && !isReallyShort(bundle, answers) ? [fromError(unfunded, "unavailable", where)] : [];
    const blind = run.witnessed ? [] : [note("WitnessUnavailable", "warning", where)];
    return [...lost, ...disputed, ...bundle.flatMap(Simulate.check), ...blind];
  }
  if (refused === null) return [];
  const severity = refusalSeverity(bundle, answers);
  const evidence = severity === "blocker" ? "estimated" : "unavailable";
  const transaction = bundle.length === 1 ? 0 : null;
  return [...lost, fromError(refused, severity, { step: "simulate", transaction, evidence })];
};
