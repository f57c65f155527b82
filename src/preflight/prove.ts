/** A proof: the exact requests asked, compared and judged; nothing is chosen in it but a wider gas limit. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { Chains } from "../Chains.js";
import { SimulationDiverged } from "../errors/verdicts.js";
import { gas } from "../primitives/statement.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Outcome } from "../report/parts.js";
import type { Policy } from "../report/policy.js";
import type { Ledger, Observed, Report } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import { ranIn, type Run } from "../steps/simulate.js";
import { type Bundle, type Filled } from "../steps/reading/bundle.js";
import { successOf, type Heard } from "../steps/reading/heard.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { differences, isSameShape } from "../steps/reading/differences.js";
import { concernedIn, movedPlaces } from "../steps/reading/places.js";
import { answersOf, type Answers } from "./answers.js";
import { keep, signedOf, withLimits, type Limits, type Signed } from "./choose.js";
import {
  asLogged,
  checkChange,
  checkContrast,
  incomparable,
  checkNewcomers,
  isClose,
  isSameBase,
  saidIn,
} from "./compare.js";
import { isInDoubt, settleGas, undoubted, unknownGas, type Gas } from "./gasLimit.js";
import { checkAhead, checkMeasured, checkRequests } from "./checks.js";
import { contextsOf } from "./contexts.js";
import { lastRound, ledgerOf, type Recorder } from "./ledger.js";
import { checkSlots } from "./lens.js";
import { measureOfReport, MeasureLimits, type Measure } from "./limits.js";
import { storyOf, type Told } from "./movements.js";
import { askAt, askProof, askSwap, bareOf, isComparable, isTrueToState, type Proof } from "./askProof.js";
import { subjectsOf, trialOf, type Claim, type Scanned } from "./proofPlans.js";
import { judged, reportOf } from "./report.js";
import { TokenCache } from "./tokenCache.js";

/** How a report is proven. */
export interface Proving {
  readonly policies: ReadonlyArray<Policy>;
  readonly abis: AbiIndex;
  readonly recorder: Recorder;
  /** What the report's own ledger holds, where this call did not write it. */
  readonly earlier: Ledger | null;
  /** What was found before anything was asked. */
  readonly found: ReadonlyArray<Finding>;
  /** What the scan of this very call heard, so that it can be relied on; null for a report from outside. */
  readonly scanned: Scanned | null;
}

const where = { step: "proof", evidence: "measured" } as const;

/** The two runs of a proof beside each other: each read once, each told once. */
interface Compared {
  readonly exact: Run;
  readonly story: Told;
  /** What the other context did otherwise; null where it got no answer, or stood on another block. */
  readonly found: ReadonlyArray<string> | null;
  /** The amounts differ between the contexts, and no longer when both have the same base fee. */
  readonly followsPrice: boolean;
  /** Where another address stands in the other context, whose place does not decide. */
  readonly chance: ReadonlyArray<string>;
  /** Whose place in events and return values decides. */
  readonly concerned: ReadonlySet<string>;
  /** What the run with free gas did otherwise; null where there was none on the same block. */
  readonly watched: ReadonlyArray<string> | null;
}

const storyIn = (bundle: Bundle<Filled>, run: Run, measure: Measure): Told =>
  storyOf(
    Arr.map(bundle, (one) => ranIn(run, one)),
    run,
    measure,
  );

/** Compares the runs; where they differ only in amounts, and as the base fee does, one more run tells whether that is the reason. */
const compare = Effect.fnUntraced(function* (
  claim: Claim,
  proof: Proof,
  bundle: Bundle<Filled>,
  settled: Gas,
  round: () => number,
): Effect.fn.Return<Compared | null, never, Rpc> {
  const exact = successOf(proof.round.run);
  if (exact === null) return null;
  const { measure, report } = claim;
  const { tolerance } = report.options;
  const story = storyOf(bundle, exact, measure);
  const next = successOf(proof.next);
  const bare = bareOf(proof);
  const free = bare === null ? null : asLogged(storyIn(bundle, bare, measure), story.standards);
  // why: what gas does is no sign of being watched, so that ample gas is compared with ample gas
  const priced = settled.ample === null ? story : asLogged(storyIn(bundle, settled.ample, measure), story.standards);
  const concerned = concernedIn(bundle, measure.accounts);
  const watched = free === null ? null : differences(free, priced, tolerance);
  const ample = saidIn(settled.ample ?? exact, priced);
  const elsewhere = free === null || bare === null ? [] : movedPlaces(saidIn(bare, free), ample, concerned).decisive;
  const about = { exact, story, concerned };
  if (next === null || !isComparable(claim, proof))
    return { ...about, found: null, chance: [], followsPrice: false, watched: watched && [...watched, ...elsewhere] };
  const other = storyIn(bundle, next, measure);
  const moved = differences(story, other, tolerance);
  const { decisive, chance } = movedPlaces(saidIn(exact, story), saidIn(next, other), concerned);
  const found = [...moved, ...decisive];
  // why: one more run at the same base fee tells honest payouts that follow it from a contract that knows it is watched
  const isDoubtful = moved.length > 0 && decisive.length === 0 && isClose(story, other, tolerance);
  const swap = isDoubtful ? successOf(yield* askSwap(claim, round())) : null;
  const followsPrice =
    swap !== null &&
    isSameBase(exact, swap) === true &&
    differences(story, storyIn(bundle, swap, measure), tolerance).length === 0;
  // why: a run without fees has nothing of what follows the gas price
  const isOfPrice = followsPrice && free !== null && isSameShape(free, priced);
  return { ...about, found, chance, followsPrice, watched: watched && [...(isOfPrice ? [] : watched), ...elsewhere] };
});

/** The run with free and ample gas, where it was asked for, got no answer or stood on another block. */
const checkBare = ({ bare }: Proof, isCompared: boolean): ReadonlyArray<Finding> => {
  if (bare === null || isCompared) return [];
  return Result.isFailure(bare)
    ? [unknownGas(bare.failure)]
    : incomparable("the base block moved between the exact run and the one with free gas");
};

/** What comparing the runs with each other and with the earlier report showed. */
const checkRuns = (
  claim: Claim,
  proof: Proof,
  compared: Compared | null,
  bundle: Bundle<Filled>,
): ReadonlyArray<Finding> => {
  if (compared === null) return [];
  const { next, assumed } = proof;
  const { exact, story, found, chance, concerned, followsPrice, watched } = compared;
  const contrasted = Result.isFailure(next)
    ? [fromError(next.failure, "unavailable", { ...where, evidence: "unavailable" })]
    : checkContrast(exact, next.success, {
        ...{ found: found ?? [], chance, followsPrice },
        isTrueToState: isTrueToState(claim, proof),
        isTimePretended: claim.report.options.blockOverrides?.time !== undefined,
      });
  const change = { followsPrice, assumed: assumed !== null, isOwnScan: !claim.asksBare, concerned };
  return [
    ...contrasted,
    ...checkBare(proof, watched !== null),
    ...(watched !== null && watched.length > 0
      ? [fromError(new SimulationDiverged({ differences: watched }), "blocker", where)]
      : checkChange(claim.report, exact, story, change)),
    ...checkNewcomers(bundle, story, claim.measure),
  ];
};

/**
 * What the earlier report says that still holds: failures, as information, for another source made up for them or
 * they are told again; and how a gas limit came about that is kept.
 */
const earlierFindings = (report: Report): ReadonlyArray<Finding> =>
  report.findings.flatMap((finding) => {
    const { code, error, step, transaction } = finding;
    if (code === "GasLimitWidened") return [finding];
    return error?._tag === "RpcError" ? [fromError(error, "info", { step, transaction, evidence: "unavailable" })] : [];
  });

const worldsOf = (proof: Proof, compared: Compared | null): Observed["worlds"] =>
  [compared?.exact ?? null, successOf(proof.next)].flatMap((run) => {
    const seen = run?.before.environment ?? null;
    if (run === null || seen === null) return [];
    const isExact = run === compared?.exact;
    const agrees = isExact ? true : compared?.found == null ? null : compared.found.length === 0;
    const { number, timestamp, feeRecipient, gasLimit } = seen;
    return [{ run: run.name, state: proof.round.block, number, timestamp, feeRecipient, gasLimit, agrees }];
  });

/** What the cases do with ample gas; why nothing says so, where it was asked and not answered. */
const ampleIn = (signed: Bundle<Signed>, { bare }: Proof): Heard<ReadonlyArray<Outcome>> =>
  bare === null
    ? Result.succeed(signed.map(({ said }) => said.outcome))
    : Result.map(bare, ({ readings }) => readings.map(({ outcome }) => outcome));

/** Settles the gas limits of a claim where the runs cast doubt on them. */
const settle = (
  claim: Claim,
  proof: Proof,
  { bundle, answers }: { readonly bundle: Bundle<Filled>; readonly answers: Answers },
  round: () => number,
): Effect.Effect<Gas, never, Rpc> => {
  const { run } = proof.round;
  const ample = ampleIn(claim.bundle, proof);
  if (run === null) return Effect.succeed(undoubted);
  if (
    isInDoubt(
      run,
      proof.next,
      Result.getOrElse(ample, () => null),
    )
  )
    return settleGas(bundle, answers, proof.next, askAt(trialOf(claim), round));
  return Effect.succeed(undoubted);
};

/**
 * Proves a report whose requests have no hole; one that has a hole is returned as it is. `limits` are wider ones where
 * those proven decide the outcome; null = they do not.
 */
const proveOnce = Effect.fnUntraced(function* (
  report: Report,
  { policies, abis, recorder, earlier, found, scanned }: Proving,
  isWidened: boolean,
): Effect.fn.Return<{ readonly report: Report; readonly limits: Limits | null }, never, Rpc> {
  const signed = signedOf(report);
  if (signed === null) return { report, limits: null };
  const chains = yield* Effect.service(Chains);
  const limits = yield* Effect.service(MeasureLimits);
  const names = yield* Effect.service(TokenCache);
  const chain = chains(report.chainId);
  const earlierRun = Arr.map(signed, (one) => ({ ...one, outcome: one.said.outcome, transfers: [] }));
  const asked = measureOfReport(report, earlierRun, policies, limits);
  const measure = { ...asked, named: yield* names.recall(report.chainId, asked.tokens) };
  const claim: Claim = {
    ...{ report, bundle: signed, measure, abis },
    contexts: yield* contextsOf(report, signed, chain),
    ...{ chain, subjects: L1Fee.needsBytes(chain, scanned?.noFeeOracle ?? null) ? subjectsOf(signed) : new Map() },
    balanceOf: (account) => report.funds.find((funds) => funds.account === account)?.balance ?? null,
    scanned,
    asksBare: scanned === null || signed.some(({ gas: { by } }) => by === "caller"),
  };
  const round = () => lastRound(recorder) + 1;
  const first = yield* askProof(claim, round());
  const { balanceOf } = answersOf(first.round, chains, report.options, report.chainId);
  // why: heads move between two requests; asked once more, the runs may stand on the same block
  const isSettledBase = isComparable(claim, first) && (first.bare === null || bareOf(first) !== null);
  const standing = isSettledBase ? claim : { ...claim, balanceOf };
  const proof = standing === claim ? first : yield* askProof(standing, round());
  const answers = answersOf(proof.round, chains, report.options, report.chainId);
  const bundle = keep(signed, answers, abis);
  const settled = isWidened ? undoubted : yield* settle(standing, proof, { bundle, answers }, round);
  const compared = settled.limits === null ? yield* compare(standing, proof, bundle, settled, round) : null;
  const now = yield* Clock.currentTimeMillis;
  const proven = reportOf(bundle, answers, {
    ...{ options: report.options, policies, measure, now },
    // why: a proof whose run got no answer has proven nothing
    stage: answers.run === null ? "scanned" : "proven",
    worlds: worldsOf(proof, compared),
    ledger: ledgerOf(recorder, now, earlier),
    earlier: earlierFindings(report),
    findings: [
      ...found,
      ...settled.findings,
      ...(isWidened ? [note("GasLimitWidened", "info", { evidence: "measured" })] : []),
      ...checkRuns(standing, proof, compared, bundle),
      ...checkRequests(signed),
      ...checkAhead(claim, proof),
      ...checkMeasured(claim, proof),
      ...checkSlots(standing, proof, bundle),
    ],
  });
  yield* names.keep(
    proven.chainId,
    proven.tokens.filter(({ token }) => !measure.named.some((info) => info.token === token)),
  );
  return { report: proven, limits: settled.limits };
});

/** Proves; where the gas limit turned out to decide the outcome, chooses a wider one and proves that, once. */
export const proveWider = Effect.fnUntraced(function* (
  report: Report,
  proving: Proving,
): Effect.fn.Return<Report, never, Rpc> {
  const { report: proven, limits } = yield* proveOnce(report, proving, false);
  return limits === null ? proven : (yield* proveOnce(withLimits(report, limits), proving, true)).report;
});

/** Proves what the report has chosen; where its gas limit turned out to decide the outcome, that is proof of nothing. */
export const proveChosen = (report: Report, proving: Proving): Effect.Effect<Report, never, Rpc> =>
  Effect.map(proveOnce(report, proving, false), ({ report: proven, limits }) => {
    if (limits === null) return proven;
    const holds = limits.map((limit) => gas("gas that holds", limit));
    const scanAgain = note("ScanAgain", "unavailable", { evidence: "measured" }, ...holds);
    return judged(proven, [...proven.findings, scanAgain]);
  });
