/** How the nonce protocol behaves; provide `Settings` to change it. */
import * as Context from "effect/Context";

/** How long things take and how many there may be; times in ms. */
export interface Settings {
  /** How long a reserved nonce waits for its commit, ms: the longest a crash can hold one up. */
  readonly ttlMs: number;
  /** The most transactions in flight per lane; pools keep 16 per account (geth, reth). */
  readonly inFlight: number;
  /** The same for a sender with an EIP-7702 delegation; pools keep 1. */
  readonly delegatedInFlight: number;
  /** How long settled rows are kept, ms, so that what a reorganisation drops can be sent again: longer than blocks take to be final. */
  readonly settledMs: number;
  /** How long a nonce is left alone after a transaction of somebody else was last seen there, ms. */
  readonly foreignMs: number;
  /**
   * How long every count has to contradict the lane before that is believed, ms: be below its floor (a
   * reorganisation, or a stale node), or far above all that was issued.
   */
  readonly doubtMs: number;
  /** How long after its bytes were last handed out a transaction is sent again, ms. */
  readonly resendAfterMs: number;
  /** How long no receipt may exist below the floor before the final block is asked whether the transaction is burned, ms. */
  readonly burnedAfterMs: number;
  /** One try of a store operation, ms: several times the way to the store and back, for it asks more than once, and may have to connect. */
  readonly storeTimeoutMs: number;
  /** Further tries of a store operation; every one is idempotent. */
  readonly storeRetries: number;
  /**
   * Whether a nonce goes back when the node refused its transaction for good. Only with a single
   * endpoint: with several, another may have taken the bytes. Without it the nonce stays committed
   * until it is replaced.
   */
  readonly recycleRejected: boolean;
}

/** The settings in use where none are provided. */
export const defaults: Settings = {
  ttlMs: 60_000,
  inFlight: 16,
  delegatedInFlight: 1,
  settledMs: 3_600_000,
  foreignMs: 60_000,
  doubtMs: 15_000,
  resendAfterMs: 10_000,
  burnedAfterMs: 30_000,
  storeTimeoutMs: 5_000,
  storeRetries: 2,
  recycleRejected: false,
};

/** The service that holds the settings; provide others with `Effect.provideService(Nonces.Settings, …)`. */
export const Settings: Context.Reference<Settings> = Context.Reference("evm-preflight/Nonces/Settings", {
  defaultValue: () => defaults,
});
