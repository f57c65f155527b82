/** A report that is watched by a test: what was told of it, and what that took. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import * as Eth from "../../src/Eth.js";
import * as Preflight from "../../src/Preflight.js";
import type * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { purposeOf } from "../preflight/scene.js";
import { CurrentRun } from "../rooms/rpc.js";

/** A node whose requests are counted: by method, simulations by their run. */
export interface Counted {
  readonly layer: Layer.Layer<Rpc.Rpc>;
  readonly asked: Array<string>;
}

export const counted = (layer: Layer.Layer<Rpc.Rpc>): Counted => {
  const asked: Array<string> = [];
  return {
    asked,
    layer: Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (node) =>
        Rpc.Rpc.of({
          ...node,
          request: (method, params) =>
            Effect.flatMap(Effect.service(CurrentRun), (run) => {
              asked.push(purposeOf(method, params, run));
              return node.request(method, params);
            }),
        }),
      ),
    ).pipe(Layer.provide(layer)),
  };
};

export interface WatchedReport {
  readonly told: ReadonlyArray<Preflight.Watched>;
  /** When each head came that all are judged by, by its hash; ms as `performance.now` has it. */
  readonly heardAt: ReadonlyMap<string, number>;
  readonly failure: () => Report.Blocker | null;
  readonly stop: () => Promise<void>;
}

/** Watches reports side by side on one connection, by heads that are asked for. */
export const watching = (
  reports: ReadonlyArray<Report.Report>,
  layer: Layer.Layer<Rpc.Rpc>,
  { pollMs = 25, silentMs, ...options }: Preflight.Options & Eth.HeadOptions = {},
  { watch }: Pick<Preflight.Pipeline, "watch"> = Preflight,
): ReadonlyArray<WatchedReport> => {
  const watched = reports.map((report) => ({
    report,
    told: [] as Array<Preflight.Watched>,
    failure: [] as Array<Report.Blocker>,
  }));
  const heardAt = new Map<string, number>();
  const hear = ({ header }: Eth.Head) => Effect.sync(() => void heardAt.set(header.hash, performance.now()));
  const all = Effect.gen(function* () {
    const heads = yield* Stream.share(Stream.tap(Eth.watchHeads({ pollMs, silentMs }), hear), {
      capacity: 4,
      strategy: "sliding",
      replay: 1,
    });
    yield* Effect.forEach(
      watched,
      ({ report, told, failure }) =>
        Effect.map(
          Effect.result(
            Stream.runForEach(watch(report, heads, options), (one) => Effect.sync(() => void told.push(one))),
          ),
          (ended) => {
            if (Result.isFailure(ended)) failure.push(ended.failure);
          },
        ),
      { concurrency: "unbounded" },
    );
  });
  const fiber = Effect.runFork(Effect.scoped(all).pipe(Effect.provide(layer)));
  return watched.map(({ told, failure }) => ({
    told,
    heardAt,
    failure: () => failure[0] ?? null,
    stop: () => Effect.runPromise(Fiber.interrupt(fiber)),
  }));
};
