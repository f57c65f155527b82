/** What makes `SimulationDiverged` and its milder kin: the runs of a proof beside each other, and beside the earlier report. Pure. */
import { OutcomeChanged, SimulationDiverged } from "../../errors/verdicts.js";
import { address, count, text } from "../../primitives/statement.js";
import { fromError, note, type Finding } from "../../report/finding.js";
import type { Report } from "../../report/schema.js";
import { nobody } from "../../abi/words.js";
import type { Filled } from "../../steps/reading/bundle.js";
import { ByBalance } from "../../steps/reading/byBalance.js";
import {
  differences,
  isSameShape,
  withProducer,
  type Difference,
  type Story,
} from "../../steps/reading/differences.js";
import { movedPlaces, type Moved, type Said } from "../../steps/reading/places.js";
import { newIn, rights } from "../../steps/reading/rights.js";
import { movedValues } from "../../steps/reading/values.js";
import { settle } from "../../steps/reading/transferLogs.js";
import type { Run } from "../../steps/simulate.js";
import type { Measure } from "../limits.js";
import type { Told } from "./movements.js";

const where = { step: "proof", evidence: "measured" } as const;

/** Differences that one finding names. */
const mostLines = 16;

/** Whether both runs were in the same block: whoever cannot say was not. */
export const isSamePlace = (a: Run, b: Run): boolean => {
  const [one, other] = [a.before.environment, b.before.environment];
  return one !== null && one.number === other?.number && one.timestamp === other.timestamp;
};

/** The base fees of the two contexts differ by a sixteenth; what follows them differs by no more, with room for a constant part. */
export const priceShare = 0.08;

/** Whether two runs that differ do so only in amounts, and by no more than the base fee does. */
export const isClose = (one: Story, other: Story, tolerance: number): boolean =>
  isSameShape(one, other) && differences(one, other, Math.max(tolerance, priceShare)).length === 0;

const notComparable = (exact: Run, next: Run, isTrueToState: boolean): string | null => {
  if (exact.before.environment === null || next.before.environment === null) return "the witness did not answer";
  return isTrueToState ? null : "balances moved between the requests";
};

/**
 * What a run was asked to see of its block and did not: the witness reads what contracts can. A node that leaves
 * out a value showed both runs the same world, and the second one proves nothing.
 */
export const notTaken = ({ plan: { blockOverrides }, block, before: { environment } }: Run): ReadonlyArray<string> => {
  if (blockOverrides === null || environment === null) return [];
  const { number, time, baseFeePerGas, gasLimit, feeRecipient, prevRandao } = blockOverrides;
  const pairs: ReadonlyArray<readonly [name: string, asked: unknown, seen: unknown]> = [
    // why: NUMBER may be another chain's (Arbitrum), the answer's own is not
    ["number", number, block.number === number ? number : environment.number],
    ["time", time, environment.timestamp],
    ["base fee", baseFeePerGas, environment.baseFeePerGas],
    ["gas limit", gasLimit, environment.gasLimit],
    ["fee recipient", feeRecipient?.toLowerCase(), environment.feeRecipient],
    ["randomness", prevRandao?.toLowerCase(), environment.prevRandao],
  ];
  return pairs.flatMap(([name, asked, seen]) =>
    asked === undefined || asked === null || String(asked) === String(seen) ? [] : [name],
  );
};

/** What a run said, with the producer of its own block. */
export const saidIn = (run: Run, { outcomes }: Story): Said => ({
  outcomes,
  producer: run.before.environment?.feeRecipient ?? null,
});

/** That two runs could not be compared, and why. */
export const incomparable = (why: string): ReadonlyArray<Finding> => [
  note("BaseNotComparable", "unavailable", { evidence: "unavailable" }, text("because", why)),
];

const isSameTime = (exact: Run, next: Run): boolean =>
  exact.before.environment?.timestamp === next.before.environment?.timestamp;

/** Why two worlds differ: the base fee, the state they stand on, or the block they are in. */
export type Cause = "price" | "state" | "context";

/** What the other world did otherwise, and why. */
export interface Contrast {
  readonly found: ReadonlyArray<Difference>;
  readonly places: Moved;
  /** What its events say otherwise in numbers, of those concerned, and neither state nor price explains. */
  readonly numbers: ReadonlyArray<string>;
  readonly cause: Cause;
  /** Whether a policy bounds every amount of those concerned that differs, in both worlds. */
  readonly isBounded: boolean;
}

/** Two worlds that did the same. */
export const same: Contrast = {
  found: [],
  places: { decisive: [], chance: [] },
  numbers: [],
  cause: "context",
  isBounded: false,
};

/** Whether both worlds did the same: what decides, and what does not. */
export const isSame = ({ found, places, numbers }: Contrast): boolean =>
  found.length + places.decisive.length + places.chance.length + numbers.length === 0;

const blockOf = (what: string, { before: { environment } }: Run) => [
  count(`block of ${what}`, environment?.number ?? null),
  count(`its time`, environment?.timestamp ?? null),
];

/** What two worlds that differ amount to. */
const judge = (
  { found, places, cause, isBounded: bounded }: Contrast,
  exact: Run,
  next: Run,
  inFlight: number,
): Finding => {
  const lines = [...found.map(({ line }) => line), ...places.decisive, ...places.chance];
  const told = lines.slice(0, mostLines).map((line) => text("", line));
  const diverged = () => fromError(new SimulationDiverged({ differences: lines }), "blocker", where);
  const isGated = found.some(({ kind }) => kind === "status");
  const deciding = found.filter(({ kind }) => kind === "loss" || kind === "right");
  if (cause === "price") {
    // why: what comes in by the price of gas, as a keeper's refund does, is meant to
    const isIncome = lines.length === found.length && found.every(({ kind, isAmount }) => kind === "other" && isAmount);
    return note("PriceDependent", isIncome ? "info" : "warning", where, ...told);
  }
  if (cause === "state") {
    // why: trades ahead move amounts; whose money goes where they do not
    const isMoved = !isGated && (places.decisive.length > 0 || deciding.some(({ isAmount }) => !isAmount));
    if (isMoved) return diverged();
    // why: the next block has none of them, and the nearest reason is the sender's own
    if (inFlight > 0) return note("PredecessorsNotSimulated", "warning", where, count("in flight", inFlight), ...told);
    return note("DependsOnPending", bounded ? "info" : "warning", where, ...told);
  }
  if (isGated)
    return note("NotYet", "unavailable", where, ...told, ...blockOf("exact", exact), ...blockOf("next", next));
  if (deciding.length > 0 || places.decisive.length > 0) return diverged();
  return note("ChanceDependent", "warning", where, ...told);
};

/**
 * The second world was not comparable, or did something else. `isTrueToState` = the balances that the runs pretend are
 * those measured; `isTimePretended` = the caller pretends a time, which is then the same in both; `inFlight` = how many
 * transactions of the senders are, which only one of the worlds may hold.
 */
export const checkContrast = (
  exact: Run,
  next: Run,
  contrast: Contrast,
  {
    isTrueToState,
    isTimePretended,
    inFlight,
  }: { readonly isTrueToState: boolean; readonly isTimePretended: boolean; readonly inFlight: number },
): ReadonlyArray<Finding> => {
  const why = notComparable(exact, next, isTrueToState);
  if (why !== null) return incomparable(why);
  const left = [...new Set([...notTaken(exact), ...notTaken(next)])];
  const untaken =
    left.length > 0
      ? incomparable(`the node did not simulate with the ${left.join(", ")} that it was given`)
      : isSameTime(exact, next) && !isTimePretended
        ? incomparable("the second run was not given a time of its own")
        : [];
  const { numbers } = contrast;
  const judged = isSame({ ...contrast, numbers: [] }) ? [] : [judge(contrast, exact, next, inFlight)];
  const isTold =
    numbers.length === 0 || judged.some(({ code, severity }) => severity === "blocker" || code === "ChanceDependent");
  return [
    ...judged,
    ...(isTold
      ? []
      : [note("ChanceDependent", "warning", where, ...numbers.slice(0, mostLines).map((line) => text("", line)))]),
    ...untaken,
  ];
};

/** A story that has only the shape of its events to go by, told by the standards that its tokens answer to. */
export const asLogged = <S extends Story>(story: S, standards: Told["standards"]): S => ({
  ...story,
  transfers: settle(story.transfers, standards),
});

/** What differs from the earlier report: on the block of a scan of our own the contract's doing, else the world's. */
export const checkChange = (
  report: Report,
  exact: Run,
  story: Told,
  {
    followsPrice,
    assumed,
    isOwnScan,
    concerned,
    whose,
  }: {
    readonly followsPrice: boolean;
    /** Whose place in events and return values decides. */
    readonly concerned: ReadonlySet<string>;
    /** Whose losses decide. */
    readonly whose: ReadonlySet<string>;
    readonly assumed: boolean;
    readonly isOwnScan: boolean;
  },
): ReadonlyArray<Finding> => {
  if (report.observed.tier !== "simulate") return [note("OutcomeNotCompared", "warning", { evidence: "unavailable" })];
  const earlier: Story = {
    outcomes: report.transactions.map(({ outcome }) => outcome),
    // why: a scan has only the shape of the events to go by
    transfers: settle(report.transfers, story.standards),
    balanceChanges: report.balanceChanges,
    approvals: report.approvals,
  };
  const { decisive } = movedPlaces({ ...earlier, producer: null }, saidIn(exact, story), concerned);
  const proven = report.observed.worlds.find(({ run }) => run === "exact")?.feeRecipient ?? null;
  const differing = differences(
    withProducer(earlier, proven, concerned),
    withProducer(story, saidIn(exact, story).producer, concerned),
    report.options.tolerance,
    whose,
  );
  // why: between a scan of our own and its proof the block is another one, and what it says with it
  const values = isOwnScan ? [] : movedValues(earlier.outcomes, story.outcomes, report.options.tolerance);
  const found = [...differing.map(({ line }) => line), ...decisive, ...values];
  if (found.length === 0) return [];
  const deciding = [
    ...differing.flatMap(({ kind, line }) => (kind === "loss" || kind === "right" ? [line] : [])),
    ...decisive,
  ];
  // why: a scan runs without fees, so what follows the gas price was nothing in it
  if (followsPrice && decisive.length === 0 && report.stage === "scanned" && isSameShape(earlier, story)) return [];
  const now = exact.before.environment;
  const { simulatedNumber, parentHash } = report.observed;
  const ahead = exact.plan.ahead == null ? 0n : 1n;
  // why: what stands behind an empty block in front is known by its number alone
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
  story: Story,
  measure: Measure,
  producer: string | null = null,
): ReadonlyArray<Finding> => {
  if (measure.cut > 0) return [];
  const known = new ByBalance<true>();
  for (const { account, token } of measure.holdings) known.set({ account, token, tokenId: null }, true);
  const fresh = story.transfers.flatMap(({ token, from, to }) =>
    [from, to].filter(
      (account) =>
        account !== nobody &&
        // why: whom it pretends to produce the block, no earlier run could know
        (token !== null || account !== producer) &&
        known.get({ account, token, tokenId: null }) === undefined,
    ),
  );
  const granted = newIn(measure.rights, rights(bundle, Number.POSITIVE_INFINITY).kept);
  const all = [...new Set([...fresh, ...granted.map(({ spender }) => spender)])];
  const named = all.slice(0, mostNamed).map((one) => address("", one));
  return all.length === 0 ? [] : [note("FirstSeenInProof", "warning", { evidence: "logged" }, ...named)];
};
