/**
 * Settles if a smaller limit is handed out where a call inside burns all the gas that it gets. Such a call gets 63/64 of what there is, so
 * that the least limit that works is a cliff: a slot that another transaction clears makes a failure of it, or skips a call in
 * silence.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import { isSameWork, isTraceOf } from "../effects/frames.js";
import { tracedWords } from "../effects/slots.js";
import type { StateDiff } from "../eth/call.js";
import { sent } from "../eth/round.js";
import type { Outcome } from "../report/parts.js";
import { freshSlot } from "../steps/estimate.js";
import type { CallTrace } from "../steps/reading/answers.js";
import { isSame } from "../steps/reading/sameOutcome.js";
import { askRuns } from "./askProof.js";
import { bothLimits, outcomesIn } from "./checkProof.js";
import type { Limits } from "./choose.js";
import { most, traceStates } from "./extras/stateTraces.js";
import { planOf } from "./proofPlans.js";
import type { ProofState } from "./proofState.js";
import { inRound, within } from "./rounds.js";
import { gasRows } from "./worlds/contexts.js";
import { lowered } from "./gas/doubt.js";

/** The doings of transactions at some limits, as a simulation and tracers tell them. */
export interface Seen {
  readonly limits: Limits;
  readonly outcomes: ReadonlyArray<Outcome>;
  readonly traces: ReadonlyArray<CallTrace>;
  readonly traced: ReadonlyArray<StateDiff>;
}

const wordsIn = ({ traced }: Seen): string => {
  const rows = tracedWords(traced, () => false).map(({ contract, slot, word }) => [contract, slot, word].join());
  return rows.sort().join();
};

/**
 * Tells if smaller limits stand: at the first trial, which has them, and at all others below, the transactions do the same as at
 * the larger limits, and at the first every call inside has gas left for `spare` more. `open` = not all was told, or less is left.
 * Pure.
 */
export const judgeSmaller = (larger: Seen, trials: Arr.NonEmptyReadonlyArray<Seen>, spare: bigint) => {
  const places = [...larger.limits.keys()].filter((place) => trials[0].limits[place] !== larger.limits[place]);
  const traceIn = ({ traces }: Seen, place: number) => traces[place]?.trace;
  const isSeen = (seen: Seen): boolean =>
    seen.traced.length === larger.limits.length &&
    places.every((place) => isTraceOf(traceIn(seen, place), seen.outcomes[place] ?? {}));
  const isAlike = (seen: Seen, gas = 0n): boolean =>
    isSame(larger.outcomes, seen.outcomes) &&
    wordsIn(larger) === wordsIn(seen) &&
    places.every((place) => isSameWork(traceIn(larger, place), traceIn(seen, place), gas));
  if (![larger, ...trials].every(isSeen)) return "open";
  if (!isAlike(trials[0])) return "differs";
  // why: the gas behind a call that burns its own is a 64th of the limit, so that the lowest trial tells of the transaction's
  return isAlike(trials[0], spare) && trials.every((trial) => isAlike(trial)) ? "stands" : "open";
};

/**
 * Tries smaller limits, three quarters and half of them, and what is 70 slots below them. JSON-RPC:
 * `eth_simulateV1` (the run `gas`), `debug_traceCall`.
 */
export const settleBurnt = Effect.fnUntraced(function* (state: ProofState, limits: Limits) {
  const { claim, proof, gas } = state;
  const [, next] = claim.worlds.rows;
  const own = Arr.map(claim.bundle, ({ request }) => request.gas);
  const spare = freshSlot(claim.report.observed.rules.fork);
  const below = (limit: bigint) => [limit, (limit * 3n) / 4n, limit / 2n, limit - 70n * spare];
  const askAt = Effect.fnUntraced(function* (trial: number) {
    const at = Arr.zipWith(limits, own, (limit, larger) => (limit === larger ? limit : (below(limit)[trial] ?? limit)));
    const [traced, traces]: [Array<StateDiff>, Array<CallTrace>] = [[], []];
    const rows = gasRows(next, [at], 66);
    const tracing = Effect.forEach(rows, (row) => traceStates(planOf(claim, row), traced, traces, false));
    const [runs] = yield* Effect.all([sent(askRuns(claim, rows)), within(most.ms, tracing)], { concurrency: 2 });
    return { limits: at, outcomes: outcomesIn(runs, "gas 66"), traces, traced };
  });
  const trials = yield* inRound("doubtfulLimit", Effect.forEach([0, 1, 2, 3] as const, askAt, { concurrency: 4 }));
  const { runs, traces = [], traced } = proof;
  const verdict = judgeSmaller({ limits: own, outcomes: outcomesIn(runs, "next"), traces, traced }, trials, spare);
  const findings = claim.bundle.flatMap((entry, place) => {
    const limit = limits[place] ?? 0n;
    return limit === own[place] ? [] : [lowered(...bothLimits(entry, limit))];
  });
  const smaller = verdict === "stands" ? { limits, larger: own, findings } : { isNeeded: verdict === "differs" };
  return { ...state, gas: { ...gas, ...smaller } };
});
