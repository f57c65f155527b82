/** `settle`, loaded when it is first asked for: who only asks before signing never loads it. */
import * as Effect from "effect/Effect";
import type { InvalidTransaction } from "../../errors/index.js";
import type { Failure } from "../../eth/index.js";
import { type Hash, lazyImport } from "../../primitives/index.js";
import type { Report } from "../../report/index.js";
import type { Rpc } from "../../rpc/index.js";
import type { Settled } from "../settlement.js";

const settling = lazyImport(() => import("./settle.js"));

/**
 * Compares what the report said of its transactions with what the chain did: `hashes` are those that were sent, one
 * for each request of the report in its order. One that is pending, was dropped, or lost its nonce to another is told
 * as such; where the outcome is another one, it is run again to tell why. A bundle's balances are compared where one
 * block holds all of it.
 *
 * Fails with `InvalidTransaction` where the hashes are not the report's or it has no requests, with `ChainIdMismatch`
 * where the node serves another chain, and with what the node
 * said where it does not answer. JSON-RPC: `eth_chainId`, `eth_getTransactionReceipt`, `eth_getTransactionByHash`,
 * `eth_getTransactionCount`, `eth_getBlockByHash`, `eth_getBlockByNumber`, `eth_getBalance`, `eth_call`; on a
 * difference `eth_simulateV1`.
 */
export const settle = (
  report: Report,
  hashes: ReadonlyArray<Hash>,
  options?: {
    /** How long it may take, ms; default 30,000. */
    readonly deadline?: number | undefined;
  },
): Effect.Effect<Settled, Failure | InvalidTransaction, Rpc> =>
  Effect.flatMap(settling, (asking) => asking.settle(report, hashes, options));
