/** What a store of nonces is asked, and what it answers. The decisions are those of `operations.ts`. */
import type { SendOutcomeKind } from "../errors/sendOutcome.js";
import type { Hash } from "../primitives/hex.js";
import type { Counts, Keep, Unmoved } from "./laneRules.js";

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

/** What became of a reservation; no nonce was taken but with `Granted`. */
export type ReserveAnswer =
  | { readonly _tag: "Granted"; readonly nonce: bigint; readonly leaseMs: number }
  /** `retryInMs`: when the first lease ends; null = nothing but the chain can make room. */
  | { readonly _tag: "Busy"; readonly inFlight: number; readonly cap: number; readonly retryInMs: number | null }
  | { readonly _tag: "NoGap" }
  /** The token was committed already, or is the one of somebody else's transactions. */
  | { readonly _tag: "Spent"; readonly nonce: bigint }
  | Unmoved
  | { readonly _tag: "Cold" };

/** Names a reserved nonce by the token that holds it. */
export interface Claim {
  /** The token that it was reserved under. */
  readonly token: string;
  /** The nonce that was granted. */
  readonly nonce: bigint;
}

/** Names what a token holds; `nonce` null = whichever it is, for the answer that granted it may be lost. */
export interface Held {
  /** The token that it was reserved under. */
  readonly token: string;
  /** The nonce that was granted, where that is known. */
  readonly nonce: bigint | null;
}

/** `lost`: the token does not hold the nonce. Whoever gets this answer must not broadcast. */
export type CommitAnswer = "committed" | "lost" | "cold";

/** What became of a replacement. */
export type ReplaceAnswer =
  | { readonly _tag: "Replaced" }
  /** Nothing is committed at the nonce, or `last` is not what was to be replaced. */
  | { readonly _tag: "Conflict"; readonly last: Hash | null }
  | { readonly _tag: "Cold" };

/** What is reported about a nonce: a send's outcome, of a refusal with the reason behind it, or how it ended. */
export type Reported = SendOutcomeKind | `${"rejected" | "underpriced"}: ${string}` | "mined" | "burned";

/** Brings a lane up to what the chain counts, and asks for what is to be sent again. */
export interface ReconcileRequest {
  /** The chain's counts for the account, as they were read. */
  readonly counts: Counts;
  /** How long things are kept. */
  readonly keep: Keep;
  /** Bytes handed out within this time are not handed out again, ms: replicas share the work. */
  readonly resendAfterMs: number;
}

/** What a reconciliation came to; `due` are the nonces whose bytes are to be sent again, from `from` on all is kept. */
export type ReconcileAnswer =
  | { readonly _tag: "Reconciled"; readonly due: ReadonlyArray<bigint>; readonly from: bigint }
  | Unmoved
  | { readonly _tag: "Cold" };
