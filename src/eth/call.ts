/** `eth_call`, for callers and for steps. */
import type * as Effect from "effect/Effect";
import type { Hex } from "../primitives/hex.js";
import type { Rpc } from "../Rpc.js";
import { ask, type Failure } from "./ask.js";
import { decoder } from "./decode.js";
import { call } from "./encode.js";
import type { BlockParameter, Pretending } from "./parameters.js";
import { Bytes } from "./wire.js";
import { isGiven } from "./write.js";

const read = decoder("eth_call", Bytes);

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
    read,
  );
