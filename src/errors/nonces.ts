/**
 * Failures of the nonce protocol. Each says whether a transaction may have been, or may yet be,
 * broadcast under the nonce: `mayBeSent`. Where it is false, trying again from the start pays once.
 */
import * as Schema from "effect/Schema";
import { Hash, nullable } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import { count, hash, milliseconds, quote, stated, text, lane } from "../primitives/statement.js";
import { NonceBurned, PartlySent, SendRejected } from "./sending.js";

export type { OfNonce } from "../primitives/statement.js";
export { NonceBurned, PartlySent, SendRejected } from "./sending.js";

const chainCount = nullable(Schema.BigInt);

/** A field of the lane, or an option beside it, that cannot be right; no request was sent. */
export class InvalidLane extends stated<InvalidLane>()("InvalidLane", {
  /** The field of the lane that is wrong, or the option, e.g. `ttl`. */
  field: Schema.String,
  /** The problem with it. */
  problem: Schema.String,
})(
  ({ field, problem }) => `the lane's ${escapeText(field)}: ${problem}`,
  () => [],
  ({ field }) => `correct \`${escapeText(field)}\``,
) {}

/** The lowest nonce in flight: nothing behind it is mined before. */
const Head = Schema.Struct({
  nonce: Schema.BigInt,
  /** Its last transaction; null while it is only leased, or holds somebody else's. */
  hash: nullable(Hash),
  /** The last thing a node said of it, the `kind` of a `Nonces.SendOutcome`; empty = nothing yet. */
  outcome: Schema.String,
  /** Since when it is there, ms. */
  ageMs: Schema.Number,
});

/** No nonce can be leased now: the account has as many transactions in flight as it may. */
export class NonceBusy extends stated<NonceBusy>()("NonceBusy", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** How many of the lane's transactions are in flight. */
  inFlight: Schema.Int,
  /** The most in flight. */
  cap: Schema.Int,
  /** Until the first lease ends, ms; null = only the chain can make room. */
  retryInMs: nullable(Schema.Int),
  /** The nonce that all others wait for; null where the store does not know. */
  head: nullable(Head),
})(
  "the account has as many transactions in flight as it may",
  ({ lane, inFlight, cap, retryInMs, head }) => [
    count("in flight", inFlight),
    count("at most", cap),
    text("account and chain", lane),
    milliseconds("first lease ends in", retryInMs),
    count("the first is nonce", head?.nonce ?? null),
    hash("with", head?.hash ?? null),
    text("which the node called", head?.outcome ?? null),
    milliseconds("since", head?.ageMs ?? null),
  ],
  ({ head }) =>
    head?.outcome === "rejected" || head?.outcome === "underpriced"
      ? "replace the first (`Nonces.replace`, or `evm-preflight nonces cancel`): nothing after it is mined until then"
      : "wait until the first is mined (`waitMs` does that), replace it if it is stuck, or use another sender",
) {}

/** The store knows nothing of the lane: it is new, or the store lost what it knew. */
export class NonceColdStart extends stated<NonceColdStart>()("NonceColdStart", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** The chain's counts, where they were read. */
  latest: chainCount,
  /** The count by `eth_getTransactionCount` on `pending`; null where it was not read. */
  pending: chainCount,
  /** The source that says that the lane was started before, and so is lost; null = it may be new. */
  lost: nullable(Schema.String),
})(
  ({ lost }) =>
    lost === null ? "the nonce store knows nothing of this account" : "the nonce store has lost this account",
  (error) => [
    text("account and chain", error.lane),
    count("latest", error.latest),
    count("pending", error.pending),
    text("known by", error.lost),
  ],
  ({ lost }) =>
    lost !== null
      ? "restore the store, or check that this process uses the right one; else wait until everything sent is mined, then `Nonces.forget(lane)` and start it anew"
      : "if the account is new or has nothing in flight, start it once with `Nonces.bootstrap(lane)` (Promises: `preflight.nonces.bootstrap(lane)`); if the store lost its data, first wait until everything in flight is mined",
) {}

/** The lease is over and the nonce may be somebody else's: the transaction must not be broadcast. */
export class LeaseLost extends stated<LeaseLost>()("LeaseLost", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** The nonce in question. */
  nonce: Schema.BigInt,
})(
  "the lease on the nonce is lost, so the transaction was not sent",
  (error) => [count("nonce", error.nonce), text("account and chain", error.lane)],
  "reserve again and sign with the new nonce; raise `ttl` if signing takes long",
) {}

/** A commit without an answer may have been made: then the transaction is sent by whoever reconciles. */
const isInDoubt = ({ operation }: { readonly operation: string }): boolean =>
  operation === "commit" || operation === "replace";

/** The store did not answer, or not sensibly. */
export class NonceStoreError extends stated<NonceStoreError>()("NonceStoreError", {
  /** e.g. `reserve`, `commit`. */
  operation: Schema.String,
  /** The store's words, unescaped and bounded. */
  detail: Schema.String,
  /** True if asking again can help. */
  isRetryable: Schema.Boolean,
  /** The nonce that was to be committed; null at other operations. */
  nonce: nullable(Schema.BigInt),
  /** The transaction that was to be committed there; null at other operations. */
  hash: nullable(Hash),
})(
  (error) =>
    `the nonce store failed at ${escapeText(error.operation)}${isInDoubt(error) ? "; the transaction may still be sent" : ""}`,
  ({ detail, nonce, hash: wanted }) => [quote("", detail), count("nonce", nonce), hash("transaction", wanted)],
  (error) =>
    isInDoubt(error)
      ? "wait until its lease ends; then try again only if `Nonces.status` shows its hash neither as committed nor as settled"
      : error.isRetryable
        ? "try again; where the store is distant, raise `storeTimeoutMs` in `Nonces.Settings`"
        : "check the store",
  isInDoubt,
) {}

/** The chain's count is so far above all that was issued that it must be another chain's or another account's. */
export class NonceImplausible extends stated<NonceImplausible>()("NonceImplausible", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** The count that the node gave. */
  count: Schema.BigInt,
  /** The first nonce never issued. */
  next: Schema.BigInt,
})(
  "the node's transaction count is not believable",
  (error) => [count("count", error.count), count("next", error.next), text("account and chain", error.lane)],
  "check the endpoint; if the account really sent that many elsewhere, try again until the count is believed, or use a new account",
) {}

/** The chain is at a count of which the store keeps nothing any more: what is missing there cannot be sent again. */
export class NonceForgotten extends stated<NonceForgotten>()("NonceForgotten", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** The count that the node gives. */
  count: Schema.BigInt,
  /** The first nonce still kept. */
  tail: Schema.BigInt,
})(
  "the chain went back further than the nonce store remembers",
  (error) => [count("count", error.count), count("kept from", error.tail), text("account and chain", error.lane)],
  "if the node lags, wait or use another; if the chain was reset, `Nonces.forget(lane)` and start it anew",
) {}

/** The node's chain is not the one that the lane was used on, though its chain id is: a development chain that was reset, or another network. */
export class NonceChainReset extends stated<NonceChainReset>()("NonceChainReset", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** A block that the lane's chain has, final when it was seen. */
  block: Schema.BigInt,
  /** Its hash there. */
  expected: Hash,
  /** Its hash by the node; null = the node's chain ends before it. */
  actual: nullable(Hash),
})(
  "the node's chain is not the one on which this account's nonces were used, so nothing is sent again there",
  (error) => [
    count("block", error.block),
    hash("had", error.expected),
    hash("has", error.actual),
    text("account and chain", error.lane),
  ],
  "if the node lags, wait or use another; if the chain was reset, `Nonces.forget(lane)` and start it anew",
) {}

const isSigner = (field: string): boolean => field.endsWith("from");

/** The signed bytes are not what was leased, or cleared; nothing was sent. */
export class SignedMismatch extends stated<SignedMismatch>()("SignedMismatch", {
  /** `from`: another account signed. Else a field of the transaction, `raw`, `hash`, `count`, `senders` or `digest`; in a bundle `[1].from`. */
  field: Schema.String,
  /** The value that was to be signed; for `from` the account that sends. */
  expected: Schema.String,
  /** The value that was signed; for `from` the account that signed. */
  actual: Schema.String,
})(
  ({ field }) =>
    isSigner(field)
      ? "the transaction is signed by an account other than its sender"
      : `the signed transaction has a different ${escapeText(field)} than expected`,
  ({ field, expected, actual }) =>
    isSigner(field)
      ? [text("sender", expected), text("signed by", actual)]
      : [text("should be", expected), text("signed", actual)],
  ({ field }) =>
    isSigner(field)
      ? "sign with the sender's key; nothing was sent"
      : "sign exactly the request that was cleared, with its nonce and chain id; nothing was sent",
) {}

/** The nonce does not hold the transaction that was to be replaced. */
export class ReplaceConflict extends stated<ReplaceConflict>()("ReplaceConflict", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** The nonce in question. */
  nonce: Schema.BigInt,
  /** Hash of the last transaction committed at the nonce; null = none. */
  last: nullable(Hash),
})(
  "the nonce does not hold the transaction that was to be replaced",
  (error) => [count("nonce", error.nonce), hash("holds", error.last), text("account and chain", error.lane)],
  "read `Nonces.committed`, and replace the transaction that it shows",
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
  NonceChainReset,
  SignedMismatch,
  ReplaceConflict,
  NonceBurned,
  SendRejected,
  PartlySent,
]);
export type NonceError = typeof NonceError.Type;
