/** A lane for people: where it stands, and what is wrong with it. Pure. */
import { kindAndWhy } from "../errors/sendOutcome.js";
import { type Hash, escapeText } from "../primitives/index.js";
import type { LaneId } from "./lane.js";
import { gapsOf } from "./metrics.js";
import { foreign, type Counts } from "./laneRules.js";
import type { Snapshot } from "./store.js";

/** State of a lane: its nonces, gaps and counts. */
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
    /**
     * How far it is known to have come: `handed` (at most a hash came back), `seen` (this node shows it, or a node knew the
     * bytes when they were sent again), `next` (this node's pending count is above it), `mined` (this node shows it in a
     * block), `passed` (the latest count is above it, by it or another).
     */
    readonly state: "handed" | "seen" | "next" | "mined" | "passed";
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

const stateOf = (
  nonce: bigint,
  outcome: string,
  counts: Counts | null,
  shown: "seen" | "mined" | undefined,
): Status["committed"][number]["state"] => {
  if (shown === "mined") return shown;
  if (counts !== null && nonce < counts.latest) return "passed";
  if (counts !== null && nonce < counts.pending) return "next";
  return outcome === "alreadyKnown" ? "seen" : (shown ?? "handed");
};

export const statusOf = (
  lane: LaneId,
  snapshot: Snapshot,
  counts: Counts | null,
  violations: ReadonlyArray<string>,
  /** States of transactions as a node shows them, by their hashes. */
  shown: ReadonlyMap<Hash, "seen" | "mined"> = new Map(),
): Status => {
  const { now, floor, next, slots } = snapshot;
  const msSince = (time: number): number => Math.max(0, now - time);
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
      const times = { ageMs: msSince(since), offeredMs: last.raw === null ? null : msSince(offeredAt) };
      const told = { ...kindAndWhy(outcome), state: stateOf(nonce, outcome, counts, shown.get(last.hash)) };
      return [{ nonce, hash: last.hash, attempts: attempts.length, ...times, ...told }];
    }),
    gaps: gapsOf(snapshot),
    foreign: slots.filter(({ token, state }) => token === foreign && state === "reserved").map(({ nonce }) => nonce),
    settled: ours.flatMap(({ state, nonce, attempts, since, outcome }) => {
      const last = attempts.at(-1);
      if (state !== "settled" || last === undefined) return [];
      return [{ nonce, hash: last.hash, ageMs: msSince(since), outcome }];
    }),
    violations,
  };
};

/** True if the chain has used a nonce, by this transaction or another: nothing can take its place. */
export const isPassed = ({ counts }: Pick<Status, "counts">, nonce: bigint): boolean =>
  counts !== null && nonce < counts.latest;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** An account and its chain in words, by the id of a lane. */
export const laneText = (id: string): string => {
  const [chainId = "", address = "", key = "0"] = id.split(":");
  return escapeText(`account ${address} on chain ${chainId}${key === "0" ? "" : `, key ${key}`}`);
};

/** A status as lines of text. */
export const toText = (status: Status): string => {
  const { lane, counts, floor, next, reserved, committed, gaps, settled, violations } = status;
  return [
    laneText(lane),
    `  chain      ${counts === null ? "unavailable" : `latest ${counts.latest}, pending ${counts.pending}`}`,
    `  range      from ${floor} to before ${next}`,
    ...reserved.map(({ nonce, endsInMs }) => `  reserved   ${nonce}, ends in ${seconds(endsInMs)}`),
    ...committed.map(
      ({ nonce, hash, attempts, ageMs, outcome, why, state }) =>
        `  committed  ${nonce}, ${escapeText(hash)}, ${seconds(ageMs)} old, ${outcome === "" ? "not reported" : escapeText(outcome)}${why === "" ? "" : ` (${escapeText(why)})`}${attempts > 1 ? `, replaced ${attempts - 1}×` : ""}${state === "passed" ? ", already used on chain" : `, ${state}`}`,
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

/** A first transaction older than this is `old`, ms. */
export const oldAfterMs = 300_000;

/** Bytes that nobody handed out again for so long have no `Nonces.keep`, ms. */
const unkeptAfterMs = 60_000;

const keeps = "keep the account in at least one process (`Nonces.keep`)";

/** Texts about one nonce, behind its number. */
const sentences = {
  burned: (hash: string) =>
    `was taken by another's transaction, which is final: ${hash} is never mined, so pay again and find out who else uses the key`,
  rejected: (why: string) => `was refused by the node${why} and nothing behind it is mined: replace or cancel it`,
  underpriced: (why: string) => `pays too little for the node's pool${why}: replace or cancel it with higher fees`,
  gap: "is a gap and nothing above it is mined: the next reservation takes it, or fill it",
  old: (ageMs: number) =>
    `is not mined after ${Math.round(ageMs / 1_000)} s: resend it, or replace it with higher fees`,
  ended: `is already used on chain, and whether by our transaction is not known: ${keeps}`,
  passed: `is already used on chain, and no process watches this account: ${keeps}`,
  unsent: `is not sent again by any process: ${keeps}`,
};

/** Something about one nonce that somebody has to see to. */
const at = (kind: ReturnType<typeof health>[number]["kind"], nonce: bigint, text: string) => ({
  ...{ kind, nonce, sentence: `nonce ${nonce} ${text}` },
});

/** Nonces that nobody keeps: how one ended is not found out, or it is not sent again. */
const unkept = (status: Status, limitMs: number): ReadonlyArray<ReturnType<typeof at>> => {
  const { committed, settled } = status;
  const ended = settled.find(({ outcome, ageMs }) => outcome !== "mined" && outcome !== "burned" && ageMs > limitMs);
  if (ended !== undefined) return [at("unkept", ended.nonce, sentences.ended)];
  const unsent = committed.find(({ offeredMs, nonce, ageMs }) =>
    // A mined one would have been settled by whoever keeps the lane
    isPassed(status, nonce) ? ageMs > limitMs : offeredMs !== null && offeredMs > limitMs,
  );
  if (unsent === undefined) return [];
  return [at("unkept", unsent.nonce, isPassed(status, unsent.nonce) ? sentences.passed : sentences.unsent)];
};

/** Everything that keeps a lane from being healthy, the worst first; empty = healthy. */
export const health = (
  status: Status,
  options: { readonly oldAfterMs?: number } = {},
): ReadonlyArray<{
  /**
   * - `damaged`: the store violates the partition.
   * - `rejected`, `underpriced`: a node refused what stands at the nonce.
   * - `old`: the first transaction that the chain has not passed is not mined.
   * - `gap`: a free nonce below a committed one.
   * - `behind`: the chain's count is below what was settled.
   * - `burned`: another's transaction is final at the nonce, and ours never is mined.
   * - `unkept`: nobody sends again what is in flight, or looks how it ended, as where the chain has passed it.
   */
  readonly kind: "damaged" | "burned" | "rejected" | "underpriced" | "old" | "gap" | "behind" | "unkept";
  /** null where it is the whole lane. */
  readonly nonce: bigint | null;
  /** A sentence on what is wrong and what to do, with the verb of `evm-preflight nonces`. */
  readonly sentence: string;
}> => {
  const { violations, settled, counts, floor } = status;
  const limitMs = options.oldAfterMs ?? oldAfterMs;
  const committed = status.committed.filter(({ nonce }) => !isPassed(status, nonce));
  const gaps = status.gaps.filter((nonce) => !isPassed(status, nonce));
  const [head] = committed;
  const found: Array<ReturnType<typeof health>[number]> = [
    ...violations.map((each) => ({ kind: "damaged" as const, nonce: null, sentence: `damaged: ${each}` })),
    ...settled
      .filter(({ outcome }) => outcome === "burned")
      .map(({ nonce, hash }) => at("burned", nonce, sentences.burned(hash))),
    ...committed.flatMap(({ nonce, outcome, why }) =>
      outcome === "rejected" || outcome === "underpriced"
        ? [at(outcome, nonce, sentences[outcome](why === "" ? "" : ` (${why})`))]
        : [],
    ),
    ...gaps.map((nonce) => at("gap", nonce, sentences.gap)),
  ];
  if (head !== undefined && head.ageMs > limitMs) found.push(at("old", head.nonce, sentences.old(head.ageMs)));
  found.push(...unkept(status, Math.min(limitMs, unkeptAfterMs)));
  if (counts !== null && counts.latest < floor)
    found.push({
      ...{ kind: "behind", nonce: counts.latest },
      sentence: `the chain is at ${counts.latest}, below ${floor} that was settled: a stale node, or a reorganisation, which \`Nonces.keep\` follows`,
    });
  return found;
};
