/** The worlds of a proof beside each other: what they did otherwise, why, and what that amounts to. */
import * as Arr from "effect/Array";
import { memoize } from "effect/Function";
import * as Result from "effect/Result";
import { SimulationDiverged } from "../../errors/verdicts.js";
import type { OutcomeDifference } from "../../primitives/difference.js";
import { text } from "../../primitives/statement.js";
import { fromError, note, type Finding } from "../../report/finding.js";
import type { Observed } from "../../report/schema.js";
import { knownTokensOf } from "../../chains/table.js";
import { runsCode } from "../../report/waits.js";
import { blockReads } from "../../steps/reading/blockReads.js";
import { ownAccounts, type Bundle, type Filled } from "../../steps/reading/bundle.js";
import { compareEffects, isSameShape } from "../../steps/reading/compare.js";
import { failureOf, successOf, type Failure, type AskResult } from "../../steps/reading/askResult.js";
import { concernedIn, livesIn } from "../../steps/reading/addressPositions.js";
import { ranIn, type Run } from "../../steps/simulate.js";
import type { AskRule } from "../../primitives/names.js";
import type { ActiveSteps, Answers } from "../answers.js";
import { bareOf, isComparable, isTrueToState, type Proof } from "../askProof.js";
import {
  asLogged,
  checkBetween,
  checkChange,
  checkContrast,
  checkNewcomers,
  incomparable,
  isClose,
  isNumber,
  priceShare,
  same,
  type WorldDiff,
} from "./compare.js";
import { unknownGas, type Gas } from "../gas/doubt.js";
import type { Measure } from "../limits.js";
import { isClockOf, isGradual, oddOf, ranBefore, type WorldRun } from "./between.js";
import { effectsOf, isBounded, withoutLeftOut, type RunEffects } from "./movements.js";
import { inFlightOf, type ProofInput } from "../proofPlans.js";

const where = { step: "proof", evidence: "measured" } as const;

/** The two runs of a proof beside each other, each read once. */
interface WorldPair {
  readonly exact: Run;
  readonly effects: RunEffects;
  /** The other world's; null where it got no answer. */
  readonly other: RunEffects | null;
  /** Those between, the nearest first, as far as they got an answer. */
  readonly between: ReadonlyArray<WorldRun>;
  /** One of them in which something happens that neither end tells of. */
  readonly odd: ReturnType<typeof oddOf>;
  /** Amounts that differ at the ends, and nowhere from one world to the next; none where the ends do the same. */
  readonly gradual: ReadonlyArray<OutcomeDifference>;
  /** What it did otherwise; null where it cannot be compared. */
  readonly contrast: WorldDiff | null;
  /** The next block refused the requests for what only the pending state has. */
  readonly isPendingOnly: boolean;
  /** Whose place in events and return values decides. */
  readonly concerned: ReadonlySet<string>;
  /** What the run with free gas did otherwise; null where there was none in the same block. */
  readonly watched: ReadonlyArray<OutcomeDifference> | null;
}

/** What each run did, worked out once for each. */
export const effectsReader = (bundle: Bundle<Filled>, measure: Measure) =>
  memoize((run: Run): RunEffects =>
    effectsOf(
      Arr.map(bundle, (entry) => ranIn(run, entry)),
      run,
      measure,
    ),
  );

/** Whose losses decide: the signers', and theirs of whom a policy speaks. */
const losersIn = (bundle: Bundle<Filled>, { parties }: Measure): ReadonlySet<string> =>
  new Set([...ownAccounts(bundle), ...parties]);

/** The exact requests asked on one ground, and what is known of them so far. */
export interface Attempt {
  readonly claim: ProofInput;
  readonly proof: Proof;
  readonly answers: Answers;
  readonly bundle: Bundle<Filled>;
  /** The rule by which it was asked. */
  readonly because: AskRule;
  /** What a run of it did; the calls inside, which may be traced later, are no part of that. */
  readonly effectsIn: (run: Run) => RunEffects;
  /** Whether what fails inside was looked for, where the run hides it. */
  readonly isTraced: boolean;
  /** null = the gas limits are in doubt. */
  readonly settled: Gas | null;
  /** The runs at other limits. */
  readonly tried: ReadonlyArray<AskResult<Run>>;
  /** What further worlds said, where the two differ; null = they were not asked. */
  readonly why: Readonly<Record<"swap" | "priced", AskResult<Run>>> | null;
  /** The worlds compared, and the runs that it takes to say why they differ; none where they were heard, or nothing differs. */
  readonly judged: {
    readonly compared: WorldPair | null;
    readonly wants: ReadonlyArray<"swap" | "priced">;
    /** In how many worlds behind the next one the transactions run before they fail; null = they do not fail later. */
    readonly closing: number | null;
  };
  /** Whether the runs used what two forks have not in common; null = not known. */
  readonly isForkUsed: boolean | null;
  /** The highest mined block that any answer named by then; none = none did. */
  readonly sealed?: bigint | undefined;
}

/**
 * Compares the worlds; where they differ, further ones tell why. Nothing is compared where other limits are to be proven,
 * or the attempt's own are in doubt.
 */
export const judge = ({
  claim,
  proof,
  bundle,
  settled,
  why,
  effectsIn,
}: Omit<Attempt, "judged">): Attempt["judged"] => {
  const exact = successOf(proof.run);
  if (exact === null || settled === null || settled.limits !== null)
    return { compared: null, wants: [], closing: null };
  const { measure, report, worlds } = claim;
  const { tolerance } = report.options;
  const effects = effectsIn(exact);
  const next = successOf(proof.next);
  const bare = bareOf(proof);
  const free = bare === null ? null : asLogged(effectsIn(bare), effects.standards);
  // why: what gas does is no sign of being watched, so that ample gas is compared with ample gas
  const priced = settled.ample === null ? effects : asLogged(effectsIn(settled.ample), effects.standards);
  const lives = livesIn([exact, ...(next === null ? [] : [next])].flatMap(({ before, after }) => [before, after]));
  const concerned = concernedIn(bundle, measure.parties, measure.doubtful, lives);
  const whose = losersIn(bundle, measure);
  const senders = new Set<string>(ownAccounts(bundle));
  const by = { tolerance, whose, concerned, numbers: null };
  // guard: what is booked in events
  const numbersOf = (found: ReadonlyArray<OutcomeDifference>) => found.filter(isNumber);
  const othersOf = (found: ReadonlyArray<OutcomeDifference>) => found.filter((difference) => !isNumber(difference));
  const other = next === null ? null : effectsIn(next);
  const between = proof.between.flatMap((answer): ReadonlyArray<WorldRun> => {
    const run = successOf(answer);
    return run === null ? [] : [{ run, effects: effectsIn(run) }];
  });
  // guard: the next block's veto
  const isCompared = next !== null && other !== null && isComparable(claim, proof);
  const ends = isCompared ? compareEffects(effects, other, { ...by, numbers: isClockOf(exact, next) }) : null;
  const here: WorldRun = { run: exact, effects };
  const there = isCompared ? { run: next, effects: other } : null;
  const drifts =
    there !== null && proof.between.length === between.length && isGradual(ends ?? [], [there, ...between, here], by);
  const differences = drifts ? [] : ends;
  let counted = numbersOf(differences ?? []);
  const { state } = worlds.next;
  const refusal = failureOf(proof.next);
  const isRefused = refusal !== null && refusal._tag !== "RpcError" && state !== worlds.exact.state;
  let cause: WorldDiff["cause"] = "context";
  let isPendingOnly = false;
  const isOther = differences !== null && differences.length > 0;
  if (isRefused) isPendingOnly = failureOf(why?.swap)?._tag === refusal._tag;
  else if (isOther && next !== null && other !== null && why !== null) {
    const besideNext = (result: AskResult<Run>) => {
      const run = successOf(result);
      if (run === null) return null;
      return compareEffects(effectsIn(run), other, { ...by, numbers: isClockOf(run, next) });
    };
    const atPrice = besideNext(why.priced);
    const onState = state === worlds.exact.state ? null : besideNext(why.swap);
    const agrees = (found: ReadonlyArray<OutcomeDifference> | null) => found !== null && othersOf(found).length === 0;
    const counts = (found: ReadonlyArray<OutcomeDifference> | null) => found !== null && numbersOf(found).length === 0;
    const isClosed = differences.every(({ kind }) => kind !== "place") && isClose(effects, other, tolerance);
    if (agrees(differences)) cause = "context";
    else if (isClosed && agrees(atPrice)) cause = "price";
    else if (agrees(onState)) cause = "state";
    const ofPrice = { ...by, tolerance: priceShare, numbers: isClockOf(exact, next) };
    const isOfPrice = () => counts(atPrice) && counts(compareEffects(effects, other, ofPrice));
    if (counted.length > 0 && (counts(onState) || isOfPrice())) counted = [];
  }
  const ofBetween = cause === "price" ? { ...by, tolerance: Math.max(tolerance, priceShare) } : by;
  const odd = there === null || drifts ? null : oddOf(differences ?? [], there, between, ofBetween);
  const watched = free === null ? null : compareEffects(free, priced, by);
  const bounds = claim.policies.flatMap(({ balances }) => balances ?? []);
  const bounding = { whose, senders, bounds, tolerance };
  const others = othersOf(differences ?? []);
  // why: a run without fees has nothing of what follows the gas price
  const isOfPrice = cause === "price" && isSameShape(watched ?? []);
  // why: what asks for a price fails without one, and works as it would be mined with any gas
  const asksPrice =
    settled.ample !== null &&
    free?.outcomes.some(({ status }) => status !== "success") === true &&
    compareEffects(effects, priced, by).length === 0;
  const compared: WorldPair = {
    ...{ exact, effects, other, concerned, isPendingOnly, between, odd },
    gradual: drifts ? (ends ?? []) : [],
    contrast: differences && {
      ...{ found: [...others, ...counted], cause },
      isBounded: other !== null && isBounded(others, effects, other, bounding),
    },
    // guard: the run with free gas
    watched:
      watched &&
      (asksPrice ? [] : watched.filter(({ kind }) => kind === "place" || (!isOfPrice && kind !== "address"))),
  };
  return {
    compared,
    wants: why === null && (isRefused || isOther) ? ["swap", "priced"] : [],
    closing: there === null ? null : ranBefore(there, between, here),
  };
};

/** The next block refused the requests altogether: for what only the pending state has, or nobody knows why. */
const checkRefused = (failure: Failure, isPendingOnly: boolean, inFlight: number): ReadonlyArray<Finding> =>
  isPendingOnly
    ? [
        note(
          inFlight > 0 ? "PredecessorsNotSimulated" : "DependsOnPending",
          "warning",
          where,
          text("next", failure.message),
        ),
      ]
    : [fromError(failure, "unavailable", { ...where, evidence: "unavailable" })];

/** The run with free and ample gas, where it was asked for, got no answer or stood on another block. */
const checkBare = ({ bare }: Proof, isCompared: boolean): ReadonlyArray<Finding> => {
  if (bare === null || isCompared) return [];
  return Result.isFailure(bare)
    ? [unknownGas(bare.failure)]
    : incomparable("the base block moved between the exact run and the one with free gas");
};

/** What comparing the runs with each other and with the earlier report showed. */
export const checkRuns = ({ claim, proof, bundle, judged: { compared } }: Attempt): ReadonlyArray<Finding> => {
  if (compared === null) return [];
  const { next, assumed } = proof;
  const { exact, effects, other, contrast, concerned, watched, isPendingOnly, odd, gradual } = compared;
  const inFlight = inFlightOf(claim);
  const contrasted = Result.isFailure(next)
    ? checkRefused(next.failure, isPendingOnly, inFlight)
    : checkContrast(exact, next.success, contrast ?? same, {
        ...{ isTrueToState: isTrueToState(claim, proof), inFlight, between: compared.between.map(({ run }) => run) },
        called: bundle.some(runsCode) ? blockReads(bundle, proof.codes, knownTokensOf(claim.report.chainId)) : null,
        // why: where nothing is left of the bracket, there is no later time
        isTimePretended: claim.report.options.blockOverrides?.time !== undefined || claim.worlds.reach === 0,
      });
  const { without } = claim.report.steps;
  // why: what was left out of either is no change
  const both: ActiveSteps = new Set([...claim.steps].filter((name) => !without.some((omitted) => omitted === name)));
  const shown = withoutLeftOut(effects, both);
  const followsPrice = contrast?.cause === "price";
  const change = {
    followsPrice,
    assumed: assumed !== null,
    isOwnScan: claim.scanned !== null,
    concerned,
    whose: losersIn(bundle, claim.measure),
    // why: what its time alone moves by and by is no change of what was chosen in an earlier block
    near: gradual.length === 0 ? null : other,
  };
  return [
    ...contrasted,
    ...checkBetween(
      proof,
      odd,
      gradual,
      claim.worlds.between.findIndex(({ isContrary }) => isContrary),
    ),
    ...checkBare(proof, watched !== null),
    ...(watched !== null && watched.length > 0
      ? [fromError(new SimulationDiverged({ differences: watched }), "blocker", where)]
      : checkChange(withoutLeftOut(claim.report, both), exact, shown, change)),
    ...checkNewcomers(bundle, effects, claim.measure, claim.steps),
  ];
};

/** The worlds as a report shows them. */
export const worldsIn = ({ claim: { worlds }, proof, judged: { compared } }: Attempt): Observed["worlds"] =>
  [compared?.exact ?? null, successOf(proof.next), ...proof.between.map(successOf)].flatMap((run) => {
    const environment = run?.before.environment ?? null;
    if (run === null || environment === null) return [];
    const isExact = run === compared?.exact;
    const isAlike =
      compared?.contrast == null ? null : compared.contrast.found.length === 0 && run !== compared.odd?.run;
    const agrees = isExact ? true : isAlike;
    const { number, timestamp, feeRecipient, gasLimit } = environment;
    const { state } = isExact ? worlds.exact : worlds.next;
    return [{ run: run.name, state, number, timestamp, feeRecipient, gasLimit, agrees }];
  });
