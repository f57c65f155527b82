/** Round 2, everything at once: the runs of a proof (`exact`, `reserved`, `next`, `readerOnly`; `gas` and `exactOnLatest` on doubt), and the world again. */
import type * as Arr from "effect/Array";
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
import type { Verdict } from "../errors/verdicts.js";
import type * as Eth from "../eth/index.js";
import type { StateDiff } from "../eth/call.js";
import type { Address } from "../primitives/hex.js";
import type { AskRule } from "../primitives/names.js";
import { isSlotted } from "../report/freshness.js";
import { abisOf } from "../report/options.js";
import type { Observed } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { isFirst } from "../steps/reading/bundle.js";
import { failureOf, successOf, type AskResult } from "../steps/reading/askResult.js";
import { bareCall } from "../transaction/request.js";
import type { Round } from "./answers.js";
import type { Limits } from "./choose.js";
import { isSamePlace } from "./worlds/compare.js";
import { tagOf, type World } from "./worlds/contexts.js";
import { askReached } from "./endpoint/forkUse.js";
import { askForks } from "./endpoint/known.js";
import { inRound, within } from "./rounds.js";
import { lensOf } from "../steps/reading/proxies.js";
import { askPooled, inFlightOf } from "../steps/reading/pool.js";
import { askPlaced, type Placed } from "./worlds/placed.js";
import {
  barePlan,
  doubtful,
  gasPlan,
  looksAlone,
  planOf,
  type ProofInput,
  type Trial,
  accountQueries,
  oracleQueries,
} from "./proofPlans.js";
import { alonePlan } from "./scanPlans.js";
import { isGone, simulate } from "./endpoint/simulate.js";
import { isTraceable, learnUntraced, most as mostTraced, traceStates } from "./extras/stateTraces.js";

/** The answers of a proof; its figures are from the exact run, or from the one that stands for that. */
export interface Proof extends Round {
  /** The same requests in the other block context. */
  readonly next: AskResult<Simulate.Run>;
  /** The same in the blocks between, the nearest first. */
  readonly between: ReadonlyArray<AskResult<Simulate.Run>>;
  /** Changes that the first transactions make on the state of `next`, one after the other, as a tracer tells them. */
  readonly traced: ReadonlyArray<StateDiff>;
  /** The node's words, where the nonces had to be pretended: its state does not agree with its counts. */
  readonly assumed: Verdict | null;
  /** The bundle placed otherwise, where that may matter. */
  readonly placed: ReadonlyArray<Placed>;
  /** The calls at no base fee and with ample gas; null where the scan ran them so itself. */
  readonly bare: AskResult<Simulate.Run> | null;
  /** The accounts that the bundle reaches, where it is in doubt by which fork's rules; null = not asked, or not told. */
  readonly reached: ReadonlyArray<Address> | null;
  /** The latest header, asked in the round of the runs; null = they stand on a block that the caller named. */
  readonly beside: AskResult<Eth.Block> | null;
}

/** True if runs on this state have to stand on the latest block. */
export const isOnHead = (block: Observed["blockTag"]): boolean => block === "pending" || block === "latest";

/** How often a run on a moved head is asked again of the nodes behind one address, some of which do not have it yet. */
const mostAgain = 3;

const ask = (claim: ProofInput, plan: Simulate.Plan, times = 0): Effect.Effect<AskResult<Simulate.Run>, never, Rpc> =>
  Effect.result(
    Effect.retry(simulate(plan, abisOf(claim.report.options)), {
      times: typeof plan.block === "object" ? times : 0,
      while: isGone,
    }),
  );

const atOnce = { concurrency: "unbounded" } as const;

/** The requests at other limits, all side by side in one round. */
export const askAt = (trials: Arr.NonEmptyReadonlyArray<Trial>) => (limits: ReadonlyArray<Limits>) => {
  const askIn = (trial: Trial) =>
    Effect.forEach(limits, (set) => Effect.result(simulate(gasPlan(trial, set), abisOf(trial.options))), atOnce);
  return inRound("doubtfulLimit", Effect.forEach(trials, askIn, atOnce));
};

/** Ms that the blocks between and the traces may take beyond all else, where that took less. */
const leastPatience = 500;

/** The blocks between and the traces, beside `main`, for which they keep nobody waiting. */
const besideBetween = <A, R>(
  claim: ProofInput,
  isDoubtful: boolean,
  main: Effect.Effect<A, never, R>,
): Effect.Effect<A & Pick<Proof, "between" | "traced">, never, R | Rpc> =>
  Effect.scoped(
    Effect.gen(function* () {
      const startedAt = yield* Clock.currentTimeMillis;
      const { memory } = yield* Rpc;
      const traced: Array<StateDiff> = [];
      const trace = isTraceable(claim, memory)
        ? within(mostTraced.ms, traceStates(planOf(claim, claim.worlds.next, isDoubtful), traced))
        : Effect.void;
      const tracer = yield* Effect.forkScoped(trace);
      const fibers = yield* Effect.forEach(claim.worlds.between, (world) =>
        Effect.forkScoped(ask(claim, planOf(claim, world, isDoubtful))),
      );
      const answers = yield* main;
      const patience = Math.max(leastPatience, (yield* Clock.currentTimeMillis) - startedAt);
      // why: an error records its stack, and hardly any proof needs this one
      const late = () =>
        Result.fail(new RpcError({ method: "eth_simulateV1", reason: new Timeout({ detail: "", afterMs: patience }) }));
      const [ended, ...between] = yield* Effect.all(
        [
          Effect.timeoutOption(Fiber.join(tracer), patience),
          ...fibers.map((fiber) =>
            Effect.map(Effect.timeoutOption(Fiber.join(fiber), patience), (answer) => Option.getOrElse(answer, late)),
          ),
        ] as const,
        atOnce,
      );
      // why: a node that takes too long does so the next time, too
      if (Option.isNone(ended) && traced.length === 0) learnUntraced(memory);
      return { ...answers, between, traced: [...traced] };
    }),
  );

/** Further worlds side by side: whether the state made a difference (`exactOnLatest`), and whether the price alone did. */
export const askCauses = (
  claim: ProofInput,
): Effect.Effect<Readonly<Record<"exactOnLatest" | "atNextFee", AskResult<Simulate.Run>>>, never, Rpc> => {
  const isDoubtful = doubtful(claim).length > 0;
  const { exactOnLatest, atNextFee } = claim.worlds;
  const askIn = (world: World) => ask(claim, { ...planOf(claim, world, isDoubtful), lens: [] });
  return Effect.all({ exactOnLatest: askIn(exactOnLatest), atNextFee: askIn(atNextFee) }, { concurrency: "unbounded" });
};

/** How often a run is asked again that is refused for its block. */
const timesOf = (claim: ProofInput, because: AskRule): number =>
  because === "headMoved" && isSlotted(claim.chain) ? mostAgain : 0;

/** The witness alone, on the block of the exact run; `because` = the rule by which that was asked. */
export const askAlone = (claim: ProofInput, because: AskRule): Effect.Effect<AskResult<Simulate.Run>, never, Rpc> => {
  const { report, worlds } = claim;
  const planned = alonePlan(report.options, worlds.exact.block, [...accountQueries(claim), ...oracleQueries(claim)]);
  const { number = null, time = null, baseFeePerGas = null } = worlds.next.context;
  // why: of a block by its hash some nodes run that block itself, unless the next one is named
  const isNamed = typeof worlds.exact.block === "object" && number !== null;
  const named = isNamed
    ? { number, ...(time === null ? {} : { time }), ...(baseFeePerGas === null ? {} : { baseFeePerGas }) }
    : null;
  const blockOverrides = named === null ? planned.blockOverrides : { ...named, ...planned.blockOverrides };
  return ask(claim, { ...planned, blockOverrides, lens: lensOf(claim) }, timesOf(claim, because));
};

/** True if the exact run lacks the witness's answers, its block is not gone, and nobody asked the witness alone. */
export const lacksWitness = ({ run, alone }: Proof): boolean =>
  // why: what stood on a block that is gone is asked again altogether
  alone === null && successOf(run)?.witnessed !== true && !isGone(failureOf(run));

/** All runs of a proof at once, with the counts and the latest header; code too, where no scan of the same call read it. */
export const askProof = Effect.fnUntraced(function* (
  claim: ProofInput,
  because: AskRule,
): Effect.fn.Return<Proof, never, Rpc> {
  const { report, bundle, worlds, scanned, subjects, header, steps } = claim;
  const block = tagOf(claim.report);
  const isDoubtful = doubtful(claim).length > 0;
  const times = timesOf(claim, because);
  const skipped: Effect.Effect<null> = Effect.succeed(null);
  const { exact, reserved, ...answered } = yield* inRound(
    because,
    besideBetween(
      claim,
      isDoubtful,
      Effect.all(
        {
          exact: ask(claim, planOf(claim, worlds.exact, false), times),
          reserved: isDoubtful ? ask(claim, planOf(claim, worlds.exact, true, "reserved"), times) : skipped,
          bare: claim.asksBare ? ask(claim, barePlan(claim), times) : skipped,
          next: ask(claim, planOf(claim, worlds.next, isDoubtful), times),
          placed: claim.bundle.length < 2 ? Effect.succeed([]) : askPlaced(claim),
          alone: looksAlone(claim) ? askAlone(claim, because) : skipped,
          codes:
            scanned !== null
              ? Effect.succeed(scanned.codes)
              : steps.has("code")
                ? Code.ask(bundle, block)
                : Effect.succeed(new Map<never, never>()),
          pools: askPooled(
            bundle.flatMap((entry) =>
              steps.has("nonce") && isFirst(entry, bundle) ? inFlightOf(entry.signer, entry.said.nonce) : [],
            ),
          ),
          // why: what was not estimated when it was chosen is estimated when it is judged
          estimate:
            steps.has("estimate") && report.steps.without.includes("estimate")
              ? Estimate.ask(bareCall(bundle[0].input, null), block, report.options)
              : skipped,
          forks: askForks,
          reached: askReached(claim, block),
          // why: last, so that what they say is no older than the runs
          counts: steps.has("nonce") ? Nonce.ask(bundle) : Effect.succeed(new Map<never, never>()),
          beside: isOnHead(block) || header === null ? Fee.askHeader : skipped,
        },
        { concurrency: "unbounded" },
      ),
    ),
  );
  const refusal = failureOf(exact);
  // why: mined state that is beyond the nonce cannot be pretended away, only pending state can
  const isTaken = refusal?._tag === "NonceTooLow" && block === "pending";
  const assumed =
    refusal !== null && (refusal._tag === "NonceTooHigh" || isTaken) && reserved !== null ? refusal : null;
  const run = assumed === null ? exact : reserved;
  const { namedChainId } = report.observed;
  return {
    block,
    namedChainId: namedChainId === null ? null : Result.succeed(namedChainId),
    ...answered,
    ...{ steps, run, assumed, history: null, receipts: null, called: null, unfunded: null, findings: [] },
    // why: a node that shows an earlier block than another did is behind it
    header:
      header === null || answered.beside === null ? (header ?? answered.beside) : Fee.laterOf(header, answered.beside),
    ...{ askedAt: claim.askedAt, noFeeOracle: scanned?.noFeeOracle ?? null },
    subjectOf: ({ index }) => subjects.get(index) ?? null,
  };
});

/** True if the same round measured the balances that signers are taken to have, wherever a run pretends them. */
export const isTrueToState = (claim: ProofInput, { run, alone, next }: Proof): boolean => {
  const measured = successOf(alone)?.before;
  const isPretended = [run, next].some((result) => successOf(result)?.plan.pretended === true);
  return (
    !isPretended ||
    doubtful(claim).every(({ signer }) => {
      const [balance, has] = [claim.balanceOf(signer), measured?.account(signer)?.balance ?? null];
      return balance === null || has === null || balance === has;
    })
  );
};

/** True if both worlds answered, and on the state as it is. */
export const isComparable = (claim: ProofInput, proof: Proof): boolean => {
  const [run, other] = [successOf(proof.run), successOf(proof.next)];
  return run === null || (other !== null && isTrueToState(claim, proof));
};

/** The run with free and ample gas, where it stood on the block of the exact one. */
export const bareOf = ({ run, bare }: Proof): Simulate.Run | null => {
  const [exact, free] = [successOf(run), successOf(bare ?? undefined)];
  return exact !== null && free !== null && isSamePlace(exact, free) ? free : null;
};
