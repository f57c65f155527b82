/** What makes `SimulationDiverged` and its milder kin: the runs of a proof beside each other, and beside the earlier report. Pure. */
import { OutcomeChanged, SimulationDiverged } from "../errors/verdicts.js";
import { address, text } from "../primitives/statement.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Report } from "../report/schema.js";
import { nobody } from "../steps/reading/approvalLogs.js";
import type { Filled } from "../steps/reading/bundle.js";
import { ByBalance } from "../steps/reading/byBalance.js";
import { differences, isSameShape, type Story } from "../steps/reading/differences.js";
import { movedPlaces, type Said } from "../steps/reading/places.js";
import { newIn, rights } from "../steps/reading/rights.js";
import { settle } from "../steps/reading/transferLogs.js";
import type { Run } from "../steps/simulate.js";
import type { Measure } from "./limits.js";
import type { Told } from "./movements.js";

const where = { step: "proof", evidence: "measured" } as const;

/** Whether both runs stood on the same block: null = one of them cannot say. */
export const isSameBase = (a: Run, b: Run): boolean | null => {
  const [one, other] = [a.before.environment, b.before.environment];
  return one === null || other === null ? null : one.number === other.number && one.parentHash === other.parentHash;
};

/** The base fees of the two contexts differ by a sixteenth; what follows them differs by no more, with room for a constant part. */
const priceShare = 0.08;

/** Whether two runs that differ do so only in amounts, and by no more than the base fee does. */
export const isClose = (one: Story, other: Story, tolerance: number): boolean =>
  isSameShape(one, other) && differences(one, other, Math.max(tolerance, priceShare)).length === 0;

const notComparable = (exact: Run, next: Run, isTrueToState: boolean): string | null => {
  const same = isSameBase(exact, next);
  if (same === null) return "the witness did not answer";
  if (!same) return "the base block moved between the two runs";
  return isTrueToState ? null : "balances moved between the requests";
};

/**
 * What a run was asked to see of its block and did not: the witness reads what contracts can. A node that leaves
 * out a value showed both runs the same world, and the second one proves nothing.
 */
export const notTaken = ({ plan: { blockOverrides }, before: { environment } }: Run): ReadonlyArray<string> => {
  if (blockOverrides === null || environment === null) return [];
  const { number, time, baseFeePerGas, gasLimit, feeRecipient, prevRandao } = blockOverrides;
  const pairs: ReadonlyArray<readonly [name: string, asked: unknown, seen: unknown]> = [
    ["number", number, environment.number],
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

/**
 * The second context was not comparable, or did something else: `found`, one line per difference, with both values.
 * `isTrueToState` = the balances that the runs pretend are those measured; `isTimePretended` = the caller pretends a
 * time, which is then the same in both.
 */
export const checkContrast = (
  exact: Run,
  next: Run,
  {
    found,
    chance,
    followsPrice,
    isTrueToState,
    isTimePretended,
  }: {
    readonly found: ReadonlyArray<string>;
    /** Where another address stands, whose place does not decide. */
    readonly chance: ReadonlyArray<string>;
    readonly followsPrice: boolean;
    readonly isTrueToState: boolean;
    readonly isTimePretended: boolean;
  },
): ReadonlyArray<Finding> => {
  const why = notComparable(exact, next, isTrueToState);
  if (why !== null) return incomparable(why);
  if (followsPrice) return [note("PriceDependent", "warning", where)];
  if (found.length > 0) return [fromError(new SimulationDiverged({ differences: found }), "blocker", where)];
  const left = [...new Set([...notTaken(exact), ...notTaken(next)])];
  if (left.length > 0) return incomparable(`the node did not simulate with the ${left.join(", ")} that it was given`);
  if (isSameTime(exact, next) && !isTimePretended)
    return incomparable("the second run was not given a time of its own");
  return chance.length === 0 ? [] : [note("ChanceDependent", "warning", where, ...chance.map((one) => text("", one)))];
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
  }: {
    readonly followsPrice: boolean;
    /** Whose place in events and return values decides. */
    readonly concerned: ReadonlySet<string>;
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
  const found = [...differences(earlier, story, report.options.tolerance), ...decisive];
  if (found.length === 0) return [];
  // why: a scan runs without fees, so what follows the gas price was nothing in it
  if (followsPrice && decisive.length === 0 && report.stage === "scanned" && isSameShape(earlier, story)) return [];
  const now = exact.before.environment;
  const { simulatedNumber, parentHash } = report.observed;
  const sameBlock =
    now !== null && simulatedNumber !== null && now.number === simulatedNumber && now.parentHash === parentHash;
  return sameBlock && isOwnScan && !assumed
    ? [fromError(new SimulationDiverged({ differences: found }), "blocker", where)]
    : [fromError(new OutcomeChanged({ differences: found }), "warning", where)];
};

/** How many new parties are named. */
const mostNamed = 8;

/** Parties and rights that no earlier run knew: they are not measured yet. */
export const checkNewcomers = (
  bundle: ReadonlyArray<Filled>,
  story: Story,
  measure: Measure,
): ReadonlyArray<Finding> => {
  if (measure.cut > 0) return [];
  const known = new ByBalance<true>();
  for (const { account, token } of measure.holdings) known.set({ account, token, tokenId: null }, true);
  const fresh = story.transfers.flatMap(({ token, from, to }) =>
    [from, to].filter((account) => account !== nobody && known.get({ account, token, tokenId: null }) === undefined),
  );
  const granted = newIn(measure.rights, rights(bundle, Number.POSITIVE_INFINITY).kept);
  const all = [...new Set([...fresh, ...granted.map(({ spender }) => spender)])];
  const named = all.slice(0, mostNamed).map((one) => address("", one));
  return all.length === 0 ? [] : [note("FirstSeenInProof", "warning", { evidence: "logged" }, ...named)];
};
