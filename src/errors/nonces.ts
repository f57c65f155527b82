/**
 * Failures of the nonce protocol. Each says whether a transaction may have been, or may yet be,
 * broadcast under the nonce: `mayBeSent`. Where it is false, trying again from the start pays once.
 */
import type * as Cause from "effect/Cause";
import * as Schema from "effect/Schema";
import { Hash, nullable } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import { count, hash, milliseconds, quote, say, text, type Statement } from "../primitives/statement.js";
import { derived, type Stated } from "./stated.js";

/** What every failure of the nonce protocol has beside its fields. */
export interface OfNonce extends Stated {
  /** Whether a transaction may have been, or may yet be, broadcast under the nonce. */
  readonly mayBeSent: boolean;
}

/** A failure after which nothing is sent. */
const unsent =
  <Self>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    statement: (error: Schema.TaggedStruct<Tag, Fields>["Type"]) => Statement,
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError & OfNonce> =>
    derived<Self, OfNonce>()<Tag, Fields>(tag, fields, { mayBeSent: () => false, statement });

/** `chainId:address:key`. */
const lane = Schema.String;
const chainCount = nullable(Schema.BigInt);

/** A field of the lane that cannot be right; nothing was asked. */
export class InvalidLane extends unsent<InvalidLane>()(
  "InvalidLane",
  { field: Schema.String, problem: Schema.String },
  ({ field, problem }) => say(`the lane's ${escapeText(field)} is wrong`, [text("", problem)], "correct it"),
) {}

/** No nonce can be handed out now: the account has as many transactions in flight as it may. */
export class NonceBusy extends unsent<NonceBusy>()(
  "NonceBusy",
  {
    lane,
    inFlight: Schema.Int,
    /** The most in flight. */
    cap: Schema.Int,
    /** Until the first lease ends, ms; null = only the chain can make room. */
    retryInMs: nullable(Schema.Int),
  },
  (error) =>
    say(
      "the account has all its transactions in flight",
      [
        count("in flight", error.inFlight),
        count("at most", error.cap),
        text("lane", error.lane),
        milliseconds("first lease ends in", error.retryInMs),
      ],
      "wait for one to be mined, or use another sender",
    ),
) {}

/** The store knows nothing of the lane: it is new, or the store lost what it knew. */
export class NonceColdStart extends unsent<NonceColdStart>()(
  "NonceColdStart",
  {
    lane,
    /** The chain's counts, where they were read. */
    latest: chainCount,
    pending: chainCount,
  },
  (error) =>
    say(
      "the nonce store knows nothing of this account",
      [text("lane", error.lane), count("latest", error.latest), count("pending", error.pending)],
      "if it is new, or nothing it sent is in flight any more, start it with `Nonces.bootstrap`; if the store lost its data, let what is in flight be mined first",
    ),
) {}

/** The lease is over and the nonce may be somebody else's: the transaction must not be broadcast. */
export class LeaseLost extends unsent<LeaseLost>()("LeaseLost", { lane, nonce: Schema.BigInt }, (error) =>
  say(
    "the lease on the nonce is lost, the transaction was not sent",
    [count("nonce", error.nonce), text("lane", error.lane)],
    "reserve again and sign with the new nonce; a longer `ttl` if signing takes long",
  ),
) {}

/** The store did not answer, or not sensibly. */
export class NonceStoreError extends derived<NonceStoreError, OfNonce>()(
  "NonceStoreError",
  {
    /** e.g. `reserve`, `commit`. */
    operation: Schema.String,
    /** The store's words, unescaped and bounded. */
    detail: Schema.String,
    /** Whether asking again can help. */
    isRetryable: Schema.Boolean,
  },
  {
    // a commit without an answer may have been made: then the transaction is sent by whoever reconciles
    mayBeSent: ({ operation }) => operation === "commit" || operation === "replace",
    statement: ({ operation, detail, isRetryable, mayBeSent }) =>
      say(
        `the nonce store failed at ${escapeText(operation)}`,
        [quote("", detail)],
        mayBeSent
          ? "the transaction may be committed and then will be sent: look at `Nonces.committed` before trying again"
          : isRetryable
            ? "try again"
            : "look at the store",
      ),
  },
) {}

/** The chain's count is so far above all that was issued that it must be another chain's or another account's. */
export class NonceImplausible extends unsent<NonceImplausible>()(
  "NonceImplausible",
  {
    lane,
    /** What the node said. */
    count: Schema.BigInt,
    /** The first nonce never issued. */
    next: Schema.BigInt,
  },
  (error) =>
    say(
      "the node's transaction count is not believable",
      [count("count", error.count), count("next", error.next), text("lane", error.lane)],
      "check the endpoint; if the account really sent that many elsewhere, try again, for a count that stays is believed, or use a new lane in the store",
    ),
) {}

/** The chain is at a count of which the store keeps nothing any more: what is missing there cannot be sent again. */
export class NonceForgotten extends unsent<NonceForgotten>()(
  "NonceForgotten",
  {
    lane,
    /** What the node says. */
    count: Schema.BigInt,
    /** The first nonce still kept. */
    tail: Schema.BigInt,
  },
  (error) =>
    say(
      "the chain went back further than the nonce store remembers",
      [count("count", error.count), count("kept from", error.tail), text("lane", error.lane)],
      "if the node lags, wait or ask another; if the chain was reset, start the lane anew in the store",
    ),
) {}

/** The signed bytes are not what was leased; nothing was sent. */
export class SignedMismatch extends unsent<SignedMismatch>()(
  "SignedMismatch",
  {
    /** `nonce`, `chainId`, `from`, `raw`, `hash` or `authorizationList`. */
    field: Schema.String,
    expected: Schema.String,
    actual: Schema.String,
  },
  ({ field, expected, actual }) =>
    say(
      `the signed transaction has another ${escapeText(field)} than was leased`,
      [text("leased", expected), text("signed", actual)],
      "sign with the lease's nonce, for its chain, with its account's key; nothing was sent",
    ),
) {}

/** The nonce does not hold the transaction that was to be replaced. */
export class ReplaceConflict extends unsent<ReplaceConflict>()(
  "ReplaceConflict",
  {
    lane,
    nonce: Schema.BigInt,
    /** Hash of the last transaction committed at the nonce; null = none. */
    last: nullable(Hash),
  },
  (error) =>
    say(
      "the nonce does not hold the transaction that was to be replaced",
      [count("nonce", error.nonce), hash("holds", error.last), text("lane", error.lane)],
      "read `Nonces.committed` and replace what stands there",
    ),
) {}

/** Somebody else's transaction is final at the nonce: ours never can be mined, and is never sent again. */
export class NonceBurned extends unsent<NonceBurned>()(
  "NonceBurned",
  { lane, nonce: Schema.BigInt, hash: Hash },
  (error) =>
    say(
      "another transaction of the account is final at this nonce",
      [count("nonce", error.nonce), hash("ours", error.hash), text("lane", error.lane)],
      "send again with a new nonce; find out who else uses the key",
    ),
) {}

/** The node refused the transaction for good and the nonce went back. */
export class SendRejected extends unsent<SendRejected>()(
  "SendRejected",
  {
    lane,
    nonce: Schema.BigInt,
    hash: Hash,
    /** Why, in the words of the typed error. */
    detail: Schema.String,
  },
  (error) =>
    say(
      "the node refused the transaction and its nonce is free again",
      [count("nonce", error.nonce), text("", error.detail)],
      "correct the transaction and send it again",
    ),
) {}

/** A delivery stopped after some of its bundle was sent: what is left was not committed, and its nonces are free again. */
export class PartlySent extends derived<PartlySent, OfNonce>()(
  "PartlySent",
  {
    /** In the order of the bundle. */
    sent: Schema.Array(Schema.Struct({ lane, nonce: Schema.BigInt, hash: Hash })),
    /** How many were not sent. */
    left: Schema.Int,
    /** Why, in the words of the error that stopped it. */
    detail: Schema.String,
  },
  {
    mayBeSent: () => true,
    statement: ({ sent, left, detail }) =>
      say(
        "only a part of the bundle was sent",
        [count("sent", sent.length), count("left", left), text("because", detail)],
        "deliver what is left by itself",
      ),
  },
) {}

/** Every failure of the nonce protocol itself. */
export const NonceError = Schema.Union([
  InvalidLane,
  NonceBusy,
  NonceColdStart,
  LeaseLost,
  NonceStoreError,
  NonceImplausible,
  NonceForgotten,
  SignedMismatch,
  ReplaceConflict,
  NonceBurned,
  SendRejected,
  PartlySent,
]);
export type NonceError = typeof NonceError.Type;
