/** How a settled nonce ended: by one of ours, or by somebody else's transaction, found in the chain's final blocks. */
import * as Effect from "effect/Effect";
import type { Hash } from "../../primitives/hex.js";
import * as Eth from "../../Eth.js";
import { takenOf } from "../../eth/taken.js";
import { NonceStore } from "../../NonceStore.js";
import type { LaneId } from "../lane.js";
import { patiently } from "../patience.js";
import { Settings } from "../settings.js";
import { ownNonceOnly } from "./chain.js";

/** The end of a nonce, and the transaction of ours that was mined, or burned. */
export interface Ended {
  readonly end: "mined" | "burned";
  readonly hash: Hash;
}

/** All hashes committed at the nonce; none where the store has it no more. */
export const hashesAt = Effect.fnUntraced(function* (lane: LaneId, nonce: bigint) {
  const store = yield* NonceStore;
  const settings = yield* Settings;
  const snapshot = yield* patiently("read", settings, store.read(lane));
  return (snapshot?.slots.find((slot) => slot.nonce === nonce)?.attempts ?? []).map(({ hash }) => hash);
});

/**
 * How nonces of a lane ended that hold `ours`, the final block asked for once; null while nobody can say. What is absent proves
 * nothing: of the nodes behind one address one may be ahead and count, and another be behind and have no receipt. So
 * `burned` is said only of a nonce whose transaction was found in a final block, and is none of ours.
 *
 * JSON-RPC: `eth_getBlockByNumber` on `finalized`; up to it `eth_getTransactionCount` from block to block, and
 * `eth_getBlockByNumber` with the transactions.
 */
export const endings = (lane: LaneId) => {
  const takenBy = takenOf(lane.address);
  return Effect.map(Effect.cached(Effect.andThen(ownNonceOnly(lane), Eth.getBlock({ block: "finalized" }))), (final) =>
    Effect.fnUntraced(
      function* (nonce: bigint, ours: Hash) {
        const { number } = yield* final;
        const taken = yield* takenBy(nonce, number, null);
        if (taken === null) return null;
        // Only now, so that a replacement that was committed meanwhile is one of ours
        const hashes = yield* hashesAt(lane, nonce);
        const mined = hashes.find((hash) => hash === taken.mined.hash.toLowerCase());
        if (mined !== undefined) return { end: "mined", hash: mined } satisfies Ended;
        // What the store holds no more may have been replaced, and was then paid all the same
        return hashes.includes(ours) ? ({ end: "burned", hash: ours } satisfies Ended) : null;
      },
      Effect.orElseSucceed(() => null),
    ),
  );
};
