/** Findings of a proof beside what its runs did: what it could not see, what it lacks, and when it closes. Pure. */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import { fromError, code, type Finding } from "../report/finding.js";
import type { WorldName } from "../primitives/names.js";
import { count, gas, wei } from "../primitives/statement.js";
import { framesOf, isTraceOf, leastLeft } from "../effects/frames.js";
import { gap, NotProven } from "../errors/verdicts.js";
import { freshSlot, frugalLimit } from "../steps/estimate.js";
import { authorizationInFlight, isUsedByAuthorization } from "../steps/nonce.js";
import { concernedIn, livesIn } from "../steps/reading/addressPositions.js";
import { isFirst, type Bundle } from "../steps/reading/bundle.js";
import { compareEffects, type Effects } from "../steps/reading/compare.js";
import type { Run } from "../steps/simulate.js";
import type { Observed } from "../report/schema.js";
import { successOf } from "../steps/reading/askResult.js";
import { isSame } from "../steps/reading/sameOutcome.js";
import { isRequestOf } from "../transaction/request.js";
import { knows } from "../witness/view.js";
import { assumedIn, type Bracket, type Proof, type ProofState } from "./proofState.js";
import { figuresOf, type RunAnswers } from "./answers.js";
import type { Limits, Signed } from "./choose.js";
import { measureQueries } from "./limits.js";
import { comparisonOf } from "./worlds/contrast.js";
import { inFlightOf, isTogether, type Claim, looksOf } from "./proofPlans.js";
import { lacksPredecessors, notAllSimulated } from "./worlds/compare.js";
import { spanOf, untilOf } from "./worlds/bracket.js";
import { gridOn, nameOf, pendingOf } from "./worlds/contexts.js";

/** Reads that tell blocks from each other by their number; code that was not seen may. */
const byNumber = ["number", "blockhash", "others"] as const;

/**
 * Blocks that come while a clearance holds, and that no world stands behind: code that reads their number may tell them
 * apart. Unless the caller says how long it is to hold, it ends with the last block that was simulated. `until` = epoch ms;
 * null = this does not bound it.
 */
export const spanIn = ({ claim: { report, chain, worlds, reads }, proof }: ProofState) => {
  const { blocks, covered } = spanOf(gridOn(report, chain), chain, worlds.reach);
  if (covered >= blocks || !byNumber.some((read) => reads.includes(read))) return { until: null, findings: [] };
  const numbers = [count("blocks in time", blocks), count("simulated up to", covered)];
  return {
    until: report.options.isMaxAgeGiven === true ? null : proof.askedAt + Math.floor(covered * chain.blockTimeMs),
    findings: [notAllSimulated("info", ...numbers)],
  };
};

/**
 * Quotes and auctions close like that. The clearance ends three slots before the last block in which the transaction
 * succeeded, but not before half of that time is over. The finding is a warning where it succeeded in the next block
 * only.
 * @figures count("ran in a block of the time", 1_767_225_623), count("failed in one of", 1_767_225_635)
 * @warning where it succeeds in the next block alone
 */
export const ClosesAt = code("proof", ["info", "warning"], "ClosesAt", [
  "the transaction succeeds in the next block but fails later",
  "send it before the approval to sign ends",
]);

/** How long a clearance may hold, where the transactions run in what was left of the bracket and fail behind it; as `spanIn`. */
export const closesIn = (bracket: Bracket, { claim: { report, chain }, proof }: ProofState, now: number) => {
  const runs = [successOf(proof.runs.get("next")), successOf(figuresOf(proof))].flatMap((run) => run ?? []);
  const hasRun = runs.every(({ readings }) => readings.every(({ outcome }) => outcome.status === "success"));
  const [next, last] = runs.map((run) => run.before.environment?.timestamp);
  if (bracket.kind === "whole" || !hasRun || next === undefined || last === undefined)
    return { until: null, findings: [] };
  const until = Math.floor(untilOf(gridOn(report, chain), { last, next, now }));
  const times = [count("block time of success", last), count("block time of failure", bracket.failed)];
  const severity = bracket.reach === 0 ? "warning" : "info";
  return { until, findings: [ClosesAt[severity]({ evidence: "measured" }, ...times)] };
};

/**
 * True if the signed nonce is ahead of the state that was simulated on. A state other than `pending`
 * holds nothing of the pool, also where the node does not check nonces.
 */
const isAhead = (claim: Claim, proof: Proof): boolean =>
  assumedIn(proof) !== null ||
  // why: a node that does not validate refuses nothing for a state that lacks the predecessors
  // guard: a node that does not validate, with some in flight
  (inFlightOf(claim) > 0 && successOf(figuresOf(proof))?.plan.without?.has("validation") === true) ||
  (proof.block !== "pending" &&
    claim.bundle.some((entry) => {
      const latest = successOf(proof.counts.get(entry.signer)?.latest);
      return isFirst(entry, claim.bundle) && latest !== null && entry.request.nonce > latest;
    }));

/** @figures count("in flight", 2) */
export const BehindInFlight = code("nonce", ["info"], "BehindInFlight", [
  "the sender's earlier transactions do not change the outcome; this one is mined after them",
]);

export const NonceAssumed = code("nonce", ["warning"], "NonceAssumed", [
  "the simulated state already has a transaction with this nonce, so the nonce was overridden",
  "use the next nonce, unless you mean to replace that transaction",
]);

/** The requests ahead of their state; or the next block, which has nothing of what is in flight, did the same. */
export const checkAhead = (state: ProofState): ReadonlyArray<Finding> => {
  const { claim, proof } = state;
  const inFlight = inFlightOf(claim);
  const isAlike = comparisonOf(state)?.contrast?.found.length === 0;
  // guard: own transactions in flight that the state lacks
  if (!isAhead(claim, proof))
    return isAlike && inFlight > 0 ? [BehindInFlight.info({ evidence: "measured" }, count("in flight", inFlight))] : [];
  const assumed = assumedIn(proof);
  if (isUsedByAuthorization(assumed, claim.bundle, proof)) return [authorizationInFlight(assumed)];
  if (assumed?._tag === "NonceTooLow") return [NonceAssumed.warning({ evidence: "assumed" })];
  return [lacksPredecessors("assumed")];
};

/** The outcome without others' transactions was not simulated. */
export const SealedStateUnseen = code("proof", ["info"], "SealedStateUnseen", [
  "the node simulates on its pending state only, which may contain others' transactions",
  "use another endpoint, or limit the amounts with a policy",
]);

/** Reports a guessed pending state if the node simulates on nothing else: others' transactions are in both worlds. */
export const checkStates = ({ report, chain, worlds }: Claim): ReadonlyArray<Finding> =>
  pendingOf(report, chain) === "guess" && worlds.rows[1].state === "pending"
    ? [SealedStateUnseen.info({ evidence: "unavailable" })]
    : [];

/**
 * One simulation can measure only so many. The others are known from events.
 * @figures count("not measured", 112)
 */
export const PartiesCut = code("assets", ["warning"], "PartiesCut", [
  "not all balances and approvals that are touched were measured",
  "send less at once, or trust the events for the others",
]);

/** Balances and rights that found no room, or no gas, to be read. */
export const checkMeasured = ({ claim, proof }: ProofState): ReadonlyArray<Finding> => {
  const { measure } = claim;
  const run = successOf(figuresOf(proof));
  const unread =
    run === null || !run.witnessed
      ? 0
      : measureQueries({ ...measure, tokens: [] }).filter(
          (query) => !knows(run.before, query) || !knows(run.after, query),
        ).length;
  // why: what was not asked is not read either
  const missing = measure.cut + Math.max(looksOf(claim).unasked, unread);
  // guard: what found no room to be read
  return missing === 0 ? [] : [PartiesCut.warning({ evidence: "logged" }, count("not measured", missing))];
};

/**
 * A call inside burns all the gas that it gets and fails, and the transaction goes on. The outcome was simulated with the
 * smaller limit, and with half of that. It is not chosen by itself where no trace shows the calls inside at both limits, for with
 * less gas a call without events may fail unseen, or where that leaves too little gas behind the failure.
 * @figures gas("limit", 16_777_216n), wei("at most", 35_903_000_000_000_000n), gas("smaller limit", 1_758_616n), wei("at most", 3_763_000_000_000_000n)
 */
export const GasBurnt = code("estimate", ["warning"], "GasBurnt", [
  "nearly all the gas is used up, though the outcome is the same with a far smaller limit",
  "give the smaller limit as `gas`",
]);

/** Both limits of a transaction that burns gas, with what they cost at most, as a finding has them. */
export const bothLimits = ({ index, request: { gas: limit, maxFeePerGas, gasPrice } }: Signed, smaller: bigint) => {
  const costOf = (most: bigint) => wei("at most", most * (maxFeePerGas ?? gasPrice ?? 0n));
  const where = { transaction: index, evidence: "measured" } as const;
  return [where, gas("limit", limit), costOf(limit), gas("smaller limit", smaller), costOf(smaller)] as const;
};

/** The outcomes of the transactions in a world; none where it did not answer. */
export const outcomesIn = (runs: RunAnswers, key: WorldName) =>
  successOf(runs.get(key))?.readings.map(({ outcome }) => outcome) ?? [];

/**
 * Transactions that burn gas, each with the limit that was tried, and the one that a trace of its calls asks for; none of those of
 * which a trace shows that nothing failed inside, or that they need most of their gas.
 */
const burntIn = ({ claim, proof: { runs, traces = [] } }: Pick<ProofState, "claim" | "proof">) => {
  const [outcomes, { fork }] = [outcomesIn(runs, "next"), claim.report.observed.rules];
  const trials = claim.worlds.rows.filter(({ limits }) => limits !== undefined);
  if (!trials.every(({ key }) => isSame(outcomesIn(runs, key), outcomes))) return [];
  return claim.bundle.flatMap((entry, place) => {
    const { gas: limit } = entry.request;
    const enough = trials[0]?.limits?.[place] ?? limit;
    const [outcome, trace] = [outcomes[place], traces[place]?.trace];
    if (enough >= limit || outcome?.status !== "success") return [];
    const rowBy = (traced: bigint | null) => [{ entry, place, enough, traced }];
    if (!isTraceOf(trace, outcome)) return rowBy(null);
    const used = outcome.maxUsedGas ?? outcome.gasUsed ?? 0n;
    // why: who calls what burns keeps a 64th, of which what is left in the end was not needed
    const estimate = BigInts.max(0n, limit - 64n * leastLeft(trace, limit - used)) + 8n * freshSlot(fork);
    const traced = frugalLimit({ estimate, used, limit }, fork);
    return traced === null || !framesOf(trace).some(({ hasFailed }) => hasFailed) ? [] : rowBy(traced);
  });
};

export const checkBurnt = (state: ProofState): ReadonlyArray<Finding> =>
  (state.gas.isNeeded ? [] : burntIn(state)).map(({ entry, enough }) => GasBurnt.warning(...bothLimits(entry, enough)));

/** Smaller limits that may be chosen: by this very call, in place of limits of ours, where traces show what burns; null = none. */
export const smallerLimits = (state: Pick<ProofState, "claim" | "proof">): Limits | null => {
  const { claim, proof } = state;
  const burnt = claim.scanned === null || proof.traced.length < claim.bundle.length ? [] : burntIn(state);
  // why: limits of the caller stay as they are
  if (burnt.length === 0 || burnt.some(({ entry, traced }) => entry.gas.by !== "us" || traced === null)) return null;
  const limitOf = new Map(burnt.map(({ place, traced }) => [place, traced]));
  return Arr.map(claim.bundle, ({ request }, place) => limitOf.get(place) ?? request.gas);
};

export const checkRequests = (bundle: Bundle<Signed>): ReadonlyArray<Finding> =>
  // guard: requests are those of the inputs
  bundle.every(({ input, request }) => isRequestOf(input, request))
    ? []
    : [
        fromError(
          new NotProven({ missing: [gap("Altered", "the requests are not those of the report's inputs")] }),
          "unavailable",
          { step: "proof", evidence: "measured" },
        ),
      ];

const placedEffects = (readings: Run["readings"]): Effects => ({
  outcomes: readings.map(({ outcome }) => outcome),
  transfers: readings.flatMap(({ transfers }) => transfers),
  ...{ balanceChanges: [], approvals: [], producer: null },
});

/** True if every case did the same in both; null where one of them says nothing. */
const agreesWith = ({ bundle, measure, report }: Claim, exact: Run | null, readings: Run["readings"]) => {
  if (exact === null || readings.length !== bundle.length) return null;
  const found = compareEffects(placedEffects(exact.readings), placedEffects(readings), {
    ...{ tolerance: report.options.tolerance, whose: new Set(), numbers: null },
    concerned: concernedIn(bundle, measure.parties, measure.doubtful, livesIn([exact.before, exact.after])),
  });
  return found.every(({ kind }) => kind === "address");
};

/** The worlds in which a bundle is placed otherwise, beside `exact`. */
export const worldsOfPlaced = (claim: Claim, exact: Run | null, runs: RunAnswers): Observed["worlds"] =>
  claim.worlds.rows.flatMap((world) => {
    const result = world.form === "limits" && world.limits === undefined ? runs.get(world.key) : undefined;
    if (result === undefined) return [];
    const run = successOf(result);
    const { number = null, timestamp = null, miner = null, gasLimit = null } = run?.block ?? {};
    const places = world.bundle.map(({ index }) => index);
    const readings = claim.bundle.flatMap(({ index }) => run?.readings[places.indexOf(index)] ?? []);
    const agrees = agreesWith(claim, exact, readings);
    return [{ run: nameOf(world), state: world.state, number, timestamp, feeRecipient: miner, gasLimit, agrees }];
  });

/** The node could not simulate the bundle in several blocks. */
export const BundleInOneBlock = code("proof", ["warning"], "BundleInOneBlock", [
  "the bundle was proven in one block only, but it may be mined in several",
  "send them one at a time, each after its own preflight",
]);

/** Nothing holds the transactions of a bundle together: what was seen in one block alone is not what will be mined. */
export const checkApart = (claim: Claim, worlds: Observed["worlds"]): ReadonlyArray<Finding> => {
  const apart = worlds.find(({ run }) => run === "oneBlockEach");
  // guard: a bundle in several blocks on sealed state
  if (!isTogether(claim) || apart?.agrees === true) return [];
  return [BundleInOneBlock.warning({ evidence: apart?.agrees === false ? "measured" : "unavailable" })];
};
