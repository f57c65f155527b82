/**
 * The node's methods, typed. Parameters are encoded as JSON-RPC wants them; answers are decoded once into bigint,
 * number and branded hex.
 *
 * A parameter that no method has, or that cannot be encoded, fails with `RpcError` of `InvalidParams` and its path,
 * before anything is sent. Unknown fields of answers are dropped; a missing or wrong field is `MalformedResponse` with
 * its path. Every other failure is the node's own, classified.
 */
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import type { Failure } from "./eth/ask.js";
import type { Head, Log } from "./eth/block.js";
import type { LogFilter } from "./eth/parameters.js";
import type { HeadOptions } from "./eth/watchHeads.js";
import type { LogOptions } from "./eth/watchLogs.js";
import { lazyImport } from "./primitives/effects.js";
import { chainId, getBlock } from "./eth/methods.js";
import type { Rpc } from "./rpc/index.js";

export { getLogs } from "./eth/logs.js";
export * from "./eth/methods.js";
export type { HeadOptions } from "./eth/watchHeads.js";
export type { LogOptions } from "./eth/watchLogs.js";

const followingHeads = lazyImport(() => import("./eth/watchHeads.js"));
const followingLogs = lazyImport(() => import("./eth/watchLogs.js"));

/**
 * The heads of the chain from the present one on, without end. Over a socket (`Rpc.layerTransport(webSocket(url, {
 * reconnect: false }))`, or a viem client over one) the node announces them; otherwise they are polled every `pollMs`.
 *
 * Each block comes once, in the order of the chain. A gap of at most `fill` blocks is filled, block by block. Earlier
 * blocks that were replaced are named in `replaced`. If the chain drops its latest blocks and no new one comes, the
 * remaining head is emitted after about `silentMs`. One head waits at most, beside those that fill gaps: a slow
 * consumer gets the newest one, and the number of those left out in `skipped`.
 *
 * A socket that closed, or that is silent for `silentMs` while the chain moves, is opened again. An endpoint that does
 * not answer is asked again. The stream fails with the last failure after `giveUpMs` without any answer, and at once
 * where asking again cannot help (`Unauthorized`, `MalformedResponse` with the field's path, `InvalidParams` with that of
 * an option, before anything is sent, …).
 *
 * JSON-RPC: `eth_subscribe` (`newHeads`), `eth_unsubscribe`; `eth_getBlockByNumber` and `eth_getBlockByHash`.
 */
export const watchHeads = (options: HeadOptions = {}): Stream.Stream<Head, Failure, Rpc> =>
  Stream.unwrap(Effect.map(followingHeads, ({ headsBy }) => headsBy((block) => getBlock({ block }), options)));

/**
 * Logs that match a filter, of every block after the present one, without end. They are read by block hash, for each
 * block of {@link watchHeads} whose bloom may contain them.
 *
 * Each log comes once. If its block is replaced, it comes again with `removed`. Blocks between two heads, after an
 * outage or for a slow consumer, are read by number. A read that fails is repeated. Fails as `watchHeads` does, and
 * with `InvalidParams` and the path before anything is sent.
 *
 * With `pending` the logs of pending state come, each once. Those that the node drops before the consumer asks are
 * lost, and none is taken back. Fails with `PendingUnavailable` where the node has none.
 *
 * JSON-RPC: `eth_subscribe` (`newHeads`, for pending state also `pendingLogs`), `eth_unsubscribe`; `eth_getLogs` (from
 * and to `pending` for pending state), `eth_getBlockByNumber` and `eth_getBlockByHash`; `eth_chainId` once.
 */
export const watchLogs = (
  filter: Pick<LogFilter, "address" | "topics">,
  options: LogOptions = {},
): Stream.Stream<Log, Failure, Rpc> =>
  Stream.unwrap(
    Effect.map(followingLogs, ({ logsBy }) =>
      logsBy({ block: (block) => getBlock({ block }), chainId }, filter, options),
    ),
  );
