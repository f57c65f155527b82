/**
 * Where the nonces of shared senders are kept. One interface, three stores: {@link layerMemory} here,
 * Redis behind `evm-preflight/redis`, Postgres behind `evm-preflight/postgres`.
 *
 * What each needs to be trusted with money: memory, that no other process signs with the key; Redis,
 * that it loses no acknowledged write (see that door); Postgres, nothing beyond its defaults. A store
 * that lost a lane fails closed, with `NonceColdStart`.
 */
import * as Context from "effect/Context";
import * as Layer from "effect/Layer";
import { makeMemory } from "./nonces/memory.js";
import type { Store } from "./nonces/store.js";

export type { Lane, LaneId } from "./nonces/lane.js";
export { laneOf } from "./nonces/lane.js";
export { violations, type SlotAt, type Snapshot } from "./nonces/check.js";
export type { Attempt, Counts, Decision, Keep, Slot, SlotState } from "./nonces/laneRules.js";
export type {
  Claim,
  CommitAnswer,
  ReconcileAnswer,
  ReconcileRequest,
  ReplaceAnswer,
  Reported,
  ReserveAnswer,
  ReserveRequest,
} from "./nonces/operations.js";
export type { Moved, Reconciled, Result, Store } from "./nonces/store.js";

/** The store of nonces. */
export class NonceStore extends Context.Service<NonceStore, Store>()("evm-preflight/NonceStore") {}

/** Nonces of one process. When it ends, what was in flight is only on the chain: lanes start again from its counts. */
export const layerMemory: Layer.Layer<NonceStore> = Layer.effect(NonceStore, makeMemory);
