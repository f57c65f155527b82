/** The common parts of the protocol's operations: the lane, checked; the store, asked with patience. */
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import { NonceForgotten, NonceImplausible, NonceStoreError } from "../../errors/index.js";
import { NonceStore } from "../../NonceStore.js";
import { besideLane, laneOf, type Lane, type LaneId, type Takes } from "../lane.js";
import type { Unmoved } from "../laneRules.js";
import { Settings } from "../service.js";
import type { Result, Store } from "../store.js";

/** The lane, checked, and of the options what the call takes; the store; the settings. */
export const context = Effect.fnUntraced(function* <O extends object>(
  lane: Lane,
  options?: O | null,
  takes: Takes = [],
) {
  const checked = yield* Effect.fromResult(laneOf(lane));
  const given = yield* Effect.fromResult(besideLane(options, takes));
  return { lane: checked, given, store: yield* NonceStore, settings: yield* Settings };
});

/** An operation of the store, with a few more tries: each is idempotent. Bounded even where it cannot be interrupted: a store that hangs must not hang its caller. */
export const asking = Effect.fnUntraced(function* <A>(operation: string, ask: (store: Store) => Result<A>) {
  const { storeTimeoutMs, storeRetries } = yield* Settings;
  const late = { operation, detail: `no answer in ${storeTimeoutMs} ms`, isRetryable: true };
  return yield* ask(yield* NonceStore).pipe(
    Effect.timeoutOrElse({ duration: storeTimeoutMs, orElse: () => Effect.fail(new NonceStoreError(late)) }),
    Effect.retry({
      times: storeRetries,
      while: (error) => error.isRetryable,
      schedule: Schedule.jittered(Schedule.exponential("50 millis")),
    }),
  );
});

export const unmovedError = (lane: LaneId, latest: bigint, answer: Unmoved) =>
  answer._tag === "Implausible"
    ? new NonceImplausible({ lane: lane.id, count: latest, next: answer.next })
    : new NonceForgotten({ lane: lane.id, count: latest, tail: answer.tail });
