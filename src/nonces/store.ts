/** The interface that every store of nonces has: the pure operations, made atomic and durable, what they are asked and what they answer. */
import type * as Effect from "effect/Effect";
import type { Hash } from "../primitives/index.js";
import type { NonceStoreError } from "../errors/index.js";
import type { SendOutcome } from "../errors/sendOutcome.js";
import type { LaneId } from "./lane.js";
import type { Attempt, Counts, Keep, Slot, Unmoved } from "./laneRules.js";

/** A lane as it was at one moment. */
export interface Snapshot {
  /** Epoch ms on the store's clock. */
  readonly now: number;
  /** The highest latest count read, unless the chain went back for good. */
  readonly floor: bigint;
  /** The first nonce never issued. */
  readonly next: bigint;
  /** The first settled nonce still kept. */
  readonly tail: bigint;
  /** The nonces with their numbers, ascending. */
  readonly slots: ReadonlyArray<Slot & { readonly nonce: bigint }>;
}

/** Asks for the lowest free nonce, else for the next. */
export interface ReserveRequest {
  /** Made by the caller, at least 16 characters: the same token gets the same nonce, however often it is asked. */
  readonly token: string;
  /** How long the nonce is kept without a commit, ms. */
  readonly ttlMs: number;
  /** 1 = one transaction; 2 = it uses this nonce and the next. */
  readonly width: 1 | 2;
  /** The most transactions in flight. */
  readonly cap: number;
  /** Only a free nonce below a committed one. */
  readonly gapOnly: boolean;
  /** The chain's counts for the account, as they were read. */
  readonly counts: Counts;
  /** How long things are kept. */
  readonly keep: Keep;
}

/** The outcome of a reservation; no nonce was taken but with `Granted`. */
export type ReserveAnswer =
  | { readonly _tag: "Granted"; readonly nonce: bigint; readonly leaseMs: number }
  /** `retryInMs`: when the first lease ends; null = nothing but the chain can make room. */
  | {
      readonly _tag: "Busy";
      readonly inFlight: number;
      readonly cap: number;
      readonly retryInMs: number | null;
      /** The lowest nonce that is not free: what all others wait for. */
      readonly head: {
        readonly nonce: bigint;
        readonly hash: Hash | null;
        readonly outcome: string;
        readonly ageMs: number;
      } | null;
    }
  | { readonly _tag: "NoGap" }
  /** The token was committed already, or is the one of somebody else's transactions. */
  | { readonly _tag: "Spent"; readonly nonce: bigint }
  | Unmoved
  | { readonly _tag: "Cold" };

/** A store's result; fails with `NonceStoreError` when the store cannot be reached or is damaged. */
export type Result<A> = Effect.Effect<A, NonceStoreError>;

/**
 * Every operation is atomic, idempotent under the same token and transaction, and on the store's own
 * clock. One whose reply was lost can be asked again as it is.
 */
export interface Store {
  /** e.g. `memory`, `redis`, `postgres`. */
  readonly kind: string;
  /**
   * True if an empty store means that something was lost. A store that dies with its process begins
   * empty every time, so its lanes start from the chain's counts without asking anybody.
   */
  readonly persistent: boolean;
  /** Starts an unknown lane at the chain's counts; false when it is known already, and then changes nothing. */
  readonly bootstrap: (lane: LaneId, counts: Counts, keep: Keep) => Effect.Effect<boolean, NonceStoreError>;
  /** Takes the lowest free nonce, else the next; the same token gets the same. */
  readonly reserve: (
    lane: LaneId,
    request: ReserveRequest,
  ) => Effect.Effect<
    {
      readonly answer: ReserveAnswer;
      /** How many nonces were settled, and how many leases went back. */
      readonly moved: { readonly settled: number; readonly recycled: number };
    },
    NonceStoreError
  >;
  /** The fence. Only after `committed` may the transaction be broadcast; `lost`: the token does not hold the nonce. */
  readonly commit: (
    lane: LaneId,
    claim: { readonly nonce: bigint; readonly token: string },
    attempt: Attempt,
  ) => Effect.Effect<"committed" | "lost" | "cold", NonceStoreError>;
  /**
   * Gives a reserved nonce back; false when the token does not hold it. `nonce` null = whichever the token holds, for the
   * answer that granted it may be lost.
   */
  readonly release: (
    lane: LaneId,
    claim: { readonly token: string; readonly nonce: bigint | null },
  ) => Effect.Effect<boolean, NonceStoreError>;
  /** Gives a committed nonce back whose transaction no node can have; false when it is not the token's. */
  readonly recycle: (
    lane: LaneId,
    claim: { readonly nonce: bigint; readonly token: string },
    hash: Hash,
  ) => Effect.Effect<boolean, NonceStoreError>;
  /** Another transaction for a committed nonce: compare-and-set on the hash of the last one. */
  readonly replace: (
    lane: LaneId,
    nonce: bigint,
    replaces: Hash,
    attempt: Attempt,
  ) => Effect.Effect<
    | { readonly _tag: "Replaced" }
    /** Nothing is committed at the nonce, or `last` is not what was to be replaced. */
    | { readonly _tag: "Conflict"; readonly last: Hash | null }
    | { readonly _tag: "Cold" },
    NonceStoreError
  >;
  /**
   * Remembers a send's outcome, of a refusal with the reason behind it, or how the nonce ended; false when the transaction is
   * not one of the nonce's.
   */
  readonly report: (
    lane: LaneId,
    nonce: bigint,
    hash: Hash,
    outcome: SendOutcome["kind"] | `${"rejected" | "underpriced"}: ${string}` | "mined" | "burned",
  ) => Effect.Effect<boolean, NonceStoreError>;
  /**
   * Brings the lane up to the chain's counts, and says what is to be sent again: `due` are the nonces whose bytes are to be
   * sent, from `from` on all is kept. Bytes that a replica took within `resendAfterMs` are not given to another. `moved`: as
   * in `reserve`. `snapshot`: the lane after it, the active part and 256 settled nonces; null exactly when the lane is cold.
   */
  readonly reconcile: (
    lane: LaneId,
    request: Pick<ReserveRequest, "counts" | "keep"> & { readonly resendAfterMs: number },
  ) => Effect.Effect<
    {
      readonly answer:
        | { readonly _tag: "Reconciled"; readonly due: ReadonlyArray<bigint>; readonly from: bigint }
        | Unmoved
        | { readonly _tag: "Cold" };
      readonly moved: { readonly settled: number; readonly recycled: number };
      readonly snapshot: Snapshot | null;
    },
    NonceStoreError
  >;
  /** Sets the lane's floor to the latest count at once, in either direction, on the operator's word. */
  readonly adopt: (
    lane: LaneId,
    counts: Counts,
    keep: Keep,
  ) => Effect.Effect<
    | { readonly _tag: "Adopted"; readonly floor: bigint; readonly next: bigint }
    /** The count is more than 65,536 below the lane: forget it, and start it anew. */
    | Extract<Unmoved, { _tag: "Forgotten" }>
    | { readonly _tag: "Cold" },
    NonceStoreError
  >;
  /** Removes the lane with all that it holds, and its name; false when it was not there. */
  readonly forget: (lane: LaneId) => Effect.Effect<boolean, NonceStoreError>;
  /** The active part and 256 settled nonces; null when the lane is unknown. Changes nothing. */
  readonly read: (lane: LaneId) => Effect.Effect<Snapshot | null, NonceStoreError>;
  /** All of the lane's violations of the partition, in words: a health probe. Changes nothing. */
  readonly check: (lane: LaneId) => Effect.Effect<ReadonlyArray<string>, NonceStoreError>;
  /**
   * Reads the mark that stands beside the lane, outliving its loss: the last {@link setMark}; null = nothing, and this
   * process has not seen the lane. Empty: only that it was there.
   */
  readonly mark: (lane: LaneId) => Effect.Effect<string | null, NonceStoreError>;
  /** Keeps a mark beside the lane, until that is forgotten by {@link forget}. */
  readonly setMark: (lane: LaneId, mark: string) => Effect.Effect<void, NonceStoreError>;
  /** The lanes that were started here. */
  readonly lanes: Effect.Effect<ReadonlyArray<string>, NonceStoreError>;
}
