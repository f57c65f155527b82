/** The first round of a scan: everything at once. */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Questions from "../eth/questions.js";
import { asked, beginning, each, known, mapped, one, sent, together, when, type Ask } from "../eth/round.js";
import * as Fee from "../steps/fee.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import type * as Simulate from "../steps/simulate.js";
import type { lookup } from "../chains/table.js";
import { eip7825Cap } from "../chains/rules.js";
import type { RpcError } from "../errors/rpc.js";
import type { FeeSubject } from "../chains/feeModel.js";
import { abisOf } from "../report/options.js";
import type { Observed } from "../report/schema.js";
import { chainsInUse } from "../eth/chains.js";
import type { Memory, Rpc } from "../rpc/index.js";
import type { Case } from "../steps/reading/bundle.js";
import { gasFor } from "../witness/queries.js";
import { withAnswers, type RunAnswers, type Round } from "./answers.js";
import { askLists } from "./accessLists.js";
import { endpointFactsOf } from "./endpoint/known.js";
import { askPooled } from "../steps/reading/pool.js";
import { freePlan, readerOnlyPlan, roughSubject } from "./scanPlans.js";
import { taking, type Subject, everyLook } from "./steps.js";
import { simulate } from "./endpoint/simulate.js";
import { rare } from "./later.js";

/** The gas that questions at the fee oracles may take of `ample`; larger ones are left to the witness alone. */
const oracleRoom = eip7825Cap;

/** The refusal of a run that is remembered: of the method, of how all of ours are asked, or of its deployments. */
export const refusalIn = (memory: Memory, calls: ReadonlyArray<Pick<Case, "input">>): RpcError | null => {
  const lacks = memory.recall("lacks");
  const isDeploying = calls.some(({ input }) => input.to === null);
  return (
    memory.refused("eth_simulateV1") ?? lacks?.get("any") ?? (isDeploying ? lacks?.get("deployment") : null) ?? null
  );
};

/**
 * The runs of a first round, what the chain's fees hang on by place, and what is known of the endpoint when they are asked.
 * `isFamiliar`: `ample` and the latest header tell what else the witness alone would, on a chain that is known.
 */
const plansOf = (subject: Subject, tag: Observed["blockTag"], memory: Memory) => {
  const { bundle, options, chain, steps } = subject;
  const known = endpointFactsOf(memory);
  const needsBytes = L1Fee.needsBytes(chain, known.noFeeOracle);
  const subjects: ReadonlyMap<number, FeeSubject | null> = new Map(
    needsBytes ? bundle.map(({ index, input }) => [index, roughSubject(input)]) : [],
  );
  const rough = [...subjects.values()].filter((subject) => subject !== null);
  const oracles = steps.has("fee") || steps.has("funds") ? L1Fee.queries(chain, needsBytes ? rough : null) : [];
  const isFamiliar =
    known.chainId !== null &&
    // why: the latest header says nothing of the base fee of another block, or of one that is pretended
    (tag === "pending" || tag === "latest") &&
    options.blockOverrides === null &&
    gasFor(oracles) <= oracleRoom &&
    // why: a model of the caller's own may ask what depends on the base fee, and `ample` has none
    typeof chain.feeModel !== "object" &&
    steps.has("simulate") &&
    steps.has("chain") &&
    refusalIn(memory, bundle) === null &&
    ["eth_getBlockByNumber", "eth_feeHistory"].every((method) => memory.refused(method) === null);
  return {
    ...{ subjects, known, isFamiliar },
    bare: freePlan(subject, tag, isFamiliar ? oracles : [], L1Fee.earnings(needsBytes)),
    reader: readerOnlyPlan(options, tag, [...everyLook(bundle, steps), ...oracles]),
  };
};

/** State of a scan between its rounds. */
export interface Scanning {
  readonly subject: Subject;
  readonly plans: ReturnType<typeof plansOf>;
  /** The round so far; the rest is known when no more is asked. */
  readonly round: Omit<Round, "forks" | "noFeeOracle">;
  /** Transactions that were in flight when it was begun, and are replaced. */
  readonly flying: Parameters<typeof askPooled>[0];
  /** True if the chain's id was asked for, not remembered. */
  readonly isNamed: boolean;
  /** The highest mined block that any answer named; null = none did. */
  readonly sealed: bigint | null;
  readonly memory: Memory;
  readonly chains: typeof lookup;
}

export const askChainId = asked({ step: "chain" }, one(Questions.chainId));

const unasked: RunAnswers = new Map();

/** One run, by its name; the refusal itself, where the node refused simulations before. */
export const askPlan =
  ({ options }: Pick<Subject, "options">, plan: Simulate.Plan): Ask<RunAnswers> =>
  (asking, hear) => {
    const refused = refusalIn(asking.rpc.memory, plan.calls);
    const run = refused === null ? simulate(plan, abisOf(options)) : known(Result.fail(refused));
    mapped(run, (result) => new Map([[plan.name, result]]))(asking, hear);
  };

export const askByEthCall = (subject: Subject, tag: Observed["blockTag"], { before }: Pick<Simulate.Plan, "before">) =>
  beginning(Effect.flatMap(rare, ({ askCalls }) => sent(askCalls(subject, tag, before))));

/** The first round: what every step that takes part asks, all at once. */
export const begin = (
  subject: Subject,
  tag: Observed["blockTag"],
  flying: Parameters<typeof askPooled>[0] = [],
): Effect.Effect<Scanning, never, Rpc> =>
  Effect.flatMap(chainsInUse, (chains) =>
    sent((asking, hear) => {
      const { bundle, steps } = subject;
      const {
        rpc: { memory },
        context,
        run: { sighted },
      } = asking;
      const plans = plansOf(subject, tag, memory);
      const { bare, reader, known: believed, isFamiliar } = plans;
      const askedAt = Context.get(context, Clock.Clock).currentTimeMillisUnsafe();
      const runs = together({
        runs: askPlan(subject, bare),
        called: when(refusalIn(memory, bundle) !== null, askByEthCall(subject, tag, reader), null),
      });
      const questions = { subject, tag, runs, tellsTip: believed.tellsTip === true };
      const asks = taking(steps).flatMap(({ ask }) => ask?.(questions) ?? []);
      const all = together({
        told: each(asks, (ask) => ask),
        runs: when(steps.has("reader") && !isFamiliar, askPlan(subject, reader), unasked),
        namedChainId: isFamiliar
          ? known(believed.chainId === null ? null : Result.succeed(believed.chainId))
          : when(steps.has("chain"), askChainId, null),
        header: when(steps.has("chain") || steps.has("fee"), Fee.askHeader, null),
        pools: askPooled(flying),
        listed: askLists(subject, tag, bundle[0].input.chainId ?? believed.chainId),
      });
      mapped(all, ({ told, ...more }): Scanning => {
        const begun: Scanning["round"] = {
          ...{ steps, block: tag, askedAt, codes: new Map(), counts: new Map(), unfunded: null, findings: [] },
          ...{ called: null, estimate: null, history: null, receipts: null },
          subjectOf: ({ index }) => plans.subjects.get(index) ?? null,
          ...more,
        };
        const round = told.reduce<typeof begun>(
          (all, one) => ({ ...all, ...one, runs: withAnswers(all.runs, one.runs) }),
          begun,
        );
        return { subject, plans, round, flying, isNamed: !isFamiliar, sealed: sighted?.sealed ?? null, memory, chains };
      })(asking, hear);
    }),
  );
