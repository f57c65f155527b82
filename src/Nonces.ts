/**
 * Nonces for bots and replicas that share a sender: reserve, commit, send. No nonce is used twice and none is left out.
 *
 * ```
 *         reserve              commit                    floor > n
 * FREE ───────────▶ RESERVED ──────────▶ COMMITTED ───────────────▶ SETTLED
 *  ▲   lease, token  │  │                 │    ▲ send the same bytes
 *  ├──── release ────┘  │                 └────┘ replace: same nonce, higher fee
 *  └──── lease ended ───┘
 * ```
 * **The fence**: the only permission to broadcast is a successful `commit`, a compare-and-set on the
 * lease's token in the store. A lease that ended may be handed to another *only because* nothing was
 * committed under it; a process that wakes up late fails its commit. No clock is trusted for safety.
 *
 * These hold through crashes, pauses, lost replies, stale or lying counts:
 * 1. At most one transaction is ever broadcast per nonce, other than through `replace`.
 * 2. Every nonce of `[floor, next)` is in exactly one state: free, reserved (by us, or held for
 *    somebody else's transaction) or committed.
 * 3. `reserve` gives the lowest free nonce, else the next; never one below the floor, held or committed.
 * 4. A count that is stale or lies never causes a committed nonce to be issued again. The floor goes back
 *    only when every count of `doubtMs` is below it (a reorganisation): then what had settled is in
 *    flight again. If that is no longer kept, everything fails with `NonceForgotten`.
 *    Nothing is sent again on another chain than the lane's, though its id is the same (`NonceChainReset`).
 * 5. The same token gets the same nonce; commit and release can be repeated.
 * 6. A nonce that a crash left reserved is free again after the lease; one that it left committed is sent
 *    by the next `reconcile`, byte for byte.
 * 7. A free nonce below a committed one is named as a gap, given to the next `reserve` before all
 *    others, and can be filled by a no-op (`fillGap`).
 * 8. Interruption anywhere leaves the nonce free or committed.
 * 9. Never more in flight than the cap: 16, 1 for a delegated sender, 1 beside a self-authorisation.
 * 10. Somebody else's transactions with the same key are skipped over, never below.
 *
 * `withNonce` does all of it; run `keep` beside it in at least one process per lane.
 */
export { outcomeOf, SendOutcome } from "./errors/sendOutcome.js";
export type { Lane } from "./nonces/lane.js";
export type { Counts } from "./nonces/laneRules.js";
export { peek, release, reserve, reserveAll, type Lease, type ReserveOptions } from "./nonces/protocol/lease.js";
export { commit, replace, type Committed } from "./nonces/protocol/commit.js";
export { adopt, bootstrap, forget, moveTo } from "./nonces/protocol/start.js";
export { check, committed, keep, lanes, layerKeep, reconcile, status } from "./nonces/protocol/reconcile.js";
export type { KeepOptions } from "./nonces/protocol/reconcile.js";
export { deliver, fillGap, noop, report, sendReplacement, withNonce, type Sent } from "./nonces/protocol/send.js";
export { sendSync, type SyncOptions } from "./nonces/protocol/sync.js";
export { defaults, Sender, Settings } from "./nonces/service.js";
export { health, toText, type Status } from "./nonces/status.js";
