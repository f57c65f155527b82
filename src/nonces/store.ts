/** The interface that every store of nonces has: the pure operations, made atomic and durable. */
import type * as Effect from "effect/Effect";
import type { Hash } from "../primitives/hex.js";
import type { NonceStoreError } from "../errors/nonces.js";
import type { AdoptAnswer } from "./adopt.js";
import type { Snapshot } from "./check.js";
import type { LaneId } from "./lane.js";
import type { Attempt, Counts, Decision, Keep } from "./laneRules.js";
import type {
  Claim,
  CommitAnswer,
  Held,
  ReconcileAnswer,
  ReconcileRequest,
  ReplaceAnswer,
  Reported,
  ReserveAnswer,
  ReserveRequest,
} from "./operations.js";

/** Nonces settled and leases gone back by an operation, beside its answer. */
export interface Moved<A> {
  /** What the operation says. */
  readonly answer: A;
  /** How many nonces were settled, and how many leases went back. */
  readonly moved: Decision<A>["moved"];
}

/** What a reconciliation found: its answer and the lane after it (the active part and 256 settled nonces). */
export interface Reconciled extends Moved<ReconcileAnswer> {
  /** null exactly when the lane is cold. */
  readonly snapshot: Snapshot | null;
}

/** What a store gives; fails with `NonceStoreError` when the store cannot be reached or is damaged. */
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
  /** Takes the lowest free nonce, else the next; the same token gets the same. */
  readonly reserve: (lane: LaneId, request: ReserveRequest) => Result<Moved<ReserveAnswer>>;
  /** The fence. Only after `committed` may the transaction be broadcast. */
  readonly commit: (lane: LaneId, claim: Claim, attempt: Attempt) => Result<CommitAnswer>;
  /** Gives a reserved nonce back, by its token alone where the nonce is not known; false when the token does not hold it. */
  readonly release: (lane: LaneId, held: Held) => Result<boolean>;
  /** Gives a committed nonce back whose transaction no node can have; false when it is not the token's. */
  readonly recycle: (lane: LaneId, claim: Claim, hash: Hash) => Result<boolean>;
  /** Another transaction for a committed nonce: compare-and-set on the hash of the last one. */
  readonly replace: (lane: LaneId, nonce: bigint, replaces: Hash, attempt: Attempt) => Result<ReplaceAnswer>;
  /** Remembers what a node said of a transaction; false when it is not one of the nonce's. */
  readonly report: (lane: LaneId, nonce: bigint, hash: Hash, outcome: Reported) => Result<boolean>;
  /** Brings the lane up to the chain's counts, and says what is to be sent again. */
  readonly reconcile: (lane: LaneId, request: ReconcileRequest) => Result<Reconciled>;
  /** Sets the lane's floor to the latest count at once, in either direction, on the operator's word. */
  readonly adopt: (lane: LaneId, counts: Counts, keep: Keep) => Result<AdoptAnswer>;
  /** Removes the lane with all that it holds, and its name; false when it was not there. */
  readonly forget: (lane: LaneId) => Result<boolean>;
  /** The active part and 256 settled nonces; null when the lane is unknown. Changes nothing. */
  readonly read: (lane: LaneId) => Result<Snapshot | null>;
  /** All of the lane's violations of the partition, in words: a health probe. Changes nothing. */
  readonly check: (lane: LaneId) => Result<ReadonlyArray<string>>;
  /**
   * What is kept beside the lane, and outlives its loss: the last {@link setMark}; null = nothing, and this process has not
   * seen the lane. Empty: only that it was there.
   */
  readonly mark: (lane: LaneId) => Result<string | null>;
  /** Keeps a mark beside the lane, until that is forgotten by {@link forget}. */
  readonly setMark: (lane: LaneId, mark: string) => Result<void>;
  /** The lanes that were started here. */
  readonly lanes: Result<ReadonlyArray<string>>;
}
