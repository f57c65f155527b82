/** `debug_traceCall`, which no node has to have: whatever it answers is handed out as it came. */
import type * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Rpc } from "../Rpc.js";
import { ask, type Failure } from "./ask.js";
import { call } from "./encode.js";
import type { BlockParameter, Pretending } from "./parameters.js";

/** The calls within a call as `callTracer` tells them, not checked. JSON-RPC: `debug_traceCall`. */
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
