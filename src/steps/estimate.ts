/**
 * How much gas to allow, from three witnesses: `eth_estimateGas`, the peak of the simulation (`maxUsedGas`,
 * before refunds) and what it used. Where that limit is in doubt, `preflight/gas/limit` widens it.
 *
 * Asks `eth_estimateGas` on the tag, for the first transaction of a bundle only: later ones depend on
 * it. No fee fields and no gas are sent: a default gas times a fee is checked against the balance and
 * gives a false "insufficient funds".
 */
import type { Facts } from "./reading/answers.js";
import * as BigInts from "effect/BigInt";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { eip7825Cap, type Rules } from "../chains/rules.js";
import { hexToBytes } from "../primitives/bytes.js";
import {
  BlockGasLimitExceeded,
  OutOfGas,
  TxGasLimitTooHigh,
  IntrinsicGasTooLow,
  type Verdict,
} from "../errors/verdicts.js";
import { indexAbis } from "../abi/abiIndex.js";
import { explain } from "../eth/call.js";
import type * as Eth from "../eth/index.js";
import * as Questions from "../eth/questions.js";
import { asked, goingOn, known, one } from "../eth/round.js";
import type { Hex } from "../primitives/hex.js";
import { gas } from "../primitives/statement.js";
import { fromError, code, type Evidence, type Finding } from "../report/finding.js";
import type { CallFrame } from "../report/beside.js";
import type { Gas, Outcome, Parties } from "../report/parts.js";
import type { ReportOptions } from "../report/schema.js";
import type { Case, Filled } from "./reading/bundle.js";
import { failureOf, successOf } from "./reading/askResult.js";
import { largest } from "./reading/quote.js";
import type { Transaction } from "../transaction/fields.js";

/** True if nodes can estimate under the caller's overrides: they change no block and move no precompile for it. */
const isEstimable = (options: Pick<ReportOptions, "stateOverrides" | "blockOverrides">): boolean =>
  options.blockOverrides === null &&
  !Object.values(options.stateOverrides ?? {}).some(({ movePrecompileToAddress }) => movePrecompileToAddress != null);

const noAbis = indexAbis([]);

/** `eth_estimateGas` of one call; null where a node cannot pretend what the caller does. Never fails. */
export const ask = (call: Eth.CallRequest, block: Eth.BlockParameter, options: Parameters<typeof isEstimable>[0]) => {
  const { stateOverrides } = options;
  const pretended = stateOverrides === null ? {} : { stateOverrides };
  return isEstimable(options)
    ? asked(
        { step: "estimate" },
        goingOn(one(Questions.gas({ ...call, block, ...pretended })), (answer) => {
          const failure = failureOf(answer);
          return failure?._tag === "ExecutionReverted"
            ? Effect.map(explain(failure, call.to ?? null, noAbis), Result.fail)
            : null;
        }),
      )
    : known(null);
};

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/**
 * Peak gas from what was used, where the node does not say it: refunds give back at most a fifth
 * (EIP-3529), so the peak is at most 5/4 of it.
 */
const peakOf = ({ status, maxUsedGas, gasUsed }: Outcome): bigint | null =>
  status !== "success"
    ? null
    : maxUsedGas !== null
      ? largest(maxUsedGas, gasUsed)
      : gasUsed === null
        ? null
        : ceilDiv(gasUsed * 5n, 4n);

/** Nothing is executed: the transaction costs its intrinsic gas and no more. */
export const isPlain = ({ to, data, authorizationList }: Transaction, { to: receiver }: typeof Parties.Type): boolean =>
  to !== null && data.length === 2 && authorizationList === null && receiver?.kind === "nobody";

/**
 * The least limit that leaves every inner call what it had: a call hands on 63/64 of its gas and may
 * need the 2,300 stipend, the same first guess that geth and reth make.
 */
const candidate = (peak: bigint): bigint => ceilDiv((peak + 2300n) * 64n, 63n);

/** Share added on top of the candidate, in percent: state may change between now and inclusion. */
const bufferPercent = 10n;

const withBuffer = (needed: bigint): bigint => ceilDiv(needed * (100n + bufferPercent), 100n);

/** How far the node's estimate and our own candidate may be apart before it is worth a word. */
const farApart = 2n;

/** The gas that the simulation says is needed; null where it did not work. */
const ownNeed = ({ input, outcome, index }: Pick<Filled, "input" | "outcome" | "index">, estimate: bigint | null) => {
  // why: where the node names no peak, the witness for refunds is its estimate, and of later transactions, which it
  // cannot estimate, the proof that runs them with this very limit: the bound by 5/4 is not needed
  // why: an authorisation may give back half of what it must be given
  const isWitnessed = estimate !== null || (index > 0 && input.authorizationList === null);
  const peak = outcome.maxUsedGas === null && isWitnessed ? outcome.gasUsed : peakOf(outcome);
  return outcome.status === "success" && peak !== null ? candidate(peak) : null;
};

const neededFor = (entry: Filled, estimate: bigint | null): bigint | null => {
  const { input, code, outcome } = entry;
  const worked = outcome.status === "success";
  return isPlain(input, code)
    ? largest(estimate, worked ? outcome.gasUsed : null, worked ? outcome.maxUsedGas : null)
    : largest(estimate, ownNeed(entry, estimate));
};

/** The limit that a case should have, its buffer included; null where nobody knows. */
const wantedFor = (entry: Filled, estimate: bigint | null): bigint | null => {
  const needed = neededFor(entry, estimate);
  return needed === null || isPlain(entry.input, entry.code) ? needed : withBuffer(needed);
};

/** The most one transaction may ask for: the chain's cap, unless the node's estimate goes beyond an assumed one, and the block's. */
export const capOf = (estimate: bigint | null, { chain, blockGasLimit }: Pick<Facts, "chain" | "blockGasLimit">) => {
  const assumedAway = !chain.txGasCapKnown && estimate !== null && chain.txGasCap !== null && estimate > chain.txGasCap;
  const cap = assumedAway ? null : chain.txGasCap;
  if (cap === null) return blockGasLimit;
  return blockGasLimit !== null && blockGasLimit < cap ? blockGasLimit : cap;
};

/** The limit beside the node's estimate, where that was asked of what is chosen already. */
export const witnessed = ({ index, gas: chosen }: Filled, { estimate }: Pick<Facts, "estimate">): Partial<Filled> =>
  estimate === null || index > 0
    ? {}
    : { gas: { ...chosen, estimate: successOf(estimate), refusal: failureOf(estimate) } };

/** The larger of the witnesses with a buffer, which is cut at the cap, the need never; null = nobody knows. */
const limitFor = (entry: Filled, estimate: bigint | null, answers: Parameters<typeof choose>[1]) => {
  const [needed, buffered] = [neededFor(entry, estimate), wantedFor(entry, estimate)];
  const cap = capOf(estimate, answers);
  const { gasUsed, maxUsedGas } = entry.outcome;
  // why: what was used and what the node says suffices are less than our own bound on it
  const known = estimate === null ? needed : largest(estimate, gasUsed, maxUsedGas);
  const isCut = buffered !== null && cap !== null && buffered > cap;
  const wanted = !isCut ? buffered : known !== null && known > cap ? needed : cap;
  const granted = answers.granted(entry.index);
  // why: what it does with more gas nobody saw
  return wanted !== null && granted !== null && granted < wanted ? granted : wanted;
};

/** The caller's own limit, or ours, with the estimate beside it. */
export const choose = (
  entry: Filled,
  answers: Pick<Facts, "estimate" | "chain" | "blockGasLimit" | "granted">,
): Filled["gas"] => {
  const result = entry.index === 0 ? answers.estimate : null;
  const [estimate, refusal] = [successOf(result), failureOf(result)];
  if (entry.input.gas !== null) return { value: entry.input.gas, by: "caller", evidence: "assumed", estimate, refusal };
  const value = limitFor(entry, estimate, answers);
  const { status, evidence } = entry.outcome;
  const isMeasured = status === "success" && evidence === "measured";
  const otherwise = estimate !== null ? "estimated" : value === null ? "unavailable" : evidence;
  return { value, by: "us", evidence: isMeasured ? "measured" : otherwise, estimate, refusal };
};

/** The caller's own limit, or none: where nobody estimates. */
export const unestimated = ({ input }: Case): Filled["gas"] => ({
  ...{ value: input.gas, by: input.gas === null ? "us" : "caller", estimate: null, refusal: null },
  evidence: input.gas === null ? "unavailable" : "assumed",
});

/** Zero and other bytes of the calldata. */
const bytesOf = (data: Hex): { readonly zero: number; readonly other: number } => {
  const bytes = hexToBytes(data);
  const zero = bytes.filter((byte) => byte === 0).length;
  return { zero, other: bytes.length - zero };
};

/** Gas by EIP-2, EIP-2028, EIP-2930, EIP-3860 and EIP-7702. */
const intrinsicGas = ({ to, data, accessList, authorizationList }: Transaction): number => {
  const { zero, other } = bytesOf(data);
  const keys = (accessList ?? []).reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  return (
    21_000 +
    (4 * zero + 16 * other) +
    (to === null ? 32_000 + 2 * Math.ceil((zero + other) / 32) : 0) +
    (2_400 * (accessList?.length ?? 0) + 1_900 * keys) +
    25_000 * (authorizationList?.length ?? 0)
  );
};

/** The least gas that calldata costs, by EIP-7623. */
const floorGas = ({ data }: Transaction): number => {
  const { zero, other } = bytesOf(data);
  return 21_000 + 10 * (zero + 4 * other);
};

/**
 * The refusal of a gas limit below the intrinsic cost, with both numbers where the node names none: the request's own
 * limit, and what our rule says it needs. Of a chain since Amsterdam, or where our rule finds the limit sufficient, the
 * need stays unknown.
 */
export const withIntrinsic = (failure: Verdict, input: Transaction, isAmsterdam: boolean): Verdict => {
  if (failure._tag !== "IntrinsicGasTooLow") return failure;
  const have = failure.have ?? input.gas;
  const least = Math.max(intrinsicGas(input), floorGas(input));
  const need = have === null || isAmsterdam || least <= have ? undefined : least;
  const want = failure.want ?? (need === undefined ? null : BigInt(need));
  return new IntrinsicGasTooLow({ have, want, raw: failure.raw });
};

/** Gas of a slot that was empty (EIP-2929; since Amsterdam EIP-8037). */
export const freshSlot = (fork: Rules["fork"]): bigint => (fork === "amsterdam" ? 97_920n : 22_100n);

/**
 * A limit that may do the same for less than half the gas, as where a call inside burns all that it gets: twice the least that
 * works, and so far above it that a 64th of the rest pays for a slot that was empty. Null = there is none. Where next to nothing
 * is left, and no estimate says less (geth has none below what was used), the least is taken to be twice that, so that half of
 * what comes of it still pays for a slot.
 */
export const frugalLimit = (
  { estimate, used, limit }: Pick<Gas, "estimate" | "used" | "limit">,
  fork: Rules["fork"],
): bigint | null => {
  if (used === null) return null;
  const slack = 64n * freshSlot(fork);
  const isSpent = used * 16n >= 15n * BigInts.min(limit ?? eip7825Cap, eip7825Cap);
  const least = isSpent && (estimate === null || estimate * 2n > used) ? 2n * slack : (estimate ?? used);
  const enough = BigInts.max(2n * least, least + slack);
  return 2n * enough <= BigInts.min(used, limit ?? used) ? enough : null;
};

/** The chosen limit beside what the run took. */
export const read = (
  { outcome, gas: { value, by, evidence, estimate, refusal } }: Filled,
  answers: Pick<Facts, "chain" | "blockGasLimit">,
): Gas => ({
  estimate,
  used: outcome.status === "success" ? outcome.gasUsed : null,
  peak: peakOf(outcome),
  limit: value,
  cap: capOf(estimate, answers),
  by,
  refusal,
  evidence,
});

/** A limit above what a block or a transaction may have. */
const checkCap = ({ index, gas: { value, estimate } }: Filled, answers: Pick<Facts, "chain" | "blockGasLimit">) => {
  const { chain, blockGasLimit } = answers;
  const cap = capOf(estimate, answers);
  const where = (evidence: Evidence) => ({ step: "estimate", transaction: index, evidence }) as const;
  if (value === null) return [];
  if (blockGasLimit !== null && value > blockGasLimit)
    return [fromError(new BlockGasLimitExceeded({ gas: value, limit: blockGasLimit }), "blocker", where("measured"))];
  if (cap === null || value <= cap) return [];
  const exceeded = new TxGasLimitTooHigh({ gas: value, limit: cap });
  const known = chain.txGasCapKnown;
  return [fromError(exceeded, known ? "blocker" : "warning", where(known ? "estimated" : "assumed"))];
};

/**
 * A failed estimate beside what the simulation said. The simulation is the stronger witness: beside a
 * failure of its own the estimate adds nothing; beside a success the disagreement is shown, but a node
 * that merely refuses to estimate costs one level of evidence.
 */
const checkRefusal = ({ index, outcome, gas: { refusal } }: Filled): ReadonlyArray<Finding> => {
  // why: a problem is told once, by the witness that knows more of it
  if (refusal === null || refusal._tag === outcome.failure?._tag) return [];
  const evidence = refusal._tag === "RpcError" ? "unavailable" : "estimated";
  const where = { step: "estimate", transaction: index, evidence } as const;
  // why: the estimate checks funds against a default gas or the allowance, which our own sum decides, and has no limit but the node's
  const isMinor =
    ["RpcError", "InsufficientFunds", "GasAllowanceExceeded", "IntrinsicGasTooLow"].includes(refusal._tag) ||
    outcome.failure !== null;
  return [fromError(refusal, isMinor ? "info" : outcome.status === "success" ? "warning" : "blocker", where)];
};

/**
 * You fixed the gas limit.
 * @figures gas("limit", 50_000n), gas("estimate", 61_400n)
 */
export const GasBelowEstimate = code("estimate", ["warning"], "GasBelowEstimate", [
  "the gas limit is below the node's estimate",
  "raise `gas`, or leave it out",
]);

/**
 * One transaction may have as much gas as EIP-7825 and the block allow.
 * @figures gas("limit", 16_777_216n), gas("with the whole buffer", 18_400_000n)
 */
export const GasBufferCut = code("estimate", ["info"], "GasBufferCut", [
  "the gas limit is at the maximum for one transaction, so its buffer is smaller than usual",
]);

/** Neither the estimate nor the simulation shows it. */
export const GasUnknown = code("estimate", ["unavailable"], "GasUnknown", [
  "the required gas is not known",
  "give `gas`, or use another node",
]);

/** True if a call inside burns more than half of a limit: geth's estimates have it in them, as if it were needed. */
const hasBurnt = ({ reason, gasUsed, calls }: CallFrame, limit: bigint): boolean =>
  (reason !== null && gasUsed !== null && 2n * gasUsed > limit) || calls.some((call) => hasBurnt(call, limit));

const checkLimit = (entry: Filled, answers: Pick<Facts, "chain" | "blockGasLimit">): ReadonlyArray<Finding> => {
  const { index, outcome } = entry;
  const { value: limit, by, estimate } = entry.gas;
  const where = (evidence: Evidence) => ({ step: "estimate", transaction: index, evidence }) as const;
  if (limit === null) return outcome.failure === null ? [GasUnknown.unavailable(where("unavailable"))] : [];
  if (outcome.status === "success" && outcome.gasUsed !== null && limit < outcome.gasUsed)
    return [fromError(new OutOfGas({ gasLimit: limit }), "blocker", where(outcome.evidence))];
  const isChosen = by === "us" && outcome.trace != null && hasBurnt(outcome.trace, limit);
  if (estimate !== null && limit < estimate && !isChosen)
    return [GasBelowEstimate.warning(where("estimated"), gas("limit", limit), gas("estimate", estimate))];
  if (by === "caller") return [];
  const [buffered, cap] = [wantedFor(entry, estimate), capOf(estimate, answers)];
  if (buffered === null || limit !== cap || limit >= buffered) return [];
  const cut = [gas("limit", limit), gas("with the whole buffer", buffered)];
  return [GasBufferCut.info(where(outcome.evidence), ...cut)];
};

/**
 * The library uses the larger one where it chooses the limit.
 * @figures gas("estimate", 210_000n), gas("from the simulation", 64_000n)
 */
export const GasWitnessesDisagree = code("estimate", ["info"], "GasWitnessesDisagree", [
  "the node's gas estimate and the simulated gas are far apart",
]);

/** The node's estimate and the simulation so far apart that the chosen limit is in doubt. */
const checkWitnesses = (entry: Filled): ReadonlyArray<Finding> => {
  const { index, input, code } = entry;
  const { estimate } = entry.gas;
  const own = ownNeed(entry, estimate);
  if (estimate === null || own === null || isPlain(input, code)) return [];
  if (estimate <= own * farApart && own <= estimate * farApart) return [];
  const numbers = [gas("estimate", estimate), gas("from the simulation", own)];
  return [GasWitnessesDisagree.info({ transaction: index, evidence: "measured" }, ...numbers)];
};

/**
 * True if estimate and simulation suggest that the outcome depends on gas: they are far apart, or the node
 * finds a limit that suffices below what the simulation used, so that with less gas something else succeeded.
 */
export const isLimitDoubtful = (entry: Filled): boolean => {
  const { estimate, by } = entry.gas;
  const used = entry.outcome.status === "success" ? entry.outcome.gasUsed : null;
  const isBelow = estimate !== null && used !== null && estimate < used;
  return by !== "caller" && (checkWitnesses(entry).length > 0 || isBelow);
};

/**
 * Reports problems of a chosen gas limit. Blockers: `TxGasLimitTooHigh`, `BlockGasLimitExceeded`,
 * `OutOfGas` when the limit is below what the simulation needs. A limit is never cut silently.
 */
export const check = (entry: Filled, answers: Pick<Facts, "chain" | "blockGasLimit">): ReadonlyArray<Finding> => [
  ...checkRefusal(entry),
  ...checkWitnesses(entry),
  ...checkCap(entry, answers),
  ...checkLimit(entry, answers),
];
