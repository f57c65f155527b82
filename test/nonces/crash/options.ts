import { defaults } from "../../../src/Nonces.js";

/** What a worker is told. */
export interface WorkerOptions {
  readonly kind: "redis" | "postgres";
  /** Unix socket of the store, or of the proxy before it. */
  readonly socket: string;
  readonly chainUrl: string;
  /** The negative control: it broadcasts whatever the commit says. */
  readonly ignoreFence: boolean;
  /** How often signing outlasts the lease, from 0 to 1. */
  readonly slow: number;
}

/** Short, so that much happens in seconds. */
export const crashSettings = {
  ...defaults,
  ttlMs: 400,
  foreignMs: 400,
  settledMs: 5_000,
  resendAfterMs: 200,
  burnedAfterMs: 1_000,
  storeTimeoutMs: 300,
};
