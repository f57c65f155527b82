/**
 * A caller's condition on a report, what it answers, and how several answers become one. Kept in the report as data and evaluated again by every `prove`;
 * one that cannot be rebuilt from its data counts as unknown, never as passed.
 */
import type * as Schema from "effect/Schema";
import type { Address, Hex } from "../primitives/hex.js";
import type { Report } from "./schema.js";

/** Result of a policy: it holds, it does not (with the evidence), or that is not known (with the reason). */
export type PolicyResult =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Fail"; readonly detail: string }
  | { readonly _tag: "Unknown"; readonly reason: string };

/** One policy: how it is called, how it is written down, and how it is evaluated. */
export interface Policy {
  /** Its name in findings. */
  readonly name: string;
  /** Rebuilds the policy, where it can be rebuilt; else only its name. */
  readonly data: Schema.Json;
  /**
   * The balances that it judges by, which are measured for it: `token` null = native, `account` null = every sender, and
   * the accounts of the option `accounts`. `bound`: what the policy, where it passes, bounds of it, what leaves at most, or
   * what arrives at least; others' pending transactions may then move it within that bound. Left out = nothing.
   */
  readonly balances?: ReadonlyArray<{
    readonly token: Address | null;
    readonly account: Address | null;
    readonly bound?: "spent" | "received";
  }>;
  /** Belongings of which it bounds what contracts could take: `token` null = native, `account` null = every sender. */
  readonly exposures?: ReadonlyArray<{ readonly token: Address | null; readonly account: Address | null }>;
  /** Calls inside that may fail: their failure is an info finding. */
  readonly mayFail?: ReadonlyArray<{
    /** The address that is called. */
    readonly to: Address;
    /** Its function's four bytes; left out = any function. */
    readonly selector?: Hex;
  }>;
  /** Judges a report. */
  readonly evaluate: (report: Report) => PolicyResult;
}

/** The policy holds. */
export const pass: PolicyResult = { _tag: "Pass" };
/** The policy does not hold; `detail` says what was found against it, with units. */
export const fail = (detail: string): PolicyResult => ({ _tag: "Fail", detail });
/** The policy is not known to hold or not: never counted as passed. */
export const unknown = (reason: string): PolicyResult => ({ _tag: "Unknown", reason });

/** Joins what those of one kind say. */
const said = (results: ReadonlyArray<PolicyResult>, tag: "Fail" | "Unknown"): string =>
  results
    .flatMap((result) => (result._tag !== tag ? [] : result._tag === "Fail" ? result.detail : result.reason))
    .join("; ");

/** Fails when one fails, passes only when all pass. */
export const every = (results: ReadonlyArray<PolicyResult>): PolicyResult =>
  results.some(({ _tag }) => _tag === "Fail")
    ? fail(said(results, "Fail"))
    : results.some(({ _tag }) => _tag === "Unknown")
      ? unknown(said(results, "Unknown"))
      : pass;

/** Passes when one passes, fails only when all fail. */
export const some = (results: ReadonlyArray<PolicyResult>): PolicyResult =>
  results.some(({ _tag }) => _tag === "Pass")
    ? pass
    : results.some(({ _tag }) => _tag === "Unknown")
      ? unknown(said(results, "Unknown"))
      : fail(results.length === 0 ? "there is nothing to choose from" : said(results, "Fail"));
