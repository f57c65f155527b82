/**
 * Whether the chosen gas limits decide what the transactions do, and which would not: the named runs
 * `gas`, asked only when the exact requests did not do what they did with ample gas.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { eip7825Cap } from "../Chains.js";
import { figures, gas } from "../primitives/statement.js";
import { note, type Finding } from "../report/finding.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import { isPlain } from "../steps/estimate.js";
import type { Bundle } from "../steps/reading/bundle.js";
import {
  between,
  firstThatHolds,
  isSame,
  settleLimit,
  type Settled,
  type Tried,
} from "../steps/reading/sameOutcome.js";
import type { Run } from "../steps/simulate.js";
import type { Heard } from "./answers.js";
import type { Signed } from "./choose.js";

/** The wider limit beside the chosen one, in percent on top of it. */
const widePercent = 50n;
/** Limits tried side by side when the wider one is not enough. */
const searched = 6;

/** A limit per case, in the order of the bundle. */
export type Limits = Arr.NonEmptyReadonlyArray<bigint>;

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
  const spare =
    funds === undefined || funds.balance === null || funds.required === null || funds.balance < funds.required
      ? 0n
      : funds.balance - funds.required;
  const price = request.gasPrice ?? request.maxFeePerGas ?? 0n;
  const own = BigInt(bundle.filter((one) => one.signer === signer).length);
  const affordable = price === 0n ? cap : request.gas + spare / (price * own);
  const most = least(affordable, cap, share);
  return most > (chosen.value ?? 0n) ? most : request.gas;
};

/** The limits to run side by side. */
interface Ladder {
  readonly tight: Limits;
  /** Wider ones that could be handed out, the tightest first; those that the caller fixed stay. */
  readonly wider: ReadonlyArray<Limits>;
  /** What is compared with. */
  readonly ample: Limits;
}

const isEqual = (a: Limits, b: Limits): boolean => a.every((limit, index) => limit === b[index]);

/** The ladder of a report; null where none would help: nothing is executed, or there is no more gas to give. */
const ladderOf = (report: Report, bundle: Bundle<Signed>): Ladder | null => {
  const tight = Arr.map(bundle, ({ request }) => request.gas);
  const ample = Arr.map(bundle, (one) => ampleFor(one, report, bundle));
  if (isEqual(ample, tight)) return null;
  const free = (limitOf: (limit: bigint, most: bigint) => bigint): Limits =>
    Arr.map(Arr.zip(bundle, ample), ([{ gas: chosen, request }, most]) =>
      chosen.by === "caller" ? request.gas : limitOf(request.gas, most),
    );
  const wide = free((limit, most) => least((limit * (100n + widePercent)) / 100n, most));
  const most = free((_, limit) => limit);
  return {
    tight,
    wider: [wide, most].filter(
      (limits, index) => !isEqual(limits, index === 0 ? tight : wide) && !isEqual(limits, tight),
    ),
    ample,
  };
};

/** Limits between the wider and the ample ones, when only ample gas does what ample gas does. */
const searchBetween = ({ tight, wider }: Ladder): ReadonlyArray<Limits> => {
  const wide = wider[0] ?? tight;
  const ladders = Arr.map(Arr.zip(wide, wider[wider.length - 1] ?? wide), ([from, to]) => ({
    from,
    rungs: between(from, to, searched),
  }));
  return Array.from({ length: searched }, (_, rung) => Arr.map(ladders, ({ from, rungs }) => rungs[rung] ?? from));
};

const triedIn = (heard: Heard<Run> | undefined): Tried | null =>
  heard !== undefined && Result.isSuccess(heard)
    ? { block: heard.success.block, outcomes: heard.success.readings.map(({ outcome }) => outcome) }
    : null;

/** Whether a case took all the gas it was given and failed: with more it might not. */
const isExhausted = (run: Run): boolean =>
  run.readings.some(
    ({ outcome: { status, gasUsed } }, index) =>
      status !== "success" && gasUsed !== null && gasUsed >= (run.plan.calls[index]?.gas ?? gasUsed + 1n),
  );

/** A run that the node refuses for its gas alone: more of it may do. */
const isTooTight = (heard: Heard<Run>): boolean =>
  Result.isFailure(heard) && (heard.failure._tag === "IntrinsicGasTooLow" || heard.failure._tag === "OutOfGas");

/**
 * The limits of a run with ample gas that must be asked beside the exact one, for the scan had none: it ran
 * at the limits that the caller fixed. Null where it did, or where there is no more gas to give.
 */
export const ampleBeside = (report: Report, bundle: Bundle<Signed>): Limits | null =>
  report.stage === "scanned" && bundle.some(({ gas: chosen }) => chosen.by === "caller")
    ? (ladderOf(report, bundle)?.ample ?? null)
    : null;

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
  if (isTooTight(exact)) return true;
  if (Result.isFailure(exact)) return false;
  if (isExhausted(exact.success) || (Result.isSuccess(next) && isExhausted(next.success))) return true;
  const ample = beside === null ? null : triedIn(beside);
  return !isSame(
    ample?.outcomes ?? bundle.map(({ said: { outcome } }) => outcome),
    exact.success.readings.map(({ outcome }) => outcome),
  );
};

/** What the runs at other limits showed. */
export interface Gas {
  /** Limits that hold where the chosen ones do not; null = the chosen ones hold, or none is better. */
  readonly limits: Limits | null;
  readonly findings: ReadonlyArray<Finding>;
}

const gasNote = (
  code: "GasDependent" | "GasHeadroomThin",
  { tight, ample }: Ladder,
  sentence: string,
  remedy: string,
): Finding =>
  note(
    code,
    "warning",
    {
      sentence,
      numbers: figures(
        ...tight.map((limit) => gas("limit", limit)),
        ...ample.map((limit) => gas("compared with", limit)),
      ),
      remedy,
    },
    { step: "estimate", evidence: "measured" },
  );

const works = (tried: Tried | null): boolean =>
  tried !== null && tried.outcomes.every(({ status }) => status === "success");

/** `heard`: the chosen limits first, ample gas last. */
const settle = (heard: ReadonlyArray<Heard<Run>>, isAmpleHanded: boolean, next: Heard<Run>): Settled => {
  const tried = heard.map(triedIn);
  const [tight = null] = tried;
  const handed = isAmpleHanded ? tried : tried.slice(0, -1);
  if (tight === null) return { kind: "take", index: Math.max(0, handed.findIndex(works)) };
  const settled = settleLimit(tried.slice(0, -1), tried[tried.length - 1] ?? null);
  // why: a limit that is used up in the other block context does not hold until inclusion
  return settled.kind === "take" && settled.index === 0 && Result.isSuccess(next) && isExhausted(next.success)
    ? { kind: "take", index: 1 }
    : settled;
};

/** Asks at wider limits, and says which of them hold: one round, two where they must be searched for. */
export const settleGas = Effect.fnUntraced(function* (
  report: Report,
  bundle: Bundle<Signed>,
  next: Heard<Run>,
  askAt: AskAt,
): Effect.fn.Return<Gas, never, Rpc> {
  const ladder = ladderOf(report, bundle);
  const stay = (...findings: ReadonlyArray<Finding>): Gas => ({ limits: null, findings });
  if (ladder === null) return stay();
  const { tight, wider, ample } = ladder;
  // ample gas agrees with itself, which says nothing: it is asked for once, as what is compared with
  const compared = wider.filter((limits) => !isEqual(limits, ample));
  const heard = yield* askAt([tight, ...compared, ample]);
  const isAmpleHanded = compared.length < wider.length;
  const settled = settle(heard, isAmpleHanded, next);
  if (settled.kind === "dependent")
    return stay(
      gasNote(
        "GasDependent",
        ladder,
        "what the transaction returns or emits follows the gas it is given",
        "read the outcome as that of exactly this gas limit",
      ),
    );
  if (settled.kind === "take")
    return { limits: settled.index === 0 ? null : (wider[settled.index - 1] ?? null), findings: [] };
  const reference = triedIn(heard[heard.length - 1]);
  if (!isAmpleHanded || reference === null)
    return stay(
      gasNote(
        "GasHeadroomThin",
        ladder,
        "with more gas the transaction would do something else: an inner call may run out of it",
        "raise the gas limit, or leave `gas` out",
      ),
    );
  const rungs = searchBetween(ladder);
  const found = (yield* askAt(rungs)).map(triedIn);
  // the last rung is ample gas again, in the same block context as the others
  const index = firstThatHolds(found, found[found.length - 1] ?? reference, triedIn(heard[0]));
  return { limits: rungs[index] ?? null, findings: [] };
});
