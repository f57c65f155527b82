/** Store operations with a bounded wait and a few more tries: all of them are idempotent. */
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import { NonceStoreError } from "../errors/nonces.js";
import type { Settings } from "./settings.js";

/** Bounded even where it cannot be interrupted: a store that hangs must not hang its caller. */
export const patiently = <A>(
  operation: string,
  settings: Settings,
  ask: Effect.Effect<A, NonceStoreError>,
): Effect.Effect<A, NonceStoreError> =>
  ask.pipe(
    Effect.timeoutOrElse({
      duration: settings.storeTimeoutMs,
      orElse: () =>
        Effect.fail(
          new NonceStoreError({ operation, detail: `no answer in ${settings.storeTimeoutMs} ms`, isRetryable: true }),
        ),
    }),
    Effect.retry({
      times: settings.storeRetries,
      while: (error) => error.isRetryable,
      schedule: Schedule.jittered(Schedule.exponential("50 millis")),
    }),
  );
