/**
 * Failures of the nonce protocol. Each says whether a transaction may have been, or may yet be,
 * broadcast under the nonce: `mayBeSent`. Where it is false, trying again from the start pays once.
 */
import * as Schema from "effect/Schema";
import { Hash, nullable } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import {
  count,
  figures,
  hash,
  milliseconds,
  quote,
  statementText,
  text,
  type Statement,
} from "../primitives/statement.js";

/** `chainId:address:key`. */
const lane = Schema.String;
const chainCount = nullable(Schema.BigInt);

/** A field of the lane that cannot be right; nothing was asked. */
export class InvalidLane extends Schema.TaggedError<InvalidLane>()("InvalidLane", {
  field: Schema.String,
  problem: Schema.String,
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: `the lane's ${escapeText(this.field)} is wrong`,
      numbers: figures(text("", this.problem)),
      remedy: "correct it",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** No nonce can be handed out now: the account has as many transactions in flight as it may. */
export class NonceBusy extends Schema.TaggedError<NonceBusy>()("NonceBusy", {
  lane,
  inFlight: Schema.Int,
  /** The most in flight. */
  cap: Schema.Int,
  /** Until the first lease ends, ms; null = only the chain can make room. */
  retryInMs: nullable(Schema.Int),
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: "the account has all its transactions in flight",
      numbers: figures(
        count("in flight", this.inFlight),
        count("at most", this.cap),
        text("lane", this.lane),
        milliseconds("first lease ends in", this.retryInMs),
      ),
      remedy: "wait for one to be mined, or use another sender",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** The store knows nothing of the lane: it is new, or the store lost what it knew. */
export class NonceColdStart extends Schema.TaggedError<NonceColdStart>()("NonceColdStart", {
  lane,
  /** The chain's counts, where they were read. */
  latest: chainCount,
  pending: chainCount,
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: "the nonce store knows nothing of this account",
      numbers: figures(text("lane", this.lane), count("latest", this.latest), count("pending", this.pending)),
      remedy:
        "if it is new, or nothing it sent is in flight any more, start it with `Nonces.bootstrap`; if the store lost its data, let what is in flight be mined first",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** The lease is over and the nonce may be somebody else's: the transaction must not be broadcast. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", { lane, nonce: Schema.BigInt }) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: "the lease on the nonce is lost, the transaction was not sent",
      numbers: figures(count("nonce", this.nonce), text("lane", this.lane)),
      remedy: "reserve again and sign with the new nonce; a longer `ttl` if signing takes long",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** The store did not answer, or not sensibly. */
export class NonceStoreError extends Schema.TaggedError<NonceStoreError>()("NonceStoreError", {
  /** e.g. `reserve`, `commit`. */
  operation: Schema.String,
  /** The store's words, unescaped and bounded. */
  detail: Schema.String,
  /** Whether asking again can help. */
  isRetryable: Schema.Boolean,
}) {
  /** A commit without an answer may have been made: then the transaction is sent by whoever reconciles. */
  get mayBeSent(): boolean {
    return this.operation === "commit" || this.operation === "replace";
  }
  get statement(): Statement {
    return {
      sentence: `the nonce store failed at ${escapeText(this.operation)}`,
      numbers: figures(quote("", this.detail)),
      remedy: this.mayBeSent
        ? "the transaction may be committed and then will be sent: look at `Nonces.committed` before trying again"
        : this.isRetryable
          ? "try again"
          : "look at the store",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** The chain's count is so far above all that was issued that it must be another chain's or another account's. */
export class NonceImplausible extends Schema.TaggedError<NonceImplausible>()("NonceImplausible", {
  lane,
  /** What the node said. */
  count: Schema.BigInt,
  /** The first nonce never issued. */
  next: Schema.BigInt,
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: "the node's transaction count is not believable",
      numbers: figures(count("count", this.count), count("next", this.next), text("lane", this.lane)),
      remedy: "check the endpoint; if the account really sent that many elsewhere, use a new lane in the store",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** The signed bytes are not what was leased; nothing was sent. */
export class SignedMismatch extends Schema.TaggedError<SignedMismatch>()("SignedMismatch", {
  /** `nonce`, `chainId`, `from`, `raw`, `hash` or `authorizationList`. */
  field: Schema.String,
  expected: Schema.String,
  actual: Schema.String,
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: `the signed transaction has another ${escapeText(this.field)} than was leased`,
      numbers: figures(text("leased", this.expected), text("signed", this.actual)),
      remedy: "sign with the lease's nonce, for its chain, with its account's key; nothing was sent",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** The nonce does not hold the transaction that was to be replaced. */
export class ReplaceConflict extends Schema.TaggedError<ReplaceConflict>()("ReplaceConflict", {
  lane,
  nonce: Schema.BigInt,
  /** Hash of the last transaction committed at the nonce; null = none. */
  last: nullable(Hash),
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: "the nonce does not hold the transaction that was to be replaced",
      numbers: figures(count("nonce", this.nonce), hash("holds", this.last), text("lane", this.lane)),
      remedy: "read `Nonces.committed` and replace what stands there",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** Somebody else's transaction was mined at the nonce: ours never can be. */
export class NonceBurned extends Schema.TaggedError<NonceBurned>()("NonceBurned", {
  lane,
  nonce: Schema.BigInt,
  hash: Hash,
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: "another transaction of the account was mined at this nonce",
      numbers: figures(count("nonce", this.nonce), hash("ours", this.hash), text("lane", this.lane)),
      remedy: "send again with a new nonce; find out who else uses the key",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** The node refused the transaction for good and the nonce went back. */
export class SendRejected extends Schema.TaggedError<SendRejected>()("SendRejected", {
  lane,
  nonce: Schema.BigInt,
  hash: Hash,
  /** Why, in the words of the typed error. */
  detail: Schema.String,
}) {
  get mayBeSent(): boolean {
    return false;
  }
  get statement(): Statement {
    return {
      sentence: "the node refused the transaction and its nonce is free again",
      numbers: figures(count("nonce", this.nonce), text("", this.detail)),
      remedy: "correct the transaction and send it again",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** Every failure of the nonce protocol itself. */
export const NonceError = Schema.Union([
  InvalidLane,
  NonceBusy,
  NonceColdStart,
  LeaseLost,
  NonceStoreError,
  NonceImplausible,
  SignedMismatch,
  ReplaceConflict,
  NonceBurned,
  SendRejected,
]);
export type NonceError = typeof NonceError.Type;
