/**
 * `eth_getLogs` over any range: asked in pieces below 2,000 blocks, and in smaller ones where the
 * node says so. Pure: what to ask next, given what was answered.
 */
import type { RpcError } from "../errors/rpc.js";

/** The interface's guidance is to stay under 2,000 blocks. */
export const maxBlocks = 1_999n;

/** More pieces than this are refused rather than asked for hours. */
export const maxPieces = 100_000n;

/** Blocks still to ask for, both ends included. */
export interface Piece {
  readonly from: bigint;
  readonly to: bigint;
  /** Split already because the node behind the gateway was not there or slow: not a second time. */
  readonly splitForTrouble: boolean;
}

export const sizeOf = ({ from, to }: Pick<Piece, "from" | "to">): bigint => to - from + 1n;

/** `piece` cut after its first `size` blocks. */
export const cut = (piece: Piece, size: bigint, splitForTrouble = piece.splitForTrouble): readonly [Piece, Piece] => [
  { from: piece.from, to: piece.from + size - 1n, splitForTrouble },
  { from: piece.from + size, to: piece.to, splitForTrouble },
];

/** The number of blocks the node proposed, when it did. */
const proposal = ({ reason }: RpcError): bigint | null => {
  if (reason._tag !== "LogRangeTooLarge") return null;
  return reason.suggested === null ? reason.max : sizeOf(reason.suggested);
};

/** What a failed piece means: two smaller ones (and a limit learned), or the end. */
export type Next =
  | { readonly pieces: readonly [Piece, Piece]; readonly learned: bigint | null }
  | "too-large"
  | "failed";

/**
 * The node's proposal counts only when it is strictly smaller than what failed (some propose the very
 * same range); else the piece is halved, down to one block. A gateway without a node, or one that ran
 * out of time, may mean a range too wide: split once.
 */
export const afterFailure = (piece: Piece, error: RpcError): Next => {
  const size = sizeOf(piece);
  switch (error.reason._tag) {
    case "LogRangeTooLarge":
    case "NodeLimitExceeded": {
      if (size <= 1n) return "too-large";
      const proposed = proposal(error);
      const learned = proposed !== null && proposed >= 1n && proposed < size ? proposed : null;
      return { pieces: cut(piece, learned ?? size / 2n), learned };
    }
    case "UpstreamUnavailable":
    case "Timeout": {
      const ours = error.reason._tag === "Timeout" && error.reason.afterMs !== null;
      if (size <= 1n || piece.splitForTrouble || ours) return "failed";
      return { pieces: cut(piece, size / 2n, true), learned: null };
    }
    default:
      return "failed";
  }
};
