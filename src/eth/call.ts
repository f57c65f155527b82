/** A message call by the methods that run one: `eth_call`, `eth_createAccessList`, `debug_traceCall`. */
import type * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Hex } from "../primitives/hex.js";
import type { Rpc } from "../rpc/index.js";
import { ask, type Failure } from "./ask.js";
import { AccessList } from "./block.js";
import { call, isGiven } from "./encode.js";
import type { AccessListEntry, BlockParameter, Pretending } from "./parameters.js";
import { Anything, Bytes, decoder, orNull, struct } from "./shape.js";

const readCall = decoder("eth_call", Bytes);

/** The bytes that a call returns, or a deployment where it may be one; reverts as the node told them. JSON-RPC: `eth_call`. */
export const askCall = (
  parameters: Pretending & { readonly block: BlockParameter },
  mayDeploy: boolean,
): Effect.Effect<Hex, Failure, Rpc> =>
  ask(
    "eth_call",
    (faults) => {
      const written = call(parameters, parameters.block, faults);
      if (!mayDeploy && !isGiven(parameters.to)) faults.push("call.to: required, for a deployment is no call");
      return written;
    },
    readCall,
  );

const readAccessList = /* @__PURE__ */ decoder(
  "eth_createAccessList",
  // `error` = why the call failed, where it did
  /* @__PURE__ */ struct({ accessList: AccessList, error: /* @__PURE__ */ orNull(Anything) }),
);

/**
 * The accounts and slots that a call reads or writes, but for its ends and the precompiles; null where it fails. JSON-RPC:
 * `eth_createAccessList`.
 */
export const askAccessList = (
  request: Pretending,
  block: BlockParameter,
): Effect.Effect<ReadonlyArray<AccessListEntry> | null, Failure, Rpc> =>
  ask(
    "eth_createAccessList",
    (faults) => call(request, block, faults),
    (result) => Result.map(readAccessList(result), ({ accessList, error }) => (error === null ? accessList : null)),
  );

/** The calls within a call as `callTracer` tells them, handed out as they came: no node has to have it. JSON-RPC: `debug_traceCall`. */
export const askTrace = (
  parameters: Pretending & { readonly block: BlockParameter },
  timeoutMs: number,
): Effect.Effect<unknown, Failure, Rpc> =>
  ask(
    "debug_traceCall",
    (faults) => [
      ...call(parameters, parameters.block, faults).slice(0, 2),
      { tracer: "callTracer", timeout: `${timeoutMs}ms` },
    ],
    Result.succeed,
  );
