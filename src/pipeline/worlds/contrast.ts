/** The worlds of a proof beside each other: what they did otherwise, why, and what that amounts to. */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import { memoize } from "effect/Function";
import * as Result from "effect/Result";
import { addressOf, dataAt, wordAt } from "../../abi/words.js";
import { SimulationDiverged } from "../../errors/verdicts.js";
import type { OutcomeDifference } from "../../primitives/difference.js";
import { text } from "../../primitives/statement.js";
import { fromError, type Finding } from "../../report/finding.js";
import type { BalanceChange, OutcomeLog, Transfer } from "../../report/parts.js";
import type { Draft, Observed } from "../../report/schema.js";
import { knownTokensOf } from "../../chains/table.js";
import { runsCode } from "../../report/waits.js";
import { blockReads } from "../../steps/reading/blockReads.js";
import { ownAccounts, type Bundle, type Filled } from "../../steps/reading/bundle.js";
import { compareEffects, isSameShape, type Terms } from "../../steps/reading/compare.js";
import { failureOf, successOf, type Failure } from "../../steps/reading/askResult.js";
import { concernedIn, livesIn } from "../../steps/reading/addressPositions.js";
import { ranIn, type Run } from "../../steps/simulate.js";
import { type ActiveSteps, figuresOf, type RunAnswers } from "../answers.js";
import {
  ampleOf,
  assumedIn,
  answersIn,
  isComparable,
  isTrueToState,
  type Proof,
  type ProofState,
} from "../proofState.js";
import {
  asLogged,
  checkBetween,
  checkChange,
  checkContrast,
  checkNewcomers,
  incomparable,
  isClose,
  isNumber,
  lacksPredecessors,
  priceShare,
  restsOnOthers,
  same,
  type WorldDiff,
} from "./compare.js";
import { unknownGas } from "../gas/doubt.js";
import { comparedIn, nearerIn, type World } from "./contexts.js";
import type { Measure } from "../limits.js";
import { differ, isGradual, oddOf, ranBefore, type WorldRun } from "./between.js";
import { effectsOf, isBounded, withoutLeftOut, type RunEffects } from "./movements.js";
import { inFlightOf } from "../proofPlans.js";

const where = { step: "proof", evidence: "measured" } as const;

/** Reads what each run did, worked out once for each. */
export const effectsReader = (bundle: Bundle<Filled>, measure: Measure) =>
  memoize((run: Run): RunEffects => {
    const ran = Arr.map(bundle, (entry) => ranIn(run, entry));
    const effects = effectsOf(ran, run, measure);
    for (const { input } of bundle)
      if (input.origin?.signing !== undefined) return { ...withoutCost(bundle, effects), shown: effects };
    return effects;
  });

/** `UserOperationEvent` (ERC-4337). */
const operationDone = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f";

/** The effects without what user operations are charged: it follows the base fee, and is told by itself. */
const withoutCost = <E extends Pick<RunEffects, "outcomes" | "balanceChanges" | "transfers">>(
  bundle: ReadonlyArray<Pick<Filled, "input">>,
  effects: E,
): E => {
  const paid = new Set<string>();
  const charges: Array<Charge> = [];
  const outcomes = effects.outcomes.map((outcome, place) => {
    const { to, origin, data = "0x" } = bundle[place]?.input ?? {};
    const isDone = ({ address, topics }: OutcomeLog) => address.toLowerCase() === to && topics[0] === operationDone;
    if (to == null || origin?.signing === undefined || !outcome.logs.some(isDone)) return outcome;
    // why: the second word of the bundler's call says whom the EntryPoint pays
    paid.add(to).add(`0x${data.slice(98, 138)}`);
    // why: nonce and success stay
    const logs = outcome.logs.map((log): OutcomeLog => {
      if (!isDone(log)) return log;
      const [, , account, paymaster] = log.topics;
      const isOwn = BigInt(paymaster ?? 0) === 0n;
      const cost = wordAt(log.data, dataAt + 128) ?? 0n;
      if (account !== undefined && isOwn) charges.push({ account: addressOf(BigInt(account)), to, place, cost });
      return { ...log, data: `0x${log.data.slice(2, 130)}`, decoded: null };
    });
    return { ...outcome, logs };
  });
  const balanceChanges = effects.balanceChanges.filter(({ token, account }) => token !== null || !paid.has(account));
  return { ...effects, outcomes, ...withoutRefills(charges, { ...effects, balanceChanges }) };
};

/** The cost of a user operation, its place in the bundle, and who is charged where, in wei. */
interface Charge {
  readonly account: string;
  readonly to: string;
  readonly place: number;
  readonly cost: bigint;
}

/** The movements without what accounts pay their EntryPoint again for what it charged them in front of that. */
const withoutRefills = (
  charges: ReadonlyArray<Charge>,
  { transfers, balanceChanges }: Pick<RunEffects, "transfers" | "balanceChanges">,
): Pick<RunEffects, "transfers" | "balanceChanges"> => {
  const back = new Map<string, bigint>();
  const less = transfers.map((transfer): Transfer => {
    const { token, from, to, amount, transaction } = transfer;
    const charged = charges
      .filter((by) => token === null && from === by.account && to === by.to && by.place < transaction)
      .reduce((sum, { cost }) => sum + cost, 0n);
    const earlier = back.get(from) ?? 0n;
    const refill = BigInts.min(charged - earlier, amount);
    if (refill <= 0n) return transfer;
    back.set(from, earlier + refill);
    return { ...transfer, amount: amount - refill };
  });
  const without = (row: BalanceChange): BalanceChange =>
    row.token === null ? { ...row, delta: row.delta + (back.get(row.account) ?? 0n) } : row;
  return { transfers: less, balanceChanges: balanceChanges.map(without) };
};

/** The same of a report. */
const toldWithoutCost = <R extends Pick<Draft, "transactions" | "balanceChanges" | "transfers">>(report: R): R => {
  const { transactions, balanceChanges, transfers } = report;
  const outcomes = transactions.map(({ outcome }) => outcome);
  const read = withoutCost(transactions, { outcomes, balanceChanges, transfers });
  const told = transactions.map((entry, place) => ({ ...entry, outcome: read.outcomes[place] ?? entry.outcome }));
  return { ...report, transactions: told, balanceChanges: read.balanceChanges, transfers: read.transfers };
};

/** Lists the accounts whose losses decide: the signers, and those of whom a policy speaks. */
const losersIn = (bundle: Bundle<Filled>, { parties }: Measure): ReadonlySet<string> =>
  new Set([...ownAccounts(bundle), ...parties]);

/** The worlds of an attempt, the nearest first between the ends, and the terms by which they are compared. */
interface Lineup {
  /** The exact run, at the far end. */
  readonly here: WorldRun;
  /** The next block's run; null where the two cannot be compared. */
  readonly there: WorldRun | null;
  /** Those between that got an answer, the nearest first. */
  readonly between: ReadonlyArray<WorldRun>;
  /** Everything that is held against the next one beside `exact`, those between among it. */
  readonly beside: ReadonlyArray<WorldRun>;
  /** Differences of the ends; null where they cannot be compared. */
  readonly ends: ReadonlyArray<OutcomeDifference> | null;
  /** True if what the ends do otherwise comes about little by little. */
  readonly drifts: boolean;
  /** Both ends stand on the same state. */
  readonly isOneState: boolean;
  readonly by: Terms;
}

type Differences = ReadonlyArray<OutcomeDifference>;

// guard: what is booked in events
const numbersOf = (found: Differences): Differences => found.filter(isNumber);
const othersOf = (found: Differences): Differences => found.filter((difference) => !isNumber(difference));

/** Reads the worlds of an attempt whose exact run got an answer. */
const lineOf = ({ claim, proof, bundle, effectsIn }: ProofState, exact: Run): Lineup => {
  const { measure, report, worlds } = claim;
  const [far, near] = worlds.rows;
  const worldOf = (run: Run): WorldRun => ({ run, effects: effectsIn(run) });
  const next = successOf(proof.runs.get("next"));
  const lives = livesIn([exact, ...(next === null ? [] : [next])].flatMap(({ before, after }) => [before, after]));
  const by = {
    ...{ tolerance: report.options.tolerance, whose: losersIn(bundle, measure), numbers: null },
    concerned: concernedIn(bundle, measure.parties, measure.doubtful, lives),
  };
  const readIn = (some: ReadonlyArray<World>) =>
    answersIn(proof, some).flatMap((answer) => [successOf(answer) ?? []].flat().map(worldOf));
  const nearer = nearerIn(worlds);
  const [here, between, beside] = [worldOf(exact), readIn(nearer), readIn(comparedIn(worlds))];
  // guard: the next block's veto
  const there = next !== null && isComparable(claim, proof) ? worldOf(next) : null;
  const ends = there === null ? null : differ(here, there, by);
  const drifts =
    there !== null && nearer.length === between.length && isGradual(ends ?? [], [there, ...between, here], by);
  return { here, there, between, beside, ends, drifts, by, isOneState: near.state === far.state };
};

/**
 * Why the ends differ, by further worlds beside the next one: at its gas price, and on its state. `counted` = the numbers
 * that differ and that neither explains. Pure.
 */
export const causeOf = (
  { here, there, by, isOneState }: Pick<Lineup, "here" | "there" | "by" | "isOneState">,
  differences: Differences,
  runs: RunAnswers,
  effectsIn: ProofState["effectsIn"],
): { readonly cause: WorldDiff["cause"]; readonly counted: Differences } => {
  const counted = numbersOf(differences);
  if (there === null || differences.length === 0) return { cause: "context", counted };
  const besideNext = (name: "atNextFee" | "exactOnLatest") => {
    const run = successOf(runs.get(name));
    return run === null ? null : differ({ run, effects: effectsIn(run) }, there, by);
  };
  const [atPrice, onState] = [besideNext("atNextFee"), isOneState ? null : besideNext("exactOnLatest")];
  const agrees = (found: Differences | null) => found !== null && othersOf(found).length === 0;
  const counts = (found: Differences | null) => found !== null && numbersOf(found).length === 0;
  const isClosed = () =>
    differences.every(({ kind }) => kind !== "place") && isClose(here.effects, there.effects, by.tolerance);
  const causeOfOthers = () => {
    if (agrees(differences)) return "context";
    if (agrees(atPrice) && isClosed()) return "price";
    return agrees(onState) ? "state" : "context";
  };
  const isExplained =
    counts(onState) || (counts(atPrice) && counts(differ(here, there, { ...by, tolerance: priceShare })));
  return { cause: causeOfOthers(), counted: isExplained ? [] : counted };
};

/** A world beside the ends in which something happens that they do not tell; none between, where they drift. */
const oddIn = ({ there, between, beside, drifts, by }: Lineup, differences: Differences, cause: WorldDiff["cause"]) => {
  const { tolerance } = by;
  const terms = cause === "price" ? { ...by, tolerance: Math.max(tolerance, priceShare) } : by;
  const looked = drifts ? beside.slice(between.length) : beside;
  return there === null ? null : oddOf(differences, there, looked, terms);
};

/** Compares what the run with free gas did otherwise; null where there was none in the same block. */
const watchedIn = (
  { proof, effectsIn }: ProofState,
  ample: Run | null,
  { here, by }: Lineup,
  cause: WorldDiff["cause"],
) => {
  const bare = ampleOf(proof);
  if (bare === null) return null;
  const { effects } = here;
  const free = asLogged(effectsIn(bare), effects.standards);
  // why: what gas does is no sign of being watched, so that ample gas is compared with ample gas
  const priced = ample === null ? effects : asLogged(effectsIn(ample), effects.standards);
  // why: what asks for a price fails without one, and works as it would be mined with any gas
  const asksPrice =
    ample !== null &&
    free.outcomes.some(({ status }) => status !== "success") &&
    compareEffects(effects, priced, by).length === 0;
  const found = asksPrice ? [] : compareEffects(free, priced, by);
  // why: a run without fees has nothing of what follows the gas price
  const isOfPrice = cause === "price" && isSameShape(found);
  return found.filter(({ kind }) => kind === "place" || (!isOfPrice && kind !== "address"));
};

/**
 * Compares the worlds; further ones that were asked tell why they differ. Null = nothing is compared: the exact run got no
 * answer, other limits are to be proven, or the attempt's own are in doubt.
 */
export const comparisonOf = memoize((state: ProofState) => {
  const { claim, proof, bundle, effectsIn, gas, open } = state;
  const { runs } = proof;
  const exact = successOf(figuresOf(proof));
  if (exact === null || open.some(({ kind }) => kind === "gasInDoubt") || gas.limits !== null) return null;
  const line = lineOf(state, exact);
  const { here, there, between, beside, ends, drifts, by } = line;
  const differences = drifts ? [] : ends;
  const [next, refusal] = [successOf(runs.get("next")), failureOf(runs.get("next"))];
  // why: the state of the exact run may be the reason
  const isRefused = refusal !== null && refusal._tag !== "RpcError" && !line.isOneState;
  const { cause, counted } = causeOf(line, differences ?? [], runs, effectsIn);
  const other = next === null ? null : effectsIn(next);
  const others = othersOf(differences ?? []);
  const senders = new Set<string>(ownAccounts(bundle));
  const bounds = claim.policies.flatMap(({ balances }) => balances ?? []);
  return {
    /** The next block's effects; null where it got no answer. */
    ...{ exact, effects: here.effects, other, concerned: by.concerned, beside },
    /** True if it takes further worlds to say why the ends differ. */
    isOpen: !runs.has("atNextFee") && (isRefused || (differences ?? []).length > 0),
    /** In how many worlds behind the next one the transactions run before they fail; null = they do not fail later. */
    closing: there === null ? null : ranBefore(there, between, here),
    /** True if the next block refused the requests for what only the pending state has. */
    isPendingOnly: isRefused && failureOf(runs.get("exactOnLatest"))?._tag === refusal._tag,
    odd: oddIn(line, differences ?? [], cause),
    /** Amounts that differ at the ends, and nowhere from one world to the next. */
    gradual: drifts ? (ends ?? []) : [],
    /** Differences of the other world; null where it cannot be compared. */
    contrast: differences && {
      ...{ found: [...others, ...counted], cause },
      isBounded: other !== null && isBounded(others, here.effects, other, { ...by, senders, bounds }),
    },
    // guard: the run with free gas
    watched: watchedIn(state, gas.ample, line, cause),
  };
});

/** The next block refused the requests altogether: for what only the pending state has, or nobody knows why. */
const checkRefused = (failure: Failure, isPendingOnly: boolean, inFlight: number): ReadonlyArray<Finding> =>
  isPendingOnly
    ? [
        inFlight > 0
          ? lacksPredecessors("measured", text("next", failure.message))
          : restsOnOthers("warning", text("next", failure.message)),
      ]
    : [fromError(failure, "unavailable", { ...where, evidence: "unavailable" })];

/** The run with free and ample gas, where it was asked for, got no answer or stood on another block. */
const checkAmple = ({ runs }: Proof, isCompared: boolean): ReadonlyArray<Finding> => {
  const bare = runs.get("ample");
  if (bare === undefined || isCompared) return [];
  return Result.isFailure(bare)
    ? [unknownGas(bare.failure)]
    : incomparable("the base block moved between the exact run and the one with free gas");
};

/** Reports what comparing the runs with each other and with the earlier report showed. */
export const checkRuns = (state: ProofState): ReadonlyArray<Finding> => {
  const { claim, proof, bundle } = state;
  const compared = comparisonOf(state);
  if (compared === null) return [];
  const next = proof.runs.get("next");
  if (next === undefined) return incomparable("the next block was not simulated");
  const further = comparedIn(claim.worlds);
  const telltale = answersIn(
    proof,
    further.filter((world) => world.isTelltale),
  );
  const { exact, effects, other, contrast, concerned, watched, isPendingOnly, odd, gradual } = compared;
  const inFlight = inFlightOf(claim);
  const contrasted = Result.isFailure(next)
    ? checkRefused(next.failure, isPendingOnly, inFlight)
    : checkContrast(exact, next.success, contrast ?? same, {
        ...{ isTrueToState: isTrueToState(claim, proof), inFlight, between: compared.beside.map(({ run }) => run) },
        called: bundle.some(runsCode) ? blockReads(bundle, proof.codes, knownTokensOf(claim.report.chainId)) : null,
        // why: where nothing is left of the bracket, there is no later time
        isTimePretended: claim.report.options.blockOverrides?.time !== undefined || claim.worlds.reach === 0,
      });
  const { without } = claim.report.steps;
  // why: what was left out of either is no change
  const both: ActiveSteps = new Set([...claim.steps].filter((name) => !without.some((omitted) => omitted === name)));
  const shown = withoutLeftOut(effects, both);
  const earlier = withoutLeftOut(claim.report, both);
  let isCarrying = false;
  for (const { input } of bundle) if (input.origin?.signing !== undefined) isCarrying = true;
  const change = {
    ...{ concerned, followsPrice: contrast?.cause === "price", assumed: assumedIn(proof) !== null },
    ...{ isOwnScan: claim.scanned !== null, whose: losersIn(bundle, claim.measure) },
    // why: what its time alone moves by and by is no change of what was chosen in an earlier block
    near: gradual.length === 0 ? null : other,
  };
  return [
    ...contrasted,
    ...checkBetween(successOf(next), answersIn(proof, further), odd, gradual, telltale),
    ...checkAmple(proof, watched !== null),
    ...(watched !== null && watched.length > 0
      ? [fromError(new SimulationDiverged({ differences: watched }), "blocker", where)]
      : checkChange(isCarrying ? toldWithoutCost(earlier) : earlier, exact, shown, change)),
    ...checkNewcomers(bundle, effects, claim.measure, claim.steps),
  ];
};

/** The worlds as a report shows them. */
export const worldsIn = (state: ProofState): Observed["worlds"] => {
  const { proof } = state;
  const { worlds } = state.claim;
  const compared = comparisonOf(state);
  return [
    compared?.exact ?? null,
    successOf(proof.runs.get("next")),
    ...answersIn(proof, comparedIn(worlds)).map(successOf),
  ].flatMap((run) => {
    const environment = run?.before.environment ?? null;
    if (run === null || environment === null) return [];
    const isExact = run === compared?.exact;
    const isAlike =
      compared?.contrast == null ? null : compared.contrast.found.length === 0 && run !== compared.odd?.run;
    const agrees = isExact ? true : isAlike;
    const { number, timestamp, feeRecipient, gasLimit, baseFeePerGas } = environment;
    const { state } = worlds.rows[isExact ? 0 : 1];
    const drawn = run.name === "twin" ? { baseFeePerGas } : {};
    return [{ run: run.name, state, number, timestamp, feeRecipient, gasLimit, ...drawn, agrees }];
  });
};
