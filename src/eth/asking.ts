/** What a run keeps of its questions and answers: which step asks, and for which simulation; the highest block that is named. */
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

/** `ask`, whose answer names a block that there is; null = none. */
export const sighting = <A, E, R>(
  ask: Effect.Effect<A, E, R>,
  blockIn: (answer: A) => bigint | null,
): Effect.Effect<A, E, R> =>
  Effect.tap(ask, (answer) =>
    Effect.withFiber((fiber) => {
      const { sighted } = fiber.getRef(CurrentRun);
      const block = blockIn(answer);
      if (sighted && block !== null && block > (sighted.block ?? -1n)) sighted.block = block;
      return Effect.void;
    }),
  );
