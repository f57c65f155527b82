/** A simulation that a node had too little gas for: once more with small reads, else the first transaction that does not fit. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { NodeGasCapExceeded, RpcError } from "../../errors/rpc.js";
import type { Rpc } from "../../rpc/index.js";
import { failureOf, successOf, type AskResult, type Failure } from "../../steps/reading/askResult.js";
import type * as Simulate from "../../steps/simulate.js";
import { gasFor, type Query } from "../../witness/queries.js";

/** Gas that a node says it had left for a call that it refused for that, where none of the user's asked for so little; null = no such refusal. */
export const leftFor = ({ calls }: Simulate.Plan, failure: Failure | null): bigint | null => {
  if (failure?._tag === "IntrinsicGasTooLow")
    return calls.some(({ gas }) => gas === failure.have) ? null : failure.have;
  // why: geth before 1.17.8 says so, without numbers, of a request whose gas is all gone
  return failure?._tag === "BlockGasLimitExceeded" && failure.gas === null && failure.limit === null ? 0n : null;
};

const least: ReadonlyArray<Query> = [{ kind: "environment" }];

/** The plan with nothing in front of the calls but the block. */
const small = (plan: Simulate.Plan): Simulate.Plan => ({
  ...plan,
  ...{ full: true, before: least, between: () => [], second: [], lens: [] },
});

/** True if small reads would leave the call that was cut too little, as well. */
const isHopeless = ({ calls }: Simulate.Plan, { cut, gasCap, readings }: Simulate.Run): boolean => {
  const asked = cut === null ? undefined : calls[cut];
  const used = readings.slice(0, cut ?? 0).reduce((sum, { outcome }) => sum + (outcome.gasUsed ?? 0n), 0n);
  return asked !== undefined && gasCap !== null && gasCap - used - gasFor(least) < asked.gas;
};

/** Joins what another request read in front to the run in the very same block; null where it was another. */
const joined = (plan: Simulate.Plan, run: Simulate.Run | null, reads: Simulate.Run | null): Simulate.Run | null => {
  const [block, other] = [run?.before.environment, reads?.before.environment];
  if (run === null || reads === null || block == null || other == null || run.cut !== null) return null;
  const isSame = (["number", "parentHash", "timestamp"] as const).every((name) => block[name] === other[name]);
  return isSame
    ? {
        ...{ ...run, plan: { ...plan, calls: run.plan.calls }, before: reads.before, slots: null },
        ...{ met: run.met.map((view, place) => (place === 0 ? reads.before : view)) },
      }
    : null;
};

/**
 * A run in which all calls had what they asked for, with what is read in front of them asked beside it; else a failure that
 * names the node's cap. JSON-RPC: `eth_simulateV1`, twice in one round; where a call was refused, once more for each time
 * that the transactions can be halved.
 */
export const askFitting = Effect.fnUntraced(function* (
  plan: Simulate.Plan,
  result: AskResult<Simulate.Run>,
  /** Asks plans side by side, in one round. */
  ask: (plans: ReadonlyArray<Simulate.Plan>) => Effect.Effect<ReadonlyArray<AskResult<Simulate.Run>>, never, Rpc>,
): Effect.fn.Return<AskResult<Simulate.Run>, never, Rpc> {
  const failed = (cap: bigint | null, index: number | null) =>
    Result.fail(
      new RpcError({
        method: "eth_simulateV1",
        reason: new NodeGasCapExceeded({ detail: "", cap, transaction: index === null ? null : index + 1 }),
      }),
    );
  const run = successOf(result);
  if (run === null || !isHopeless(plan, run)) {
    const reads = { ...plan, calls: [], apart: null, after: [], second: [], lens: [] };
    const [calls = null, read = null] = yield* ask([small(plan), reads]);
    const whole = joined(plan, successOf(calls), successOf(read));
    if (whole !== null) return Result.succeed(whole);
  }
  if (run !== null) return failed(run.gasCap, run.cut);
  let [fitting, unfit] = [0, plan.calls.length + 1];
  let [spent, left]: [bigint, bigint | null] = [0n, null];
  while (unfit - fitting > 1) {
    const count = Math.floor((fitting + unfit) / 2);
    const [tried = null] = yield* ask([{ ...small(plan), calls: plan.calls.slice(0, count), after: [] }]);
    const { cut = null, gasCap = null, spent: used = 0n } = successOf(tried) ?? {};
    const rest = leftFor(plan, failureOf(tried));
    if (cut !== null) return failed(gasCap, cut);
    if (successOf(tried) !== null) [fitting, spent] = [count, used];
    else if (rest === null) return failed(null, null);
    else [unfit, left] = [count, rest];
  }
  return failed(left === null ? null : spent + left, unfit > plan.calls.length ? null : fitting);
});
