/** Round 2, everything at once: the runs of a proof (`exact`, `reserved`, `next`, `readerOnly`; `gas` and `exactOnLatest` on doubt), and the world again. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Nonce from "../steps/nonce.js";
import type * as Simulate from "../steps/simulate.js";
import { isTraceOf } from "../effects/frames.js";
import { RpcError, Timeout } from "../errors/rpc.js";
import type { StateDiff } from "../eth/call.js";
import type { AskRule } from "../primitives/names.js";
import { isSlotted } from "../report/freshness.js";
import { abisOf } from "../report/options.js";
import { each, goingOn, known, mapped, sent, together, when, type Ask } from "../eth/round.js";
import { Rpc } from "../rpc/index.js";
import { isFirst } from "../steps/reading/bundle.js";
import type { CallTrace } from "../steps/reading/answers.js";
import { failureOf, successOf, type AskResult } from "../steps/reading/askResult.js";
import { bareCall } from "../transaction/request.js";
import { tagOf, type World, type Worlds } from "./worlds/contexts.js";
import { askReached } from "./endpoint/forkUse.js";
import { askForks } from "./endpoint/known.js";
import { inRound, within } from "./rounds.js";
import { askPooled, inFlightOf } from "../steps/reading/pool.js";
import { planOf, worldsAsked, type Claim } from "./proofPlans.js";
import { isOnHead, type Proof } from "./proofState.js";
import { type RunAnswers } from "./answers.js";
import { isGone, simulate } from "./endpoint/simulate.js";
import { isTraceable, learnUntraced, most as mostTraced, tracers, traceStates } from "./extras/stateTraces.js";

/** How often a run on a moved head is asked again of the nodes behind one address, some of which do not have it yet. */
const mostAgain = 3;

/** Asks a world; `times` = how often again, where it is refused for its block. */
const askRun = (claim: Claim, world: World, times = 0): Ask<AskResult<Simulate.Run>> => {
  const plan = planOf(claim, world);
  const run = simulate(plan, abisOf(claim.report.options));
  const isAgain = typeof plan.block === "object" && world.form !== "limits";
  if (!isAgain || times === 0) return run;
  return goingOn(run, (answer) =>
    isGone(failureOf(answer))
      ? Effect.repeat(sent(run), { times: times - 1, while: (again) => isGone(failureOf(again)) })
      : null,
  );
};

/** Asks worlds, all side by side. */
export const askRuns = (claim: Claim, worlds: ReadonlyArray<World>, times = 0): Ask<RunAnswers> =>
  mapped(
    each(worlds, (world) => askRun(claim, world, times)),
    (runs) => new Map(Arr.zip(worlds, runs).map(([{ key }, run]) => [key, run])),
  );

/** Ms that the blocks between and the traces may take beyond all else, where that took less. */
const leastPatience = 500;

/** The blocks between and the traces, beside `main`, for which they keep nobody waiting. */
const besideBetween = <A>(claim: Claim, between: ReadonlyArray<World>, main: Effect.Effect<A, never, Rpc>) =>
  Rpc.use(({ memory }) => {
    const isTraced = isTraceable(claim, memory);
    if (between.length === 0 && !isTraced)
      return Effect.map(main, (answers) => ({
        main: answers,
        between: new Map<never, never>(),
        traced: [],
        traces: [],
      }));
    return Effect.gen(function* () {
      const startedAt = yield* Clock.currentTimeMillis;
      const traced: Array<StateDiff> = [];
      const traces: Array<CallTrace> = [];
      const [, next] = claim.worlds.rows;
      const trace = isTraced
        ? within(mostTraced.ms, traceStates(planOf(claim, next), traced, traces, claim.scanned === null))
        : Effect.void;
      const tracer = yield* Effect.forkScoped(trace);
      const fibers = yield* Effect.forEach(between, (world) =>
        Effect.map(Effect.forkScoped(sent(askRun(claim, world))), (fiber) => ({ world, fiber })),
      );
      const answers = yield* main;
      const patience = Math.max(leastPatience, (yield* Clock.currentTimeMillis) - startedAt);
      // why: an error records its stack, and hardly any proof needs this one
      const late = () =>
        Result.fail(new RpcError({ method: "eth_simulateV1", reason: new Timeout({ detail: "", afterMs: patience }) }));
      const [ended, ...runs] = yield* Effect.all(
        [
          Effect.timeoutOption(Fiber.join(tracer), patience),
          ...fibers.map(({ world: { key }, fiber }) =>
            Effect.map(
              Effect.timeoutOption(Fiber.join(fiber), patience),
              (run) => [key, Option.getOrElse(run, late)] as const,
            ),
          ),
        ] as const,
        { concurrency: "unbounded" },
      );
      // why: a node that takes too long does so the next time, too
      if (Option.isNone(ended) && traced.length === 0) for (const tracer of tracers) learnUntraced(memory, tracer);
      return { main: answers, between: new Map(runs), traced: [...traced], traces: [...traces] };
    }).pipe(Effect.scoped);
  });

/** The traces of what a run showed, too. why: of anything else, or at another price in gas, a contract may have told it */
const heldTo = (run: Simulate.Run | null, traces: ReadonlyArray<CallTrace>): ReadonlyArray<CallTrace> =>
  traces.map((one, place) => {
    const outcome = run?.readings[place]?.outcome;
    return outcome !== undefined && isTraceOf(one.trace, outcome) ? one : { trace: null, tokens: new Set() };
  });

/** How often a run is asked again that is refused for its block. */
export const timesOf = (claim: Claim, because: AskRule): number =>
  because === "headMoved" && isSlotted(claim.chain) ? mostAgain : 0;

/** Answers in the order of their worlds; without the run that pretends nonces, where the state takes them as they are. */
export const heldOf = ({ rows }: Worlds, block: Proof["block"], answers: RunAnswers): RunAnswers => {
  const refusal = failureOf(answers.get("exact"));
  // why: mined state that is beyond the nonce cannot be pretended away, only pending state can
  const isTaken = refusal?._tag === "NonceTooLow" && block === "pending";
  const isAssumed = refusal?._tag === "NonceTooHigh" || isTaken;
  const held = rows.flatMap(({ key }) => {
    const result = answers.get(key);
    return result === undefined || (key === "reserved" && !isAssumed) ? [] : [[key, result] as const];
  });
  return new Map(held);
};

/** The worlds of a proof at once, with the counts and the latest header; code too, where no scan of the same call read it. */
export const askProof = Effect.fnUntraced(function* (
  claim: Claim,
  because: AskRule,
): Effect.fn.Return<Proof, never, Rpc> {
  const { report, bundle, scanned, subjects, header, steps } = claim;
  const block = tagOf(claim.report);
  const asked = worldsAsked(claim);
  const between = asked.filter(({ why }) => why === "nearer");
  const worlds = asked.filter(({ why }) => why !== "nearer");
  const isCounted = steps.has("nonce");
  const estimates = steps.has("estimate") && report.steps.without.includes("estimate");
  const main = sent(
    together({
      runs: askRuns(claim, worlds, timesOf(claim, because)),
      codes:
        scanned !== null
          ? known(scanned.codes)
          : when(steps.has("code"), Code.ask(bundle, block), new Map<never, never>()),
      pools: askPooled(
        bundle.flatMap((entry) =>
          isCounted && isFirst(entry, bundle) ? inFlightOf(entry.signer, entry.said.nonce) : [],
        ),
      ),
      // why: what was not estimated when it was chosen is estimated when it is judged
      estimate: when(estimates, Estimate.ask(bareCall(bundle[0].input, null), block, report.options), null),
      forks: askForks,
      reached: askReached(claim, block),
      // why: last, so that what they say is no older than the runs
      counts: when(isCounted, Nonce.ask(bundle), new Map<never, never>()),
      beside: when(isOnHead(block) || header === null, Fee.askHeader, null),
    }),
  );
  const answered = yield* inRound(because, besideBetween(claim, between, main));
  const { runs, ...more } = answered.main;
  const { namedChainId } = report.observed;
  return {
    block,
    namedChainId: namedChainId === null ? null : Result.succeed(namedChainId),
    ...more,
    runs: heldOf(claim.worlds, block, new Map([...runs, ...answered.between])),
    ...{ traced: answered.traced, traces: heldTo(successOf(runs.get("next")), answered.traces) },
    ...{ steps, history: null, receipts: null, called: null, unfunded: null, findings: [] },
    // why: a node that shows an earlier block than another did is behind it
    header: header === null || more.beside === null ? (header ?? more.beside) : Fee.laterOf(header, more.beside),
    ...{ askedAt: claim.askedAt, noFeeOracle: scanned?.noFeeOracle ?? null },
    subjectOf: ({ index }) => subjects.get(index) ?? null,
  };
});
