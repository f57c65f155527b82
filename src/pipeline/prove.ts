/** A proof: the exact requests are simulated, compared and judged. It chooses nothing but another gas limit. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { turn } from "../primitives/effects.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import type { RpcError } from "../errors/rpc.js";
import type { Address } from "../primitives/hex.js";
import { gas, text } from "../primitives/statement.js";
import { fromError, code, type Finding } from "../report/finding.js";
import type { BundleReport, Draft, Report } from "../report/schema.js";
import { chainsInUse } from "../eth/chains.js";
import type { Rpc } from "../rpc/index.js";
import { failureOf, successOf } from "../steps/reading/askResult.js";
import { type ActiveSteps, figuresOf } from "./answers.js";
import type { Own } from "./own.js";
import { isCarrier, type Bundle } from "../steps/reading/bundle.js";
import { signedOf, withLimits, type Signed } from "./choose.js";
import { unseenIn } from "./accessLists.js";
import { GasLimitLowered, GasLimitWidened, undoubted, widened, type Gas } from "./gas/doubt.js";
import { checkRuns, comparisonOf, worldsIn } from "./worlds/contrast.js";
import { ledgerSoFar, sightedSoFar, withRoomFor } from "./rounds.js";
import { checkSecond } from "../steps/reading/secondReading.js";
import { stateChangesIn } from "../steps/reading/stateChanges.js";
import { measureOfReport, MeasureLimits } from "./limits.js";
import { isWorthTracing } from "./extras/stateTraces.js";
import { checkRan } from "./observe.js";
import {
  checkAhead,
  checkApart,
  checkBurnt,
  checkMeasured,
  checkRequests,
  checkStates,
  closesIn,
  spanIn,
  worldsOfPlaced,
} from "./checkProof.js";
import { checkGround, proveOnStableHead } from "./proof.js";
import { answersIn, type ProofState } from "./proofState.js";
import { inFlightOf, subjectsOf, type Unplaced, type Claim } from "./proofPlans.js";
import { judged, makeDraft } from "./report.js";
import { askUserSteps } from "./later.js";
import { CurrentSignings, merged, parted } from "./signings.js";
import { withPretended, withTokens } from "./prepare.js";
import { checkLeftOut, LeftOut, leftOutOf, activeSteps } from "./steps.js";
import { comparedIn, pendingOf, tagOf } from "./worlds/contexts.js";
import { TokenCache } from "../steps/reading/tokens.js";

const where = { step: "proof", evidence: "measured" } as const;

/**
 * The earlier report's findings that still hold: the reason of its gas limit, and failed requests. These are information
 * now: another source replaced the answer, or this proof reports the failure again.
 */
const earlierFindings = (report: Draft): ReadonlyArray<Finding> =>
  report.findings.flatMap((finding) => {
    const { code, error, step, transaction } = finding;
    if (code === GasLimitWidened.code || code === GasLimitLowered.code) return [finding];
    return error?._tag === "RpcError" ? [fromError(error, "info", { step, transaction, evidence: "unavailable" })] : [];
  });

/** The block whose state the proof of our own scan stands on, if the scan saw it; null = read it from the simulation. */
const standsOn = ({ header, report: { observed } }: Claim, { observed: scanned }: Claim["report"]): bigint | null => {
  const head = successOf(header)?.number ?? null;
  if (observed.blockTag !== "pending") return head;
  return head === scanned.latestNumber ? scanned.baseNumber : null;
};

/** True if pending state is ordered before ours and has in-flight transactions of a sender, which the latest block lacks. */
const isOwnLost = (claim: Claim): boolean =>
  pendingOf(claim.report, claim.chain) === "preconfirmed" && inFlightOf(claim) > 0;

/** A scan whose proof missed the deadline: the scan is kept, with the timeout as a finding. */
const keptFrom = (scanned: BundleReport, late: RpcError, ledger: Report["ledger"]): BundleReport =>
  judged({ ...scanned, ledger }, [
    ...scanned.findings,
    fromError(late, "unavailable", { ...where, evidence: "unavailable" }),
  ]);

/** A report in a pipeline without the step `simulate`: it stays unproven, with findings about the steps left out. */
const unproven = (report: BundleReport, active: ActiveSteps): BundleReport => {
  const { without } = report.steps;
  const steps: ActiveSteps = new Set([...active].filter((name) => !without.some((omitted) => omitted === name)));
  return judged({ ...report, stage: "scanned", steps: { ...report.steps, without: leftOutOf(steps) } }, [
    // why: a report from outside must not choose how severe its omissions are
    ...report.findings.filter(({ code }) => code !== LeftOut.code),
    ...checkLeftOut(steps, report.transactions),
  ]);
};

/**
 * Either the latest block was used instead, or the outcome is not certain.
 * @unavailable where the latest block could not replace it
 */
export const PendingMoved = code("proof", ["info", "unavailable"], "PendingMoved", [
  "the pending state kept changing while it was simulated",
  "run `prove` again if the sender has transactions in flight",
]);

/**
 * The node has no tracer, or none that agrees with the simulation. Inner failures are then known by events and return data
 * alone.
 */
export const CallsNotSeen = code("simulate", ["info"], "CallsNotSeen", [
  "no trace showed the calls inside",
  "use a node with `debug_traceCall`; the verdict does not depend on it",
]);

/** The report of a proof's runs on one state. */
const assembleProof = Effect.fnUntraced(function* (
  about: Omit<Unplaced, "askedAt"> & {
    readonly found: ReadonlyArray<Finding>;
    readonly own: Own;
    readonly check: Effect.Success<Own["judge"]>;
    readonly ledger: Report["ledger"];
    readonly ran: Parameters<typeof checkRan>[1];
    readonly now: number;
    readonly bracket: ProofState["bracket"];
  },
  state: ProofState,
  further: ReadonlyArray<Finding>,
): Effect.fn.Return<BundleReport> {
  const { report, bundle: signed, measure, policies, scanned, found, own, check, ledger, ran, now, bracket } = about;
  const { claim, proof, answers, bundle, gas: limits, isForkUsed } = state;
  const compared = comparisonOf(state);
  const ends = [closesIn(bracket, state, now), spanIn(state)];
  const until = ends.flatMap((end) => end.until ?? []);
  const [next, reader] = [proof.runs.get("next"), proof.runs.get("readerOnly") ?? null];
  const between = answersIn(proof, comparedIn(claim.worlds));
  const changed = stateChangesIn(claim, { ...proof, run: figuresOf(proof), reader, next, between }, bundle);
  yield* turn;
  const placed = worldsOfPlaced(claim, answers.run, proof.runs);
  const others = [next, ...between].flatMap((result) => successOf(result) ?? []);
  const runs = answers.run === null ? others : [answers.run, ...others];
  const isDark = isWorthTracing(claim, true, proof.traces);
  const findings = [
    ...found,
    ...further,
    ...limits.findings,
    ...checkRan(
      report.chainId,
      ran.filter((run) => run !== answers.run && run !== answers.reader),
    ),
    ...checkRuns(state),
    ...(isDark ? [CallsNotSeen.info({ evidence: "unavailable" })] : []),
    ...ends.flatMap((end) => end.findings),
    ...checkRequests(signed),
    ...checkAhead(state),
    ...checkStates(claim),
    ...(signed.length < 2 ? [] : checkApart(claim, placed)),
    ...checkMeasured(state),
    ...checkBurnt(state),
    ...changed.findings,
    ...checkSecond(measure.holdings, runs),
  ];
  const moved = answers.run === null ? null : state.effectsIn(answers.run);
  return (yield* makeDraft(
    bundle,
    answers,
    {
      ...{ options: report.options, described: report.chain ?? null, policies, measure, now },
      ...{
        isForkUsed,
        sighted: yield* sightedSoFar,
        since: report.observed.latestNumber,
        // why: a block number that we set does not show which state the node used
        standsOn: scanned === null ? null : standsOn(claim, report),
      },
      // why: a proof whose run got no answer has proven nothing
      stage: answers.run === null ? "scanned" : "proven",
      worlds: [...worldsIn(state), ...placed],
      ...{ reads: claim.reads, until: until.length === 0 ? null : Math.min(...until), traced: proof.traced.length },
      named: report.observed.named,
      own: { names: own.names, check },
      others: others.map((run) => {
        const moved = compared?.other == null ? null : state.effectsIn(run);
        return { run, moved: moved?.shown ?? moved };
      }),
      earlier: earlierFindings(report),
      stateChanges: [...changed.changes, ...unseenIn(claim, proof.traced.length, changed.isRead, runs)],
      findings,
    },
    moved?.shown ?? moved,
  )).whole(ledger);
});

/** Input of a proof beside its report. */
interface Proving extends Pick<Unplaced, "policies" | "scanned"> {
  /** Findings from before the first request. */
  readonly found: ReadonlyArray<Finding>;
  /** The report itself, for the cases in which it is returned unproven. */
  readonly whole: Effect.Effect<BundleReport, never, Rpc>;
}

/** The subject of a proof: a report as it would be signed, and the measurements that it needs. The state is chosen later. */
export const aboutOf = Effect.fnUntraced(function* (
  report: Draft,
  cases: Bundle<Signed>,
  { policies, scanned, looks, settled }: Pick<Unplaced, "policies" | "scanned" | "looks" | "settled">,
) {
  const steps = yield* activeSteps;
  // why: a report from outside may lie about its calldata
  const signed = scanned === null ? cases : Arr.map(cases, (entry) => ({ ...entry, call: entry.said.call }));
  const chains = yield* chainsInUse;
  const limits = yield* Effect.service(MeasureLimits);
  const names = yield* Effect.service(TokenCache);
  const chain = chains(report.chainId);
  const earlierRun = Arr.map(signed, (entry) => ({ ...entry, outcome: entry.said.outcome, transfers: [] }));
  const measured = measureOfReport(report, earlierRun, policies, limits, steps, chain, scanned?.codes);
  const measure = { ...measured, named: yield* names.recall(report.chainId, measured.tokens) };
  return {
    ...{ report, bundle: signed, measure, policies, chain, scanned, looks, steps, settled },
    subjects: L1Fee.needsBytes(chain, scanned?.noFeeOracle ?? null) ? subjectsOf(signed) : new Map<never, never>(),
    balanceOf: (account: Address) => report.funds.find((funds) => funds.account === account)?.balance ?? null,
    asksBare: scanned === null || signed.some((entry) => entry.gas.by === "caller" && !isCarrier(entry)),
  };
});

/** Proves a report whose requests are complete; returns any other as it is. `gas.limits` are the limits to prove instead. */
const proveOnce = Effect.fnUntraced(function* (
  report: Draft<BundleReport>,
  { policies, found, scanned, whole }: Proving,
  request: Effect.Effect<Own, never, Rpc>,
  widened: Unplaced["settled"],
): Effect.fn.Return<{ readonly report: BundleReport; readonly gas: Gas }, never, Rpc> {
  const cases = signedOf(report);
  if (cases === null) return { report: yield* whole, gas: undoubted };
  const steps = yield* activeSteps;
  if (!steps.has("simulate")) return { report: unproven(yield* whole, steps), gas: undoubted };
  const own = yield* request;
  const names = yield* Effect.service(TokenCache);
  const signings = report.signings.length > 0 ? yield* Effect.service(CurrentSignings) : null;
  const looks = [...withPretended(own.looks, report.options), ...(signings?.looks ?? [])];
  const about = yield* aboutOf(report, cases, { policies, scanned, looks, settled: widened });
  yield* turn;
  const state = yield* proveOnStableHead(about);
  yield* turn;
  const late = failureOf(figuresOf(state.proof));
  if (scanned !== null && late?._tag === "RpcError" && late.reason._tag === "Timeout")
    return { report: keptFrom(yield* whole, late, yield* ledgerSoFar), gas: undoubted };
  // why: the clearance counts from our own answers, however long a caller's steps take
  const now = yield* Clock.currentTimeMillis;
  const check = yield* own.judge;
  const ledger = yield* ledgerSoFar;
  const ran = [...state.ran, ...[...state.proof.runs.values()].map(successOf)];
  const [pending] = state.pending;
  const context = { ...about, found, own, check, ledger, ran, now, bracket: state.bracket };
  const pendingMoved = (severity: "info" | "unavailable", stead: string | null = null) => [
    PendingMoved[severity]({ evidence: "measured" }, text("", stead)),
  ];
  const outcome = yield* assembleProof(context, state, [
    ...checkGround(state),
    ...state.findings,
    ...(pending === undefined ? [] : pendingMoved("info", "the latest block was used instead")),
  ]);
  // why: the latest block may clear a request while pending state keeps moving, but not refuse one for state that it lacks
  const isAnswer = pending === undefined || (outcome.verdict !== "blocked" && !isOwnLost(state.claim));
  const proven = isAnswer ? outcome : yield* assembleProof(context, pending, pendingMoved("unavailable"));
  yield* names.keep(
    proven.chainId,
    proven.tokens.filter(({ token }) => !about.measure.named.some((info) => info.token === token)),
  );
  return { report: proven, gas: (isAnswer ? state : pending).gas };
});

/**
 * State moved since the scan. A proof never changes the gas limit.
 * @figures gas("gas that holds", 74_000n)
 */
export const ScanAgain = code("estimate", ["unavailable"], "ScanAgain", [
  "the gas limit is no longer enough: with more gas the transaction does something else",
  "run `preflight`, which chooses a wider limit and proves it",
]);

/**
 * Proves the values that a report has chosen. If the gas limit decides the outcome, a wider one is chosen and proven once;
 * if an inner call burns gas, a smaller one. Both happen only for a scan of the same call: another report gets `ScanAgain`.
 */
export const proveChosen = Effect.fnUntraced(function* (
  given: Draft<BundleReport>,
  proving: Proving,
): Effect.fn.Return<BundleReport, never, Rpc> {
  const chosen = merged(given);
  const { chainId, transactions, steps } = chosen;
  const chains = yield* chainsInUse;
  const block = proving.scanned === null ? (chosen.options.block ?? chains(chainId).blockTag) : tagOf(chosen);
  const report = proving.scanned === null ? { ...chosen, options: yield* withTokens(chosen.options, block) } : chosen;
  const bundle = Arr.map(transactions, ({ input }) => input);
  // why: a caller's steps run once for a proof and its repetitions
  const own = yield* Effect.cached(askUserSteps(bundle, { chainId, block, stage: "proof" }, "proof", steps.with));
  let made = yield* withRoomFor(report, proveOnce(report, proving, own, null));
  // why: a second repetition only where smaller limits failed: it restores the larger ones
  while (proving.scanned !== null && made.gas.limits !== null) {
    const { limits, larger, findings } = made.gas;
    const other = withLimits(merged(yield* proving.whole), limits);
    const settled = { ...undoubted, larger, findings: larger === null ? [widened()] : findings };
    made = yield* proveOnce(other, { ...proving, whole: Effect.succeed(parted(other)) }, own, settled);
  }
  const { limits } = made.gas;
  if (limits === null) return made.report;
  const holds = limits.map((limit) => gas("gas that holds", limit));
  return judged(made.report, [...made.report.findings, ScanAgain.unavailable({ evidence: "measured" }, ...holds)]);
});
