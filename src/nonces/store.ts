/** The interface that every store of nonces has: the pure operations, made atomic and durable. */
import type * as Effect from "effect/Effect";
import type { Hash } from "../primitives/hex.js";
import type { NonceStoreError } from "../errors/nonces.js";
import type { Snapshot } from "./check.js";
import type { LaneId } from "./lane.js";
import type { Attempt, Counts, Decision, Keep } from "./laneRules.js";
import type {
  Claim,
  CommitAnswer,
  ReconcileAnswer,
  ReconcileRequest,
  ReplaceAnswer,
  Reported,
  ReserveAnswer,
  ReserveRequest,
} from "./operations.js";

/** Nonces settled and leases gone back by an operation, beside its answer. */
export interface Moved<A> {
  readonly answer: A;
  readonly moved: Decision<A>["moved"];
}

/** What a reconciliation found: its answer and the lane after it (the active part and 64 settled nonces). */
export interface Reconciled extends Moved<ReconcileAnswer> {
  /** null exactly when the lane is cold. */
  readonly snapshot: Snapshot | null;
}

export type Result<A> = Effect.Effect<A, NonceStoreError>;

/**
 * Every operation is atomic, idempotent under the same token and transaction, and on the store's own
 * clock. One whose reply was lost can be asked again as it is.
 */
export interface Store {
  /** e.g. `memory`, `redis`, `postgres`. */
  readonly kind: string;
  /**
   * Whether an empty store means that something was lost. A store that dies with its process begins
   * empty every time, so its lanes start from the chain's counts without asking anybody.
   */
  readonly persistent: boolean;
  /** Starts an unknown lane at the chain's counts; false when it is known already, and then changes nothing. */
  readonly bootstrap: (lane: LaneId, counts: Counts, keep: Keep) => Result<boolean>;
  readonly reserve: (lane: LaneId, request: ReserveRequest) => Result<Moved<ReserveAnswer>>;
  /** The fence. Only after `committed` may the transaction be broadcast. */
  readonly commit: (lane: LaneId, claim: Claim, attempt: Attempt) => Result<CommitAnswer>;
  readonly release: (lane: LaneId, claim: Claim) => Result<boolean>;
  readonly recycle: (lane: LaneId, claim: Claim, hash: Hash) => Result<boolean>;
  readonly replace: (lane: LaneId, nonce: bigint, replaces: Hash, attempt: Attempt) => Result<ReplaceAnswer>;
  readonly report: (lane: LaneId, nonce: bigint, hash: Hash, outcome: Reported) => Result<boolean>;
  readonly reconcile: (lane: LaneId, request: ReconcileRequest) => Result<Reconciled>;
  /** The active part and 64 settled nonces; null when the lane is unknown. Changes nothing. */
  readonly read: (lane: LaneId) => Result<Snapshot | null>;
  /** All of the lane's violations of the partition, in words: a health probe. Changes nothing. */
  readonly check: (lane: LaneId) => Result<ReadonlyArray<string>>;
  /** The lanes that were started here. */
  readonly lanes: Result<ReadonlyArray<string>>;
}
