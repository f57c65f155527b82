/** One call after some time, by a clock that a test may hold. */
import type * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";

/** Calls `run` in `ms` milliseconds, and returns how to call it off. */
export const after = (clock: Clock.Clock, ms: number, run: () => void): (() => void) => {
  const fiber = Effect.runFork(Effect.map(clock.sleep(Duration.millis(ms)), run));
  return () => fiber.interruptUnsafe();
};
