/**
 * The store of the nonces of shared senders. One interface, three stores: {@link layerMemory} here,
 * Redis behind `evm-preflight/redis`, Postgres behind `evm-preflight/postgres`.
 *
 * To be trusted with money, memory needs that no other process signs with the key; Redis,
 * that it loses no acknowledged write (see that door); Postgres, nothing beyond its defaults. A store
 * that lost a lane fails closed, with `NonceColdStart`.
 */
export { layerMemory, NonceStore } from "./nonces/service.js";
export { laneOf, type Lane, type LaneId } from "./nonces/lane.js";
export { violations } from "./nonces/check.js";
export type { Attempt, Counts, Keep, Slot, SlotState, Unmoved } from "./nonces/laneRules.js";
export type * from "./nonces/store.js";
