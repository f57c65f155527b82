/** Source of `SimulationDiverged` and its milder kin: a proof's runs beside each other and the earlier report. Pure. */
import * as Result from "effect/Result";
import { OutcomeChanged, SimulationDiverged } from "../../errors/verdicts.js";
import type { OutcomeDifference } from "../../primitives/difference.js";
import { address, count, difference, type Figure, text } from "../../primitives/statement.js";
import { fromError, code, type Evidence, type Finding } from "../../report/finding.js";
import type { Draft } from "../../report/schema.js";
import { nobody } from "../../abi/words.js";
import type { Filled } from "../../steps/reading/bundle.js";
import { ByBalance } from "../../steps/reading/holdings.js";
import { compareEffects, isAmount, isSameShape, type Effects } from "../../steps/reading/compare.js";
import { checkOverrides } from "../../steps/reading/overrides.js";
import { newIn, rights } from "../../steps/reading/rights.js";
import { settle } from "../../effects/movements.js";
import { failureOf, type AskResult } from "../../steps/reading/askResult.js";
import type { Run } from "../../steps/simulate.js";
import type { ActiveSteps } from "../answers.js";
import type { Measure } from "../limits.js";
import type { RunEffects } from "./movements.js";

const where = { step: "proof", evidence: "measured" } as const;

/** Differences that one finding names. */
const mostLines = 16;

/** True if both runs were in the same block: whoever cannot say was not. */
export const isSamePlace = (a: Run, b: Run): boolean => {
  const [environment, other] = [a.before.environment, b.before.environment];
  return environment !== null && environment.number === other?.number && environment.timestamp === other.timestamp;
};

/** The base fees of the two contexts differ by a sixteenth; what follows them differs by no more, with room for a constant part. */
export const priceShare = 0.08;

/** True if two runs that differ do so only in amounts, and by no more than the base fee does. */
export const isClose = (effects: Effects, other: Effects, tolerance: number): boolean =>
  compareEffects(
    { ...effects, producer: null },
    { ...other, producer: null },
    { tolerance: Math.max(tolerance, priceShare), whose: new Set(), concerned: new Set(), numbers: null },
  ).every(({ kind }) => kind === "address");

const notComparable = (exact: Run, next: Run, isTrueToState: boolean): string | null => {
  if (exact.before.environment === null || next.before.environment === null) return "the balance reader did not answer";
  return isTrueToState ? null : "balances moved between the requests";
};

/** @figures text("because", "the balance reader did not answer") */
export const BaseNotComparable = code("proof", ["unavailable"], "BaseNotComparable", [
  "the simulations of the proof could not be compared with each other",
  "run `prove` again",
]);

/** That two runs could not be compared, and why. */
export const incomparable = (why: string): ReadonlyArray<Finding> => [
  BaseNotComparable.unavailable({ evidence: "unavailable" }, text("because", why)),
];

const isSameTime = (exact: Run, next: Run): boolean =>
  exact.before.environment !== null && exact.before.environment.timestamp === next.before.environment?.timestamp;

/** Differences of the other world, and why. */
export interface WorldDiff {
  /** Numbers of events only where neither state nor price explains them. */
  readonly found: ReadonlyArray<OutcomeDifference>;
  readonly cause: "price" | "state" | "context";
  /** True if a policy bounds every amount of those concerned that differs, in both worlds. */
  readonly isBounded: boolean;
}

/** Two worlds that did the same. */
export const same: WorldDiff = { found: [], cause: "context", isBounded: false };

/** True if a difference is told by events alone, in numbers. */
export const isNumber = ({ kind }: OutcomeDifference): boolean => kind === "number";

const figuresOf = (found: ReadonlyArray<OutcomeDifference>) => found.slice(0, mostLines).map(difference);

const blockOf = (what: string, { before: { environment } }: Run) => [
  count(`block of ${what}`, environment?.number ?? null),
  count(`its time`, environment?.timestamp ?? null),
];

/**
 * Block time, block number or randomness decides.
 * @figures text("", "token id of 0x88e6…5640: #17 and #402")
 */
export const ChanceDependent = code("proof", ["warning"], "ChanceDependent", [
  "income, events or return values differ from block to block",
  "sign only if you expect that, as in a draw",
]);

/**
 * A time lock is an example.
 * @figures count("block of exact", 23_000_004), count("its time", 1_767_225_659), count("block of next", 23_000_001),
 *   count("its time", 1_767_225_623)
 */
export const NotYet = code("proof", ["unavailable"], "NotYet", [
  "the transaction succeeds in some of the next blocks and fails in others",
  "wait for the block or time that the contract requires, then run `prove` again",
]);

/**
 * A refund of gas is an example.
 * @figures wei("", 10n ** 14n)
 * @info where only what comes in follows the price
 */
export const PriceDependent = code("proof", ["warning", "info"], "PriceDependent", [
  "amounts depend on the gas price",
  "expect these amounts to change as the base fee does",
]);

/**
 * The outcome may change once they are mined.
 * @figures count("in flight", 2)
 */
export const PredecessorsNotSimulated = code("nonce", ["warning"], "PredecessorsNotSimulated", [
  "a simulated state does not contain the sender's earlier transactions",
  "run `prove` again after they are mined",
]);

/** The state lacks what the senders have in flight. */
export const lacksPredecessors = (evidence: Evidence, ...numbers: ReadonlyArray<Figure | null>): Finding =>
  PredecessorsNotSimulated.warning({ evidence }, ...numbers);

/**
 * The pending state and the latest block give different outcomes.
 * @figures amounts
 * @info where policies bound every amount that differs
 */
export const DependsOnPending = code("proof", ["warning", "info"], "DependsOnPending", [
  "the outcome depends on transactions that are not mined yet",
  "wait until they are mined and run `prove` again, or limit the amounts with a policy",
]);

/** The outcome rests on others' transactions that are not mined. */
export const restsOnOthers = (severity: "info" | "warning", ...numbers: ReadonlyArray<Figure | null>): Finding =>
  DependsOnPending[severity](where, ...numbers);

/** Returns the finding that two different worlds amount to. */
const weigh = ({ found, cause, isBounded: bounded }: WorldDiff, exact: Run, next: Run, inFlight: number): Finding => {
  const rows = figuresOf(found);
  const diverged = () => fromError(new SimulationDiverged({ differences: found }), "blocker", where);
  const isGated = found.some(({ kind }) => kind === "status");
  const deciding = found.filter(({ decides }) => decides);
  if (cause === "price") {
    // why: what comes in by the price of gas, as a keeper's refund does, is meant to
    const isIncome = found.every((difference) => !difference.decides && isAmount(difference));
    return PriceDependent[isIncome ? "info" : "warning"](where, ...rows);
  }
  if (cause === "state") {
    // why: trades ahead move amounts; whose money goes where they do not
    if (!isGated && !deciding.every(isAmount)) return diverged();
    // why: the next block has none of them, and the nearest reason is the sender's own
    return inFlight > 0
      ? lacksPredecessors("measured", count("in flight", inFlight), ...rows)
      : restsOnOthers(bounded ? "info" : "warning", ...rows);
  }
  if (isGated) return NotYet.unavailable(where, ...rows, ...blockOf("exact", exact), ...blockOf("next", next));
  if (deciding.length > 0) return diverged();
  return ChanceDependent.warning(where, ...rows);
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
  about: {
    readonly isTrueToState: boolean;
    readonly isTimePretended: boolean;
    readonly inFlight: number;
    readonly between: ReadonlyArray<Run>;
    readonly called: Parameters<typeof checkOverrides>[1];
  },
): ReadonlyArray<Finding> => {
  const isTimeless = isSameTime(exact, next) && !about.isTimePretended;
  const untaken = checkOverrides([exact, next, ...about.between], about.called, isTimeless ? ["time"] : []);
  const why = notComparable(exact, next, about.isTrueToState);
  if (why !== null) return untaken.some(({ severity }) => severity === "unavailable") ? untaken : incomparable(why);
  const numbers = contrast.found.filter(isNumber);
  const found = contrast.found.filter((difference) => !isNumber(difference));
  const causes = found.length === 0 ? [] : [weigh({ ...contrast, found }, exact, next, about.inFlight)];
  const isTold =
    numbers.length === 0 ||
    causes.some(({ code, severity }) => severity === "blocker" || code === ChanceDependent.code);
  return [...causes, ...(isTold ? [] : [ChanceDependent.warning(where, ...figuresOf(numbers))]), ...untaken];
};

/**
 * Interest, vesting and slow auctions do that. From the next block to the end of the clearance the amounts differ by
 * more than the tolerance, from one simulated block to the next by less.
 * @figures amounts
 */
export const FollowsTime = code("proof", ["info"], "FollowsTime", [
  "amounts change gradually with time; the worse ones are shown",
  "limit them with a policy",
]);

/**
 * The node gave no answer for one of the blocks between the next one and the last that the clearance allows. Or more
 * blocks come in that time than one simulation has, and the called code may tell them apart; unless you gave a
 * `maxAge`, the clearance then ends with the last block that was simulated.
 * @figures count("blocks in time", 120), count("simulated up to", 64)
 * @warning where a block with unusual values, or with those of the next one, had no answer in time
 */
export const BlocksNotSimulated = code("proof", ["info", "warning"], "BlocksNotSimulated", [
  "some blocks in which it may be mined were not simulated",
  "run `prove` again, or give a shorter `maxAge`",
]);

/** The node simulated only some of the blocks in which the clearance may be used. */
export const notAllSimulated = (severity: "info" | "warning", ...numbers: ReadonlyArray<Figure | null>): Finding =>
  BlocksNotSimulated[severity]({ evidence: "unavailable" }, ...numbers);

/**
 * Returns what the worlds between showed: that something happens in one of them alone, that amounts follow the time,
 * and that not all of them answered.
 */
export const checkBetween = (
  next: Run | null,
  between: ReadonlyArray<AskResult<Run>>,
  odd: { readonly run: Run; readonly found: ReadonlyArray<OutcomeDifference> } | null,
  gradual: ReadonlyArray<OutcomeDifference>,
  telltale: ReadonlyArray<AskResult<Run>>,
): ReadonlyArray<Finding> => {
  const unseen = between.filter(Result.isFailure).length;
  // why: a contract may make the very run too slow that would tell on it
  const isLate = telltale.map(failureOf).some((its) => its?._tag === "RpcError" && its.reason._tag === "Timeout");
  return [
    ...(odd === null || next === null ? [] : [weigh({ ...same, found: odd.found }, odd.run, next, 0)]),
    ...(gradual.length === 0 ? [] : [FollowsTime.info(where, ...figuresOf(gradual))]),
    ...(unseen === 0 ? [] : [notAllSimulated(isLate ? "warning" : "info", count("", unseen))]),
  ];
};

/** Effects that have only the shape of their events to go by, read by the standards that their tokens answer to. */
export const asLogged = <E extends Effects>(effects: E, standards: RunEffects["standards"]): E => ({
  ...effects,
  transfers: settle(effects.transfers, standards),
});

export const OutcomeNotCompared = code("proof", ["warning"], "OutcomeNotCompared", [
  "the scan did not simulate, so the proof has no outcome to compare with",
  "run `prove` again",
]);

/** Compares with the earlier report: on the block of our own scan a difference is the contract's, else the world's. */
export const checkChange = (
  report: Draft,
  exact: Run,
  effects: RunEffects,
  about: {
    readonly followsPrice: boolean;
    /** Addresses whose place in events and return values decides. */
    readonly concerned: ReadonlySet<string>;
    /** Accounts whose losses decide. */
    readonly whose: ReadonlySet<string>;
    readonly assumed: boolean;
    readonly isOwnScan: boolean;
    /** Effects in the next block, where the exact run differs from it by the time alone; else null. */
    readonly near: Effects | null;
  },
): ReadonlyArray<Finding> => {
  if (report.observed.tier !== "simulate") return [OutcomeNotCompared.warning({ evidence: "unavailable" })];
  const earlier: Effects = {
    outcomes: report.transactions.map(({ outcome }) => outcome),
    // why: a scan has only the shape of the events to go by
    transfers: settle(report.transfers, effects.standards),
    balanceChanges: report.balanceChanges,
    approvals: report.approvals,
    producer: report.observed.worlds.find(({ run }) => run === "exact")?.feeRecipient ?? null,
  };
  const { isOwnScan } = about;
  const found = compareEffects(earlier, about.near ?? effects, {
    ...{ tolerance: report.options.tolerance, whose: about.whose, concerned: about.concerned },
    // why: between a scan of our own and its proof the block is another one, and what it says with it
    numbers: isOwnScan ? null : "all",
  }).filter(({ kind }) => kind !== "address");
  if (found.length === 0) return [];
  const deciding = found.filter(({ decides }) => decides);
  const isOfPrice = isSameShape(found) && found.every(({ kind }) => kind !== "place");
  // why: a scan runs without fees, so what follows the gas price was nothing in it
  if (about.followsPrice && isOfPrice && report.stage === "scanned") return [];
  const now = exact.before.environment;
  const { simulatedNumber, parentHash } = report.observed;
  const ahead = BigInt(exact.plan.ahead?.length ?? 0);
  // why: what stands behind empty blocks in front is known by its number alone
  const isSameBlock =
    now !== null &&
    simulatedNumber !== null &&
    now.number === simulatedNumber + ahead &&
    (ahead > 0n || now.parentHash === parentHash);
  if (!isSameBlock || !isOwnScan || about.assumed)
    return [fromError(new OutcomeChanged({ differences: found }), "warning", where)];
  // why: the block of a scan chooses and does not judge; what its time alone moves is told by the worlds
  return deciding.length === 0 ? [] : [fromError(new SimulationDiverged({ differences: deciding }), "blocker", where)];
};

/** How many new parties are named. */
const mostNamed = 8;

/**
 * Their balances were not measured.
 * @figures address("", bob)
 */
export const FirstSeenInProof = code("proof", ["warning"], "FirstSeenInProof", [
  "the proof touched accounts or balances that the scan did not",
  "run `prove` again",
]);

/** Parties and rights that no earlier run knew: they are not measured yet. */
export const checkNewcomers = (
  bundle: ReadonlyArray<Filled>,
  { transfers, producer }: Effects,
  measure: Measure,
  steps: ActiveSteps,
): ReadonlyArray<Finding> => {
  if (measure.cut > 0) return [];
  const known = new ByBalance<true>();
  for (const { account, token } of measure.holdings) known.of({ token, tokenId: null }).set(account, true);
  const fresh = transfers.flatMap(({ token, from, to }) =>
    [from, to].filter(
      (account) =>
        account !== nobody &&
        // why: whom it pretends to produce the block, no earlier run could know
        (token !== null || account !== producer) &&
        !known.of({ token, tokenId: null }).has(account),
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
  return all.length === 0 ? [] : [FirstSeenInProof.warning({ evidence: "logged" }, ...named)];
};
