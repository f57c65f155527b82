/** Tells if the gas of a proof's requests may decide what they do, and what is known where nothing speaks for it. */
import * as Arr from "effect/Array";
import { code, fromError, type Finding } from "../../report/finding.js";
import type { Outcome } from "../../report/parts.js";
import { failureOf, successOf, type Failure, type AskResult } from "../../steps/reading/askResult.js";
import { isSame } from "../../steps/reading/sameOutcome.js";
import type { Run } from "../../steps/simulate.js";
import type { Limits } from "../choose.js";

export const GasLimitWidened = code("estimate", ["info"], "GasLimitWidened", [
  "a tighter gas limit changed the outcome in simulation, so a wider one was chosen",
]);

/**
 * A call inside burns all the gas that it gets and fails. Traces show the same calls at the smaller limit, at three quarters and at
 * half of it, and gas left behind the failure for a slot that was empty.
 * @figures gas("limit", 16_777_216n), wei("at most", 35_903_000_000_000_000n), gas("smaller limit", 1_592_000n), wei("at most", 3_407_000_000_000_000n)
 */
export const GasLimitLowered = code("estimate", ["info"], "GasLimitLowered", [
  "a call inside burns all the gas that it gets, so a smaller limit with the same outcome was chosen",
]);

/** A smaller gas limit was chosen, for a transaction by these figures. */
export const lowered = (...told: Parameters<typeof GasLimitLowered.info>): Finding => GasLimitLowered.info(...told);

/** A wider gas limit was chosen. */
export const widened = (): Finding => GasLimitWidened.info({ evidence: "measured" });

/** True if a case took all its gas and failed: with more it might not. An inner call leaves a 64th of it. */
const hasUsedAllGas = ({ status, gasUsed }: Outcome, limit: bigint): boolean =>
  status !== "success" && gasUsed !== null && gasUsed * 8n >= limit * 7n;

/** True if any case of a run did so. */
export const isOutOfGas = (run: Run | null): boolean =>
  run !== null &&
  Arr.zip(run.readings, run.plan.calls).some(([{ outcome }, { gas: limit }]) => hasUsedAllGas(outcome, limit));

/** True if a case of a run did not succeed. */
export const isFailed = ({ readings }: Run): boolean => readings.some(({ outcome }) => outcome.status !== "success");

/** True if calls took all the gas that we gave them, or the node says that they need more. */
export const hasRunBelowEstimate = ({ readings, plan }: Run, estimate: bigint | null): boolean =>
  Arr.zip(readings, plan.calls).some(
    ([{ outcome }, { input, gas }], index) =>
      input.gas === null && (hasUsedAllGas(outcome, gas) || (index === 0 && estimate !== null && estimate > gas)),
  );

/** True if the node refuses a run for its gas alone: more of it may do. */
export const isLimitTooLow = (failure: Failure | null): boolean =>
  failure?._tag === "IntrinsicGasTooLow" || failure?._tag === "OutOfGas";

/**
 * True if gas may decide: the exact requests were refused for it or ran dry, or did not do what they did
 * with ample gas, to the last byte; null = what they do with it is not known.
 */
export const isInDoubt = (
  exact: AskResult<Run> | null,
  next: AskResult<Run> | undefined,
  ample: ReadonlyArray<Outcome> | null,
): boolean => {
  const run = successOf(exact);
  if (run === null) return isLimitTooLow(failureOf(exact));
  if (isOutOfGas(run) || isOutOfGas(successOf(next))) return true;
  const outcomes = run.readings.map(({ outcome }) => outcome);
  return ample !== null && !isSame(ample, outcomes);
};

/** Results of the runs at other limits. */
export interface Gas {
  /** Limits that hold where the chosen ones do not; null = the chosen ones hold, or none is better. */
  readonly limits: Limits | null;
  readonly findings: ReadonlyArray<Finding>;
  /** The limits in whose place `limits` are smaller ones, to return to where these do something else by then; null = they are wider. */
  readonly larger: Limits | null;
  /** True if less gas does something else, as traces show. */
  readonly isNeeded: boolean;
  /** The run with ample gas, at the prices of the requests; null where none was asked, or answered. */
  readonly ample: Run | null;
}

/** The result where nothing was asked. */
export const undoubted: Gas = { limits: null, larger: null, isNeeded: false, findings: [], ample: null };

/** A run at another limit that got no answer: whether gas decides is not known. */
export const unknownGas = (failure: Failure): Finding =>
  fromError(failure, "unavailable", { step: "estimate", evidence: "unavailable" });
