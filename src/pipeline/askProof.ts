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
import { RpcError, Timeout } from "../errors/rpc.js";
import type * as Eth from "../eth/index.js";
import type { StateDiff } from "../eth/call.js";
import type { Address } from "../primitives/hex.js";
import type { AskRule } from "../primitives/names.js";
import { isSlotted } from "../report/freshness.js";
import { abisOf } from "../report/options.js";
import type { Observed } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { isFirst } from "../steps/reading/bundle.js";
import { failureOf, successOf, type AskResult, type Failure } from "../steps/reading/askResult.js";
import { bareCall } from "../transaction/request.js";
import type { Round } from "./answers.js";
import { isSamePlace } from "./worlds/compare.js";
import { tagOf, type World, type WorldName, type Worlds } from "./worlds/contexts.js";
import { askReached } from "./endpoint/forkUse.js";
import { askForks } from "./endpoint/known.js";
import { inRound, within } from "./rounds.js";
import { askPooled, inFlightOf } from "../steps/reading/pool.js";
import { doubtful, planOf, worldsAsked, type ProofInput } from "./proofPlans.js";
import { isGone, simulate } from "./endpoint/simulate.js";
import { isTraceable, learnUntraced, most as mostTraced, traceStates } from "./extras/stateTraces.js";

/** Answers of some worlds. */
export type Answered = ReadonlyMap<WorldName, AskResult<Simulate.Run>>;

/** Answers of the worlds that were asked, by key; the ends of the bracket always are. */
export interface Runs extends Answered {
  get(key: "exact" | "next"): AskResult<Simulate.Run>;
  get(key: WorldName): AskResult<Simulate.Run> | undefined;
}

/** Answers with further ones. */
export const joined = (runs: Runs, more: Answered): Runs => new Map([...runs, ...more]) as Runs;

/** The answers of a proof. */
export interface Proof extends Omit<Round, "run" | "alone"> {
  readonly runs: Runs;
  /** Changes that the first transactions make on the state of `next`, one after the other, as a tracer tells them. */
  readonly traced: ReadonlyArray<StateDiff>;
  /** The accounts that the bundle reaches, where it is in doubt by which fork's rules; null = not asked, or not told. */
  readonly reached: ReadonlyArray<Address> | null;
  /** The latest header, asked in the round of the runs; null = they stand on a block that the caller named. */
  readonly beside: AskResult<Eth.Block> | null;
}

/** The run that the figures are from: `reserved` where the state does not agree with the node's own counts. */
export const figuresOf = ({ runs }: Pick<Proof, "runs">): AskResult<Simulate.Run> =>
  runs.get("reserved") ?? runs.get("exact");

/** The node's words, where the nonces had to be pretended: its state does not agree with its counts. */
export const assumedIn = ({ runs }: Pick<Proof, "runs">): Failure | null =>
  runs.has("reserved") ? failureOf(runs.get("exact")) : null;

/** Answers of these worlds, of those that were asked. */
export const answersIn = ({ runs }: Proof, worlds: ReadonlyArray<World>): ReadonlyArray<AskResult<Simulate.Run>> =>
  worlds.flatMap(({ key }) => runs.get(key) ?? []);

/** True if runs on this state have to stand on the latest block. */
export const isOnHead = (block: Observed["blockTag"]): boolean => block === "pending" || block === "latest";

/** How often a run on a moved head is asked again of the nodes behind one address, some of which do not have it yet. */
const mostAgain = 3;

/** Asks a world; `times` = how often again, where it is refused for its block. */
const askRun = (claim: ProofInput, world: World, times = 0): Effect.Effect<AskResult<Simulate.Run>, never, Rpc> => {
  const plan = planOf(claim, world);
  const isAgain = typeof plan.block === "object" && world.form !== "limits";
  const run = simulate(plan, abisOf(claim.report.options));
  return Effect.result(Effect.retry(run, { times: isAgain ? times : 0, while: isGone }));
};

/** Asks worlds, all side by side. */
export const askRuns = (
  claim: ProofInput,
  worlds: ReadonlyArray<World>,
  times = 0,
): Effect.Effect<Answered, never, Rpc> =>
  Effect.map(
    Effect.forEach(worlds, (world) => askRun(claim, world, times), { concurrency: "unbounded" }),
    (runs) => new Map(Arr.zip(worlds, runs).map(([{ key }, run]) => [key, run])),
  );

/** Ms that the blocks between and the traces may take beyond all else, where that took less. */
const leastPatience = 500;

/** The blocks between and the traces, beside `main`, for which they keep nobody waiting. */
const besideBetween = <A, R>(
  claim: ProofInput,
  between: ReadonlyArray<World>,
  main: Effect.Effect<A, never, R>,
): Effect.Effect<{ readonly main: A; readonly between: Answered } & Pick<Proof, "traced">, never, R | Rpc> =>
  Effect.scoped(
    Effect.gen(function* () {
      const startedAt = yield* Clock.currentTimeMillis;
      const { memory } = yield* Rpc;
      const traced: Array<StateDiff> = [];
      const [, next] = claim.worlds.rows;
      const trace = isTraceable(claim, memory)
        ? within(mostTraced.ms, traceStates(planOf(claim, next), traced))
        : Effect.void;
      const tracer = yield* Effect.forkScoped(trace);
      const fibers = yield* Effect.forEach(between, (world) =>
        Effect.map(Effect.forkScoped(askRun(claim, world)), (fiber) => ({ world, fiber })),
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
      if (Option.isNone(ended) && traced.length === 0) learnUntraced(memory);
      return { main: answers, between: new Map(runs), traced: [...traced] };
    }),
  );

/** How often a run is asked again that is refused for its block. */
export const timesOf = (claim: ProofInput, because: AskRule): number =>
  because === "headMoved" && isSlotted(claim.chain) ? mostAgain : 0;

/** True if the exact run lacks the witness's answers, its block is not gone, and nobody asked the witness alone. */
export const lacksWitness = (proof: Proof): boolean => {
  const run = figuresOf(proof);
  // why: what stood on a block that is gone is asked again altogether
  return !proof.runs.has("readerOnly") && successOf(run)?.witnessed !== true && !isGone(failureOf(run));
};

/** Answers in the order of their worlds; without the run that pretends nonces, where the state takes them as they are. */
export const heldOf = ({ rows }: Worlds, block: Proof["block"], answers: Answered): Runs => {
  const refusal = failureOf(answers.get("exact"));
  // why: mined state that is beyond the nonce cannot be pretended away, only pending state can
  const isTaken = refusal?._tag === "NonceTooLow" && block === "pending";
  const isAssumed = refusal?._tag === "NonceTooHigh" || isTaken;
  const held = rows.flatMap(({ key }) => {
    const result = answers.get(key);
    return result === undefined || (key === "reserved" && !isAssumed) ? [] : [[key, result] as const];
  });
  return new Map(held) as Runs;
};

/** The worlds of a proof at once, with the counts and the latest header; code too, where no scan of the same call read it. */
export const askProof = Effect.fnUntraced(function* (
  claim: ProofInput,
  because: AskRule,
): Effect.fn.Return<Proof, never, Rpc> {
  const { report, bundle, scanned, subjects, header, steps } = claim;
  const block = tagOf(claim.report);
  const asked = worldsAsked(claim);
  const between = asked.filter(({ why }) => why === "nearer");
  const worlds = asked.filter(({ why }) => why !== "nearer");
  const skipped: Effect.Effect<null> = Effect.succeed(null);
  const none = Effect.succeed(new Map<never, never>());
  const isCounted = steps.has("nonce");
  const estimates = steps.has("estimate") && report.steps.without.includes("estimate");
  const answered = yield* inRound(
    because,
    besideBetween(
      claim,
      between,
      Effect.all(
        {
          runs: askRuns(claim, worlds, timesOf(claim, because)),
          codes: scanned !== null ? Effect.succeed(scanned.codes) : steps.has("code") ? Code.ask(bundle, block) : none,
          pools: askPooled(
            bundle.flatMap((entry) =>
              isCounted && isFirst(entry, bundle) ? inFlightOf(entry.signer, entry.said.nonce) : [],
            ),
          ),
          // why: what was not estimated when it was chosen is estimated when it is judged
          estimate: estimates ? Estimate.ask(bareCall(bundle[0].input, null), block, report.options) : skipped,
          forks: askForks,
          reached: askReached(claim, block),
          // why: last, so that what they say is no older than the runs
          counts: isCounted ? Nonce.ask(bundle) : none,
          beside: isOnHead(block) || header === null ? Fee.askHeader : skipped,
        },
        { concurrency: "unbounded" },
      ),
    ),
  );
  const { runs, ...more } = answered.main;
  const { namedChainId } = report.observed;
  return {
    block,
    namedChainId: namedChainId === null ? null : Result.succeed(namedChainId),
    ...more,
    ...{ runs: heldOf(claim.worlds, block, new Map([...runs, ...answered.between])), traced: answered.traced },
    ...{ steps, history: null, receipts: null, called: null, unfunded: null, findings: [] },
    // why: a node that shows an earlier block than another did is behind it
    header: header === null || more.beside === null ? (header ?? more.beside) : Fee.laterOf(header, more.beside),
    ...{ askedAt: claim.askedAt, noFeeOracle: scanned?.noFeeOracle ?? null },
    subjectOf: ({ index }) => subjects.get(index) ?? null,
  };
});

/** True if the same round measured the balances that signers are taken to have, wherever a run pretends them. */
export const isTrueToState = (claim: ProofInput, proof: Proof): boolean => {
  const measured = successOf(proof.runs.get("readerOnly"))?.before;
  const isPretended = [figuresOf(proof), proof.runs.get("next")].some(
    (result) => successOf(result)?.plan.pretended === true,
  );
  return (
    !isPretended ||
    doubtful(claim).every(({ signer }) => {
      const [balance, has] = [claim.balanceOf(signer), measured?.account(signer)?.balance ?? null];
      return balance === null || has === null || balance === has;
    })
  );
};

/** True if both worlds answered, and on the state as it is. */
export const isComparable = (claim: ProofInput, proof: Proof): boolean =>
  successOf(figuresOf(proof)) === null || (successOf(proof.runs.get("next")) !== null && isTrueToState(claim, proof));

/** The run with free and ample gas, where it stood on the block of the exact one. */
export const ampleOf = (proof: Proof): Simulate.Run | null => {
  const [exact, free] = [successOf(figuresOf(proof)), successOf(proof.runs.get("ample"))];
  return exact !== null && free !== null && isSamePlace(exact, free) ? free : null;
};
