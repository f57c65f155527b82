/** How much an answer may hold: what its method has to say, and what the other answers of its run have left. */

import type { Run } from "./service.js";

/**
 * What every run begins with, bytes: three simulations of 6,000 events. Reading an answer takes up to twenty times
 * its bytes of memory.
 */
export const mostRunBytes = 12 * 1_048_576;

/** The bounds of one answer. */
export interface Room {
  /** Bytes, unpacked. */
  readonly maxBytes: number;
  /** Takes so many bytes from the run; false = it has less left. */
  readonly take: (bytes: number) => boolean;
}

const kibibyte = 1_024;
/** A number or a hash; refusals come with pages of gateways. */
const word = 256 * kibibyte;

/** Bytes of answers that are never long; those of other methods are held to the endpoint's bound alone. */
const shortAnswers: Readonly<Record<string, number>> = {
  eth_blockNumber: word,
  eth_chainId: word,
  eth_gasPrice: word,
  eth_getBalance: word,
  eth_getTransactionCount: word,
  eth_maxPriorityFeePerGas: word,
  eth_sendRawTransaction: word,
  // the largest code of any chain, as digits; what a revert returned
  eth_getCode: 1_024 * kibibyte,
  eth_estimateGas: 1_024 * kibibyte,
  // more calls than anybody follows
  debug_traceCall: 1_024 * kibibyte,
};

/** The room of one answer; `budget` is the run's, null outside any. */
export const roomFor = (method: string, maxBytes: number, budget: NonNullable<Run["answers"]> | null): Room => ({
  maxBytes: Math.min(maxBytes, shortAnswers[method] ?? maxBytes),
  take: (bytes) => {
    if (budget === null) return true;
    budget.left -= bytes;
    return budget.left >= 0;
  },
});

/** The room of several answers in one body, each of which takes its share. */
export const sharedRoom = (rooms: ReadonlyArray<Room>, maxBytes: number): Room => ({
  maxBytes: Math.min(
    maxBytes,
    rooms.reduce((sum, room) => sum + room.maxBytes, 0),
  ),
  take: (bytes) => rooms.map((room) => room.take(bytes / rooms.length)).every((isLeft) => isLeft),
});
