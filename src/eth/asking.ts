/** Which step asks, and for which run: written into the ledger beside every request. */
import * as Effect from "effect/Effect";
import type { RunName, StepName } from "../primitives/names.js";
import { CurrentRun } from "../rpc/run.js";

/** `ask`, told in the ledger as a question of this step, and of this run where it is a simulation. */
export const asking = <A, E, R>(
  about: { readonly step: StepName; readonly run?: RunName },
  ask: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.service(CurrentRun), (current) =>
    Effect.provideService(ask, CurrentRun, { ...current, step: about.step, run: about.run ?? null }),
  );
