/** Store operations with a bounded wait and a few more tries: all of them are idempotent. */
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import { NonceStoreError } from "../errors/nonces.js";
import type { Settings } from "./settings.js";

/** A store that is far away is not one that is down. */
export const noAnswer = (ms: number): string =>
  `no answer in ${ms} ms (\`storeTimeoutMs\` of \`Nonces.Settings\`: more where the store is far away)`;

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
        Effect.fail(new NonceStoreError({ operation, detail: noAnswer(settings.storeTimeoutMs), isRetryable: true })),
    }),
    Effect.retry({
      times: settings.storeRetries,
      while: (error) => error.isRetryable,
      schedule: Schedule.jittered(Schedule.exponential("50 millis")),
    }),
  );
