/** A proof: the exact requests asked, compared and judged; nothing is chosen in it but a wider gas limit. */
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
 * Keeps the earlier report's findings that still hold: failures, as information, for another source made up for them or
 * they are told again; and how a gas limit came about that is kept.
 */
const earlierFindings = (report: Draft): ReadonlyArray<Finding> =>
  report.findings.flatMap((finding) => {
    const { code, error, step, transaction } = finding;
    if (code === GasLimitWidened.code || code === GasLimitLowered.code) return [finding];
    return error?._tag === "RpcError" ? [fromError(error, "info", { step, transaction, evidence: "unavailable" })] : [];
  });

/** The block whose state a proof of our own stands on, where its scan saw it; null = what was simulated tells it. */
const standsOn = ({ header, report: { observed } }: Claim, { observed: scanned }: Claim["report"]): bigint | null => {
  const head = successOf(header)?.number ?? null;
  if (observed.blockTag !== "pending") return head;
  return head === scanned.latestNumber ? scanned.baseNumber : null;
};

/** True if a sealed state lacks what a sender has in one that is ordered before us. */
const isOwnLost = (claim: Claim): boolean =>
  pendingOf(claim.report, claim.chain) === "preconfirmed" && inFlightOf(claim) > 0;

/** A scan that the deadline left without its proof: what it said stays, and that nothing proved it. */
const keptFrom = (scanned: BundleReport, late: RpcError, ledger: Report["ledger"]): BundleReport =>
  judged({ ...scanned, ledger }, [
    ...scanned.findings,
    fromError(late, "unavailable", { ...where, evidence: "unavailable" }),
  ]);

/** A report that nobody simulates: what it says stays, and that nothing proves it, nor asks what it left out. */
const unproven = (report: BundleReport, active: ActiveSteps): BundleReport => {
  const { without } = report.steps;
  const steps: ActiveSteps = new Set([...active].filter((name) => !without.some((omitted) => omitted === name)));
  return judged({ ...report, stage: "scanned", steps: { ...report.steps, without: leftOutOf(steps) } }, [
    // why: how bad it is what was left out is ours to say, not that of a report from outside
    ...report.findings.filter(({ code }) => code !== LeftOut.code),
    ...checkLeftOut(steps, report.transactions),
  ]);
};

/**
 * Either the latest block was used instead, or the outcome is not certain.
 * @unavailable where the sealed block could not stand in for it
 */
export const PendingMoved = code("proof", ["info", "unavailable"], "PendingMoved", [
  "the pending state kept changing while it was simulated",
  "run `prove` again if the sender has transactions in flight",
]);

/**
 * The node has no tracer, or none that agrees with the simulation. What fails inside is then known by events and return data
 * alone.
 */
export const CallsNotSeen = code("simulate", ["info"], "CallsNotSeen", [
  "no trace showed the calls inside",
  "use a node with `debug_traceCall`; the verdict does not depend on it",
]);

/** The report of what a proof's runs told on one ground. */
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
  return (yield* makeDraft(
    bundle,
    answers,
    {
      ...{ options: report.options, described: report.chain ?? null, policies, measure, now },
      ...{
        isForkUsed,
        sighted: yield* sightedSoFar,
        since: report.observed.latestNumber,
        // why: a number that we have set does not tell what the node stood on
        standsOn: scanned === null ? null : standsOn(claim, report),
      },
      // why: a proof whose run got no answer has proven nothing
      stage: answers.run === null ? "scanned" : "proven",
      worlds: [...worldsIn(state), ...placed],
      ...{ reads: claim.reads, until: until.length === 0 ? null : Math.min(...until), traced: proof.traced.length },
      named: report.observed.named,
      own: { names: own.names, check },
      others: others.map((run) => ({ run, moved: compared?.other == null ? null : state.effectsIn(run) })),
      earlier: earlierFindings(report),
      stateChanges: [...changed.changes, ...unseenIn(claim, proof.traced.length, changed.isRead, runs)],
      findings,
    },
    answers.run === null ? null : state.effectsIn(answers.run),
  )).whole(ledger);
});

/** Input of a proof beside its report. */
interface Proving extends Pick<Unplaced, "policies" | "scanned"> {
  /** Findings made before anything was asked. */
  readonly found: ReadonlyArray<Finding>;
  /** The report itself, where it is the answer. */
  readonly whole: Effect.Effect<BundleReport, never, Rpc>;
}

/** The subject of a proof, beside the ground that it stands on: a report as it would be signed, and what has to be measured. */
export const aboutOf = Effect.fnUntraced(function* (
  report: Draft,
  cases: Bundle<Signed>,
  { policies, scanned, looks, settled }: Pick<Unplaced, "policies" | "scanned" | "looks" | "settled">,
) {
  const steps = yield* activeSteps;
  // why: what a report from outside says of its calldata is not believed
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

/** Proves a report whose requests have no hole; one that has a hole is returned as it is. `gas` has the limits to be proven in their place. */
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
  // why: a clearance is no younger than our own answers, however long users' steps take
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
  // why: a sealed block may clear what moves too fast to be held still, and refuse nothing for what it lacks
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
 * Proves what a report has chosen. Where its gas limit turned out to decide the outcome, a wider one is chosen and proven,
 * once, if the scan is of this very call; of any other report that is proof of nothing. So is a smaller one, where a call inside
 * burns gas.
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
  // why: users' own steps are asked once for a proof and all that it asks again
  const own = yield* Effect.cached(askUserSteps(bundle, { chainId, block, stage: "proof" }, "proof", steps.with));
  let made = yield* withRoomFor(report, proveOnce(report, proving, own, null));
  // why: smaller limits at most, and then those that they stood in for
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
