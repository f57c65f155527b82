/** Parts that few programs need, loaded when they are first asked for. */
import * as Effect from "effect/Effect";

/**
 * The module that `load` imports. Where it cannot be loaded, or not in ten seconds, the program that needs it is broken:
 * a defect, never a wait without end.
 */
export const later = <Module>(load: () => Promise<Module>): Effect.Effect<Module> =>
  Effect.promise(load).pipe(Effect.timeout("10 seconds"), Effect.orDie);
