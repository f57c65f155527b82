/** Failures of the nonce protocol after the commit: what became of what was sent. */
import * as Schema from "effect/Schema";
import { Hash, nullable } from "../primitives/hex.js";
import { count, hash, lane, stated, text } from "../primitives/statement.js";

/** Somebody else's transaction is final at the nonce: ours never can be mined, and is never sent again. */
export class NonceBurned extends stated<NonceBurned>()("NonceBurned", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** The nonce. */
  nonce: Schema.BigInt,
  /** The hash, 32 bytes. */
  hash: Hash,
})(
  "another transaction of the account is final at this nonce",
  (error) => [count("nonce", error.nonce), hash("ours", error.hash), text("account and chain", error.lane)],
  "send again with a new nonce; find out who else uses the key",
) {}

/**
 * The node did not take the transaction, and waiting does not change that: the bytes are refused
 * (`rejected`), or the pool wants a higher fee for the nonce (`underpriced`).
 *
 * `isFree`: the nonce went back, the bytes never are sent again, and trying again pays once. Otherwise
 * they stay committed at the nonce and are sent again by `Nonces.keep`, so that they may yet be mined:
 * replace them at the same nonce, and do not pay again under another.
 */
export class SendRejected extends stated<SendRejected>()("SendRejected", {
  /** The lane: `chainId:address:key`. */
  lane,
  /** The nonce. */
  nonce: Schema.BigInt,
  /** The hash, 32 bytes. */
  hash: Hash,
  /** How the node refused it. */
  kind: Schema.Literals(["rejected", "underpriced"]),
  /** True if the nonce went back (`Settings.recycleRejected`). */
  isFree: Schema.Boolean,
  /** Why, in the words of the typed error. */
  detail: Schema.String,
})(
  ({ isFree, kind }) =>
    isFree
      ? "the node refused the transaction and its nonce is free again"
      : kind === "underpriced"
        ? "the node wants a higher fee for the transaction, which keeps its nonce"
        : "the node refused the transaction, which keeps its nonce",
  (error) => [
    count("nonce", error.nonce),
    hash("ours", error.hash),
    text("account and chain", error.lane),
    text("because", error.detail),
  ],
  ({ isFree }) =>
    isFree
      ? "correct the transaction and send it again"
      : "replace it at this nonce (`Nonces.replace`), or remove the cause and let `Nonces.keep` send it again; under another nonce it may be paid twice",
  ({ isFree }) => !isFree,
) {}

const Held = Schema.Struct({ lane, nonce: Schema.BigInt, hash: Hash });

/** A delivery stopped after some of its bundle was sent: what is left was not committed, and its nonces are free again. */
export class PartlySent extends stated<PartlySent>()("PartlySent", {
  /** In the order of the bundle. */
  sent: Schema.Array(Held),
  /** The one it stopped at, where that is, or may be, committed and so may yet be mined; null = it is one of those left. */
  inDoubt: nullable(Held),
  /** How many were not sent, and never will be. */
  left: Schema.Int,
  /** Why, in the words of the error that stopped it. */
  detail: Schema.String,
})(
  "only part of the bundle was sent",
  ({ sent, inDoubt, left, detail }) => [
    count("sent", sent.length),
    count("in doubt at nonce", inDoubt?.nonce ?? null),
    count("left", left),
    text("because", detail),
  ],
  ({ inDoubt }) =>
    inDoubt === null
      ? "deliver the rest on its own"
      : "first settle the one in doubt, which may still be mined; then deliver the rest on its own",
  () => true,
) {}
