/** What policies answer, and how several answers become one. */
import type { PolicyResult } from "../report/policy.js";

/** The policy holds. */
export const pass: PolicyResult = { _tag: "Pass" };
/** The policy does not hold; `detail` says what was found against it, with units. */
export const fail = (detail: string): PolicyResult => ({ _tag: "Fail", detail });
/** Whether it holds cannot be told: never counted as passed. */
export const unknown = (reason: string): PolicyResult => ({ _tag: "Unknown", reason });

const details = (results: ReadonlyArray<PolicyResult>): string =>
  results.flatMap((result) => (result._tag === "Fail" ? [result.detail] : [])).join("; ");
const reasons = (results: ReadonlyArray<PolicyResult>): string =>
  results.flatMap((result) => (result._tag === "Unknown" ? [result.reason] : [])).join("; ");

/** Fails when one fails, passes only when all pass. */
export const every = (results: ReadonlyArray<PolicyResult>): PolicyResult =>
  results.some(({ _tag }) => _tag === "Fail")
    ? fail(details(results))
    : results.some(({ _tag }) => _tag === "Unknown")
      ? unknown(reasons(results))
      : pass;

/** Passes when one passes, fails only when all fail. */
export const some = (results: ReadonlyArray<PolicyResult>): PolicyResult =>
  results.some(({ _tag }) => _tag === "Pass")
    ? pass
    : results.some(({ _tag }) => _tag === "Unknown")
      ? unknown(reasons(results))
      : fail(results.length === 0 ? "there is nothing to choose from" : details(results));
