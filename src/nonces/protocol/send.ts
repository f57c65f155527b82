/** Sending what was committed, and what its answer means. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import type { Hash, Hex } from "../../primitives/index.js";
import { NonceBurned, refusalText, SendRejected } from "../../errors/index.js";
import { recordOf, type SendOutcome } from "../../errors/sendOutcome.js";
import type { Receipt } from "../../eth/index.js";
import type { Rpc } from "../../rpc/index.js";
import { askedBy, besideLane, type Lane, type LaneId } from "../lane.js";
import * as Metrics from "../metrics.js";
import { Settings } from "../service.js";
import { broadcast, endings, hashesAt, minedOf, outcomeOfSend } from "./chain.js";
import { commit, replace, type Committed } from "./commit.js";
import { asking, context } from "./context.js";
import { reserve, reserveGap, type Lease, type ReserveOptions } from "./lease.js";

/**
 * A transaction that has its nonce for good, and that a node took, or may have taken: it is committed,
 * and `keep` sends it again until it is mined. So do not pay again; where it is stuck, replace it.
 */
export interface Sent {
  /** The lane it is of. */
  readonly lane: LaneId;
  /** The nonce that it uses. */
  readonly nonce: bigint;
  /** The transaction's hash, 32 bytes. */
  readonly hash: Hash;
  /** `accepted`, `alreadyKnown`, `tooLow`, `tooHigh` or `unknown`: what was refused for good fails. `accepted` is a hash, and no place in a pool: `state` says `handed`. */
  readonly outcome: SendOutcome;
  /** How far it is known to have come: `mined` with a receipt, `seen` where the node knew these bytes, else `handed`. `Nonces.status` asks again. */
  readonly state: "handed" | "seen" | "mined";
  /** The receipt, where the send waited for it and it came ({@link sendSync}); it may say `failure`. Null otherwise. */
  readonly receipt: Receipt | null;
}

/**
 * True if somebody else's transaction is final at a nonce that the node calls too low: it was found there. The time
 * before is ours, for blocks to be final.
 */
const isBurned = Effect.fnUntraced(function* ({ lane, nonce, hash }: Committed) {
  const settings = yield* Settings;
  const hashes = [...new Set([hash, ...(yield* hashesAt(lane, nonce))])];
  const tries = 6;
  for (let round = 0; round <= tries; round += 1) {
    if (round > 0) yield* Effect.sleep(settings.burnedAfterMs / tries);
    if ((yield* minedOf(hashes)) !== null) return false;
  }
  const endOf = yield* endings(lane);
  return (yield* endOf(nonce, hash))?.end === "burned";
});

/** Gives the nonce of a refused transaction back, where the settings allow it and nobody else was given the bytes. */
const recycle = Effect.fnUntraced(function* ({ lane, nonce, token, hash }: Committed) {
  if (!(yield* Settings).recycleRejected) return false;
  const recycled = asking("recycle", (store) => store.recycle(lane, { token, nonce }, hash));
  const isFree = yield* Effect.orElseSucceed(recycled, () => false);
  if (isFree) yield* Metric.update(Metrics.recycled, 1);
  return isFree;
});

/**
 * Tells the store what came of a send, and answers what it means for the caller. `receipt`: what the node answered with.
 *
 * Fails with `SendRejected` when the node did not take the bytes (`mayBeSent` unless the settings allow
 * to give the nonce back), and with `NonceBurned` when somebody else's transaction is final at the nonce.
 */
export const report = Effect.fn("Nonces.report")(function* (
  committed: Committed,
  outcome: SendOutcome,
  receipt: Receipt | null = null,
) {
  const { lane, nonce, hash } = committed;
  const { kind } = outcome;
  yield* Effect.ignore(asking("report", (store) => store.report(lane, nonce, hash, recordOf(outcome))));
  if (kind === "tooLow") {
    // Whoever cannot tell says nothing: the caller then has a transaction that may be mined
    if (yield* Effect.orElseSucceed(isBurned(committed), () => false))
      return yield* new NonceBurned({ lane: lane.id, nonce, hash });
  }
  if (kind === "rejected" || kind === "underpriced") {
    const isFree = kind === "rejected" && (yield* recycle(committed));
    return yield* new SendRejected({ lane: lane.id, nonce, hash, kind, isFree, detail: refusalText(outcome) });
  }
  const state = receipt === null ? (outcome.state ?? "handed") : "mined";
  return { lane, nonce, hash, outcome, state, receipt } satisfies Sent;
});

/** Sends what `permit` recorded, and nothing where it fails. Between the two nothing is interrupted. */
const sending = <E, R, R2>(permit: Effect.Effect<Committed, E, R>, send: () => Effect.Effect<unknown, unknown, R2>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(permit, (committed) =>
      restore(Effect.flatMap(outcomeOfSend(send), ({ outcome, receipt }) => report(committed, outcome, receipt))),
    ),
  );

/**
 * Commits the signed bytes under a lease, then sends them with `send`: the order that the fence demands.
 * Fails like `commit` and `report`; nothing is sent when the commit fails.
 */
export const deliver = <A, E, R>(lease: Lease, raw: Hex | `0x${string}`, send: (raw: Hex) => Effect.Effect<A, E, R>) =>
  Effect.andThen(
    Effect.fromResult(besideLane({ send: send ?? false }, ["send"])),
    sending(commit(lease, { raw }), () => send(raw.toLowerCase() as Hex)),
  );

/**
 * {@link replace}, then sends the replacement, by the `Sender` when `send` is left out: what to do with a
 * transaction that is stuck, or was refused. Fails like `replace` and `report`; nothing is sent when the
 * replacement is not recorded.
 */
export const sendReplacement = Effect.fn("Nonces.sendReplacement")(function* <A = Hash, E = never, R = never>(
  lane: Lane,
  nonce: bigint,
  replaces: Hash,
  raw: Hex | `0x${string}`,
  send?: (raw: Hex) => Effect.Effect<A, E, R>,
) {
  yield* context(lane, { send }, ["send"]);
  const sendBy: (raw: Hex) => Effect.Effect<unknown, unknown, R | Rpc> = send ?? broadcast;
  return yield* sending(replace(lane, nonce, replaces, raw), () => sendBy(raw.toLowerCase() as Hex));
});

const deliverSigned = <E, R, R2>(
  lease: Lease,
  sign: (nonce: bigint) => Effect.Effect<Hex | `0x${string}`, E, R>,
  send: ((raw: Hex) => Effect.Effect<unknown, unknown, R2>) | undefined,
) =>
  Effect.flatMap(
    askedBy(() => sign(lease.nonce)),
    (raw) => deliver<unknown, unknown, R2 | Rpc>(lease, raw, send ?? broadcast),
  );

/**
 * Takes a nonce, has it signed, commits it and sends it: what most callers need.
 *
 * ```ts
 * const sent = yield* Nonces.withNonce({ chainId: 8453, address }, (nonce) => sign({ ...request, nonce }))
 * ```
 * `sign` answers with the signed bytes; while it runs the nonce is only leased. `send` broadcasts bytes
 * and may fail with anything; left out, the {@link Sender}.
 *
 * It succeeds with {@link Sent} when the node took the transaction, or may have. When it fails nothing
 * was or will be sent, so that trying again pays once; except with an error whose `mayBeSent` is true:
 * `SendRejected` (the nonce keeps the refused bytes) and `NonceStoreError` at the commit.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import * as Layer from "effect/Layer";
 * import { Nonces, NonceStore, Rpc } from "evm-preflight";
 * import { privateKeyToAccount } from "viem/accounts";
 *
 * const account = privateKeyToAccount("0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6");
 * const sent = await Nonces.withNonce({ chainId: 31337, address: account.address }, (nonce) =>
 *   Effect.promise(() =>
 *     account.signTransaction({
 *       chainId: 31337,
 *       nonce: Number(nonce),
 *       to: account.address,
 *       gas: 21_000n,
 *       maxFeePerGas: 10n ** 10n,
 *       maxPriorityFeePerGas: 10n ** 9n,
 *     }),
 *   ),
 * ).pipe(
 *   Effect.provide(Layer.merge(Rpc.layerHttp("http://127.0.0.1:8545"), NonceStore.layerMemory)),
 *   Effect.runPromise,
 * );
 * console.log(sent.nonce, sent.outcome.kind); // 0n accepted
 * ```
 */
export const withNonce = Effect.fn("Nonces.withNonce")(function* <E, R, A = Hash, E2 = never, R2 = never>(
  lane: Lane,
  sign: (nonce: bigint) => Effect.Effect<Hex | `0x${string}`, E, R>,
  send?: (raw: Hex) => Effect.Effect<A, E2, R2>,
  options?: ReserveOptions,
) {
  yield* context(lane, { sign: sign ?? false, send }, ["sign", "send"]);
  return yield* Effect.scoped(Effect.flatMap(reserve(lane, options), (lease) => deliverSigned(lease, sign, send)));
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
  options?: Omit<ReserveOptions, "width">,
) {
  yield* context(lane, { sign: sign ?? false, send }, ["sign", "send"]);
  return yield* Effect.scoped(
    Effect.flatMap(reserveGap(lane, options), (lease) =>
      lease === null ? Effect.succeed(null) : deliverSigned(lease, sign, send),
    ),
  );
});
