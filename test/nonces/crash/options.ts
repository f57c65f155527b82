import { parseTransaction, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { defaults } from "../../../src/Nonces.js";
import { signBy, type ReadSent } from "../chain.js";

/** What a worker is told. */
export interface WorkerOptions {
  readonly kind: "redis" | "postgres";
  /** How it speaks to Redis: ioredis sends again, on the next connection, what had no answer. */
  readonly client: "node-redis" | "ioredis";
  /** Unix socket of the proxy before the store. */
  readonly socket: string;
  readonly chainUrl: string;
  readonly lanes: number;
  /** Replicas that a commit waits for (Redis). */
  readonly replicas: number;
  /** The negative control: it broadcasts whatever the commit says. */
  readonly ignoreFence: boolean;
  /** How often signing outlasts the lease, from 0 to 1. */
  readonly slow: number;
}

/** Short, so that much happens in seconds. */
export const crashSettings = {
  ...defaults,
  ttlMs: 1_000,
  foreignMs: 1_000,
  // Longer than a lane takes to make what the chain takes back final, however slow the machine
  settledMs: 600_000,
  resendAfterMs: 200,
  burnedAfterMs: 1_000,
  storeTimeoutMs: 500,
};

/** The accounts that all workers share, each with its lane. */
export const shared = (lanes: number) =>
  Array.from({ length: lanes }, (_, index) => {
    const account = privateKeyToAccount(toHex(index + 1, { size: 32 }));
    return { lane: { chainId: 31337, address: account.address }, sign: signBy(account, account.address) };
  });

/** Every payment is another amount, so that a second one for the same nonce, or the same one twice, is seen. */
export const newPayment = () => BigInt(Math.floor(Math.random() * 2 ** 48));

/** They pay themselves, so that the chain need not recover every sender: the fence has done it. */
export const readSelfPaid: ReadSent = (raw) => {
  const { to, nonce = 0, value = 0n, maxFeePerGas = 0n } = parseTransaction(raw);
  return typeof to === "string" ? { from: to, request: { nonce, value, maxFeePerGas } } : null;
};
