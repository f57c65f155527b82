/** The subscription to logs of pending state, begun again whenever it ends. */
import * as Effect from "effect/Effect";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import { Rpc } from "../Rpc.js";
import type { Failure } from "./ask.js";
import { decoder } from "./decode.js";
import { Log } from "./log.js";
import { isFinal, isNoSubscription } from "./watchHeads.js";

const pauseMs = 500;

const readLog = decoder("eth_subscribe", Log, "params.result");

/** Subscribes again and again; ends where the node serves no such subscription, or tells what cannot be read. */
export const hearing = (filter: Record<string, unknown>, hear: (log: Log) => void): Effect.Effect<void, Failure, Rpc> =>
  Effect.gen(function* () {
    const { subscribe } = yield* Rpc;
    while (subscribe !== undefined) {
      const once = Effect.gen(function* () {
        const unreadable = yield* Queue.dropping<Failure>(1);
        const { lost } = yield* subscribe(["pendingLogs", filter], (result) => {
          const log = readLog(result);
          if (Result.isSuccess(log)) hear(log.success);
          else Queue.offerUnsafe(unreadable, log.failure);
        });
        return yield* Effect.raceFirst(Effect.flatMap(Queue.take(unreadable), Effect.fail), lost);
      });
      const failure = yield* Effect.flip(Effect.scoped(once));
      if (isNoSubscription(failure)) return;
      if (isFinal(failure)) return yield* Effect.fail(failure);
      yield* Effect.sleep(pauseMs);
    }
  });
