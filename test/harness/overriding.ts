/** Nodes that take overrides of a simulation otherwise than they were asked to: the rewriting of a proxy. */
import type { ProxyOptions } from "./proxy.js";

/** Changes every override of every entry of a simulation, however deep; what `change` gives null for is left out. */
const overriding =
  (change: (name: string, value: unknown) => unknown): NonNullable<ProxyOptions["rewrite"]> =>
  (method, params) => {
    const walk = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(walk);
      if (typeof value !== "object" || value === null) return value;
      const changed = Object.entries(value).map(([name, inner]) => [
        name,
        change(name, name === "calls" ? inner : walk(inner)),
      ]);
      return Object.fromEntries(changed.filter(([name, inner]) => name === "calls" || inner !== null));
    };
    return method === "eth_simulateV1" ? walk(params) : params;
  };

/** Leaves one override out. */
export const dropping = (name: string) => overriding((key, value) => (key === name ? null : value));
