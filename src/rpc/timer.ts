/** One call after some time, by a clock that a test may hold. */
import type * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { safely } from "../primitives/record.js";

/** Calls `run` in `ms` milliseconds, and returns how to call it off. */
export const after = (clock: Clock.Clock, ms: number, run: () => void): (() => void) => {
  const fiber = Effect.runFork(Effect.map(clock.sleep(Duration.millis(ms)), run));
  return () => fiber.interruptUnsafe();
};

/** Calls at a time in epoch ms, and returns how to call it off. */
export type Alarm = (time: number, run: () => void) => () => void;

/** One timer for all that end at the same moment, as the requests of a run do. */
export const alarms = (clock: Clock.Clock): Alarm => {
  const set = new Map<number, { readonly all: Set<() => void>; readonly stop: () => void }>();
  const start = (time: number) => {
    const all = new Set<() => void>();
    const stop = after(clock, time - clock.currentTimeMillisUnsafe(), () => {
      set.delete(time);
      // why: what one throws must not cost the others their deadline
      for (const run of all) safely(run, undefined);
    });
    const made = { all, stop };
    set.set(time, made);
    return made;
  };
  return (time, run) => {
    const { all, stop } = set.get(time) ?? start(time);
    all.add(run);
    return () => {
      if (!all.delete(run) || all.size > 0) return;
      set.delete(time);
      stop();
    };
  };
};
