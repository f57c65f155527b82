/** Checks that the state that was asked is the newest. Pure. */
import type { Chain } from "../Chains.js";
import { count, seconds } from "../primitives/statement.js";
import { code, type Finding } from "./finding.js";
import type { Observed } from "./schema.js";

/** The ids of geth's and of anvil's and hardhat's development chains. */
const onDemand: ReadonlyArray<number | null> = [1337, 31337];

const inSeconds = (ms: number): bigint => BigInt(Math.round(ms / 1000));
/** Seconds that have passed. */
const elapsed = (ms: number): bigint => BigInt(Math.floor(ms / 1000));

/** True if a chain makes blocks only when it is asked to, so that the age of its head says nothing. */
export const minesOnDemand = (chainId: number | null): boolean => onDemand.includes(chainId);

/** In which a block reaches every node. */
const propagation = 4n;
/** Chains that are faster are judged in seconds, not in slots. */
const leastSlot = 5n;
/**
 * How old the newest block may be, seconds: from `doubtful` on a report says so, from `stale` on nothing is ready. `held`:
 * how long a head has to stay the newest before it says that the chain is slow, and not the node.
 */
const unslotted = { doubtful: 11n, stale: 21n, held: 10n };
const unpaced: typeof unslotted = { doubtful: 121n, stale: 601n, held: 600n };

/** True if blocks come so seldom that one which comes while answers travel is the exception. */
export const isSlotted = ({ paceKnown, blockTimeMs }: Pick<Chain, "paceKnown" | "blockTimeMs">): boolean =>
  paceKnown && inSeconds(blockTimeMs) >= leastSlot;

/** True if blocks are known to come so often that one which comes while answers travel is none. */
export const isFast = (chain: Pick<Chain, "paceKnown" | "blockTimeMs">): boolean =>
  chain.paceKnown && !isSlotted(chain);

/** The limits of a chain's head: two missed slots are doubtful, three are stale. */
export const headLimitsOf = (chain: FreshnessOptions["chain"]): typeof unslotted => {
  if (!isSlotted(chain)) return chain.paceKnown ? unslotted : unpaced;
  const slot = inSeconds(chain.blockTimeMs);
  return { doubtful: propagation + 3n * slot, stale: propagation + 4n * slot, held: slot };
};

/** Returns the age, seconds, beyond which a slow chain stands still: ten block times, at least a minute. */
const standstill = ({ blockTimeMs }: Pick<Chain, "blockTimeMs">): bigint =>
  inSeconds(Math.max(60_000, 10 * blockTimeMs));

/** Ms between blocks, where the pace is not known: how many may pass is taken to be few. */
const assumedPace = 1_000;
/** Ms in which the backends of one endpoint hear of a block. */
const spreading = 1_000;
/** Pending state may be this far ahead of the latest block, beside those that pass meanwhile. */
const ahead = 2n;
/** Seconds: nodes refuse a block that is further in the future; a local clock that is nobody else's counts beyond them. */
const mostSkew = 15n;
/** Seconds by which a node simulates after its own clock, or after the latest block, which is no clock. */
const afterClock = 12n;

/** Facts by which freshness is judged. Times of blocks are epoch seconds; null = not known. */
export interface FreshnessOptions {
  /** The block whose state was the base. */
  readonly base: bigint | null;
  /** The sealed head as the node answered it beside. */
  readonly head: { readonly number: bigint; readonly timestamp: bigint } | null;
  /** The highest block that any answer named. */
  readonly highest: bigint | null;
  /** The highest block that was shown as the latest, where the base must not be behind it; none = it may. */
  readonly least?: bigint | null;
  /** Time of the simulated block: after the node's own clock, unless the time was set. */
  readonly timestamp: bigint | null;
  /** Epoch ms by the local clock. */
  readonly now: number;
  /** Ms by which the newest HTTP `Date` was ahead of the local clock. */
  readonly aheadMs: number | null;
  /** Ms since the first question. */
  readonly elapsedMs: number;
  /** True if the head is a later one than an earlier look found. */
  readonly hasAdvanced: boolean;
  /** Ms for which the head has been seen to be the newest; none = it was seen for the first time. */
  readonly heldMs?: number;
  /** True if another endpoint names the same head; none = nobody was asked. */
  readonly isShared?: boolean;
  readonly chain: Pick<Chain, "paceKnown" | "blockTimeMs">;
  readonly chainId: number | null;
}

const newest = (first: bigint, ...others: ReadonlyArray<bigint | null>): bigint =>
  others.reduce<bigint>((largest, amount) => (amount !== null && amount > largest ? amount : largest), first);

/**
 * The local clock, the node's clock and HTTP `Date` headers differ. The newest one is used to judge age.
 * @figures seconds("the head is ahead by", 22)
 * @warning where the head is ahead of every clock and does not advance
 */
export const ClockSkew = code("chain", ["info", "warning"], "ClockSkew", [
  "clocks are more than 15 s apart; the newest one is used",
  "check the local clock",
]);

/** The time of the newest HTTP `Date`, epoch seconds; null where none came. */
const datedAt = ({ now, aheadMs }: FreshnessOptions): bigint | null =>
  aheadMs === null ? null : elapsed(now + aheadMs);

/** Compares clocks. The age of a head later than every clock cannot be told; one that advances is at least alive. */
const checkClocks = (options: FreshnessOptions): ReadonlyArray<Finding> => {
  const { aheadMs, hasAdvanced, head, now, chainId } = options;
  const evidence = "measured";
  const clock = newest(elapsed(now), datedAt(options));
  const lead = minesOnDemand(chainId) || head === null ? 0n : head.timestamp - clock;
  if (lead > mostSkew)
    return [ClockSkew[hasAdvanced ? "info" : "warning"]({ evidence }, seconds("the head is ahead by", lead))];
  const skew = inSeconds(aheadMs ?? 0);
  if (skew >= -mostSkew && skew <= mostSkew) return [];
  const by = skew > 0n ? seconds("the local clock is behind by", skew) : seconds("the local clock is ahead by", -skew);
  // why: the newest clock counts, so that a wrong one can only make a state look older than it is
  return [ClockSkew.info({ evidence }, by)];
};

/**
 * The age of the state, seconds: that of the sealed head by the newest clock, for pending state may carry the clock of a
 * node that heard of no block for days. Without a head the simulated block's time may show that the state is old, never
 * that it is new. 0 where it cannot be told.
 */
const ageOf = (options: FreshnessOptions): bigint => {
  const { head, timestamp, now, chainId } = options;
  const time = head?.timestamp ?? timestamp;
  if (time === null || minesOnDemand(chainId)) return 0n;
  const local = elapsed(now);
  const others = newest(time, datedAt(options), timestamp === null ? null : timestamp - afterClock);
  // why: a local clock that is nobody else's counts where it is far beyond them
  return (local > others + mostSkew ? local : others) - time;
};

/** The node gave no block header. */
export const FreshnessUnknown = code("chain", ["info"], "FreshnessUnknown", [
  "the age of the state is unknown",
  "use a node that gives block headers",
]);

/**
 * The endpoint may be stuck, or the chain itself stands still.
 * @figures seconds("age of the head", 41)
 */
export const HeadOld = code("chain", ["warning"], "HeadOld", [
  "the latest block is older than expected",
  "ask again, or use another endpoint",
]);

/**
 * An answer names a newer block, or the latest block is too old.
 * @figures count("base block", 22_999_996), count("latest block", 22_999_996), count("highest block", 23_000_000)
 */
export const PendingStale = code("chain", ["unavailable"], "PendingStale", [
  "the state that was used is not the newest",
  "ask again, or use another block tag or endpoint",
]);

/** True if the state stands on another block than the newest that was shown. */
const isOff = ({ base, head, highest, least = null, elapsedMs, chain }: FreshnessOptions): boolean => {
  if (base === null) return false;
  const pace = Math.max(1, chain.paceKnown ? chain.blockTimeMs : assumedPace);
  const drift = 1n + BigInt(Math.floor(Math.max(spreading, elapsedMs) / pace));
  return (
    newest(base, highest, head?.number ?? null) > base + drift ||
    (least !== null && least > base && isSlotted(chain)) ||
    (head !== null && base > head.number + ahead + drift)
  );
};

/**
 * One or two slots behind cannot be told from slots that were missed. A head that is as old for everybody is the
 * chain's, until that stands still.
 */
export const freshnessOf = (options: FreshnessOptions) => {
  const { base, head, highest, chain, heldMs = 0, isShared = false } = options;
  const age = ageOf(options);
  const { doubtful, stale, held } = headLimitsOf(chain);
  const isSlow = chain.paceKnown && (isShared || elapsed(heldMs) >= held) && age <= standstill(chain);

  const where = { evidence: "measured" } as const;
  const clocks = checkClocks(options);
  const old = age >= doubtful ? seconds("age of the head", age) : null;
  const told = (freshness: Observed["freshness"], ...more: ReadonlyArray<Finding>) => ({
    freshness,
    findings: [...clocks, ...more],
  });
  if (isOff(options) || (age >= stale && !isSlow)) {
    const blocks = [count("base block", base), count("latest block", head?.number ?? null)];
    return told("stale", PendingStale.unavailable(where, ...blocks, count("highest block", highest), old));
  }
  if (old !== null) return told("unknown", HeadOld.warning(where, old));
  if (base !== null && head === null) return told("unknown", FreshnessUnknown.info({ evidence: "unavailable" }));
  return told(base !== null && clocks.every(({ severity }) => severity === "info") ? "fresh" : "unknown");
};
