/** State changes and calls inside as a node's tracers tell them: no finding but of these rests on them, and no node has to have one. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { knownTokensOf } from "../../chains/table.js";
import { MethodNotSupported, RpcError } from "../../errors/rpc.js";
import { asked, each, one, sent, type Ask } from "../../eth/round.js";
import { callOf, callsOf, stateDiffOf, type StateDiff } from "../../eth/call.js";
import type { BlockParameter, StateOverrides } from "../../eth/parameters.js";
import type { Hash } from "../../primitives/hex.js";
import { effectsIn } from "../../effects/effects.js";
import { callsOf as callsIn, type Case } from "../../steps/reading/bundle.js";
import { runsCode } from "../../report/waits.js";
import type { Transaction } from "../../transaction/fields.js";
import { Rpc } from "../../rpc/index.js";
import type { Memory } from "../../rpc/memory.js";
import type * as Simulate from "../../steps/simulate.js";
import { isGone } from "../endpoint/simulate.js";
import { failureOf, successOf, type AskResult, type Failure } from "../../steps/reading/askResult.js";
import type { CallTrace } from "../../steps/reading/answers.js";
import { doubted } from "../../steps/reading/falseAnswers.js";
import type { Claim } from "../proofPlans.js";

/** The method of every trace. */
export const method = "debug_traceCall";
/** Those that a proof asks, remembered apart: a node may have one of them. */
export const tracers = [`${method} prestateTracer`, `${method} callTracer`] as const;
const [kind, ofCalls] = tracers;

/** Transactions that are traced, one after the other, and ms that all of them may take. */
export const most = { transactions: 4, ms: 3_000 } as const;

/** Notes that an endpoint has no trace of this kind, or not in time. */
export const learnUntraced = (memory: Memory, what: string): void =>
  memory.heard(what, Result.fail(new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) })));

/** `transfer` and `approve` of ERC-20, which move or grant what is measured. */
const plain: ReadonlySet<string> = new Set(["0xa9059cbb", "0x095ea7b3"]);

/** The transactions in which code may run, by `mayRun`, that is no plain call of a token, nor a best-known token. */
export const opaqueIn = <C extends Case>(
  bundle: ReadonlyArray<C>,
  chainId: number | null,
  mayRun: (entry: C) => boolean,
) => {
  const known = knownTokensOf(chainId);
  return bundle
    .filter(
      ({ input: { to, data }, authorizations }) =>
        !(data.length === 138 && plain.has(data.slice(0, 10))) &&
        (to === null || authorizations.length > 0 || !known.has(to)),
    )
    .filter(mayRun);
};

/** Those of a claim. why: what a report from outside says of code is not believed */
export const hidingIn = ({ report: { chainId }, bundle, scanned }: Claim) =>
  opaqueIn(bundle, chainId, ({ said }) => scanned === null || runsCode(said));

/** True if the endpoint is known to trace what changes. */
export const isTracing = (memory: Memory): boolean =>
  memory.recall("traces") === true && memory.refused(method) === null && memory.refused(kind) === null;

/**
 * True if a call asks a token for what is measured, or is a payment of which nobody but a report from outside says whether
 * code runs: nobody has to see the calls inside.
 */
const isPlain = (input: Transaction, isPosted: boolean): boolean => {
  const [{ row: { move, grant, supply } } = { row: {} }] = effectsIn([{ index: 0, calls: callsIn(input) }], "call");
  return (move ?? grant ?? supply) !== undefined || (isPosted && input.data === "0x");
};

/** True if something runs that only a trace shows, and none of `traces` does; `inside` = and the calls inside matter. */
export const isWorthTracing = (claim: Claim, inside: boolean, traces: ReadonlyArray<CallTrace> = []): boolean =>
  hidingIn(claim).some(
    (entry) => traces[entry.index]?.trace == null && !(inside && isPlain(entry.input, claim.scanned === null)),
  );

/** True if the endpoint may trace, and there is something to see. */
export const isTraceable = (claim: Claim, memory: Memory): boolean =>
  memory.refused(method) === null &&
  tracers.some((tracer) => memory.refused(tracer) === null) &&
  isWorthTracing(claim, false);

const zero: Hash = `0x${"0".repeat(64)}`;

/** The state with what a transaction left. */
const behind = (state: StateOverrides, { pre, post }: StateDiff): StateOverrides => {
  const rows = [...post].map(
    ([account, { balance, nonce, code, storage }]): readonly [string, StateOverrides[string]] => {
      const before = state[account] ?? {};
      const zeros = [...(pre.get(account)?.storage.keys() ?? [])].map((slot): readonly [Hash, Hash] => [slot, zero]);
      const slots: Readonly<Record<Hash, Hash>> = Object.fromEntries([...zeros, ...storage]);
      const { state: whole } = before;
      const changed =
        whole == null ? { stateDiff: { ...before.stateDiff, ...slots } } : { state: { ...whole, ...slots } };
      return [
        account,
        {
          ...before,
          ...changed,
          ...(balance === null ? {} : { balance }),
          ...(nonce === null ? {} : { nonce }),
          ...(code === null ? {} : { code }),
        },
      ];
    },
  );
  return { ...state, ...Object.fromEntries(rows) };
};

/** A trace with the tokens among those that it shows to refuse or to say nothing. JSON-RPC: `eth_call`, where there are such. */
const withTokens = (trace: unknown, block: BlockParameter): Effect.Effect<CallTrace, never, Rpc> => {
  const reads = [...(trace === null ? [] : doubted(trace))];
  const ask = each(reads, ([, { to, data }]) => one(callOf({ to, data, block }, false)));
  const found = reads.length === 0 ? Effect.succeed([]) : sent(asked({ step: "simulate" }, ask));
  return Effect.map(found, (answers) => ({
    trace,
    tokens: new Set(reads.flatMap(([token], place) => (successOf(answers[place])?.length === 66 ? token : []))),
  }));
};

/** True if an endpoint says of a tracer that it has none. */
export const isLacking = (failure: Failure): boolean =>
  failure._tag === "RpcError" && !failure.isRetryable && !isGone(failure);

/**
 * Puts the changes by the first transactions of a plan into `diffs`, one after the other, and the calls inside each into
 * `traces`: each stands on what those before it left. JSON-RPC: `debug_traceCall` with `prestateTracer` and `callTracer`.
 */
export const traceStates = Effect.fnUntraced(function* (
  { calls, block, stateOverrides, blockOverrides }: Simulate.Plan,
  diffs: Array<StateDiff>,
  traces: Array<CallTrace>,
  // `isPosted` = nobody but a report from outside says whether code runs
  isPosted: boolean,
): Effect.fn.Return<void, never, Rpc> {
  const { memory, isQuorum = false } = yield* Rpc;
  // why: codes are long, and matter to none but a transaction behind
  const config = { diffMode: true, disableCode: calls.length === 1 };
  // why: geth refuses to trace a call with one
  const { beaconRoot: _, ...pretended } = blockOverrides ?? {};
  let state = stateOverrides ?? {};
  for (const { request, input } of calls.slice(0, most.transactions)) {
    const call = { ...request, block, stateOverrides: state, blockOverrides: pretended };
    const [hasDiff, hasCalls] = [
      memory.refused(kind) === null,
      memory.refused(ofCalls) === null && !isPlain(input, isPosted),
    ];
    const told = Effect.fnUntraced(function* <A>(tracer: string, isAsked: boolean, ask: Ask<AskResult<A>>) {
      if (!isAsked) return null;
      const answer = yield* sent(asked({ step: "simulate" }, ask));
      const failure = failureOf(answer);
      // why: who has answered once is not without it, whatever it refuses later
      if (failure === null) memory.heard(tracer, Result.succeed(null));
      else if (isLacking(failure)) learnUntraced(memory, tracer);
      return successOf(answer);
    });
    // why: a transaction may make the calls inside many, and what it changes is told all the same
    const changes = Effect.map(told(kind, hasDiff, one(stateDiffOf(call, most.ms, config))), (diff) => {
      if (diff !== null) diffs.push(diff);
      return diff;
    });
    const [diff, trace] = yield* Effect.all([changes, told(ofCalls, hasCalls, one(callsOf(call, most.ms)))], {
      concurrency: 2,
    });
    // why: of several endpoints one may not have the block yet
    traces.push(isQuorum ? { trace, tokens: new Set() } : yield* withTokens(trace, block));
    if (diff === null) return;
    memory.learn("traces", true);
    state = behind(state, diff);
  }
});
