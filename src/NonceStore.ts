/**
 * Where the nonces of shared senders are kept. One interface, three stores: {@link layerMemory} here,
 * Redis behind `evm-preflight/redis`, Postgres behind `evm-preflight/postgres`.
 *
 * What each needs to be trusted with money: memory, that no other process signs with the key; Redis,
 * that it loses no acknowledged write (see that door); Postgres, nothing beyond its defaults. A store
 * that lost a lane fails closed, with `NonceColdStart`.
 */
export { layerMemory, NonceStore } from "./nonces/service.js";
export type { Lane, LaneId } from "./nonces/lane.js";
export { laneOf } from "./nonces/lane.js";
export type { AdoptAnswer } from "./nonces/adopt.js";
export { violations, type SlotAt, type Snapshot } from "./nonces/check.js";
export type { Attempt, Counts, Decision, Keep, Slot, SlotState, Unmoved } from "./nonces/laneRules.js";
export type {
  Claim,
  CommitAnswer,
  Held,
  ReconcileAnswer,
  ReconcileRequest,
  ReplaceAnswer,
  Reported,
  ReserveAnswer,
  ReserveRequest,
} from "./nonces/operations.js";
export type { Moved, Reconciled, Result, Store } from "./nonces/store.js";
