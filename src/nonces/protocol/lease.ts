/** Taking a nonce, and the fence before it is used. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import * as Ref from "effect/Ref";
import type { Hash, Hex } from "../../primitives/hex.js";
import {
  LeaseLost,
  NonceBusy,
  NonceColdStart,
  NonceForgotten,
  NonceImplausible,
  ReplaceConflict,
} from "../../errors/nonces.js";
import { NonceStore } from "../../NonceStore.js";
import { laneOf, type Lane, type LaneId } from "../lane.js";
import * as Metrics from "../metrics.js";
import type { Attempt, Counts, Unmoved } from "../laneRules.js";
import { reserve as decideReserve, type ReserveRequest } from "../operations.js";
import { patiently } from "../patience.js";
import { Settings } from "../settings.js";
import { attemptOf } from "../signed.js";
import { readCounts, readFacts, type Facts } from "./chain.js";

/** A nonce that is the holder's until the lease ends. It permits to sign, not to broadcast. */
export interface Lease {
  readonly lane: LaneId;
  readonly nonce: bigint;
  /** The second nonce goes to an authorisation of the sender itself (EIP-7702). */
  readonly width: 1 | 2;
  readonly token: string;
  /** How long the store keeps it, from when it was given, ms. */
  readonly leaseMs: number;
  /** The counts it was taken on. */
  readonly counts: Counts;
  /** Whether a commit used it up. */
  readonly spent: Ref.Ref<boolean>;
}

/** The permission to broadcast: a transaction that the store holds for its nonce. */
export interface Committed {
  readonly lane: LaneId;
  readonly nonce: bigint;
  readonly token: string;
  readonly hash: Hash;
  /** null = the caller kept the bytes. */
  readonly raw: Hex | null;
}

export interface ReserveOptions {
  /** How long it is kept without a commit, ms; default of the settings. */
  readonly ttl?: number;
  /** 2 for a transaction that carries an authorisation of its own sender. Default 1. */
  readonly width?: 1 | 2;
  /** The chain's counts, where just read; stale ones are harmless. Asked for otherwise. */
  readonly counts?: Counts;
  /** Whether the sender has an EIP-7702 delegation. Asked for otherwise, unless `counts` are given. */
  readonly delegated?: boolean;
}

/** The lane, checked; the store; the settings. */
export const context = Effect.fnUntraced(function* (lane: Lane) {
  const checked = yield* Effect.fromResult(laneOf(lane));
  return { lane: checked, store: yield* NonceStore, settings: yield* Settings };
});

export const keepOf = ({ settledMs, foreignMs, doubtMs }: Settings) => ({ settledMs, foreignMs, doubtMs });

export const unmovedError = (lane: LaneId, latest: bigint, answer: Unmoved) =>
  answer._tag === "Implausible"
    ? new NonceImplausible({ lane: lane.id, count: latest, next: answer.next })
    : new NonceForgotten({ lane: lane.id, count: latest, tail: answer.tail });

const factsOf = (lane: LaneId, { counts, delegated }: ReserveOptions) =>
  counts !== undefined
    ? Effect.succeed<Facts>({ counts, delegated: delegated ?? false })
    : delegated === undefined
      ? readFacts(lane)
      : Effect.map(readCounts(lane), (read): Facts => ({ counts: read, delegated }));

const newToken = Effect.sync(() => globalThis.crypto.randomUUID());

const requestOf = (settings: Settings, facts: Facts, options: ReserveOptions, token: string, gapOnly: boolean) =>
  ({
    token,
    ttlMs: options.ttl ?? settings.ttlMs,
    width: options.width ?? 1,
    cap: facts.delegated ? Math.min(settings.delegatedInFlight, settings.inFlight) : settings.inFlight,
    gapOnly,
    counts: facts.counts,
    keep: keepOf(settings),
  }) satisfies ReserveRequest;

const take = Effect.fnUntraced(function* (given: Lane, options: ReserveOptions, gapOnly: boolean) {
  const { lane, store, settings } = yield* context(given);
  const facts = yield* factsOf(lane, options);
  const token = yield* newToken;
  const request = requestOf(settings, facts, options, token, gapOnly);
  const ask = patiently("reserve", settings, store.reserve(lane, request));
  const begin = patiently("bootstrap", settings, store.bootstrap(lane, facts.counts, request.keep));

  const acquire = Effect.gen(function* () {
    const first = yield* ask;
    const { answer, moved } =
      first.answer._tag === "Cold" && !store.persistent ? yield* Effect.andThen(begin, ask) : first;
    yield* Metrics.countMoved({ answer, moved });
    switch (answer._tag) {
      case "Granted": {
        yield* Metric.update(Metrics.reserved, 1);
        const spent = yield* Ref.make(false);
        const width = request.width;
        return { lane, nonce: answer.nonce, width, token, leaseMs: answer.leaseMs, counts: facts.counts, spent };
      }
      case "NoGap":
        return null;
      case "Cold":
        return yield* new NonceColdStart({ lane: lane.id, ...facts.counts });
      case "Implausible":
      case "Forgotten":
        return yield* unmovedError(lane, facts.counts.latest, answer);
      case "Spent":
        return yield* new LeaseLost({ lane: lane.id, nonce: answer.nonce });
      case "Busy":
        return yield* new NonceBusy({
          lane: lane.id,
          inFlight: answer.inFlight,
          cap: answer.cap,
          retryInMs: answer.retryInMs === null ? null : Math.ceil(answer.retryInMs),
        });
    }
  });
  return yield* Effect.acquireRelease(acquire, (lease: Lease | null) =>
    lease === null ? Effect.void : Effect.ignore(release(lease)),
  );
});

/** A gap's nonce, or null when the lane has none. See `fillGap`. */
export const reserveGap = (lane: Lane, options: ReserveOptions = {}) => take(lane, options, true);

/**
 * Takes the lane's next nonce, as late as possible: after the simulation and the approval, before
 * signing. When the scope closes and nothing was committed, the nonce is free again.
 *
 * Fails with `NonceBusy`, `NonceColdStart`, `NonceForgotten`, `NonceImplausible`, `NonceStoreError`, `InvalidLane`, and
 * with what the node answers. JSON-RPC, at once, unless `counts` are given: `eth_chainId`,
 * `eth_getTransactionCount` on `latest` and `pending`, `eth_getCode`.
 */
export const reserve = Effect.fn("Nonces.reserve")(function* (lane: Lane, options: ReserveOptions = {}) {
  const lease = yield* take(lane, options, false);
  // Only a request for a gap is answered without a nonce
  return lease ?? (yield* Effect.die(new Error("the store answered a reservation with no gap")));
});

/**
 * The nonce that a reservation would get now, without taking it: for a simulation. Asks the node's
 * counts unless they are given; nothing is written.
 */
export const peek = Effect.fn("Nonces.peek")(function* (given: Lane, options: Pick<ReserveOptions, "counts"> = {}) {
  const { lane, store, settings } = yield* context(given);
  const counts = options.counts ?? (yield* readCounts(lane));
  const snapshot = yield* patiently("read", settings, store.read(lane));
  if (snapshot === null) return counts.pending > counts.latest ? counts.pending : counts.latest;
  const slots = new Map(snapshot.slots.map((slot) => [slot.nonce, slot]));
  const view = { ...snapshot, doubt: 0n, doubtAt: 0, get: (nonce: bigint) => slots.get(nonce) };
  const request = requestOf(settings, { counts, delegated: false }, {}, "a reservation only imagined", false);
  const { answer } = decideReserve(view, { ...request, cap: Number.MAX_SAFE_INTEGER }, snapshot.now);
  return answer._tag === "Granted" ? answer.nonce : snapshot.next;
});

/** Gives the nonce back before its scope closes. Nothing happens when it was committed, or given to another already. */
export const release = Effect.fn("Nonces.release")(function* ({ lane, nonce, token, spent }: Lease) {
  if (yield* Ref.get(spent)) return;
  const store = yield* NonceStore;
  const settings = yield* Settings;
  yield* patiently("release", settings, store.release(lane, { token, nonce }));
});

/** Signed bytes, or only a hash: then nobody but the caller can send it again after a crash. */
export type Signed = { readonly raw: Hex | `0x${string}` } | { readonly hash: Hash };

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
  const answer = yield* patiently("commit", settings, store.commit(lane, { token, nonce }, attempt));
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
  const answer = yield* patiently("replace", settings, store.replace(lane, nonce, old, attempt));
  if (answer._tag === "Cold") return yield* new NonceColdStart({ lane: lane.id });
  if (answer._tag === "Conflict") return yield* new ReplaceConflict({ lane: lane.id, nonce, last: answer.last });
  return { lane, nonce, token: "", ...attempt } satisfies Committed;
}, Effect.uninterruptible);

/**
 * Starts a lane that the store does not know: when `latest` and `pending` agree, twice, `settleMs`
 * apart (default 15 s, more than a slot). A node that is blind to the mempool cannot show what waits
 * there: after a loss, let everything in flight be mined first. Answers whether the lane was new.
 *
 * Fails with `NonceColdStart` while something is in flight. JSON-RPC: as `reserve`, twice.
 */
export const bootstrap = Effect.fn("Nonces.bootstrap")(function* (
  given: Lane,
  options: { readonly settleMs?: number } = {},
) {
  const { lane } = yield* context(given);
  const before = yield* readCounts(lane);
  yield* Effect.sleep(options.settleMs ?? 15_000);
  const after = yield* readCounts(lane);
  if (before.latest !== after.pending || before.pending !== after.latest) {
    return yield* new NonceColdStart({ lane: lane.id, ...after });
  }
  return yield* adopt(given, { counts: after });
});

/**
 * Starts a lane at the chain's counts as they are, on the operator's word that no transaction of ours
 * is in flight which they do not show. What waits between them is left alone.
 */
export const adopt = Effect.fn("Nonces.adopt")(function* (given: Lane, options: { readonly counts?: Counts } = {}) {
  const { lane, store, settings } = yield* context(given);
  const counts = options.counts ?? (yield* readCounts(lane));
  const isNew = yield* patiently("bootstrap", settings, store.bootstrap(lane, counts, keepOf(settings)));
  const lanes = yield* patiently("lanes", settings, store.lanes);
  yield* Metrics.gaugeLanes(lanes.length);
  return isNew;
});
