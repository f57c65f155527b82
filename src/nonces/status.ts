/** A lane for people. Pure. */
import { kindAndWhy } from "../errors/sendOutcome.js";
import type { Hash } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import type { Snapshot } from "./check.js";
import type { LaneId } from "./lane.js";
import { gapsOf } from "./metrics.js";
import { foreign, type Counts } from "./laneRules.js";

/** Where a lane stands. */
export interface Status {
  /** `chainId:address:key`. */
  readonly lane: string;
  /** null where the node did not say. */
  readonly counts: Counts | null;
  /** The highest latest count read, unless the chain went back for good. */
  readonly floor: bigint;
  /** The first nonce never issued. */
  readonly next: bigint;
  /** Nonces that are reserved, and when their leases end, ms. */
  readonly reserved: ReadonlyArray<{ readonly nonce: bigint; readonly endsInMs: number }>;
  /** Nonces that are committed and not settled, the lowest first. */
  readonly committed: ReadonlyArray<{
    readonly nonce: bigint;
    readonly hash: Hash;
    /** Transactions committed at the nonce: 1, and its replacements. */
    readonly attempts: number;
    readonly ageMs: number;
    /** Since its bytes were last handed out to be sent, ms; null where only its owner has them. */
    readonly offeredMs: number | null;
    /** The last thing a node said; empty = nothing yet. */
    readonly outcome: string;
    /** Why it was refused, in the node's words, not escaped; empty = it was not. */
    readonly why: string;
  }>;
  /** Free nonces below a committed one. */
  readonly gaps: ReadonlyArray<bigint>;
  /** Nonces that transactions of somebody else seem to hold. */
  readonly foreign: ReadonlyArray<bigint>;
  /** Settled nonces still kept, and since when they are settled, ms; `outcome` is `mined` or `burned` once that is known. */
  readonly settled: ReadonlyArray<{
    readonly nonce: bigint;
    readonly hash: Hash;
    readonly ageMs: number;
    readonly outcome: string;
  }>;
  /** Violations of the partition: empty unless the store is damaged. */
  readonly violations: ReadonlyArray<string>;
}

export const statusOf = (
  lane: LaneId,
  snapshot: Snapshot,
  counts: Counts | null,
  violations: ReadonlyArray<string>,
): Status => {
  const { now, floor, next, slots } = snapshot;
  const ours = slots.filter(({ width, token }) => width !== 0 && token !== foreign);
  return {
    lane: lane.id,
    counts,
    floor,
    next,
    reserved: ours.flatMap(({ state, nonce, until }) =>
      state === "reserved" ? [{ nonce, endsInMs: Math.max(0, until - now) }] : [],
    ),
    committed: ours.flatMap(({ state, nonce, attempts, since, offeredAt, outcome }) => {
      const last = attempts.at(-1);
      if (state !== "committed" || last === undefined) return [];
      const offeredMs = last.raw === null ? null : Math.max(0, now - offeredAt);
      const ageMs = Math.max(0, now - since);
      return [{ nonce, hash: last.hash, attempts: attempts.length, ageMs, offeredMs, ...kindAndWhy(outcome) }];
    }),
    gaps: gapsOf(snapshot),
    foreign: slots.filter(({ token, state }) => token === foreign && state === "reserved").map(({ nonce }) => nonce),
    settled: ours.flatMap(({ state, nonce, attempts, since, outcome }) => {
      const last = attempts.at(-1);
      const ageMs = Math.max(0, now - since);
      return state === "settled" && last !== undefined ? [{ nonce, hash: last.hash, ageMs, outcome }] : [];
    }),
    violations,
  };
};

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A status as lines of text. */
export const toText = (status: Status): string => {
  const { lane, counts, floor, next, reserved, committed, gaps, settled, violations } = status;
  return [
    `lane ${escapeText(lane)}`,
    `  chain      ${counts === null ? "unavailable" : `latest ${counts.latest}, pending ${counts.pending}`}`,
    `  range      from ${floor} to before ${next}`,
    ...reserved.map(({ nonce, endsInMs }) => `  reserved   ${nonce}, ends in ${seconds(endsInMs)}`),
    ...committed.map(
      ({ nonce, hash, attempts, ageMs, outcome, why }) =>
        `  committed  ${nonce}, ${escapeText(hash)}, ${seconds(ageMs)} old, ${outcome === "" ? "not reported" : escapeText(outcome)}${why === "" ? "" : ` (${escapeText(why)})`}${attempts > 1 ? `, replaced ${attempts - 1}×` : ""}`,
    ),
    ...(status.foreign.length === 0 ? [] : [`  foreign    ${status.foreign.join(", ")}`]),
    ...(gaps.length === 0 ? [] : [`  GAPS       ${gaps.join(", ")}: nothing above is mined before they are used`]),
    `  settled    ${settled.length} kept`,
    ...settled
      .filter(({ outcome }) => outcome === "burned")
      .map(({ nonce, hash }) => `  BURNED     ${nonce}, ${escapeText(hash)}: another's transaction is final there`),
    ...violations.map((violation) => `  DAMAGED    ${escapeText(violation)}`),
  ].join("\n");
};
