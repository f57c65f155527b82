/** What a stream told so far, and waiting for more of it. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import type { Failure } from "../../src/Eth.js";
import { Rpc } from "../../src/Rpc.js";

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const until = async (isSo: () => boolean, what: string, ms = 20_000): Promise<void> => {
  for (let waited = 0; !isSo(); waited += 10) {
    if (waited > ms) throw new Error(`never: ${what}`);
    await pause(10);
  }
};

export interface Following<A> {
  readonly told: ReadonlyArray<A>;
  /** Its node told of a block: what is mined from now on is new to it. */
  readonly begun: Promise<void>;
  /** The failure that ended it; null = goes on. */
  readonly failure: () => Failure | null;
  readonly stop: () => Promise<void>;
}

/** Runs the stream; each element costs its taker `slowness` ms, or waits for it. */
export const followed = <A>(
  stream: Stream.Stream<A, Failure, Rpc>,
  layer: Layer.Layer<Rpc>,
  slowness: number | (() => Promise<void>) = 0,
): Following<A> => {
  const told: Array<A> = [];
  let failure: Failure | null = null;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => void (begin = resolve));
  const heard = Layer.effect(
    Rpc,
    Effect.map(Rpc, (node) =>
      Rpc.of({
        ...node,
        request: (method, params) =>
          Effect.tap(node.request(method, params), () =>
            Effect.sync(() => method === "eth_getBlockByNumber" && begin()),
          ),
      }),
    ),
  ).pipe(Layer.provide(layer));
  const fiber = Effect.runFork(
    Stream.runForEach(stream, (one) => {
      told.push(one);
      if (typeof slowness !== "number") return Effect.promise(slowness);
      return slowness === 0 ? Effect.void : Effect.sleep(slowness);
    }).pipe(
      Effect.result,
      Effect.map((ended) => void (failure = Result.isFailure(ended) ? ended.failure : null)),
      Effect.provide(heard),
    ),
  );
  return { told, begun, failure: () => failure, stop: () => Effect.runPromise(Fiber.interrupt(fiber)) };
};
