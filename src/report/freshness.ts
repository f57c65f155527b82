/** Whether the state that was asked is the newest. Pure. */
import type { Chain } from "../Chains.js";
import { count, seconds } from "../primitives/statement.js";
import { note, type Finding } from "./finding.js";
import type { Observed } from "./schema.js";

/** The ids of geth's and of anvil's and hardhat's development chains. */
const onDemand: ReadonlyArray<number | null> = [1337, 31337];

/** Whether a chain makes blocks only when it is asked to, so that the age of its head says nothing. */
export const minesOnDemand = (chainId: number | null): boolean => onDemand.includes(chainId);

/** A state older than this many block times (and a minute) is stale, and doubtful from half of it on. */
const mostBlockTimes = 10;
/** Seconds, where the pace of a chain is not known. */
const unpaced = { doubtful: 120n, stale: 600n } as const;
/** Ms between blocks, where the pace is not known: how many may pass is taken to be few. */
const assumedPace = 1_000;
/** Ms in which the backends of one endpoint hear of a block. */
const spreading = 1_000;
/** Pending state may be this far ahead of the latest block, beside those that pass meanwhile. */
const ahead = 2n;
/** Seconds: nodes refuse a block that is further in the future. */
const mostSkew = 15n;

/** What freshness is judged by. Times of blocks are epoch seconds; null = not known. */
export interface FreshnessOptions {
  /** The block whose state was the base. */
  readonly base: bigint | null;
  /** The sealed head as the node answered it beside. */
  readonly head: { readonly number: bigint; readonly timestamp: bigint } | null;
  /** The highest block that any answer named. */
  readonly highest: bigint | null;
  /** Of the simulated block: a clock of the node's, unless the time was set. */
  readonly timestamp: bigint | null;
  /** Epoch ms by the local clock. */
  readonly now: number;
  /** Ms by which the newest HTTP `Date` was ahead of the local clock. */
  readonly aheadMs: number | null;
  /** Ms since the first question. */
  readonly elapsedMs: number;
  /** Whether the head is a later one than an earlier look found. */
  readonly hasAdvanced: boolean;
  readonly chain: Pick<Chain, "known" | "blockTimeMs">;
  readonly chainId: number | null;
}

/** How fresh a state is, and what a reader must be told of it. */
export interface Freshness {
  readonly freshness: Observed["freshness"];
  readonly findings: ReadonlyArray<Finding>;
}

const inSeconds = (ms: number): bigint => BigInt(Math.round(ms / 1000));
const newest = (first: bigint, ...others: ReadonlyArray<bigint | null>): bigint =>
  others.reduce<bigint>((largest, amount) => (amount !== null && amount > largest ? amount : largest), first);

/** Where the head is later than every clock, its age cannot be told; where it advances, it is at least alive. */
const checkClocks = ({ aheadMs, hasAdvanced }: FreshnessOptions, lead: bigint): ReadonlyArray<Finding> => {
  const evidence = "measured";
  if (lead > mostSkew)
    return [note("ClockSkew", hasAdvanced ? "info" : "warning", { evidence }, seconds("the head is ahead by", lead))];
  const skew = inSeconds(aheadMs ?? 0);
  if (skew >= -mostSkew && skew <= mostSkew) return [];
  const by = skew > 0n ? seconds("the local clock is behind by", skew) : seconds("the local clock is ahead by", -skew);
  // why: the newest clock counts, so that a wrong one can only make a state look older than it is
  return [note("ClockSkew", "info", { evidence }, by)];
};

/**
 * The age is that of the sealed head by the newest clock, for pending state may carry the clock of a node that heard
 * of no block for days. Without a head the simulated block's time may show that the state is old, never that it is new.
 */
export const freshnessOf = (options: FreshnessOptions): Freshness => {
  const { base, head, highest, timestamp, now, aheadMs, elapsedMs, chain, chainId } = options;
  const pace = Math.max(1, chain.known ? chain.blockTimeMs : assumedPace);
  const drift = 1n + BigInt(Math.floor(Math.max(spreading, elapsedMs) / pace));
  const isOff =
    base !== null &&
    (newest(base, highest, head?.number ?? null) > base + drift ||
      (head !== null && base > head.number + ahead + drift));

  const clock = newest(inSeconds(now), aheadMs === null ? null : inSeconds(now + aheadMs));
  const time = head?.timestamp ?? timestamp;
  const isPaced = !minesOnDemand(chainId);
  const age = time === null || !isPaced ? 0n : newest(clock, timestamp, time) - time;
  const limit = inSeconds(Math.max(60_000, mostBlockTimes * pace));
  const { doubtful, stale } = chain.known ? { doubtful: limit / 2n, stale: limit } : unpaced;

  const where = { evidence: "measured" } as const;
  const clocks = checkClocks(options, isPaced && head !== null ? head.timestamp - clock : 0n);
  const old = age > doubtful ? seconds("age of the head", age) : null;
  const told = (freshness: Observed["freshness"], ...more: ReadonlyArray<Finding>): Freshness => ({
    freshness,
    findings: [...clocks, ...more],
  });
  if (isOff || age > stale) {
    const blocks = [count("base block", base), count("latest block", head?.number ?? null)];
    return told("stale", note("PendingStale", "unavailable", where, ...blocks, count("highest block", highest), old));
  }
  if (old !== null) return told("unknown", note("HeadOld", "warning", where, old));
  if (base !== null && head === null)
    return told("unknown", note("FreshnessUnknown", "info", { evidence: "unavailable" }));
  return told(base !== null && clocks.every(({ severity }) => severity === "info") ? "fresh" : "unknown");
};
