/** Sending with the receipt in the same answer, by nodes that have a method for it. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Hex } from "../../primitives/index.js";
import { RpcError, Timeout } from "../../errors/index.js";
import { isTaken, isUnsent } from "../../errors/sendOutcome.js";
import { sendForReceipt } from "../../eth/index.js";
import type { Rpc } from "../../rpc/index.js";
import { besideLane } from "../lane.js";
import { Sender } from "../service.js";
import { hashOf } from "../signed.js";
import { broadcast } from "./chain.js";

/** How a send waits for its receipt. */
export interface SyncOptions {
  /**
   * How long the node waits for the receipt, a whole number of ms from 1 to a day. Left out, as long as the node does by itself;
   * never longer than a request may take (`timeoutMs` of the connection).
   */
  readonly timeout?: number | undefined;
}

/** Ms by which the node's answer may come after the time that it was to wait. */
const graceMs = 2_000;

/**
 * A send that answers with the receipt, to be given as `send`: for nodes that have `eth_sendRawTransactionSync` (EIP-7966)
 * or `realtime_sendRawTransaction`. The next way is tried only where a node refused the method, or its parameters, as
 * such, so that nothing was sent; the last is `eth_sendRawTransaction`. A refused method is remembered with the
 * connection. Where no receipt comes in time, or no answer, the transaction is `handed`. With a `Sender` the bytes go
 * there, and no receipt comes.
 *
 * ```ts
 * const { state, receipt } = yield* Nonces.withNonce(lane, sign, Nonces.sendSync({ timeout: 5_000 }));
 * ```
 * Throws `InvalidLane` where `timeout` is none. JSON-RPC: as above.
 */
export const sendSync = (options: SyncOptions | true = true) => {
  const { sync } = Result.getOrThrow(besideLane({ sync: options }, ["sync"]));
  const timeout = typeof sync === "object" ? (sync.timeout ?? undefined) : undefined;
  return Effect.fnUntraced(function* (raw: Hex): Effect.fn.Return<unknown, unknown, Rpc> {
    const hash = hashOf(raw);
    if (hash === null || (yield* Sender) !== null) return yield* broadcast(raw);
    /** Asks once; what the node says that it took is its hash. */
    const by = (method: string, ...waiting: ReadonlyArray<number>) => {
      const asked = sendForReceipt(method, [raw, ...waiting], hash).pipe(
        Effect.catchIf(
          (error) => isTaken(error, hash),
          () => Effect.succeed(hash),
        ),
      );
      if (timeout === undefined) return asked;
      const afterMs = timeout + graceMs;
      const late = new RpcError({ method, reason: new Timeout({ detail: "", afterMs }) });
      return Effect.timeoutOrElse(asked, { duration: afterMs, orElse: () => Effect.fail(late) });
    };
    const waits = timeout === undefined ? [] : [timeout];
    const ways = ["eth_sendRawTransactionSync", "realtime_sendRawTransaction"].flatMap((method) => [
      ...waits.map((ms) => by(method, ms)),
      by(method),
    ]);
    return yield* ways.reduceRight<Effect.Effect<unknown, unknown, Rpc>>(
      (next, way) => Effect.catchIf(way, isUnsent, () => next),
      broadcast(raw),
    );
  });
};
