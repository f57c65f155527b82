/** Lanes, hashes and requests of the nonce tests. */
import { randomBytes } from "node:crypto";
import * as Result from "effect/Result";
import type { Hash, Hex } from "../rooms/primitives.js";
import type { Attempt, Keep, LaneId, ReserveRequest } from "../../src/NonceStore.js";
import type { Counts } from "../../src/Nonces.js";
import { laneOf } from "../rooms/nonces.js";

/** A lane that no other test uses. */
export const freshLane = (chainId = 31337): LaneId =>
  Result.getOrThrow(laneOf({ chainId, address: `0x${randomBytes(20).toString("hex")}` }));

/** So long that it does not end within a test. */
export const ever = 1_000_000_000;
export const keepAll: Keep = { settledMs: ever, foreignMs: ever, doubtMs: ever };

export const at = (latest: bigint, pending: bigint = latest): Counts => ({ latest, pending });

export const hashOf = (n: number | bigint): Hash => `0x${n.toString(16).padStart(64, "0")}` as Hash;
export const attempt = (
  n: number | bigint,
  raw: string | null = `0x02${n.toString(16).padStart(16, "0")}`,
): Attempt => ({
  hash: hashOf(n),
  raw: raw as Hex | null,
});

let issued = 0;
export const newToken = (): string => `token-${(issued += 1)}-${randomBytes(6).toString("hex")}`;

export const request = (given: Partial<ReserveRequest> = {}): ReserveRequest => ({
  token: newToken(),
  ttlMs: ever,
  width: 1,
  cap: 16,
  gapOnly: false,
  counts: at(0n),
  keep: keepAll,
  ...given,
});
