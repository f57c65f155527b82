/**
 * The store of the nonces of shared senders. One interface, three stores: {@link layerMemory} here, Redis behind
 * `evm-preflight/redis`, Postgres behind `evm-preflight/postgres`.
 *
 * Trust them with money on these conditions. Memory: no other process signs with the key. Redis: it loses no
 * acknowledged write (see `evm-preflight/redis`). Postgres: its defaults suffice. A store that lost a lane fails
 * closed, with `NonceColdStart`.
 */
export { layerMemory, NonceStore } from "./nonces/service.js";
export type { LaneId } from "./nonces/lane.js";
export type { Attempt, Keep, Slot, Unmoved } from "./nonces/laneRules.js";
export type { ReserveAnswer, ReserveRequest, Snapshot, Store } from "./nonces/store.js";
