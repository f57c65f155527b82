/** State changes as a node's tracer tells them: no finding but of a change rests on it, and no node has to have it. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { knownTokensOf } from "../../chains/table.js";
import { MethodNotSupported, RpcError } from "../../errors/rpc.js";
import { asked, one, sent } from "../../eth/round.js";
import { stateDiffOf, type StateDiff } from "../../eth/call.js";
import type { StateOverrides } from "../../eth/parameters.js";
import type { Hash } from "../../primitives/hex.js";
import { runsCode } from "../../report/waits.js";
import { Rpc } from "../../rpc/index.js";
import type { Memory } from "../../rpc/memory.js";
import type * as Simulate from "../../steps/simulate.js";
import { isGone } from "../endpoint/simulate.js";
import type { Claim } from "../proofPlans.js";

/** The method of every trace. */
export const method = "debug_traceCall";
/** Remembered apart: a node may have other tracers. */
const kind = `${method} prestateTracer`;

/** Transactions that are traced, one after the other, and ms that all of them may take. */
export const most = { transactions: 4, ms: 3_000 } as const;

/** Notes that an endpoint has no trace of this kind, or not in time: where nothing is said, of what changes. */
export const learnUntraced = (memory: Memory, what: string = kind): void =>
  memory.heard(what, Result.fail(new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) })));

/** `transfer` and `approve` of ERC-20, which move or grant what is measured. */
const plain: ReadonlySet<string> = new Set(["0xa9059cbb", "0x095ea7b3"]);

/** True if the endpoint may trace, and code runs that is no plain call of a token, nor a best-known token. */
export const isTraceable = ({ report: { chainId }, bundle, scanned }: Claim, memory: Memory): boolean => {
  if (memory.refused(method) !== null || memory.refused(kind) !== null) return false;
  const known = knownTokensOf(chainId);
  return bundle.some(
    ({ said, input: { to, data }, authorizations }) =>
      // why: what a report from outside says of code is not believed
      (scanned === null || runsCode(said)) &&
      !(data.length === 138 && plain.has(data.slice(0, 10))) &&
      (to === null || authorizations.length > 0 || !known.has(to)),
  );
};

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

/**
 * Puts the changes by the first transactions of a plan into `diffs`, one after the other: each stands on what those
 * before it left. JSON-RPC: `debug_traceCall` with `prestateTracer`.
 */
export const traceStates = Effect.fnUntraced(function* (
  { calls, block, stateOverrides, blockOverrides }: Simulate.Plan,
  diffs: Array<StateDiff>,
): Effect.fn.Return<void, never, Rpc> {
  const { memory } = yield* Rpc;
  // why: codes are long, and matter to none but a transaction behind
  const config = { diffMode: true, disableCode: calls.length === 1 };
  // why: geth refuses to trace a call with one
  const { beaconRoot: _, ...pretended } = blockOverrides ?? {};
  let state = stateOverrides ?? {};
  for (const { request } of calls.slice(0, most.transactions)) {
    const call = { ...request, block, stateOverrides: state, blockOverrides: pretended };
    const answer = yield* sent(asked({ step: "simulate" }, one(stateDiffOf(call, most.ms, config))));
    if (Result.isFailure(answer)) {
      const { failure } = answer;
      if (failure._tag === "RpcError" && !failure.isRetryable && !isGone(failure)) learnUntraced(memory);
      return;
    }
    diffs.push(answer.success);
    state = behind(state, answer.success);
  }
});
