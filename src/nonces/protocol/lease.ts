/** Taking a nonce. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import * as Random from "effect/Random";
import * as Ref from "effect/Ref";
import * as Schedule from "effect/Schedule";
import { LeaseLost, NonceBusy, NonceColdStart } from "../../errors/index.js";
import { kindAndWhy } from "../../errors/sendOutcome.js";
import type { NonceStore } from "../../NonceStore.js";
import type { Report } from "../../report/index.js";
import { type Transaction, authorityOf } from "../../transaction/index.js";
import type { Lane, LaneId, Takes } from "../lane.js";
import * as Metrics from "../metrics.js";
import type { Counts } from "../laneRules.js";
import { reserve as decideReserve } from "../operations.js";
import type { Settings } from "../service.js";
import type { ReserveRequest } from "../store.js";
import { readCounts, readFacts, type LaneFacts } from "./chain.js";
import { asking, context, unmovedError } from "./context.js";
import { checkAgain } from "./identity.js";
import { inLine, placeOf, sharedFacts, type Line } from "./line.js";

/** A nonce that is the holder's until the lease ends. It permits to sign, not to broadcast. */
export interface Lease {
  /** The lane it is of. */
  readonly lane: LaneId;
  /** The nonce that was reserved. */
  readonly nonce: bigint;
  /** The second nonce goes to an authorisation of the sender itself (EIP-7702). */
  readonly width: 1 | 2;
  /** The token it is held by. */
  readonly token: string;
  /** How long the store keeps it, from when it was given, ms. */
  readonly leaseMs: number;
  /** The counts it was taken on. */
  readonly counts: Counts;
  /** True if a commit used it up. */
  readonly spent: Ref.Ref<boolean>;
}

/** How a nonce is reserved; every field has a default. */
export interface ReserveOptions {
  /** How long it is kept without a commit, ms; default of the settings. */
  readonly ttl?: number;
  /** 2 for a transaction that carries an authorisation of its own sender. Default 1. */
  readonly width?: 1 | 2;
  /** The chain's counts, where just read; stale ones are harmless. Asked for otherwise. */
  readonly counts?: Counts;
  /** True if the sender has an EIP-7702 delegation. Asked for otherwise, unless `counts` are given. */
  readonly delegated?: boolean;
  /**
   * How long to wait while the account has all its transactions in flight, ms, before that is
   * `NonceBusy`. Default 0: not at all.
   */
  readonly waitMs?: number;
}

/** The names of {@link ReserveOptions}. */
export const reserveTakes = ["ttl", "width", "counts", "delegated", "waitMs"] as const satisfies Takes;

const factsOf = (lane: LaneId, { counts, delegated }: ReserveOptions) =>
  counts !== undefined
    ? Effect.succeed<LaneFacts>({ counts, delegated: delegated ?? false })
    : readFacts(lane, delegated);

const requestOf = (settings: Settings, { counts, delegated }: LaneFacts, options: ReserveOptions): ReserveRequest => ({
  token: globalThis.crypto.randomUUID(),
  ttlMs: options.ttl ?? settings.ttlMs,
  width: options.width ?? 1,
  cap: delegated ? Math.min(settings.delegatedInFlight, settings.inFlight) : settings.inFlight,
  gapOnly: false,
  counts,
  keep: settings,
});

/** Between two tries of giving back, ms. */
const givingBackMs = 500;

/**
 * Gives back what the token may hold: an answer that was lost may have granted it. Where the store does not answer it goes
 * on in the background, for as long as the lease could last.
 */
const giveBack = (lane: LaneId, token: string, ttlMs: number): Effect.Effect<void, never, NonceStore> => {
  const once = asking("release", (store) => store.release(lane, { token, nonce: null }));
  const goOn = Effect.retry(once, {
    while: ({ isRetryable }) => isRetryable,
    schedule: Schedule.jittered(Schedule.spaced(givingBackMs)),
  }).pipe(Effect.timeoutOrElse({ duration: ttlMs, orElse: () => Effect.void }), Effect.ignore);
  return once.pipe(
    Effect.catch(() => Effect.forkDetach(goOn)),
    Effect.asVoid,
  );
};

const take = Effect.fnUntraced(function* (lane: LaneId, options: ReserveOptions, gapOnly: boolean) {
  const { store, settings } = yield* context(lane);
  const facts = yield* factsOf(lane, options);
  const { counts } = facts;
  const request = { ...requestOf(settings, facts, options), gapOnly };
  const { token, width, keep, ttlMs } = request;
  const ask = asking("reserve", () => store.reserve(lane, request));
  // It was tried for as long as the caller waits, and what is given back need not be waited for as well
  const abandon = Effect.forkDetach(giveBack(lane, token, ttlMs));
  const begin = asking("bootstrap", () => store.bootstrap(lane, counts, keep));

  const acquire = Effect.gen(function* () {
    const first = yield* Effect.tapError(ask, () => abandon);
    const { answer, moved } =
      first.answer._tag === "Cold" && !store.persistent ? yield* Effect.andThen(begin, ask) : first;
    yield* Metrics.countMoved({ answer, moved });
    if (answer._tag === "Granted") {
      const { nonce, leaseMs } = answer;
      // Transactions that the node has not seen may be of another chain, as well as in nobody's pool yet
      if (nonce > counts.pending) yield* Effect.tapError(checkAgain(lane), () => abandon);
      yield* Metric.update(Metrics.reserved, 1);
      return { lane, nonce, width, token, leaseMs, counts, spent: yield* Ref.make(false) };
    }
    if (answer._tag === "NoGap") return null;
    if (answer._tag === "Cold") return yield* new NonceColdStart({ lane: lane.id, ...counts });
    if (answer._tag === "Spent") return yield* new LeaseLost({ lane: lane.id, nonce: answer.nonce });
    if (answer._tag !== "Busy") return yield* unmovedError(lane, counts.latest, answer);
    const { inFlight, cap, retryInMs } = answer;
    const wholeMs = retryInMs === null ? null : Math.ceil(retryInMs);
    const head = answer.head && { ...answer.head, outcome: kindAndWhy(answer.head.outcome).outcome };
    return yield* new NonceBusy({ lane: lane.id, inFlight, cap, retryInMs: wholeMs, head });
  });
  return yield* Effect.acquireRelease(acquire, (lease: Lease | null) =>
    lease === null || Ref.getUnsafe(lease.spent) ? Effect.void : giveBack(lane, token, lease.leaseMs),
  );
});

/** A gap's nonce, or null when the lane has none. See `fillGap`. */
export const reserveGap = Effect.fnUntraced(function* (input: Lane, options?: Omit<ReserveOptions, "width">) {
  const { lane, given } = yield* context(input, options, ["ttl", "counts", "delegated"]);
  return yield* take(lane, given, true);
});

/** Between two tries of who waits, ms: waiters of many processes spread out. */
const firstPauseMs = 50;
const longestPauseMs = 1_000;

/** Looks at random times, at most a second apart, until there is a nonce or the time is over. */
const look = Effect.fnUntraced(function* (lane: LaneId, line: Line, options: ReserveOptions, until: number) {
  const { counts: _, ...fresh } = options;
  let pauseMs = firstPauseMs;
  while (true) {
    const facts = lane.key === 0n ? yield* sharedFacts(line, factsOf(lane, fresh)) : null;
    const current = facts === null ? options : { ...fresh, ...facts };
    const result = yield* Effect.result(take(lane, current, false));
    if (result._tag === "Success") return result.success;
    if (result.failure._tag !== "NonceBusy") return yield* result.failure;
    line.last = null;
    const leftMs = until - (yield* Clock.currentTimeMillis);
    if (!(leftMs > 0)) return yield* result.failure;
    yield* Effect.sleep(Math.min(leftMs, pauseMs * (0.5 + (yield* Random.next))));
    pauseMs = Math.min(pauseMs * 1.5, longestPauseMs / 1.5);
  }
});

/**
 * Takes the lane's next nonce, as late as possible: after the simulation and the approval, before
 * signing. When the scope closes and nothing was committed, the nonce is free again. With `waitMs` it
 * waits for one while the account has all its transactions in flight: of those that wait in this process
 * the first looks again at random times, at most a second apart, and the others stand behind it in order.
 *
 * Fails with `NonceBusy`, `NonceColdStart`, `NonceForgotten`, `NonceChainReset`, `NonceImplausible`, `NonceStoreError`,
 * `InvalidLane`, and with what the node answers. JSON-RPC, at once, unless `counts` are given: `eth_chainId`,
 * `eth_getTransactionCount` on `latest` and `pending`, `eth_getCode`; the same for each look of who waits,
 * for counts that were given grow old, unless the lane has a key. Where the nonce is above the pending count, every few
 * seconds `eth_getBlockByNumber`, whether that is the lane's chain.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Nonces, NonceStore, Rpc } from "evm-preflight";
 *
 * const lane = { chainId: 31337, address: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65" } as const;
 * const two = Effect.all([Nonces.reserve(lane), Nonces.reserve(lane)]); // one signature each
 * const [first, second] = await Effect.scoped(two).pipe(
 *   Effect.provide(NonceStore.layerMemory),
 *   Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")),
 *   Effect.runPromise,
 * );
 * console.log(first.nonce, second.nonce); // 0n 1n
 * ```
 */
export const reserve = Effect.fn("Nonces.reserve")(function* (input: Lane, options?: ReserveOptions) {
  const { lane, given, store } = yield* context(input, options, reserveTakes);
  const { waitMs = 0 } = given;
  const place = yield* placeOf(store, lane);
  const until = (yield* Clock.currentTimeMillis) + waitMs;
  const waiting = inLine(place, waitMs, (line) => look(lane, line, given, until));
  const taken = take(lane, given, false);
  const first = waitMs > 0 ? Effect.catchTag(taken, "NonceBusy", () => waiting) : taken;
  const lease = yield* waitMs > 0 && place.lines.has(place.name) ? waiting : first;
  // Only a request for a gap is answered without a nonce
  return lease ?? (yield* Effect.die(new Error("the store answered a reservation with no gap")));
});

/**
 * The nonce that a reservation would get now, without taking it: for a simulation. Asks the node's
 * counts unless they are given; nothing is written.
 */
export const peek = Effect.fn("Nonces.peek")(function* (input: Lane, options?: Pick<ReserveOptions, "counts">) {
  const { lane, given, settings } = yield* context(input, options, ["counts"]);
  const counts = given.counts ?? (yield* readCounts(lane));
  const snapshot = yield* asking("read", (store) => store.read(lane));
  if (snapshot === null) return counts.pending > counts.latest ? counts.pending : counts.latest;
  const slots = new Map(snapshot.slots.map((slot) => [slot.nonce, slot]));
  const view = { ...snapshot, doubt: 0n, doubtAt: 0, get: (nonce: bigint) => slots.get(nonce) };
  const request = { ...requestOf(settings, { counts, delegated: false }, {}), cap: Number.MAX_SAFE_INTEGER };
  const { answer } = decideReserve(view, request, snapshot.now);
  return answer._tag === "Granted" ? answer.nonce : snapshot.next;
});

/** Gives the nonce back before its scope closes. Nothing happens when it was committed, or given to another already. */
export const release = Effect.fn("Nonces.release")(function* ({ lane, nonce, token, spent }: Lease) {
  if (yield* Ref.get(spent)) return;
  yield* asking("release", (store) => store.release(lane, { token, nonce }));
});

/** True if the transaction delegates its own sender, which takes a second nonce. */
const isSelfAuthorising = ({ from, authorizationList }: Transaction): boolean =>
  authorizationList?.some((entry) => authorityOf(entry)?.toLowerCase() === from.toLowerCase()) === true;

const countsOf = ({ latest, next }: Report["transactions"][number]["nonce"]): Counts | null =>
  latest === null || next === null ? null : { latest: BigInt(latest), pending: BigInt(next) };

/**
 * One lease per transaction whose nonce the caller left open, in order; null for the others, and for
 * all while the chain is not known. Taken on the counts that the report has already read. What is not
 * committed when the scope closes is free again. With `waitMs` each may wait that long.
 * {@link Preflight.reserving} takes them between a scan and its proof, which then speaks of them.
 */
export const reserveAll = Effect.fn("Nonces.reserveAll")(function* (
  report: Report,
  options: Pick<ReserveOptions, "ttl" | "waitMs"> = {},
) {
  const { chainId } = report;
  return yield* Effect.forEach(report.transactions, ({ input, nonce, code }) => {
    if (chainId === null || input.nonce !== null) return Effect.succeed<Lease | null>(null);
    const counts = countsOf(nonce);
    return reserve(
      { chainId, address: input.from },
      {
        ...options,
        width: isSelfAuthorising(input) ? 2 : 1,
        ...(counts === null ? {} : { counts, delegated: code.from.kind === "delegated" }),
      },
    );
  });
});
