import * as Effect from "effect/Effect";
import type * as Eth from "../../src/Eth.js";
import { Rpc } from "../../src/Rpc.js";
import { memoryOf } from "../rooms/rpc.js";

/** What a method sends; null when it sends nothing. */
export const sent = (method: Effect.Effect<unknown, Eth.Failure, Rpc>) => {
  let asked: readonly [string, ReadonlyArray<unknown>] | null = null;
  const result = Effect.runSync(
    Effect.result(method).pipe(
      Effect.provideService(
        Rpc,
        Rpc.of({
          endpoint: "",
          memory: memoryOf(() => 0, 0),
          admit: (run) => run,
          request: (name, params) => {
            asked = [name, JSON.parse(JSON.stringify(params)) as ReadonlyArray<unknown>];
            return Effect.succeed(undefined);
          },
        }),
      ),
    ),
  );
  const failure = result._tag === "Failure" && result.failure._tag === "RpcError" ? result.failure.reason : null;
  return { asked: asked as readonly [string, ReadonlyArray<unknown>] | null, failure };
};
