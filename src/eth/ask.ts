/** One request from its typed parameters to its typed answer. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { Rpc } from "../Rpc.js";
import { encoded } from "./encode.js";
import type { Faults } from "./write.js";

/** How any of these methods fails. */
export type Failure = RpcError | Verdict;

/** Sends what `write` writes and reads the answer by `read`; what cannot be written is `InvalidParams`, and not sent. */
export const ask = <A>(
  method: string,
  write: (faults: Faults) => ReadonlyArray<unknown>,
  read: (result: unknown) => Result.Result<A, Failure>,
): Effect.Effect<A, Failure, Rpc> =>
  Rpc.use((rpc) => {
    const params = encoded(method, write);
    if (Result.isFailure(params)) return Effect.fail(params.failure);
    return Effect.flatMap(rpc.request(method, params.success), (result) => Effect.fromResult(read(result)));
  });
