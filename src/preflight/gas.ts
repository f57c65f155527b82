/**
 * Which gas limit is handed out where the chosen one may decide what the transactions do: the named runs
 * `gas`, asked only when the exact requests did not do what they did with ample gas.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { eip7825Cap } from "../Chains.js";
import { gas } from "../primitives/statement.js";
import { note, type Finding } from "../report/finding.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import { isPlain } from "../steps/estimate.js";
import type { Bundle } from "../steps/reading/bundle.js";
import { successOf, type Heard } from "../steps/reading/heard.js";
import {
  between,
  firstThatHolds,
  isSame,
  settleLimit,
  type Settled,
  type Tried,
} from "../steps/reading/sameOutcome.js";
import type { Run } from "../steps/simulate.js";
import type { Limits, Signed } from "./choose.js";

/** The wider limit beside the chosen one, in percent on top of it. */
const widePercent = 50n;
/** Limits tried side by side when the wider one is not enough. */
const searched = 6;

/** Runs the exact requests at these limits, in the block context of `exact`. */
export type AskAt = (limits: ReadonlyArray<Limits>) => Effect.Effect<ReadonlyArray<Heard<Run>>, never, Rpc>;

const least = (...values: ReadonlyArray<bigint>): bigint => values.reduce((a, b) => (a < b ? a : b));

/** The most gas a case could have by cap, block and what its payer holds beyond the required. */
const ampleFor = (
  { signer, input, gas: chosen, request, said }: Signed,
  report: Report,
  bundle: Bundle<Signed>,
): bigint => {
  if (isPlain(input, said.code)) return request.gas;
  const room = report.observed.gasLimit;
  const share = room === null ? eip7825Cap : room / BigInt(bundle.length);
  const cap = said.gas.cap ?? eip7825Cap;
  const funds = report.funds.find(({ account }) => account === signer);
  const [balance, required] = [funds?.balance ?? null, funds?.required ?? null];
  const spare = balance === null || required === null || balance < required ? 0n : balance - required;
  const price = request.gasPrice ?? request.maxFeePerGas ?? 0n;
  const own = BigInt(bundle.filter((one) => one.signer === signer).length);
  const affordable = price === 0n ? cap : request.gas + spare / (price * own);
  const most = least(affordable, cap, share);
  return most > (chosen.value ?? 0n) ? most : request.gas;
};

/** The limits of one case, from the chosen one upwards; one that the caller fixed is neither `wide` nor `most`. */
interface Rungs {
  readonly tight: bigint;
  /** Wider ones that could be handed out. */
  readonly wide: bigint;
  readonly most: bigint;
  /** What is compared with. */
  readonly ample: bigint;
}

const isEqual = (ladder: ReadonlyArray<Rungs>, a: keyof Rungs, b: keyof Rungs): boolean =>
  ladder.every((rungs) => rungs[a] === rungs[b]);

/** The limits of every case; null where trying them would not help: nothing is executed, or there is no more gas to give. */
const ladderOf = (report: Report, bundle: Bundle<Signed>): Arr.NonEmptyReadonlyArray<Rungs> | null => {
  const ladder = Arr.map(bundle, (one): Rungs => {
    const ample = ampleFor(one, report, bundle);
    const tight = one.request.gas;
    return one.gas.by === "caller"
      ? { tight, wide: tight, most: tight, ample }
      : { tight, wide: least((tight * (100n + widePercent)) / 100n, ample), most: ample, ample };
  });
  return isEqual(ladder, "ample", "tight") ? null : ladder;
};

const triedIn = (heard: Heard<Run> | undefined): Tried | null => {
  const run = successOf(heard);
  return run === null ? null : { block: run.block, outcomes: run.readings.map(({ outcome }) => outcome) };
};

/** Whether a case took all the gas it was given and failed: with more it might not. */
const isExhausted = (run: Run | null): boolean =>
  run !== null &&
  Arr.zip(run.readings, run.plan.calls).some(
    ([{ outcome }, { gas: limit }]) =>
      outcome.status !== "success" && outcome.gasUsed !== null && outcome.gasUsed >= limit,
  );

/**
 * The limits of a run with ample gas that must be asked beside the exact one, for the scan had none: it ran
 * at the limits that the caller fixed. Null where it did, or where there is no more gas to give.
 */
export const ampleBeside = (report: Report, bundle: Bundle<Signed>): Limits | null => {
  const isFixed = report.stage === "scanned" && bundle.some(({ gas: chosen }) => chosen.by === "caller");
  const ladder = isFixed ? ladderOf(report, bundle) : null;
  return ladder === null ? null : Arr.map(ladder, ({ ample }) => ample);
};

/**
 * Whether gas may decide: the exact requests were refused or ran dry, or did not do what they did with
 * ample gas (in the run `beside`, else in the scan), to the last byte.
 */
export const isInDoubt = (
  bundle: Bundle<Signed>,
  exact: Heard<Run>,
  next: Heard<Run>,
  beside: Heard<Run> | null,
): boolean => {
  if (Result.isFailure(exact))
    // the node refuses it for its gas alone: more of it may do
    return exact.failure._tag === "IntrinsicGasTooLow" || exact.failure._tag === "OutOfGas";
  if (isExhausted(exact.success) || isExhausted(successOf(next))) return true;
  const ample = successOf(beside)?.readings ?? bundle.map(({ said }) => said);
  return !isSame(
    ample.map(({ outcome }) => outcome),
    exact.success.readings.map(({ outcome }) => outcome),
  );
};

/** What the runs at other limits showed. */
export interface Gas {
  /** Limits that hold where the chosen ones do not; null = the chosen ones hold, or none is better. */
  readonly limits: Limits | null;
  readonly findings: ReadonlyArray<Finding>;
}

const works = (tried: Tried | null): boolean =>
  tried !== null && tried.outcomes.every(({ status }) => status === "success");

/** Which of the limits `handed` holds: `tried` are the runs at them and, last, the one with ample gas. */
const settle = (tried: ReadonlyArray<Tried | null>, handed: ReadonlyArray<Limits>, next: Run | null): Settled => {
  const [tight = null] = tried;
  if (tight === null) return { kind: "take", index: Math.max(0, tried.slice(0, handed.length).findIndex(works)) };
  const settled = settleLimit(tried.slice(0, -1), tried[tried.length - 1] ?? null);
  // why: a limit that is used up in the other block context does not hold until inclusion
  return settled.kind === "take" && settled.index === 0 && isExhausted(next) ? { kind: "take", index: 1 } : settled;
};

/** Asks at wider limits, and says which of them hold: one round, two where they must be searched for. */
export const settleGas = Effect.fnUntraced(function* (
  report: Report,
  bundle: Bundle<Signed>,
  next: Heard<Run>,
  askAt: AskAt,
): Effect.fn.Return<Gas, never, Rpc> {
  const ladder = ladderOf(report, bundle);
  if (ladder === null) return { limits: null, findings: [] };
  const at = (rung: keyof Rungs): Limits => Arr.map(ladder, (rungs) => rungs[rung]);
  const [tight, ample] = [at("tight"), at("ample")];
  const handed = [
    tight,
    ...(isEqual(ladder, "wide", "tight") ? [] : [at("wide")]),
    ...(isEqual(ladder, "most", "wide") || isEqual(ladder, "most", "tight") ? [] : [at("most")]),
  ];
  // why: ample gas is asked for once, as what is compared with; that it agrees with itself says nothing
  const isAmpleHanded = isEqual(ladder, "most", "ample");
  const heard = yield* askAt(isAmpleHanded ? handed : [...handed, ample]);
  const tried = heard.map(triedIn);
  const settled = settle(tried, handed, successOf(next));
  if (settled.kind === "take")
    return { limits: settled.index === 0 ? null : (handed[settled.index] ?? null), findings: [] };
  const reference = tried[tried.length - 1] ?? null;
  if (settled.kind === "dependent" || !isAmpleHanded || reference === null) {
    const code = settled.kind === "dependent" ? "GasDependent" : "GasHeadroomThin";
    const numbers = [...tight.map((one) => gas("limit", one)), ...ample.map((one) => gas("compared with", one))];
    return { limits: null, findings: [note(code, "warning", { evidence: "measured" }, ...numbers)] };
  }
  const rungs = Arr.makeBy(searched, (rung) =>
    Arr.map(ladder, ({ wide, most }) => between(wide, most, searched)[rung] ?? wide),
  );
  const found = (yield* askAt(rungs)).map(triedIn);
  // the last rung is ample gas again, in the same block context as the others
  const index = firstThatHolds(found, found[found.length - 1] ?? reference, tried[0] ?? null);
  return { limits: rungs[index] ?? null, findings: [] };
});
