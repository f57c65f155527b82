/** Small effects: a part that is loaded when it is first asked for, what is done when a signal aborts, random bytes. */
import * as Effect from "effect/Effect";
import * as Context from "effect/Context";
import { bytesToHex } from "./bytes.js";
import type { Hex } from "./hex.js";

/**
 * The module that `load` imports. Where it cannot be loaded, or not in ten seconds, the program that needs it is broken:
 * a defect, never a wait without end.
 */
export const lazyImport = <Module extends object>(load: () => Promise<Module>): Effect.Effect<Module> => {
  let loaded: Module | null = null;
  const loading = Effect.promise(load).pipe(
    Effect.timeout("10 seconds"),
    Effect.orDie,
    Effect.tap((module) => Effect.sync(() => void (loaded = module))),
  );
  return Effect.suspend(() => (loaded === null ? loading : Effect.succeed(loaded)));
};

/**
 * Loads a part that may as well be missing: `otherwise` stands in where it cannot be loaded, or not in two seconds, and
 * what comes late is there for the next. `now` is null until it is here.
 */
export const lazyOr = <A>(load: () => Promise<A>, otherwise: A) => {
  let loaded: A | null = null;
  let loading: Promise<A> | null = null;
  const begin = (): Promise<A> =>
    Effect.promise(() =>
      load().then(
        (part) => {
          loaded = part;
        },
        () => {
          loading = null;
        },
      ),
    ).pipe(
      Effect.timeout("2 seconds"),
      Effect.ignore,
      Effect.map(() => loaded ?? otherwise),
      // why: not in the fiber that asks first, for others wait for it as well
      Effect.runPromise,
    );
  return { now: () => loaded, wait: () => (loading ??= begin()) };
};

// why: tests put clocks of their own in place of these later, in which an answer that came would never be read
const { setImmediate: setImmediately = null, setTimeout: setSoon } = globalThis;

/** Calls `run` in the next turn of the event loop, behind what is under way. */
export const inNextTurn = (run: () => void): void => {
  if (setImmediately === null) setSoon(run, 0);
  else setImmediately(run);
};

/** Ms for which the event loop may be held in one go. */
const mostHeldMs = 5;
let heldSince: number | null = null;

/** Begins to count for how long this turn of the event loop is held: where an answer arrives, and where work goes on. */
export const countHeld = (): number => {
  if (heldSince !== null) return heldSince;
  inNextTurn(() => (heldSince = null));
  return (heldSince = performance.now());
};

/** A turn of the event loop, where this one has been held for some ms: others wait for it, too. */
export const turn: Effect.Effect<void> = Effect.suspend(() =>
  performance.now() - countHeld() < mostHeldMs ? Effect.void : Effect.yieldNow,
);

/** Callbacks for when a signal aborts: one listener per signal, however many wait for it, or Node warns of a leak. */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Adds what to do when `signal` aborts, and returns how to take it back. */
export const onAbort = (signal: AbortSignal, run: () => void): (() => void) => {
  const known = waiting.get(signal);
  const all = known ?? new Set<() => void>();
  if (known === undefined) {
    waiting.set(signal, all);
    signal.addEventListener("abort", () => all.forEach((listener) => listener()), { once: true });
  }
  // why: the same function may wait twice
  const listener = () => run();
  all.add(listener);
  return () => void all.delete(listener);
};

/* Random bytes that nobody can foresee, replaceable so that a recorded run can be repeated. */

/** Draws so many random bytes. */
export const RandomWords: Context.Reference<(bytes: number) => Hex> = Context.Reference("evm-preflight/Dice", {
  defaultValue: () => (bytes: number) => bytesToHex(globalThis.crypto.getRandomValues(new Uint8Array(bytes))),
});

/** So many random bytes. */
export const roll = (bytes: number): Effect.Effect<Hex> =>
  Effect.map(Effect.service(RandomWords), (dice) => dice(bytes));
