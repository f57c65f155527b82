/** The subscription to logs, begun again whenever it ends. */
import * as Effect from "effect/Effect";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import { Rpc } from "../Rpc.js";
import type { Failure } from "./ask.js";
import { decoder } from "./decode.js";
import { Log } from "./log.js";
import { isFinal, isNoSubscription } from "./watchHeads.js";

/** What is known of the subscription. */
export interface Listening {
  /** Whether notifications come now. */
  isLive: boolean;
  /** How often some may have been missed. */
  gaps: number;
  /** The highest block of which a log found no room. */
  droppedUpTo: bigint;
  /** Subscribes again over a new socket, for this one does not tell what there is. */
  renew: () => void;
}

export const begun = (): Listening => ({ isLive: false, gaps: 0, droppedUpTo: 0n, renew: () => undefined });

const pauseMs = 500;

const readLog = decoder("eth_subscribe", Log, "params.result");

/** Subscribes again and again; ends where the node serves no such subscription, or tells what cannot be read. */
export const subscribing = (
  kind: "logs" | "pendingLogs",
  filter: Record<string, unknown>,
  listening: Listening,
  hear: (log: Log) => void,
): Effect.Effect<void, Failure, Rpc> =>
  Effect.gen(function* () {
    const { subscribe } = yield* Rpc;
    while (subscribe !== undefined) {
      const once = Effect.gen(function* () {
        const ended = yield* Queue.dropping<Effect.Effect<void, Failure>>(1);
        const { lost, abandon } = yield* subscribe([kind, filter], (result) => {
          const log = readLog(result);
          if (Result.isSuccess(log)) hear(log.success);
          else Queue.offerUnsafe(ended, Effect.fail(log.failure));
        });
        listening.isLive = true;
        listening.gaps += 1;
        listening.renew = () => void Queue.offerUnsafe(ended, abandon);
        return yield* Effect.raceFirst(Effect.flatten(Queue.take(ended)), lost);
      });
      const ended = yield* Effect.result(Effect.scoped(once));
      listening.isLive = false;
      if (Result.isFailure(ended)) {
        if (isNoSubscription(ended.failure)) return;
        if (isFinal(ended.failure)) return yield* Effect.fail(ended.failure);
      }
      yield* Effect.sleep(pauseMs);
    }
  });
