/** Asking for logs piece by piece; the decisions are in `logRange.ts`. */
import * as Effect from "effect/Effect";
import { NodeLimitExceeded, RpcError } from "../errors/rpc.js";
import type { Rpc } from "../Rpc.js";
import { ask, type Failure } from "./ask.js";
import { decoder } from "./decode.js";
import { encoded, logFilter } from "./encode.js";
import { Log } from "./log.js";
import { afterFailure, cut, maxBlocks, maxPieces, sizeOf, type Piece } from "./logRange.js";
import type { BlockTag, LogFilter } from "./parameters.js";
import { list } from "./shape.js";

type End = bigint | number | BlockTag;

const method = "eth_getLogs";
const readLogs = decoder(method, list(Log));

const askOnce = (filter: LogFilter): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
  ask(method, (faults) => [logFilter(filter, "filter", faults)], readLogs);

const isHeight = (end: End): end is bigint | number =>
  typeof end === "bigint" ? end >= 0n : typeof end === "number" && Number.isSafeInteger(end) && end >= 0;

const limitExceeded = (detail: string, from?: RpcError): RpcError =>
  new RpcError({
    method,
    reason: new NodeLimitExceeded({
      detail,
      httpStatus: from?.reason.httpStatus ?? null,
      code: from?.reason.code ?? null,
      raw: from?.reason.raw ?? null,
    }),
  });

/** `pending` follows `latest` at once, so these two are no wide range. */
const near = (from: End, to: End): boolean => from === to || (from === "latest" && to === "pending");

/**
 * All logs of the filter. `heightOf` resolves a tag, which is asked only when exactly that decides
 * whether the range is wide; where it cannot be answered the range goes out as it is.
 */
export const askLogs = Effect.fn("Eth.getLogs")(function* (
  filter: LogFilter,
  heightOf: (tag: BlockTag) => Effect.Effect<bigint, Failure, Rpc>,
): Effect.fn.Return<ReadonlyArray<Log>, Failure, Rpc> {
  // why: the ends of the range may have to be asked for, and nothing is asked for a filter that cannot be sent
  yield* Effect.fromResult(encoded(method, (faults) => logFilter(filter, "filter", faults)));
  const [first, last]: [End, End] = [filter.fromBlock ?? "latest", filter.toBlock ?? "latest"];
  const byHash = filter.blockHash !== undefined && filter.blockHash !== null;
  if (byHash || near(first, last)) return yield* askOnce(filter);

  const resolve = (end: End): Effect.Effect<bigint | null, never, Rpc> => {
    if (isHeight(end)) return Effect.succeed(BigInt(end));
    if (end === "earliest") return Effect.succeed(0n);
    return typeof end === "string" ? Effect.orElseSucceed(heightOf(end), () => null) : Effect.succeed(null);
  };
  const from = yield* resolve(first);
  const to = from === null ? null : yield* resolve(last);
  if (from === null || to === null || to <= from) return yield* askOnce(filter);
  if (sizeOf({ from, to }) > maxBlocks * maxPieces) {
    return yield* limitExceeded(`${sizeOf({ from, to })} blocks at once`);
  }

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
    const range = { fromBlock: piece.from === from ? first : piece.from, toBlock: piece.to === to ? last : piece.to };
    const answer = yield* Effect.result(askOnce({ ...filter, ...range }));
    if (answer._tag === "Success") {
      logs.push(answer.success);
      continue;
    }
    if (answer.failure._tag !== "RpcError") return yield* answer.failure;
    const next = afterFailure(piece, answer.failure);
    if (next === "failed") return yield* answer.failure;
    if (next === "too-large") return yield* limitExceeded(answer.failure.reason.detail, answer.failure);
    if (next.learned !== null && next.learned < limit) limit = next.learned;
    waiting.push(next.pieces[1], next.pieces[0]);
  }
  return logs.flat();
});
