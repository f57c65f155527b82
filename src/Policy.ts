/**
 * Conditions that a caller puts on a report, as data. Given as an option to any door, kept in the
 * report, and evaluated again by every `prove`. The vocabulary grows here; `make` takes any function.
 */
import type * as Schema from "effect/Schema";
import type { Policy, PolicyResult } from "./report/policy.js";
import type { Report } from "./report/schema.js";

export type { Policy, PolicyResult } from "./report/policy.js";

/** The policy holds. */
export const pass: PolicyResult = { _tag: "Pass" };
/** The policy does not hold; `detail` says what was found against it, with units. */
export const fail = (detail: string): PolicyResult => ({ _tag: "Fail", detail });
/** Whether it holds cannot be told: never counted as passed. */
export const unknown = (reason: string): PolicyResult => ({ _tag: "Unknown", reason });

/**
 * A policy of one's own. It cannot be written down: after `Report.fromJson` it counts as unknown until
 * it is given again as an option.
 */
export const make = (name: string, evaluate: (report: Report) => PolicyResult): Policy => ({
  name,
  data: { policy: "custom", name },
  evaluate,
});

/** Rebuilds a policy from its data; null when it cannot be rebuilt. */
export const fromData = (_data: Schema.Json): Policy | null => null;
