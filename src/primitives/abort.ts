/** What is done when a signal aborts: one listener per signal, however many wait for it, or Node warns of a leak. */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Adds what to do when `signal` aborts, and returns how to take it back. */
export const onAbort = (signal: AbortSignal, run: () => void): (() => void) => {
  const known = waiting.get(signal);
  const all = known ?? new Set<() => void>();
  if (known === undefined) {
    waiting.set(signal, all);
    signal.addEventListener("abort", () => all.forEach((one) => one()), { once: true });
  }
  // why: the same function may wait twice
  const one = () => run();
  all.add(one);
  return () => void all.delete(one);
};
