/**
 * How much gas to allow, from three witnesses: `eth_estimateGas`, the peak of the simulation
 * (`maxUsedGas`, before refunds) and what it used.
 *
 * Asks `eth_estimateGas` on the tag, for the first transaction of a bundle only: later ones depend on
 * it. No fee fields and no gas are sent: a default gas times a fee is checked against the balance and
 * gives a false "insufficient funds".
 */
import * as Effect from "effect/Effect";

import * as Result from "effect/Result";
import type { Chain } from "../Chains.js";
import * as Eth from "../Eth.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { RpcError } from "../errors/rpc.js";
import { formatGas } from "../primitives/units.js";
import { BlockGasLimitExceeded, OutOfGas, TxGasLimitTooHigh, type Verdict } from "../errors/verdicts.js";
import type { Rpc } from "../Rpc.js";
import type { Transaction } from "../Transaction.js";
import type { Gas, Outcome } from "../report/parts.js";

type Failure = RpcError | Verdict;

/** `eth_estimateGas` of one call; never fails. */
export const ask = (
  call: Eth.CallRequest,
  block: Eth.BlockParameter,
  stateOverrides: Eth.StateOverrides | null,
): Effect.Effect<Result.Result<bigint, Failure>, never, Rpc> =>
  Effect.result(Eth.estimateGas({ ...call, block, ...(stateOverrides === null ? {} : { stateOverrides }) }));

const larger = (...values: ReadonlyArray<bigint | null>): bigint | null => {
  const known = values.filter((value): value is bigint => value !== null);
  return known.length === 0 ? null : known.reduce((a, b) => (a > b ? a : b));
};

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/**
 * Peak gas from what was used, where the node does not say it: refunds give back at most a fifth
 * (EIP-3529), so the peak is at most 5/4 of it.
 */
const peakOf = ({ maxUsedGas, gasUsed }: Outcome): bigint | null =>
  maxUsedGas === null ? (gasUsed === null ? null : ceilDiv(gasUsed * 5n, 4n)) : larger(maxUsedGas, gasUsed);

/** Nothing is executed: the transaction costs its intrinsic gas and no more. */
export const isPlain = (transaction: Transaction, receiverHasCode: boolean): boolean =>
  transaction.to !== null &&
  transaction.data.length === 2 &&
  !receiverHasCode &&
  transaction.authorizationList === null;

/**
 * The least limit that leaves every inner call what it had: a call hands on 63/64 of its gas and may
 * need the 2,300 stipend, the same first guess that geth and reth make.
 */
const candidate = (peak: bigint): bigint => ceilDiv((peak + 2300n) * 64n, 63n);

/** Share added on top of the candidate, in percent: state may change between now and inclusion. */
export const bufferPercent = 10n;

const withPercent = (gas: bigint, percent: bigint): bigint => ceilDiv(gas * (100n + percent), 100n);

/** How far the node's estimate and our own candidate may be apart before it is worth a word. */
const farApart = 2n;

/** What the pipeline knows when gas is decided. */
export interface GasContext {
  readonly chain: Chain;
  /** Gas of a whole block; null = not known. */
  readonly blockGasLimit: bigint | null;
  /** Whether `to` has code, as far as known; true when in doubt. */
  readonly receiverHasCode: boolean;
}

/** The output and findings. */
export interface Decision {
  readonly output: Gas;
  readonly findings: ReadonlyArray<Finding>;
}

/**
 * Decides the gas limit of one transaction. Blockers: `TxGasLimitTooHigh`, `BlockGasLimitExceeded`,
 * `OutOfGas` when the caller's own limit is below what the simulation needs. A limit is never cut
 * silently.
 */
export const decide = (
  transaction: Transaction,
  index: number,
  estimated: Result.Result<bigint, Failure> | null,
  outcome: Outcome,
  context: GasContext,
): Decision => {
  const where = { step: "estimate", transaction: index } as const;
  const findings: Array<Finding> = [];
  const estimate = estimated !== null && Result.isSuccess(estimated) ? estimated.success : null;
  if (estimated !== null && Result.isFailure(estimated)) findings.push(unanswered(estimated.failure, outcome, index));
  const worked = outcome.status === "success";
  const peak = worked ? peakOf(outcome) : null;
  const plain = isPlain(transaction, context.receiverHasCode);
  // why: where the node names no peak, its estimate is the witness for refunds, and the bound by 5/4 is not needed
  const peakWitness = outcome.maxUsedGas === null && estimate !== null ? outcome.gasUsed : peak;
  const own = worked && peakWitness !== null ? candidate(peakWitness) : null;
  const needed = plain
    ? larger(estimate, worked ? outcome.gasUsed : null, worked ? outcome.maxUsedGas : null)
    : larger(estimate, own);
  if (!plain && estimate !== null && own !== null && (estimate > own * farApart || own > estimate * farApart)) {
    findings.push(
      note(
        "GasWitnessesDisagree",
        "info",
        {
          verdict: "the node's estimate and the simulation are far apart; the larger one counts",
          evidence: `estimate ${formatGas(estimate)}, from the simulation ${formatGas(own)}`,
        },
        where,
      ),
    );
  }
  // a node whose estimate goes beyond the assumed cap does not have that cap
  const cap = ((): bigint | null => {
    const assumedAway =
      !context.chain.txGasCapKnown &&
      estimate !== null &&
      context.chain.txGasCap !== null &&
      estimate > context.chain.txGasCap;
    const perTransaction = assumedAway ? null : context.chain.txGasCap;
    if (perTransaction === null) return context.blockGasLimit;
    return context.blockGasLimit !== null && context.blockGasLimit < perTransaction
      ? context.blockGasLimit
      : perTransaction;
  })();
  const fixed = transaction.gas !== null;
  const buffered = needed === null ? null : plain ? needed : withPercent(needed, bufferPercent);
  const clamp = (gas: bigint): bigint => (cap !== null && gas > cap ? cap : gas);
  const limit =
    transaction.gas ??
    (buffered === null ? null : needed !== null && cap !== null && needed > cap ? needed : clamp(buffered));
  if (!fixed && limit !== null && buffered !== null && limit < buffered) {
    findings.push(
      note(
        "GasHeadroomThin",
        "info",
        {
          verdict: "the gas limit is held at the most that one transaction may have; its buffer is cut",
          evidence: `limit ${formatGas(limit)}, with the whole buffer ${formatGas(buffered)}`,
        },
        where,
      ),
    );
  }
  if (limit !== null && context.blockGasLimit !== null && limit > context.blockGasLimit) {
    findings.push(fromError(new BlockGasLimitExceeded({ gas: limit, limit: context.blockGasLimit }), "blocker", where));
  } else if (limit !== null && cap !== null && limit > cap) {
    findings.push(
      context.chain.txGasCapKnown
        ? fromError(new TxGasLimitTooHigh({ gas: limit, limit: cap }), "blocker", where)
        : fromError(new TxGasLimitTooHigh({ gas: limit, limit: cap }), "warning", { ...where, evidence: "assumed" }),
    );
  }
  if (fixed && worked && outcome.gasUsed !== null && transaction.gas !== null && transaction.gas < outcome.gasUsed) {
    findings.push(fromError(new OutOfGas({ gasLimit: transaction.gas }), "blocker", where));
  } else if (fixed && limit !== null && estimate !== null && limit < estimate) {
    findings.push(
      note(
        "GasHeadroomThin",
        "warning",
        {
          verdict: "the gas limit is below the node's estimate",
          evidence: `limit ${formatGas(limit)}, estimate ${formatGas(estimate)}`,
          remedy: "raise it, or leave `gas` out",
        },
        where,
      ),
    );
  }
  if (limit === null && outcome.failure === null && findings.every(({ severity }) => severity !== "unavailable")) {
    findings.push(note("EvidenceReduced", "unavailable", { verdict: "the gas that is needed is not known" }, where));
  }
  const evidence = fixed
    ? "assumed"
    : worked && outcome.evidence === "measured"
      ? "measured"
      : estimate !== null
        ? "estimated"
        : limit === null
          ? "unavailable"
          : outcome.evidence;
  return {
    output: { estimate, used: worked ? outcome.gasUsed : null, peak, limit, cap, fixed, evidence },
    findings,
  };
};

/**
 * A failed estimate beside what the simulation said. The simulation is the stronger witness: beside a
 * failure of its own the estimate adds nothing; beside a success the disagreement is shown, but a node
 * that merely refuses to estimate costs one level of evidence.
 */
const unanswered = (failure: Failure, outcome: Outcome, index: number): Finding => {
  const where = { step: "estimate", transaction: index } as const;
  if (failure._tag === "RpcError" || outcome.failure !== null) return fromError(failure, "info", where);
  // the estimate checks funds against a default gas or the allowance: our own sum decides that
  if (failure._tag === "InsufficientFunds" || failure._tag === "GasAllowanceExceeded")
    return fromError(failure, "info", where);
  return fromError(failure, outcome.status === "success" ? "warning" : "blocker", where);
};
