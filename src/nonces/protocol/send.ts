/** Sending what was committed, and what its answer means. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import type { Hash, Hex } from "../../primitives/hex.js";
import { NonceBurned, SendRejected } from "../../errors/nonces.js";
import type { SendOutcome } from "../../errors/sendOutcome.js";
import { NonceStore } from "../../NonceStore.js";
import type { Lane, LaneId } from "../lane.js";
import * as Metrics from "../metrics.js";
import { patiently } from "../patience.js";
import { Settings } from "../settings.js";
import { broadcast, endings, minedOf, outcomeOfSend } from "./chain.js";
import { commit, reserve, reserveGap, type Committed, type Lease, type ReserveOptions } from "./lease.js";

/**
 * A transaction that has its nonce for good. Unless `outcome` says accepted it may still be mined, for
 * it is committed and `keep` sends it again; so do not pay again, replace it.
 */
export interface Sent {
  readonly lane: LaneId;
  readonly nonce: bigint;
  readonly hash: Hash;
  readonly outcome: SendOutcome;
}

/** All hashes committed at the nonce, ours among them. */
const hashesAt = Effect.fnUntraced(function* ({ lane, nonce, hash }: Committed) {
  const store = yield* NonceStore;
  const settings = yield* Settings;
  const snapshot = yield* patiently("read", settings, store.read(lane));
  const attempts = snapshot?.slots.find((slot) => slot.nonce === nonce)?.attempts ?? [];
  return [...new Set([hash, ...attempts.map((attempt) => attempt.hash)])];
});

/**
 * Whether somebody else's transaction is final at a nonce that the node calls too low. That there is no
 * receipt of ours proves nothing before: a backend may lag, and a reorganisation may bring ours back.
 */
const isBurned = Effect.fnUntraced(function* (committed: Committed) {
  const settings = yield* Settings;
  const hashes = yield* hashesAt(committed);
  const tries = 6;
  for (let asked = 0; asked <= tries; asked += 1) {
    if (asked > 0) yield* Effect.sleep(settings.burnedAfterMs / tries);
    if ((yield* minedOf(hashes)) !== null) return false;
  }
  const endOf = yield* endings(committed.lane);
  const ended = yield* endOf(committed.nonce, hashes);
  return ended?.end === "burned";
});

/**
 * Tells the store what came of a send, and answers what it means for the caller.
 *
 * Fails only when it is certain that the transaction never will be mined: with `NonceBurned` when
 * somebody else's is final at the nonce, and, where the settings allow to give rejected nonces back,
 * with `SendRejected`.
 */
export const report = Effect.fn("Nonces.report")(function* (committed: Committed, outcome: SendOutcome) {
  const { lane, nonce, token, hash } = committed;
  const store = yield* NonceStore;
  const settings = yield* Settings;
  const sent: Sent = { lane, nonce, hash, outcome };
  yield* Effect.ignore(patiently("report", settings, store.report(lane, nonce, hash, outcome.kind)));
  if (outcome.kind === "tooLow") {
    // Whoever cannot tell says nothing: the caller then has a transaction that may be mined
    if (yield* Effect.orElseSucceed(isBurned(committed), () => false))
      return yield* new NonceBurned({ lane: lane.id, nonce, hash });
  }
  if (outcome.kind === "rejected" && settings.recycleRejected) {
    const free = yield* Effect.orElseSucceed(
      patiently("recycle", settings, store.recycle(lane, { token, nonce }, hash)),
      () => false,
    );
    if (free) {
      yield* Metric.update(Metrics.recycled, 1);
      return yield* new SendRejected({ lane: lane.id, nonce, hash, detail: outcome.error?.message ?? "" });
    }
  }
  return sent;
});

/**
 * Commits the signed bytes under a lease, then sends them with `send`: the order that the fence demands.
 * Fails like `commit` and `report`; nothing is sent when the commit fails.
 */
export const deliver = Effect.fnUntraced(function* <A, E, R>(
  lease: Lease,
  raw: Hex | `0x${string}`,
  send: (raw: Hex) => Effect.Effect<A, E, R>,
) {
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(commit(lease, { raw }), (committed) =>
      restore(Effect.flatMap(outcomeOfSend(send(raw.toLowerCase() as Hex)), (outcome) => report(committed, outcome))),
    ),
  );
});

/**
 * Takes a nonce, has it signed, commits it and sends it: what most callers need.
 *
 * ```ts
 * const sent = yield* Nonces.withNonce({ chainId: 8453, address }, (nonce) => sign({ ...request, nonce }))
 * ```
 * `sign` answers with the signed bytes; while it runs the nonce is only leased. `send` broadcasts bytes
 * and may fail with anything; left out, `eth_sendRawTransaction` of the `Rpc`.
 *
 * It fails only when nothing was or will be sent, so trying again pays once; except with an error whose
 * `mayBeSent` is true. In all other cases it succeeds with {@link Sent}.
 */
export const withNonce = Effect.fn("Nonces.withNonce")(function* <E, R, A = Hash, E2 = never, R2 = never>(
  lane: Lane,
  sign: (nonce: bigint) => Effect.Effect<Hex | `0x${string}`, E, R>,
  send?: (raw: Hex) => Effect.Effect<A, E2, R2>,
  options: ReserveOptions = {},
) {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const lease = yield* reserve(lane, options);
      const raw = yield* sign(lease.nonce);
      return yield* send === undefined ? deliver(lease, raw, broadcast) : deliver(lease, raw, send);
    }),
  );
});

/** A transaction that does nothing, for a gap: nothing to oneself. Add gas and fees, and sign it. */
export const noop = (lane: Lane, nonce: bigint) => ({
  chainId: lane.chainId,
  to: lane.address,
  value: 0n,
  data: "0x" as const,
  nonce: Number(nonce),
});

/**
 * Fills the lowest gap, a free nonce below a committed one, with what `sign` makes for it (see
 * {@link noop}). Answers null when the lane has no gap. Otherwise like {@link withNonce}.
 */
export const fillGap = Effect.fn("Nonces.fillGap")(function* <E, R, A = Hash, E2 = never, R2 = never>(
  lane: Lane,
  sign: (nonce: bigint) => Effect.Effect<Hex | `0x${string}`, E, R>,
  send?: (raw: Hex) => Effect.Effect<A, E2, R2>,
  options: Omit<ReserveOptions, "width"> = {},
) {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const lease = yield* reserveGap(lane, options);
      if (lease === null) return null;
      const raw = yield* sign(lease.nonce);
      return yield* send === undefined ? deliver(lease, raw, broadcast) : deliver(lease, raw, send);
    }),
  );
});
