/** A proof: the exact requests asked, compared and judged; nothing is chosen in it but a wider gas limit. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { Chains } from "../Chains.js";
import { SimulationDiverged } from "../errors/verdicts.js";
import { gas, text } from "../primitives/statement.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Outcome } from "../report/parts.js";
import type { Policy } from "../report/policy.js";
import type { Ledger, Observed, Report } from "../report/schema.js";
import { Rpc } from "../Rpc.js";
import type * as Eth from "../Eth.js";
import * as Fee from "../steps/fee.js";
import { ranIn, type Run } from "../steps/simulate.js";
import { type Bundle, type Filled } from "../steps/reading/bundle.js";
import { failureOf, successOf, type Failure, type Heard } from "../steps/reading/heard.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { differences, isSameShape } from "../steps/reading/differences.js";
import { concernedIn, movedPlaces } from "../steps/reading/places.js";
import { answersOf, type Answers } from "./answers.js";
import { keep, signedOf, withLimits, type Limits, type Signed } from "./choose.js";
import {
  asLogged,
  checkChange,
  checkContrast,
  checkNewcomers,
  incomparable,
  isClose,
  isSame,
  same,
  saidIn,
  type Cause,
  type Contrast,
} from "./compare.js";
import { isInDoubt, settleGas, undoubted, unknownGas, type Gas } from "./gasLimit.js";
import { checkAhead, checkMeasured, checkRequests } from "./checks.js";
import { worldsOf } from "./contexts.js";
import { inRound, lastRound, ledgerOf, type Recorder } from "./ledger.js";
import { measureOfReport, MeasureLimits, type Measure } from "./limits.js";
import { storyOf, type Told } from "./movements.js";
import {
  askAt,
  askProof,
  askWhy,
  bareOf,
  isComparable,
  isTrueToState,
  misplaced,
  recentHeader,
  type Proof,
} from "./askProof.js";
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
  /** The other world's; null where it got no answer. */
  readonly other: Told | null;
  /** What it did otherwise; null where it cannot be compared. */
  readonly contrast: Contrast | null;
  /** The next block refused the requests for what only the pending state has. */
  readonly isPendingOnly: boolean;
  /** Whose place in events and return values decides. */
  readonly concerned: ReadonlySet<string>;
  /** What the run with free gas did otherwise; null where there was none in the same block. */
  readonly watched: ReadonlyArray<string> | null;
}

const storyIn = (bundle: Bundle<Filled>, run: Run, measure: Measure): Told =>
  storyOf(
    Arr.map(bundle, (one) => ranIn(run, one)),
    run,
    measure,
  );

/** Whose losses decide: the signers', and theirs of whom a policy speaks. */
const losersIn = (bundle: Bundle<Filled>, { accounts }: Measure): ReadonlySet<string> =>
  new Set([...bundle.map(({ signer }) => signer), ...accounts]);

/** Compares the worlds; where they differ, further ones tell why. */
const compare = Effect.fnUntraced(function* (
  claim: Claim,
  proof: Proof,
  bundle: Bundle<Filled>,
  settled: Gas,
  round: () => number,
): Effect.fn.Return<Compared | null, never, Rpc> {
  const exact = successOf(proof.round.run);
  if (exact === null) return null;
  const { measure, report, worlds } = claim;
  const { tolerance } = report.options;
  const story = storyOf(bundle, exact, measure);
  const next = successOf(proof.next);
  const bare = bareOf(proof);
  const free = bare === null ? null : asLogged(storyIn(bundle, bare, measure), story.standards);
  // why: what gas does is no sign of being watched, so that ample gas is compared with ample gas
  const ampleRun = settled.ample ?? exact;
  const priced = settled.ample === null ? story : asLogged(storyIn(bundle, settled.ample, measure), story.standards);
  const concerned = concernedIn(bundle, measure.accounts);
  const whose = losersIn(bundle, measure);
  const contrast = (one: Run, mine: Told, other: Run, theirs: Told): Contrast => ({
    found: differences(mine, theirs, tolerance, whose),
    places: movedPlaces(saidIn(one, mine), saidIn(other, theirs), concerned),
    cause: "context",
  });
  const other = next === null ? null : storyIn(bundle, next, measure);
  const isAlike = next === null || other === null || !isComparable(claim, proof);
  const seen = isAlike ? null : contrast(exact, story, next, other);
  const { state } = worlds.next;
  const refusal = failureOf(proof.next);
  const isRefused = refusal !== null && refusal._tag !== "RpcError" && state !== worlds.exact.state;
  let cause: Cause = "context";
  let isPendingOnly = false;
  if (isRefused) isPendingOnly = failureOf((yield* askWhy(claim, round())).swap)?._tag === refusal._tag;
  else if (seen !== null && next !== null && other !== null && !isSame(seen)) {
    const why = yield* askWhy(claim, round());
    const agrees = (heard: Heard<Run>) => {
      const run = successOf(heard);
      return run !== null && isSame(contrast(run, storyIn(bundle, run, measure), next, other));
    };
    const isClosed = seen.places.decisive.length === 0 && isClose(story, other, tolerance);
    if (isClosed && agrees(why.priced)) cause = "price";
    else if (state !== worlds.exact.state && agrees(why.swap)) cause = "state";
  }
  const watched = free === null || bare === null ? null : contrast(bare, free, ampleRun, priced);
  // why: a run without fees has nothing of what follows the gas price
  const isOfPrice = cause === "price" && free !== null && isSameShape(free, priced);
  return {
    ...{ exact, story, other, concerned, isPendingOnly },
    contrast: seen && { ...seen, cause },
    watched: watched && [...(isOfPrice ? [] : watched.found.map(({ line }) => line)), ...watched.places.decisive],
  };
});

/** The next block refused the requests altogether: for what only the pending state has, or nobody knows why. */
const checkRefused = (failure: Failure, isPendingOnly: boolean): ReadonlyArray<Finding> =>
  isPendingOnly
    ? [note("DependsOnPending", "warning", where, text("next", failure.message))]
    : [fromError(failure, "unavailable", { ...where, evidence: "unavailable" })];

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
  const { exact, story, contrast, concerned, watched, isPendingOnly } = compared;
  const contrasted = Result.isFailure(next)
    ? checkRefused(next.failure, isPendingOnly)
    : checkContrast(exact, next.success, contrast ?? same, {
        isTrueToState: isTrueToState(claim, proof),
        isTimePretended: claim.report.options.blockOverrides?.time !== undefined,
      });
  const followsPrice = contrast?.cause === "price";
  const change = {
    followsPrice,
    assumed: assumed !== null,
    isOwnScan: !claim.asksBare,
    concerned,
    whose: losersIn(bundle, claim.measure),
  };
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

const worldsIn = ({ worlds }: Claim, proof: Proof, compared: Compared | null): Observed["worlds"] =>
  [compared?.exact ?? null, successOf(proof.next)].flatMap((run) => {
    const seen = run?.before.environment ?? null;
    if (run === null || seen === null) return [];
    const isExact = run === compared?.exact;
    const agrees = isExact ? true : compared?.contrast == null ? null : isSame(compared.contrast);
    const { number, timestamp, feeRecipient, gasLimit } = seen;
    const { state } = isExact ? worlds.exact : worlds.next;
    return [{ run: run.name, state, number, timestamp, feeRecipient, gasLimit, agrees }];
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
  const { memory } = yield* Rpc;
  const round = () => lastRound(recorder) + 1;
  const askHeader = Effect.suspend(() =>
    inRound(
      round(),
      Effect.map(Fee.askHeader, ({ header }) => header),
    ),
  );
  const heard = scanned === null ? yield* askHeader : scanned.fees.header;
  const claimOn = Effect.fnUntraced(function* (head: Eth.Block | null, header: Scanned["fees"]["header"]) {
    const takesHashes = memory.recall("takesHashes") !== false;
    const claim: Claim = {
      ...{ report, bundle: signed, measure, abis, header, chain, scanned },
      worlds: yield* worldsOf({ report, signed, chain, head, takesHashes }),
      subjects: L1Fee.needsBytes(chain, scanned?.noFeeOracle ?? null) ? subjectsOf(signed) : new Map(),
      balanceOf: (account) => report.funds.find((funds) => funds.account === account)?.balance ?? null,
      asksBare: scanned === null || signed.some(({ gas: { by } }) => by === "caller"),
    };
    return claim;
  });
  const now0 = yield* Clock.currentTimeMillis;
  const claim = yield* claimOn(successOf(heard), scanned === null ? heard : recentHeader(scanned, chain, now0));
  const first = yield* askProof(claim, round());
  const { balanceOf } = answersOf(first.round, chains, report.options, report.chainId);
  const refusal = misplaced(first);
  const latest = first.round.fees.header;
  const isMoved = (successOf(latest)?.hash ?? null) !== (successOf(heard)?.hash ?? null);
  if (refusal?.reason._tag === "InvalidParams") memory.learn("takesHashes", false);
  // why: heads move between two requests; asked once more, the runs may stand on the same one
  const isSettledBase =
    refusal === null && !isMoved && isComparable(claim, first) && (first.bare === null || bareOf(first) !== null);
  const again = isSettledBase ? null : refusal === null ? latest : yield* askHeader;
  const standing = again === null ? claim : { ...(yield* claimOn(successOf(again), again)), balanceOf };
  const proof = standing === claim ? first : yield* askProof(standing, round());
  const answers = answersOf(proof.round, chains, report.options, report.chainId);
  const bundle = keep(signed, answers);
  const settled = isWidened ? undoubted : yield* settle(standing, proof, { bundle, answers }, round);
  const compared = settled.limits === null ? yield* compare(standing, proof, bundle, settled, round) : null;
  const now = yield* Clock.currentTimeMillis;
  const proven = reportOf(bundle, answers, {
    ...{ options: report.options, policies, measure, now },
    ...{ sighted: recorder.sighted, since: report.observed.latestNumber },
    // why: a proof whose run got no answer has proven nothing
    stage: answers.run === null ? "scanned" : "proven",
    worlds: worldsIn(standing, proof, compared),
    elsewhere: compared?.other == null ? [] : [compared.other],
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
