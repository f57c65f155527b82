/** The fence: what a nonce holds is written down before anything is broadcast. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import * as Ref from "effect/Ref";
import type { Hash, Hex } from "../../primitives/hex.js";
import { LeaseLost, NonceColdStart, NonceStoreError, ReplaceConflict } from "../../errors/nonces.js";
import { NonceStore } from "../../NonceStore.js";
import type { Lane, LaneId } from "../lane.js";
import type { Attempt } from "../laneRules.js";
import * as Metrics from "../metrics.js";
import { patiently } from "../patience.js";
import { Settings } from "../settings.js";
import { attemptOf } from "../signed.js";
import { context, type Lease } from "./lease.js";

/** The permission to broadcast: a transaction that the store holds for its nonce. */
export interface Committed {
  /** The lane it is of. */
  readonly lane: LaneId;
  /** The nonce. */
  readonly nonce: bigint;
  /** The token it is held by. */
  readonly token: string;
  /** The hash, 32 bytes. */
  readonly hash: Hash;
  /** null = the caller kept the bytes. */
  readonly raw: Hex | null;
}

/** Signed bytes, or only a hash: then nobody but the caller can send it again after a crash. */
export type Signed = { readonly raw: Hex | `0x${string}` } | { readonly hash: Hash };

/** The failure of a store, told with what it may hold now. */
const about =
  (nonce: bigint, hash: Hash) =>
  ({ operation, detail, isRetryable }: NonceStoreError): NonceStoreError =>
    new NonceStoreError({ operation, detail, isRetryable, nonce, hash });

/** The answer of an operation that may be tried several times, and whether the first try gave it. */
const counted = <A, E, R>(
  ask: (tried: <B, F, S>(one: Effect.Effect<B, F, S>) => Effect.Effect<B, F, S>) => Effect.Effect<A, E, R>,
) =>
  Effect.suspend(() => {
    let tries = 0;
    const tried = <B, F, S>(one: Effect.Effect<B, F, S>) =>
      Effect.suspend(() => {
        tries += 1;
        return one;
      });
    return Effect.map(ask(tried), (answer) => ({ answer, isFirst: tries === 1 }));
  });

/** A try without an answer may have been made, and was then known to others, before the store lost it: who says no now proves nothing. */
const forgotten = (operation: "commit" | "replace"): NonceStoreError =>
  new NonceStoreError({
    operation,
    detail: "a try had no answer, and the next one found the nonce without the transaction",
    isRetryable: false,
  });

/**
 * The fence. Only when this succeeds may the transaction be broadcast. It cannot be interrupted, and
 * can be repeated with the same transaction.
 *
 * Fails with `LeaseLost` when the nonce may be another's now, `SignedMismatch` when the bytes are not
 * what was leased, and `NonceStoreError` when nobody knows (`mayBeSent`).
 */
export const commit = Effect.fn("Nonces.commit")(function* (lease: Lease, signed: Signed) {
  const { lane, nonce, token, width } = lease;
  const store = yield* NonceStore;
  const settings = yield* Settings;
  const attempt: Attempt =
    "raw" in signed
      ? yield* Effect.fromResult(attemptOf(signed.raw, lane, nonce, width))
      : { hash: signed.hash.toLowerCase() as Hash, raw: null };
  const { answer, isFirst } = yield* counted((tried) =>
    patiently("commit", settings, tried(store.commit(lane, { token, nonce }, attempt))),
  ).pipe(Effect.mapError(about(nonce, attempt.hash)));
  if (answer !== "committed" && !isFirst) return yield* about(nonce, attempt.hash)(forgotten("commit"));
  if (answer === "cold") return yield* new NonceColdStart({ lane: lane.id });
  if (answer === "lost") {
    yield* Metric.update(Metrics.fenced, 1);
    return yield* new LeaseLost({ lane: lane.id, nonce });
  }
  yield* Ref.set(lease.spent, true);
  yield* Metric.update(Metrics.committed, 1);
  return { lane, nonce, token, ...attempt } satisfies Committed;
}, Effect.uninterruptible);

/**
 * Another transaction at a committed nonce, with higher fees, or a no-op to cancel it: a
 * compare-and-set on the hash it replaces. Only when this succeeds may it be broadcast.
 *
 * Fails with `ReplaceConflict` when `replaces` is not the last transaction there, and with
 * `SignedMismatch` when it would use a second nonce, by an authorisation of the sender, that what it
 * replaces does not hold.
 */
export const replace = Effect.fn("Nonces.replace")(function* (
  given: Lane,
  nonce: bigint,
  replaces: Hash,
  raw: Hex | `0x${string}`,
) {
  const { lane, store, settings } = yield* context(given);
  const snapshot = yield* patiently("read", settings, store.read(lane));
  const isWide = snapshot?.slots.some((slot) => slot.nonce === nonce && slot.width === 2) === true;
  const one = attemptOf(raw, lane, nonce, 1);
  const attempt = yield* Effect.fromResult(one._tag === "Success" || !isWide ? one : attemptOf(raw, lane, nonce, 2));
  const old = replaces.toLowerCase() as Hash;
  const { answer, isFirst } = yield* counted((tried) =>
    patiently("replace", settings, tried(store.replace(lane, nonce, old, attempt))),
  ).pipe(Effect.mapError(about(nonce, attempt.hash)));
  if (answer._tag !== "Replaced" && !isFirst) return yield* about(nonce, attempt.hash)(forgotten("replace"));
  if (answer._tag === "Cold") return yield* new NonceColdStart({ lane: lane.id });
  if (answer._tag === "Conflict") return yield* new ReplaceConflict({ lane: lane.id, nonce, last: answer.last });
  return { lane, nonce, token: "", ...attempt } satisfies Committed;
}, Effect.uninterruptible);
