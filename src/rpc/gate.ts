/** The gate of an endpoint: how many runs it is asked by at once, first come, first served. */
import type * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import type * as Fiber from "effect/Fiber";
import { AdmissionTimeout } from "../errors/rpc.js";
import type { Rpc } from "./service.js";

/** How wide a gate is. */
export interface GateOptions {
  /** So many runs at once, at least 1; the others wait. A request outside any run counts as one. */
  readonly maxInFlight: number;
  /** Ms: who has waited this long is not let in any more, and every request fails with `AdmissionTimeout`. */
  readonly maxWaitMs: number;
}

/** What came of waiting at a gate, and whether the run that waited has ended. */
interface Admitted {
  readonly came: "admitted" | AdmissionTimeout;
  isOver: boolean;
}

/**
 * The admission that a fiber runs under. A run waits once, where it begins: whoever is in never waits for another,
 * at any gate. That holds for the fibers of one run; what a run starts as a program of its own (a Promise of the same
 * client, within `take` of `Preflight.reserving`) waits as anybody does, and may wait for the run itself.
 */
const Admission = Context.Reference<Admitted | null>("evm-preflight/Rpc/Admission", {
  defaultValue: () => null,
});

/** What came of the waiting that a fiber did; null = did not wait, or what it waited for has ended. */
export const admissionOf = (fiber: Fiber.Fiber<unknown, unknown>): Admitted["came"] | null => {
  const admission = fiber.getRef(Admission);
  return admission === null || admission.isOver ? null : admission.came;
};

/** Who waits: until when (epoch ms), and what is told when the turn or that time comes. */
interface Waiting {
  readonly until: number;
  readonly resume: (came: Effect.Effect<"admitted" | AdmissionTimeout>) => void;
  isIn: boolean;
}

// why: not on the stack of the one who leaves, or a crowd of short runs would overflow it
const admitted = Effect.as(Effect.yieldNow, "admitted" as const);

/** Calls `run` in `ms` milliseconds by a clock that a test may hold, and returns how to call it off. */
const after = (clock: Clock.Clock, ms: number, run: () => void): (() => void) => {
  const fiber = Effect.runFork(Effect.map(clock.sleep(Duration.millis(ms)), run));
  return () => fiber.interruptUnsafe();
};

/** Runs an effect once the gate lets it in; it leaves with the effect's end. Interruption ends the waiting. */
export const gate = ({ maxInFlight, maxWaitMs }: GateOptions, clock: Clock.Clock): Rpc["Service"]["admit"] => {
  let free = maxInFlight;
  const queue = new Set<Waiting>();
  let callOff: (() => void) | null = null;
  const tooLate = Effect.sync(() => new AdmissionTimeout({ detail: "", maxInFlight, afterMs: maxWaitMs }));

  /** One timer for all, for who came first has waited longest: a crowd shall cost little while it waits. */
  const watch = (): void => {
    const [first] = queue;
    if (first === undefined || callOff !== null) return;
    callOff = after(clock, first.until - clock.currentTimeMillisUnsafe(), () => {
      callOff = null;
      const now = clock.currentTimeMillisUnsafe();
      for (const one of queue) {
        if (one.until > now) break;
        queue.delete(one);
        one.resume(tooLate);
      }
      watch();
    });
  };

  const remove = (one: Waiting): void => {
    queue.delete(one);
    if (queue.size > 0) return;
    callOff?.();
    callOff = null;
  };

  const leave = (): void => {
    const [next] = queue;
    if (next === undefined) {
      free++;
      return;
    }
    remove(next);
    next.isIn = true;
    next.resume(admitted);
  };

  return (run) =>
    Effect.withFiber((fiber) => {
      if (admissionOf(fiber) !== null) return run;
      let admission: Admitted | null = null;
      let place: Waiting | null = null;
      const enter = Effect.callback<"admitted" | AdmissionTimeout>((resume) => {
        place = { until: clock.currentTimeMillisUnsafe() + maxWaitMs, resume, isIn: free > 0 };
        if (place.isIn) {
          free--;
          return resume(Effect.succeed("admitted"));
        }
        queue.add(place);
        watch();
      });
      return Effect.onExit(
        Effect.flatMap(enter, (came) => {
          admission = { came, isOver: false };
          return Effect.provideService(run, Admission, admission);
        }),
        () => {
          if (admission !== null) admission.isOver = true;
          if (place?.isIn === true) leave();
          else if (place !== null) remove(place);
          return Effect.void;
        },
      );
    });
};
