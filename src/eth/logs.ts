/** `eth_getLogs` over any range: asked in pieces below 2,000 blocks, and in smaller ones where the node says so. */
import * as Effect from "effect/Effect";
import { NodeLimitExceeded, RpcError } from "../errors/rpc.js";
import { given } from "../primitives/problem.js";
import type { Rpc } from "../rpc/index.js";
import { ask, encoded, type Failure } from "./ask.js";
import { Log } from "./block.js";
import { logFilter } from "./encode.js";
import { getBlock } from "./methods.js";
import type { BlockParameter, LogFilter } from "./parameters.js";
import { list } from "./shape.js";

/** The interface's guidance is to stay under 2,000 blocks. */
const maxBlocks = 1_999n;

/** More pieces than this are refused rather than asked for hours. */
const maxPieces = 100_000n;

/** Blocks still to ask for, both ends included. */
interface Piece {
  readonly from: bigint;
  readonly to: bigint;
  /** Split already because the node behind the gateway was not there or slow: not a second time. */
  readonly splitForTrouble: boolean;
}

const sizeOf = ({ from, to }: Pick<Piece, "from" | "to">): bigint => to - from + 1n;

/** `piece` cut after its first `size` blocks. */
const cut = (piece: Piece, size: bigint, splitForTrouble = piece.splitForTrouble): readonly [Piece, Piece] => [
  { from: piece.from, to: piece.from + size - 1n, splitForTrouble },
  { from: piece.from + size, to: piece.to, splitForTrouble },
];

/** The number of blocks the node proposed, when it did. */
const proposal = ({ reason }: RpcError): bigint | null => {
  if (reason._tag !== "LogRangeTooLarge") return null;
  return reason.suggested === null ? reason.max : sizeOf(reason.suggested);
};

/**
 * Splits a failed piece into two smaller ones (and learns a limit), or ends. The node's proposal counts only when it is
 * strictly smaller than what failed (some propose the very same range); else the piece is halved, down to one block. A
 * gateway without a node, or one that ran out of time, may mean a range too wide: split once.
 */
const afterFailure = (piece: Piece, error: RpcError) => {
  const size = sizeOf(piece);
  const { reason } = error;
  if (reason._tag === "LogRangeTooLarge" || reason._tag === "NodeLimitExceeded") {
    if (size <= 1n) return "too-large";
    const proposed = proposal(error);
    const learned = proposed !== null && proposed >= 1n && proposed < size ? proposed : null;
    return { pieces: cut(piece, learned ?? size / 2n), learned };
  }
  const isTrouble = reason._tag === "UpstreamUnavailable" || (reason._tag === "Timeout" && reason.afterMs === null);
  if (size <= 1n || piece.splitForTrouble || !isTrouble) return "failed";
  return { pieces: cut(piece, size / 2n, true), learned: null };
};

const method = "eth_getLogs";
const askOnce = (filter: LogFilter): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
  ask(method, (faults) => [logFilter(filter, "filter", faults)], list(Log));

const limitExceeded = (details: ConstructorParameters<typeof NodeLimitExceeded>[0]): RpcError =>
  new RpcError({ method, reason: new NodeLimitExceeded(details) });

/** `pending` follows `latest` at once, so these two are no wide range. */
const near = (from: unknown, to: unknown): boolean => from === to || (from === "latest" && to === "pending");

/** The ends of a range that is wide; null where it goes out as it is. `heightOf` is asked only when exactly that decides. */
const wideRange = Effect.fnUntraced(function* (
  { blockHash, fromBlock, toBlock }: LogFilter,
  heightOf: (tag: BlockParameter) => Effect.Effect<bigint, Failure, Rpc>,
) {
  const [first, last] = [fromBlock ?? "latest", toBlock ?? "latest"];
  if (given(blockHash) || near(first, last)) return null;
  const resolve = (end: typeof first): Effect.Effect<bigint | null, never, Rpc> => {
    if (typeof end !== "string") return Effect.succeed(BigInt(end));
    return end === "earliest" ? Effect.succeed(0n) : Effect.orElseSucceed(heightOf(end), () => null);
  };
  const from = yield* resolve(first);
  const to = from === null ? null : yield* resolve(last);
  return from === null || to === null || to <= from ? null : { first, last, from, to };
});

/**
 * All logs of the filter. `heightOf` resolves a tag, which is asked only when exactly that decides
 * whether the range is wide; where it cannot be answered the range goes out as it is.
 */
export const askLogs = Effect.fn("Eth.getLogs")(function* (
  filter: LogFilter,
  heightOf: (tag: BlockParameter) => Effect.Effect<bigint, Failure, Rpc>,
): Effect.fn.Return<ReadonlyArray<Log>, Failure, Rpc> {
  // why: the ends of the range may have to be asked for, and nothing is asked for a filter that cannot be sent
  yield* Effect.fromResult(encoded(method, (faults) => logFilter(filter, "filter", faults)));
  const range = yield* wideRange(filter, heightOf);
  if (range === null) return yield* askOnce(filter);
  const { first, last, from, to } = range;
  if (sizeOf(range) > maxBlocks * maxPieces) return yield* limitExceeded({ detail: `${sizeOf(range)} blocks at once` });

  const logs: Array<ReadonlyArray<Log>> = [];
  const waiting: Array<Piece> = [{ from, to, splitForTrouble: false }];
  let limit = maxBlocks;
  for (let piece = waiting.pop(); piece !== undefined; piece = waiting.pop()) {
    if (sizeOf(piece) > limit) {
      const [head, rest] = cut(piece, limit);
      waiting.push(rest, head);
      continue;
    }
    // the caller's own words at both ends: a tag may have moved on since it was resolved
    const ends = { fromBlock: piece.from === from ? first : piece.from, toBlock: piece.to === to ? last : piece.to };
    const answer = yield* Effect.result(askOnce({ ...filter, ...ends }));
    if (answer._tag === "Success") {
      logs.push(answer.success);
      continue;
    }
    if (answer.failure._tag !== "RpcError") return yield* answer.failure;
    const next = afterFailure(piece, answer.failure);
    if (next === "failed") return yield* answer.failure;
    if (next === "too-large") {
      const { detail, httpStatus, code, raw } = answer.failure.reason;
      return yield* limitExceeded({ detail, httpStatus, code, raw });
    }
    if (next.learned !== null && next.learned < limit) limit = next.learned;
    waiting.push(next.pieces[1], next.pieces[0]);
  }
  return logs.flat();
});

/**
 * Logs matching a filter, over a range of any width: asked in pieces below 2,000 blocks, one after
 * another, and in smaller ones where the node says so. `blockHash` wins over the range.
 *
 * JSON-RPC: `eth_getLogs`; `eth_getBlockByNumber` when one end of a range is a tag.
 */
export const getLogs = (filter: LogFilter): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
  askLogs(filter, (tag) => Effect.map(getBlock({ block: tag }), ({ number }) => number));
