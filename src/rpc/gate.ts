/** The gate of an endpoint: how many runs it is asked by at once, first come, first served. */
import type * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { AdmissionTimeout } from "../errors/rpc.js";
import { after } from "./timer.js";

/** How wide a gate is. */
export interface GateOptions {
  /** So many runs at once, at least 1; the others wait. A request outside any run counts as one. */
  readonly maxInFlight: number;
  /** Ms: who has waited this long is not let in any more, and every request fails with `AdmissionTimeout`. */
  readonly maxWaitMs: number;
}

/**
 * What came of waiting at a gate; null = did not wait yet. A run waits once, where it begins: whoever is
 * in never waits for another, at any gate, so that no two can wait for each other.
 */
export const Admission = Context.Reference<"admitted" | AdmissionTimeout | null>("evm-preflight/Rpc/Admission", {
  defaultValue: () => null,
});

/** Runs an effect once the gate lets it in; it leaves with the effect's end. Interruption ends the waiting. */
export type Admit = <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;

export const gate = ({ maxInFlight, maxWaitMs }: GateOptions, clock: Clock.Clock): Admit => {
  let free = Math.max(1, maxInFlight);
  const waiting = new Set<() => void>();

  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) free++;
    else next();
  };

  const enter = (place: { isTaken: boolean }): Effect.Effect<"admitted" | AdmissionTimeout> =>
    Effect.callback((resume) => {
      if (free > 0) {
        free--;
        place.isTaken = true;
        return resume(Effect.succeed("admitted"));
      }
      const goAway = (): void => {
        waiting.delete(turn);
        callOff();
      };
      const turn = (): void => {
        goAway();
        place.isTaken = true;
        // why: not on the stack of the one who leaves, or a crowd of short runs would overflow it
        resume(Effect.as(Effect.yieldNow, "admitted"));
      };
      const callOff = after(clock, maxWaitMs, () => {
        waiting.delete(turn);
        resume(Effect.succeed(new AdmissionTimeout({ detail: "", maxInFlight, afterMs: maxWaitMs })));
      });
      waiting.add(turn);
      return Effect.sync(goAway);
    });

  return (run) =>
    Effect.flatMap(Effect.service(Admission), (already) => {
      if (already !== null) return run;
      const place = { isTaken: false };
      return Effect.ensuring(
        Effect.flatMap(enter(place), (came) => Effect.provideService(run, Admission, came)),
        Effect.sync(() => {
          if (place.isTaken) leave();
        }),
      );
    });
};
