/** The fence: what a nonce holds is written down before anything is broadcast. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import * as Ref from "effect/Ref";
import type { Hash, Hex } from "../../primitives/index.js";
import { LeaseLost, NonceColdStart, NonceStoreError, ReplaceConflict } from "../../errors/index.js";
import type { Lane, LaneId } from "../lane.js";
import type { Attempt } from "../laneRules.js";
import * as Metrics from "../metrics.js";
import { attemptOf } from "../signed.js";
import type { Result, Store } from "../store.js";
import { asking, context } from "./context.js";
import type { Lease } from "./lease.js";

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

/** Asks for what permits a broadcast. A failure says what the store may hold now. */
const permitted = <A>(
  operation: "commit" | "replace",
  nonce: bigint,
  hash: Hash,
  ask: (store: Store) => Result<A>,
  permits: (answer: A) => boolean,
) =>
  Effect.suspend(() => {
    let tries = 0;
    const once = (store: Store) =>
      Effect.suspend(() => {
        tries += 1;
        return ask(store);
      });
    const unproven = "a try had no answer, and the next one found the nonce without the transaction";
    return asking(operation, once).pipe(
      // A try without an answer may have been made, and was then known to others, before the store lost it: who says no now proves nothing
      Effect.filterOrFail(
        (answer) => permits(answer) || tries === 1,
        () => new NonceStoreError({ operation, detail: unproven, isRetryable: false }),
      ),
      Effect.mapError(
        ({ operation: name, detail, isRetryable }) =>
          new NonceStoreError({ operation: name, detail, isRetryable, nonce, hash }),
      ),
    );
  });

/**
 * The fence. Only when this succeeds may the transaction be broadcast. It cannot be interrupted, and
 * can be repeated with the same transaction. With only a hash, only the caller can send it again after a crash.
 *
 * Fails with `LeaseLost` when the nonce may be another's now, `SignedMismatch` when the bytes are not
 * what was leased, and `NonceStoreError` when nobody knows (`mayBeSent`).
 */
export const commit = Effect.fn("Nonces.commit")(function* (
  lease: Lease,
  signed: { readonly raw: Hex | `0x${string}` } | { readonly hash: Hash },
) {
  const { lane, nonce, token, width } = lease;
  const attempt: Attempt =
    "raw" in signed
      ? yield* Effect.fromResult(attemptOf(signed.raw, lane, nonce, width))
      : { hash: signed.hash.toLowerCase() as Hash, raw: null };
  const ask = (store: Store) => store.commit(lane, { token, nonce }, attempt);
  const answer = yield* permitted("commit", nonce, attempt.hash, ask, (it) => it === "committed");
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
  input: Lane,
  nonce: bigint,
  replaces: Hash,
  raw: Hex | `0x${string}`,
) {
  // why: what is null counts as absent elsewhere, and neither may be
  const { lane } = yield* context(input, { nonce: nonce ?? false, replaces: replaces ?? false }, ["nonce", "replaces"]);
  const snapshot = yield* asking("read", (store) => store.read(lane));
  const isWide = snapshot?.slots.some((slot) => slot.nonce === nonce && slot.width === 2) === true;
  const single = attemptOf(raw, lane, nonce, 1);
  const attempt = yield* Effect.fromResult(
    single._tag === "Success" || !isWide ? single : attemptOf(raw, lane, nonce, 2),
  );
  const old = replaces.toLowerCase() as Hash;
  const ask = (store: Store) => store.replace(lane, nonce, old, attempt);
  const answer = yield* permitted("replace", nonce, attempt.hash, ask, ({ _tag }) => _tag === "Replaced");
  if (answer._tag === "Cold") return yield* new NonceColdStart({ lane: lane.id });
  if (answer._tag === "Conflict") return yield* new ReplaceConflict({ lane: lane.id, nonce, last: answer.last });
  return { lane, nonce, token: "", ...attempt } satisfies Committed;
}, Effect.uninterruptible);
