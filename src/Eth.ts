/**
 * The node's methods, typed: parameters written to the wire, answers decoded once into bigint,
 * number and branded hex. A parameter that no method has, or that no wire can carry, is `RpcError` with
 * `InvalidParams` and its path, before anything is sent. Of answers, unknown extra fields are dropped; a missing or
 * wrong one is `MalformedResponse` and its path. Every other failure is the node's own, classified.
 */
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import type { Failure } from "./eth/ask.js";
import type { Log } from "./eth/block.js";
import type { Head } from "./eth/heads.js";
import type { HeadOptions } from "./eth/watchHeads.js";
import type { LiveFilter, LogOptions } from "./eth/watchLogs.js";
import { lazyImport } from "./primitives/effects.js";
import { chainId, getBlock } from "./eth/index.js";
import type { Rpc } from "./rpc/index.js";

export * from "./eth/index.js";
export type { HeadOptions } from "./eth/watchHeads.js";
export type { LiveFilter, LogOptions } from "./eth/watchLogs.js";

const followingHeads = lazyImport(() => import("./eth/watchHeads.js"));
const followingLogs = lazyImport(() => import("./eth/watchLogs.js"));

/**
 * The heads of the chain, from the present one on, without end: told by the node where it has a socket
 * (`Rpc.layerTransport(webSocket(url, { reconnect: false }))`, or a viem client over one), else asked for every `pollMs`.
 *
 * Each block once, in the order of the chain; a gap is filled by asking where it is no wider than `fill` blocks, and each of
 * them is told. Blocks told before that are replaced are named (`replaced`), also where the chain has let go of its latest
 * blocks and no new one came: then the head that is left is told after `silentMs` or so. One head waits at most, beside what
 * fills gaps: who is slower than the chain gets the newest, and is told how many were left out (`skipped`). A socket that
 * closed, or that is silent for `silentMs` while the chain moves, is opened again, and an endpoint that does not answer is
 * asked again; the stream fails with the last failure after `giveUpMs` without any answer, and at once where asking again
 * cannot help (`Unauthorized`, `MalformedResponse` with the field's path, …).
 *
 * JSON-RPC: `eth_subscribe` (`newHeads`), `eth_unsubscribe`; `eth_getBlockByNumber` and `eth_getBlockByHash`.
 */
export const watchHeads = (options: HeadOptions = {}): Stream.Stream<Head, Failure, Rpc> =>
  Stream.unwrap(Effect.map(followingHeads, ({ headsBy }) => headsBy((block) => getBlock({ block }), options)));

/**
 * Logs that match a filter, of every block after the present one, without end: read block by block as {@link watchHeads}
 * tells of them, by the block's hash, where the header's bloom says that there may be some.
 *
 * Each log once; one whose block is replaced comes again with `removed`. Blocks between two heads, after an outage or where
 * the taker is slow, are read by their numbers. A read that fails is repeated. Fails as `watchHeads` does,
 * and with `InvalidParams` and the path before anything is sent. With `pending` the logs of pending state, each once: those
 * that are dropped before the taker comes are lost, and nothing is taken back; `PendingUnavailable` where the node has none.
 *
 * JSON-RPC: `eth_subscribe` (`newHeads`, for pending state also `pendingLogs`), `eth_unsubscribe`; `eth_getLogs` (from and to
 * `pending` for pending state), `eth_getBlockByNumber` and `eth_getBlockByHash`; `eth_chainId` once.
 */
export const watchLogs = (filter: LiveFilter, options: LogOptions = {}): Stream.Stream<Log, Failure, Rpc> =>
  Stream.unwrap(
    Effect.map(followingLogs, ({ logsBy }) =>
      logsBy({ block: (block) => getBlock({ block }), chainId }, filter, options),
    ),
  );
