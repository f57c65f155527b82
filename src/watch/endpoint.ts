/** What the watchers of one endpoint share. */
import type { Memory } from "../Rpc.js";

/** One value for each endpoint, made when it is first asked for. */
export const perEndpoint = <A>(make: () => A): ((memory: Memory) => A) => {
  // why: a connection has one memory, and it goes with the connection
  const made = new WeakMap<Memory, A>();
  return (memory) => {
    const known = made.get(memory);
    if (known !== undefined) return known;
    const value = make();
    made.set(memory, value);
    return value;
  };
};
