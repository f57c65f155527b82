/** Whether the state that was asked is the newest. Pure. */
import type { Chain } from "../Chains.js";
import type { Observed } from "./schema.js";

/** Heads may move while the answers are under way; one block back is no lag. */
const behind = 1n;
/** Pending state may be this far ahead of the latest block. */
const ahead = 3n;
/** A state older than this many block times (and a minute) is stale. */
const mostBlockTimes = 10;

/** The ids of geth's and of anvil's and hardhat's development chains. */
const developmentChains: ReadonlyArray<number | null> = [1337, 31337];

/** What freshness is judged by. Times of blocks are epoch seconds; null = not known. */
export interface FreshnessOptions {
  /** The block whose state was the base. */
  readonly base: bigint | null;
  /** `latest` as the node answered it beside. */
  readonly latest: bigint | null;
  /** Of the simulated block, epoch seconds. */
  readonly timestamp: bigint | null;
  /** Epoch ms. */
  readonly now: number;
  readonly chain: Pick<Chain, "known" | "blockTimeMs">;
  readonly chainId: number | null;
}

/** Stale by age or by lag behind `latest`; `unknown` while either block is. */
export const freshnessOf = ({
  base,
  latest,
  timestamp,
  now,
  chain,
  chainId,
}: FreshnessOptions): Observed["freshness"] => {
  // why: an hour without a block is an outage anywhere but on a development chain, which mines when it is asked to
  const most = chain.known
    ? Math.max(60_000, mostBlockTimes * chain.blockTimeMs)
    : developmentChains.includes(chainId)
      ? Infinity
      : 3_600_000;
  if (timestamp !== null && now - Number(timestamp) * 1000 > most) return "stale";
  if (base === null || latest === null) return "unknown";
  // blocks that pass while the answers travel count for chains faster than the network
  const drift = BigInt(Math.ceil(1000 / chain.blockTimeMs)) + behind;
  return base + drift < latest || base > latest + ahead ? "stale" : "fresh";
};
