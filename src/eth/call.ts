/** A message call by the methods that run one: `eth_call`, `eth_createAccessList`, `debug_traceCall`. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { lazyOr } from "../primitives/effects.js";
import type { Address } from "../primitives/hex.js";
import { question, type Failure, type Question } from "./ask.js";
import { AccessList } from "./block.js";
import { call } from "./encode.js";
import { given } from "../primitives/problem.js";
import type { BlockParameter, CallRequest, Simulation } from "./parameters.js";
import { Account, Anything, Bytes, decoder, either, Finite, Index, mapOf, orElse, orNull, Quantity } from "./shape.js";
import { struct, Word, type Shape } from "./shape.js";
import type { AbiIndex } from "../abi/abiIndex.js";
import { revertOf, type Table } from "../abi/revertOf.js";
import { ExecutionReverted } from "../errors/verdicts.js";

/** The bytes that a call returns, or a deployment where it may be one; reverts as the node told them. JSON-RPC: `eth_call`. */
export const callOf = (
  parameters: CallRequest & Omit<Simulation["blocks"][number], "calls"> & { readonly block: BlockParameter },
  mayDeploy: boolean,
) =>
  question(
    "eth_call",
    (faults) => {
      const params = call(parameters, parameters?.block, faults);
      if (params.length > 0 && !mayDeploy && !given(parameters.to))
        faults.push("call.to: required, for a deployment is no call");
      return params;
    },
    Bytes,
  );

/** `error` = why the call failed, where it did. */
const Created = /* @__PURE__ */ struct({
  ...{ accessList: AccessList, gasUsed: /* @__PURE__ */ orNull(Quantity), error: /* @__PURE__ */ orNull(Anything) },
});
const readCreated = /* @__PURE__ */ decoder("eth_createAccessList", Created);

/** An access list, and the gas of its call with that list; null = the node does not say. */
export type Listing = Omit<typeof Created.Type, "error">;

/**
 * The accounts and slots that a call reads or writes, but for its ends and the precompiles; null where it fails. JSON-RPC:
 * `eth_createAccessList`.
 */
export const accessListOf = (
  request: CallRequest & Omit<Simulation["blocks"][number], "calls">,
  block: BlockParameter,
) =>
  question(
    "eth_createAccessList",
    (faults) => call(request, block, faults),
    (result) =>
      Result.map(readCreated(result), ({ error, ...listing }): Listing | null => (error === null ? listing : null)),
  );

/** Asks a tracer about a call; the overrides stand beside the tracer's name. */
const tracedBy =
  <A>(tracer: string, shape: Shape<A>) =>
  (
    parameters: CallRequest & Omit<Simulation["blocks"][number], "calls"> & { readonly block: BlockParameter },
    timeoutMs: number,
    tracerConfig: Readonly<Record<string, boolean>> = {},
  ): Question<A> =>
    question(
      "debug_traceCall",
      (faults) => {
        const [request, block, stateOverrides, blockOverrides] = call(parameters, parameters.block, faults);
        const pretended = { stateOverrides, blockOverrides };
        return [request, block, { tracer, tracerConfig, timeout: `${timeoutMs}ms`, ...pretended }];
      },
      shape,
    );

/** The calls within a call as `callTracer` tells them, handed out as they came: no node has to have it. JSON-RPC: `debug_traceCall`. */
export const callsOf = tracedBy("callTracer", Anything);

/** More accounts, and slots of one, than fit an answer that is read. */
const most = { accounts: 4_096, slots: 16_384 } as const;

const accounts = /* @__PURE__ */ mapOf(
  Account,
  /* @__PURE__ */ struct({
    balance: /* @__PURE__ */ orNull(Quantity),
    nonce: /* @__PURE__ */ orNull(/* @__PURE__ */ either(Finite, Index)),
    code: /* @__PURE__ */ orNull(Bytes),
    storage: /* @__PURE__ */ orElse(/* @__PURE__ */ mapOf(Word, Word, most.slots), new Map()),
  }),
  most.accounts,
);
const StateDiff = /* @__PURE__ */ struct({ pre: accounts, post: accounts });

/**
 * Changes by a call, by account: `post` has what changed, `pre` what it was. A slot that is missing in one of them is
 * zero there.
 */
export type StateDiff = typeof StateDiff.Type;

/** Asks for a call's changes as `prestateTracer` tells them: no node has to have it. JSON-RPC: `debug_traceCall`. */
export const stateDiffOf = /* @__PURE__ */ tracedBy("prestateTracer", StateDiff);

/* What a revert says, read by ABIs and the built-in errors. */

/** The built-in errors, loaded when a revert first needs them; none as long as they do not come in time. */
const builtin = /* @__PURE__ */ lazyOr(() => import("../abi/table.js").then((module): Table => module.builtin), {
  errors: () => [],
  meaning: () => null,
});

/** The failure with its revert decoded, where it is a revert. */
export const explain = Effect.fnUntraced(function* <F extends Failure | null>(
  failure: F,
  to: Address | null,
  abis: AbiIndex,
): Effect.fn.Return<F | ExecutionReverted> {
  if (failure?._tag !== "ExecutionReverted" || failure.data === null) return failure;
  const { data, text, raw } = failure;
  let isWanted = false;
  const want = <A>(nothing: A) => {
    isWanted = true;
    return nothing;
  };
  const known = revertOf(data, abis, to, { errors: () => want([]), meaning: () => want(null) });
  const revert = isWanted ? revertOf(data, abis, to, builtin.now() ?? (yield* Effect.promise(builtin.wait))) : known;
  return new ExecutionReverted({ data, revert, text, to, raw });
});
