/** A store whose code is loaded when it is first used: who only simulates never loads it. */
import * as Effect from "effect/Effect";
import type { Result, Store } from "./store.js";

/** The process's store in memory, loaded with its first operation. */
export const makeLazyMemory: Effect.Effect<Store> = Effect.map(
  Effect.cached(
    Effect.flatMap(
      Effect.promise(() => import("./memory.js")),
      ({ memoryOfProcess }) => memoryOfProcess,
    ),
  ),
  (loaded): Store => {
    const later =
      <Given extends ReadonlyArray<unknown>, A>(operation: (store: Store) => (...given: Given) => Result<A>) =>
      (...given: Given): Result<A> =>
        Effect.flatMap(loaded, (store) => operation(store)(...given));
    return {
      kind: "memory",
      persistent: false,
      bootstrap: later(({ bootstrap }) => bootstrap),
      reserve: later(({ reserve }) => reserve),
      commit: later(({ commit }) => commit),
      release: later(({ release }) => release),
      recycle: later(({ recycle }) => recycle),
      replace: later(({ replace }) => replace),
      report: later(({ report }) => report),
      reconcile: later(({ reconcile }) => reconcile),
      adopt: later(({ adopt }) => adopt),
      forget: later(({ forget }) => forget),
      read: later(({ read }) => read),
      mark: later(({ mark }) => mark),
      setMark: later(({ setMark }) => setMark),
      check: later(({ check }) => check),
      lanes: Effect.flatMap(loaded, ({ lanes }) => lanes),
    };
  },
);
