/** The worlds of a proof beside each other: what they did otherwise, why, and what that amounts to. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { SimulationDiverged } from "../../errors/verdicts.js";
import { text } from "../../primitives/statement.js";
import { fromError, note, type Finding } from "../../report/finding.js";
import type { Observed } from "../../report/schema.js";
import type { Rpc } from "../../Rpc.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";
import { differences, isSameShape, withProducer } from "../../steps/reading/differences.js";
import { failureOf, successOf, type Failure, type Heard } from "../../steps/reading/heard.js";
import { concernedIn, livesIn, movedPlaces } from "../../steps/reading/places.js";
import { movedNumbers } from "../../steps/reading/values.js";
import { blockGap, ranIn, type Run } from "../../steps/simulate.js";
import { askWhy, bareOf, isComparable, isTrueToState, type Proof } from "../askProof.js";
import { isBounded } from "./bounded.js";
import {
  asLogged,
  checkChange,
  checkContrast,
  checkNewcomers,
  incomparable,
  isClose,
  isSame,
  priceShare,
  same,
  saidIn,
  type Cause,
  type Contrast,
} from "./compare.js";
import { unknownGas, type Gas } from "../gas/doubt.js";
import type { Measure } from "../limits.js";
import { storyOf, type Told } from "./movements.js";
import { inFlightOf, type Claim } from "../proofPlans.js";

const where = { step: "proof", evidence: "measured" } as const;

/** The two runs of a proof beside each other: each read once, each told once. */
export interface Compared {
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
  /** The further worlds that told why it did. */
  readonly why: ReadonlyArray<Heard<Run>>;
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

/** Whether two numbers differ as the clock does: by the time, or from the block's number on by that; in a bundle up to its last block. */
const isClockOf = ({ before: { environment: a }, plan }: Run, { before: { environment: b } }: Run) => {
  const [number, time] = [(a?.number ?? 0n) - (b?.number ?? 0n), (a?.timestamp ?? 0n) - (b?.timestamp ?? 0n)];
  const isAbout = (gap: bigint, wanted: bigint, step: bigint) =>
    gap >= wanted && gap < wanted + step * BigInt(plan.calls.length) && (gap - wanted) % step === 0n;
  return (x: bigint, y: bigint): boolean =>
    isAbout(x - y, time, blockGap) || (b !== null && y >= b.number && isAbout(x - y, number, 1n));
};

/** Compares the worlds; where they differ, further ones tell why. */
export const compare = Effect.fnUntraced(function* (
  claim: Claim,
  proof: Proof,
  bundle: Bundle<Filled>,
  settled: Gas,
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
  const lives = livesIn([exact, ...(next === null ? [] : [next])].flatMap(({ before, after }) => [before, after]));
  const concerned = concernedIn(bundle, measure.accounts, measure.doubtful, lives);
  const whose = losersIn(bundle, measure);
  const senders = new Set<string>(bundle.map(({ input }) => input.from));
  const contrast = (one: Run, mine: Told, other: Run, theirs: Told): Contrast => {
    const [said, their] = [saidIn(one, mine), saidIn(other, theirs)];
    const [a, b] = [withProducer(mine, said.producer, concerned), withProducer(theirs, their.producer, concerned)];
    return {
      found: differences(a, b, tolerance, whose),
      places: movedPlaces(said, their, concerned),
      ...{ numbers: [], cause: "context", isBounded: false },
    };
  };
  // guard: what is booked in events
  const numbers = (one: Run, mine: Told, other: Run, theirs: Told, share = tolerance) =>
    movedNumbers(mine.outcomes, theirs.outcomes, concerned, share, isClockOf(one, other));
  const other = next === null ? null : storyIn(bundle, next, measure);
  const isAlike = next === null || other === null || !isComparable(claim, proof);
  // guard: the next block's veto
  const seen = isAlike ? null : contrast(exact, story, next, other);
  let counted = isAlike ? [] : numbers(exact, story, next, other);
  const { state } = worlds.next;
  const refusal = failureOf(proof.next);
  const isRefused = refusal !== null && refusal._tag !== "RpcError" && state !== worlds.exact.state;
  let cause: Cause = "context";
  let isPendingOnly = false;
  let further: ReadonlyArray<Heard<Run>> = [];
  if (isRefused) {
    const why = yield* askWhy(claim);
    further = Object.values(why);
    isPendingOnly = failureOf(why.swap)?._tag === refusal._tag;
  } else if (seen !== null && next !== null && other !== null && !(isSame(seen) && counted.length === 0)) {
    const why = yield* askWhy(claim);
    further = Object.values(why);
    const holds = (heard: Heard<Run>, test: (run: Run, told: Told) => boolean): boolean => {
      const run = successOf(heard);
      return run !== null && test(run, storyIn(bundle, run, measure));
    };
    const agrees = (heard: Heard<Run>) => holds(heard, (run, told) => isSame(contrast(run, told, next, other)));
    const counts = (heard: Heard<Run>) => holds(heard, (run, told) => numbers(run, told, next, other).length === 0);
    const isClosed = seen.places.decisive.length === 0 && isClose(story, other, tolerance);
    const isOtherState = state !== worlds.exact.state;
    if (isSame(seen)) cause = "context";
    else if (isClosed && agrees(why.priced)) cause = "price";
    else if (isOtherState && agrees(why.swap)) cause = "state";
    const isOfPrice = numbers(exact, story, next, other, priceShare).length === 0 && counts(why.priced);
    if (counted.length > 0 && (isOfPrice || (isOtherState && counts(why.swap)))) counted = [];
  }
  const watched = free === null || bare === null ? null : contrast(bare, free, ampleRun, priced);
  const bounds = claim.policies.flatMap(({ balances }) => balances ?? []);
  const bounded = ({ found, places }: Contrast): boolean =>
    other !== null &&
    places.chance.length === 0 &&
    isBounded(found, story, other, { whose, senders, bounds, tolerance });
  // why: a run without fees has nothing of what follows the gas price
  const isOfPrice = cause === "price" && free !== null && isSameShape(free, priced);
  // why: what asks for a price fails without one, and works as it would be mined with any gas
  const asksPrice =
    settled.ample !== null &&
    free?.outcomes.some(({ status }) => status !== "success") === true &&
    isSame(contrast(exact, story, ampleRun, priced));
  return {
    ...{ exact, story, other, concerned, isPendingOnly, why: further },
    contrast: seen && { ...seen, numbers: counted, cause, isBounded: bounded(seen) },
    // guard: the run with free gas
    watched:
      watched &&
      (asksPrice ? [] : [...(isOfPrice ? [] : watched.found.map(({ line }) => line)), ...watched.places.decisive]),
  };
});

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
export const checkRuns = (
  claim: Claim,
  proof: Proof,
  compared: Compared | null,
  bundle: Bundle<Filled>,
): ReadonlyArray<Finding> => {
  if (compared === null) return [];
  const { next, assumed } = proof;
  const { exact, story, contrast, concerned, watched, isPendingOnly } = compared;
  const inFlight = inFlightOf(claim);
  const contrasted = Result.isFailure(next)
    ? checkRefused(next.failure, isPendingOnly, inFlight)
    : checkContrast(exact, next.success, contrast ?? same, {
        ...{ isTrueToState: isTrueToState(claim, proof), inFlight },
        isTimePretended: claim.report.options.blockOverrides?.time !== undefined,
      });
  const followsPrice = contrast?.cause === "price";
  const change = {
    followsPrice,
    assumed: assumed !== null,
    isOwnScan: claim.scanned !== null,
    concerned,
    whose: losersIn(bundle, claim.measure),
  };
  return [
    ...contrasted,
    ...checkBare(proof, watched !== null),
    ...(watched !== null && watched.length > 0
      ? [fromError(new SimulationDiverged({ differences: watched }), "blocker", where)]
      : checkChange(claim.report, exact, story, change)),
    ...checkNewcomers(bundle, story, claim.measure, saidIn(exact, story).producer),
  ];
};

/** The worlds as a report shows them. */
export const worldsIn = ({ worlds }: Claim, proof: Proof, compared: Compared | null): Observed["worlds"] =>
  [compared?.exact ?? null, successOf(proof.next)].flatMap((run) => {
    const seen = run?.before.environment ?? null;
    if (run === null || seen === null) return [];
    const isExact = run === compared?.exact;
    const agrees = isExact ? true : compared?.contrast == null ? null : isSame(compared.contrast);
    const { number, timestamp, feeRecipient, gasLimit } = seen;
    const { state } = isExact ? worlds.exact : worlds.next;
    return [{ run: run.name, state, number, timestamp, feeRecipient, gasLimit, agrees }];
  });
