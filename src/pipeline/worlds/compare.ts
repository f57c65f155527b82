/** What makes `SimulationDiverged` and its milder kin: the runs of a proof beside each other, and beside the earlier report. Pure. */
import * as Result from "effect/Result";
import { OutcomeChanged, SimulationDiverged } from "../../errors/verdicts.js";
import type { OutcomeDifference } from "../../primitives/difference.js";
import { address, count, difference, text } from "../../primitives/statement.js";
import { fromError, note, type Finding } from "../../report/finding.js";
import type { Report } from "../../report/schema.js";
import { nobody } from "../../abi/words.js";
import type { Filled } from "../../steps/reading/bundle.js";
import { ByBalance } from "../../steps/reading/holdings.js";
import { compareEffects, isAmount, isSameShape, type Effects } from "../../steps/reading/compare.js";
import { checkOverrides } from "../../steps/reading/overrides.js";
import { newIn, rights } from "../../steps/reading/rights.js";
import { settle } from "../../steps/reading/transferLogs.js";
import { failureOf, successOf, type AskResult } from "../../steps/reading/askResult.js";
import type { Run } from "../../steps/simulate.js";
import type { ActiveSteps } from "../answers.js";
import type { Measure } from "../limits.js";
import type { RunEffects } from "./movements.js";

const where = { step: "proof", evidence: "measured" } as const;

/** Differences that one finding names. */
const mostLines = 16;

/** Whether both runs were in the same block: whoever cannot say was not. */
export const isSamePlace = (a: Run, b: Run): boolean => {
  const [environment, other] = [a.before.environment, b.before.environment];
  return environment !== null && environment.number === other?.number && environment.timestamp === other.timestamp;
};

/** The base fees of the two contexts differ by a sixteenth; what follows them differs by no more, with room for a constant part. */
export const priceShare = 0.08;

/** Whether two runs that differ do so only in amounts, and by no more than the base fee does. */
export const isClose = (effects: Effects, other: Effects, tolerance: number): boolean =>
  compareEffects(
    { ...effects, producer: null },
    { ...other, producer: null },
    { tolerance: Math.max(tolerance, priceShare), whose: new Set(), concerned: new Set(), numbers: null },
  ).every(({ kind }) => kind === "address");

const notComparable = (exact: Run, next: Run, isTrueToState: boolean): string | null => {
  if (exact.before.environment === null || next.before.environment === null) return "the witness did not answer";
  return isTrueToState ? null : "balances moved between the requests";
};

/** That two runs could not be compared, and why. */
export const incomparable = (why: string): ReadonlyArray<Finding> => [
  note("BaseNotComparable", "unavailable", { evidence: "unavailable" }, text("because", why)),
];

const isSameTime = (exact: Run, next: Run): boolean =>
  exact.before.environment !== null && exact.before.environment.timestamp === next.before.environment?.timestamp;

/** What the other world did otherwise, and why. */
export interface WorldDiff {
  /** Numbers of events only where neither state nor price explains them. */
  readonly found: ReadonlyArray<OutcomeDifference>;
  readonly cause: "price" | "state" | "context";
  /** Whether a policy bounds every amount of those concerned that differs, in both worlds. */
  readonly isBounded: boolean;
}

/** Two worlds that did the same. */
export const same: WorldDiff = { found: [], cause: "context", isBounded: false };

/** What is told by events alone, in numbers. */
export const isNumber = ({ kind }: OutcomeDifference): boolean => kind === "number";

const figuresOf = (found: ReadonlyArray<OutcomeDifference>) => found.slice(0, mostLines).map(difference);

const blockOf = (what: string, { before: { environment } }: Run) => [
  count(`block of ${what}`, environment?.number ?? null),
  count(`its time`, environment?.timestamp ?? null),
];

/** What two worlds that differ amount to. */
const weigh = ({ found, cause, isBounded: bounded }: WorldDiff, exact: Run, next: Run, inFlight: number): Finding => {
  const rows = figuresOf(found);
  const diverged = () => fromError(new SimulationDiverged({ differences: found }), "blocker", where);
  const isGated = found.some(({ kind }) => kind === "status");
  const deciding = found.filter(({ decides }) => decides);
  if (cause === "price") {
    // why: what comes in by the price of gas, as a keeper's refund does, is meant to
    const isIncome = found.every((difference) => !difference.decides && isAmount(difference));
    return note("PriceDependent", isIncome ? "info" : "warning", where, ...rows);
  }
  if (cause === "state") {
    // why: trades ahead move amounts; whose money goes where they do not
    if (!isGated && !deciding.every(isAmount)) return diverged();
    // why: the next block has none of them, and the nearest reason is the sender's own
    if (inFlight > 0) return note("PredecessorsNotSimulated", "warning", where, count("in flight", inFlight), ...rows);
    return note("DependsOnPending", bounded ? "info" : "warning", where, ...rows);
  }
  if (isGated)
    return note("NotYet", "unavailable", where, ...rows, ...blockOf("exact", exact), ...blockOf("next", next));
  if (deciding.length > 0) return diverged();
  return note("ChanceDependent", "warning", where, ...rows);
};

/**
 * The second world was not comparable, or did something else. `isTrueToState` = the balances that the runs pretend are
 * those measured; `isTimePretended` = the caller pretends a time, which is then the same in both; `inFlight` = how many
 * transactions of the senders are, which only one of the worlds may hold; `between` = the runs between the two; `called` =
 * what the code that is called reads of its block, null = none is called.
 */
export const checkContrast = (
  exact: Run,
  next: Run,
  contrast: WorldDiff,
  {
    isTrueToState,
    isTimePretended,
    inFlight,
    between,
    called,
  }: {
    readonly isTrueToState: boolean;
    readonly isTimePretended: boolean;
    readonly inFlight: number;
    readonly between: ReadonlyArray<Run>;
    readonly called: Parameters<typeof checkOverrides>[1];
  },
): ReadonlyArray<Finding> => {
  const isTimeless = isSameTime(exact, next) && !isTimePretended;
  const untaken = checkOverrides([exact, next, ...between], called, isTimeless ? ["time"] : []);
  const why = notComparable(exact, next, isTrueToState);
  if (why !== null) return untaken.some(({ severity }) => severity === "unavailable") ? untaken : incomparable(why);
  const numbers = contrast.found.filter(isNumber);
  const found = contrast.found.filter((difference) => !isNumber(difference));
  const causes = found.length === 0 ? [] : [weigh({ ...contrast, found }, exact, next, inFlight)];
  const isTold =
    numbers.length === 0 || causes.some(({ code, severity }) => severity === "blocker" || code === "ChanceDependent");
  return [...causes, ...(isTold ? [] : [note("ChanceDependent", "warning", where, ...figuresOf(numbers))]), ...untaken];
};

/**
 * What the worlds between showed: that something happens in one of them alone, that amounts follow the time, and that
 * not all of them answered.
 */
export const checkBetween = (
  proof: { readonly next: AskResult<Run>; readonly between: ReadonlyArray<AskResult<Run>> },
  odd: { readonly run: Run; readonly found: ReadonlyArray<OutcomeDifference> } | null,
  gradual: ReadonlyArray<OutcomeDifference>,
  contrary: number,
): ReadonlyArray<Finding> => {
  const next = successOf(proof.next);
  const unseen = proof.between.filter(Result.isFailure).length;
  // why: a contract may make the very run too slow that would tell on it
  const failure = failureOf(proof.between[contrary]);
  const isContraryLate = failure?._tag === "RpcError" && failure.reason._tag === "Timeout";
  return [
    ...(odd === null || next === null ? [] : [weigh({ ...same, found: odd.found }, odd.run, next, 0)]),
    ...(gradual.length === 0 ? [] : [note("FollowsTime", "info", where, ...figuresOf(gradual))]),
    ...(unseen === 0
      ? []
      : [
          note(
            "BlocksNotSimulated",
            isContraryLate ? "warning" : "info",
            { evidence: "unavailable" },
            count("", unseen),
          ),
        ]),
  ];
};

/** Effects that have only the shape of their events to go by, read by the standards that their tokens answer to. */
export const asLogged = <E extends Effects>(effects: E, standards: RunEffects["standards"]): E => ({
  ...effects,
  transfers: settle(effects.transfers, standards),
});

/** What differs from the earlier report: on the block of a scan of our own the contract's doing, else the world's. */
export const checkChange = (
  report: Report,
  exact: Run,
  effects: RunEffects,
  {
    followsPrice,
    assumed,
    isOwnScan,
    concerned,
    whose,
    near,
  }: {
    readonly followsPrice: boolean;
    /** Whose place in events and return values decides. */
    readonly concerned: ReadonlySet<string>;
    /** Whose losses decide. */
    readonly whose: ReadonlySet<string>;
    readonly assumed: boolean;
    readonly isOwnScan: boolean;
    /** What the next block did, where the exact run differs from it by the time alone; else null. */
    readonly near: Effects | null;
  },
): ReadonlyArray<Finding> => {
  if (report.observed.tier !== "simulate") return [note("OutcomeNotCompared", "warning", { evidence: "unavailable" })];
  const earlier: Effects = {
    outcomes: report.transactions.map(({ outcome }) => outcome),
    // why: a scan has only the shape of the events to go by
    transfers: settle(report.transfers, effects.standards),
    balanceChanges: report.balanceChanges,
    approvals: report.approvals,
    producer: report.observed.worlds.find(({ run }) => run === "exact")?.feeRecipient ?? null,
  };
  const found = compareEffects(earlier, near ?? effects, {
    ...{ tolerance: report.options.tolerance, whose, concerned },
    // why: between a scan of our own and its proof the block is another one, and what it says with it
    numbers: isOwnScan ? null : "all",
  }).filter(({ kind }) => kind !== "address");
  if (found.length === 0) return [];
  const deciding = found.filter(({ decides }) => decides);
  const isOfPrice = isSameShape(found) && found.every(({ kind }) => kind !== "place");
  // why: a scan runs without fees, so what follows the gas price was nothing in it
  if (followsPrice && isOfPrice && report.stage === "scanned") return [];
  const now = exact.before.environment;
  const { simulatedNumber, parentHash } = report.observed;
  const ahead = BigInt(exact.plan.ahead?.length ?? 0);
  // why: what stands behind empty blocks in front is known by its number alone
  const isSameBlock =
    now !== null &&
    simulatedNumber !== null &&
    now.number === simulatedNumber + ahead &&
    (ahead > 0n || now.parentHash === parentHash);
  if (!isSameBlock || !isOwnScan || assumed)
    return [fromError(new OutcomeChanged({ differences: found }), "warning", where)];
  // why: the block of a scan chooses and does not judge; what its time alone moves is told by the worlds
  return deciding.length === 0 ? [] : [fromError(new SimulationDiverged({ differences: deciding }), "blocker", where)];
};

/** How many new parties are named. */
const mostNamed = 8;

/** Parties and rights that no earlier run knew: they are not measured yet. */
export const checkNewcomers = (
  bundle: ReadonlyArray<Filled>,
  { transfers, producer }: Effects,
  measure: Measure,
  steps: ActiveSteps,
): ReadonlyArray<Finding> => {
  if (measure.cut > 0) return [];
  const known = new ByBalance<true>();
  for (const { account, token } of measure.holdings) known.set({ account, token, tokenId: null }, true);
  const fresh = transfers.flatMap(({ token, from, to }) =>
    [from, to].filter(
      (account) =>
        account !== nobody &&
        // why: whom it pretends to produce the block, no earlier run could know
        (token !== null || account !== producer) &&
        known.get({ account, token, tokenId: null }) === undefined,
    ),
  );
  const granted = newIn(measure.rights, rights(bundle, Number.POSITIVE_INFINITY).kept);
  // why: what is left out is measured of nobody, and nobody is new by it
  const all = [
    ...new Set([
      ...(steps.has("assets") ? fresh : []),
      ...(steps.has("approvals") ? granted.map(({ spender }) => spender) : []),
    ]),
  ];
  const named = all.slice(0, mostNamed).map((account) => address("", account));
  return all.length === 0 ? [] : [note("FirstSeenInProof", "warning", { evidence: "logged" }, ...named)];
};
