/** Bringing a lane and the chain together again, once or for as long as it is kept, and looking at it. */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as Metric from "effect/Metric";
import * as Random from "effect/Random";
import { type Hash, type Hex, errorTypeOf, Listener } from "../../primitives/index.js";
import { NonceColdStart, refusalText } from "../../errors/index.js";
import { recordOf } from "../../errors/sendOutcome.js";
import { NonceStore } from "../../NonceStore.js";
import type { Rpc } from "../../rpc/index.js";
import { countsBy, type Lane, type LaneId, type Takes } from "../lane.js";
import * as Metrics from "../metrics.js";
import type { Attempt, Counts } from "../laneRules.js";
import { statusOf } from "../status.js";
import type { Snapshot } from "../store.js";
import { broadcast, endings, minedOf, outcomeOfSend, ownNonceOnly, readCounts, shownOf } from "./chain.js";
import { asking, context, unmovedError } from "./context.js";
import { checkIdentity } from "./identity.js";

const committedIn = (
  snapshot: Snapshot,
): ReadonlyArray<Attempt & Pick<Snapshot["slots"][number], "nonce" | "attempts">> =>
  snapshot.slots.flatMap(({ state, nonce, attempts }) => {
    const last = attempts.at(-1);
    return state === "committed" && last !== undefined ? [{ nonce, ...last, attempts }] : [];
  });

/** True if it is settled, and not yet known how its transactions ended. */
const isOpenEnded = ({ state, outcome, attempts }: Snapshot["slots"][number]): boolean =>
  state === "settled" && attempts.length > 0 && outcome !== "mined" && outcome !== "burned";

/** Sends the last transactions of nonces again, in their order, but for those that the node shows. */
const resend = Effect.fnUntraced(function* <R>(
  lane: LaneId,
  due: Snapshot["slots"],
  shown: ReadonlyMap<Hash, unknown>,
  send: (raw: Hex) => Effect.Effect<unknown, unknown, R>,
) {
  const sent = yield* Effect.forEach(
    due,
    Effect.fnUntraced(function* ({ nonce, state, attempts }) {
      const last = attempts.at(-1);
      if (last === undefined || last.raw === null || shown.has(last.hash)) return [];
      const { hash, raw } = last;
      const { outcome } = yield* outcomeOfSend(() => send(raw));
      yield* Effect.ignore(asking("report", (store) => store.report(lane, nonce, hash, recordOf(outcome))));
      return [{ nonce, hash, outcome, fellOut: state === "settled" }];
    }),
  );
  return sent.flat();
});

/** Finds out how settled nonces ended, and tells the store; a nonce of which nobody can say it yet is not among them. */
const findEnds = Effect.fnUntraced(function* (lane: LaneId, settled: Snapshot["slots"], finalBefore: number) {
  const endOf = yield* endings(lane);
  const ended = yield* Effect.forEach(
    settled,
    Effect.fnUntraced(function* ({ nonce, attempts, since }) {
      const hashes = attempts.map((attempt) => attempt.hash);
      // A receipt that cannot be read now is read by a later reconciliation
      const mined = yield* Effect.orElseSucceed(minedOf(hashes), () => null);
      const [ours] = hashes;
      const later = mined !== null || since > finalBefore || ours === undefined ? null : yield* endOf(nonce, ours);
      const found = mined === null ? later : ({ end: "mined", hash: mined } as const);
      if (found === null) return [];
      const { end, hash } = found;
      yield* Effect.ignore(asking("report", (store) => store.report(lane, nonce, hash, end)));
      return [{ nonce, hash, end }];
    }),
    { concurrency: 8 },
  );
  return ended.flat();
});

/** {@link reconcile}; `isSparing` = what this node shows, or counts as pending, is not sent again. */
const reconcileBy = Effect.fnUntraced(function* <A, E, R>(
  input: Lane,
  send: ((raw: Hex) => Effect.Effect<A, E, R>) | undefined,
  options: { readonly counts?: Counts } | undefined,
  isSparing: boolean,
) {
  const { lane, given, settings } = yield* context(input, options, ["counts"]);
  yield* context(input, { send }, ["send"]);
  const sending: (raw: Hex) => Effect.Effect<unknown, unknown, R | Rpc> = send ?? broadcast;
  const counts = given.counts ?? (yield* readCounts(lane));
  yield* checkIdentity(lane);
  const request = { counts, keep: settings, resendAfterMs: settings.resendAfterMs };
  const { answer, moved, snapshot } = yield* asking("reconcile", (store) => store.reconcile(lane, request));
  if (answer._tag === "Cold" || snapshot === null) return yield* new NonceColdStart({ lane: lane.id, ...counts });
  if (answer._tag !== "Reconciled") return yield* unmovedError(lane, counts.latest, answer);
  yield* Metrics.countMoved({ answer, moved });
  yield* Metrics.gaugeLane(lane.id, snapshot);

  const { floor, next, slots, now } = snapshot;
  const numbers = new Set(answer.due);
  const due = slots.filter(({ nonce }) => numbers.has(nonce));
  const unknown = isSparing ? due.filter(({ nonce }) => nonce >= counts.pending) : due;
  const shown = yield* shownOf(isSparing ? unknown.flatMap(({ attempts }) => attempts.at(-1)?.hash ?? []) : []);
  const resent = yield* resend(lane, unknown, shown, sending);
  const open = slots.filter((slot) => isOpenEnded(slot) && slot.nonce < counts.latest);
  const ended = yield* findEnds(lane, open, now - settings.burnedAfterMs);
  return {
    /** The first nonce that is not settled. */
    floor,
    /** The first nonce that was never leased. */
    next,
    /** In flight, ascending: the last transaction of each nonce, `raw` null where only its owner has the bytes; `attempts`: the one that was committed, then its replacements. */
    committed: committedIn(snapshot),
    /** Free nonces below a committed one: nothing above them is mined before they are used. See `fillGap`. */
    gaps: Metrics.gapsOf(snapshot),
    /** Resent transactions with outcomes. `fellOut`: the chain had passed it before (a reorg, or a stale count). */
    resent,
    /** Settled nonces whose end became known now: `mined` by one of ours, or `burned` by somebody else's, which is final. */
    ended,
  };
});

/**
 * Moves the lane to the chain's counts, sends again what is due in nonce order (committed
 * transactions not sent for `resendAfterMs`, settled ones that fell out), names the gaps, and finds out
 * how settled nonces ended. Replicas may all run it: the store hands the bytes to one of them at a time.
 *
 * Fails with `NonceColdStart`, `NonceForgotten`, `NonceChainReset`, `NonceImplausible`, `NonceStoreError`, and when the
 * counts cannot be read. JSON-RPC: `eth_chainId`, `eth_getTransactionCount` on `latest` and `pending`;
 * `eth_sendRawTransaction`, or `send`; `eth_getTransactionReceipt`; where that has no
 * answer for `burnedAfterMs`, `eth_getBlockByNumber` and `eth_getTransactionCount` up to the final block.
 */
export const reconcile = Effect.fn("Nonces.reconcile")(function* <A = Hash, E = never, R = never>(
  input: Lane,
  send?: (raw: Hex) => Effect.Effect<A, E, R>,
  options?: { readonly counts?: Counts },
) {
  return yield* reconcileBy(input, send, options, false);
});

/** How lanes are kept; every field has a default. */
export interface KeepOptions<E = unknown, R = never> {
  /** Between two reconciliations, ms. Default 5 s; longer, up to a minute, while they fail. */
  readonly everyMs?: number | undefined;
  /** Sends bytes again; the `Sender` when left out. */
  readonly send?: ((raw: Hex) => Effect.Effect<unknown, unknown, R>) | undefined;
  /** Reads the chain's counts, for each reconciliation: needed for a lane with a key. */
  readonly counts?: ((lane: LaneId) => Effect.Effect<Counts, E, R>) | undefined;
}

/** Something that `keep` could not do: it goes on, and somebody should look. */
export interface KeepEvent {
  /** The kind of event. */
  readonly type: "keep";
  /** `chainId:address:key`. */
  readonly lane: string;
  /** The tag of the error that a reconciliation failed with; `rejected` or `underpriced` where a node refused bytes that were sent again; `burned` where another's transaction is final at the nonce of one that is then never mined. */
  readonly reason: string;
  /** A message for people that says what happened. */
  readonly message: string;
}

const longestPauseMs = 60_000;

const tell = Effect.fnUntraced(function* (lane: LaneId, reason: string, message: string) {
  yield* Metric.update(Metric.withAttributes(Metrics.keepFailed, { lane: lane.id, reason }), 1);
  yield* Effect.logWarning(`nonces of ${lane.id}: ${message}`).pipe(Effect.annotateLogs({ lane: lane.id, reason }));
  (yield* Listener)?.({ type: "keep", lane: lane.id, reason, message } satisfies KeepEvent);
});

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause);
  return error instanceof Error ? error.message : String(error);
};

/** Tells what is lost, once; and what nodes refuse, once for each transaction and answer. */
const tellLost = Effect.fnUntraced(function* (
  lane: LaneId,
  refusals: Map<string, string>,
  { resent, committed, ended }: Effect.Success<ReturnType<typeof reconcile>>,
) {
  for (const { nonce, hash, end } of ended) {
    if (end === "mined") continue;
    const words = `nonce ${nonce} was taken by a transaction that is none of ours and is final: ${hash} is never mined`;
    yield* tell(lane, end, words);
  }
  for (const { nonce, hash, outcome } of resent) {
    const { kind } = outcome;
    if ((kind !== "rejected" && kind !== "underpriced") || refusals.get(hash) === kind) continue;
    refusals.set(hash, kind);
    const why = refusalText(outcome);
    yield* tell(lane, kind, `nonce ${nonce} is refused, and what is behind it waits: ${why}`);
  }
  const hashes = new Set<string>(committed.map(({ hash }) => hash));
  for (const hash of refusals.keys()) if (!hashes.has(hash)) refusals.delete(hash);
});

/** The names of {@link KeepOptions}. */
export const keepTakes = ["everyMs", "send", "countsBy"] as const satisfies Takes;

/** The lane and the options, where `keep` can work by them. */
export const checkKept = Effect.fnUntraced(function* <E, R>(input: Lane, options?: KeepOptions<E, R> | null) {
  const { lane, given } = yield* context(input, options, keepTakes);
  if (given.counts === undefined) yield* ownNonceOnly(lane);
  return { lane, given };
});

/**
 * Reconciles for ever, `everyMs` apart: fork it beside the senders, or use {@link layerKeep}. Bytes are sent again only
 * while they are `handed`: the node neither shows them by their hash nor counts their nonce as pending. A
 * reconciliation that fails, and bytes that a node refuses, are logged at Warning with lane and reason,
 * counted (`evm_preflight_nonces_keep_failed_total`), and never end it.
 *
 * Fails at once with `InvalidLane`, also for a lane with a key without `counts`.
 */
export const keep = Effect.fn("Nonces.keep")(function* <E = never, R = never>(
  input: Lane,
  options?: KeepOptions<E, R>,
) {
  const { lane, given } = yield* checkKept(input, options);
  const { counts, send, everyMs = 5_000 } = given;
  const once =
    counts === undefined
      ? reconcileBy(input, send, undefined, true)
      : Effect.flatMap(countsBy(counts, lane), (read) => reconcileBy(input, send, { counts: read }, true));
  const refusals = new Map<string, string>();
  let pauseMs = everyMs;
  while (true) {
    const exit = yield* Effect.exit(once);
    if (Exit.isSuccess(exit)) {
      pauseMs = everyMs;
      yield* tellLost(lane, refusals, exit.value);
      yield* Effect.sleep(pauseMs);
    } else {
      yield* tell(lane, errorTypeOf(exit) ?? "_OTHER", messageOf(exit.cause));
      pauseMs = Math.max(everyMs, Math.min(pauseMs * 2, longestPauseMs));
      yield* Effect.sleep(pauseMs * (0.75 + (yield* Random.next) / 4));
    }
  }
});

/**
 * {@link keep} for each of the lanes, for as long as the layer lives. It stands beside whatever sends:
 * `Layer.provideMerge(Nonces.layerKeep([lane]), store)`. Fails with `InvalidLane`.
 */
export const layerKeep = <E = never, R = never>(lanes: ReadonlyArray<Lane>, options?: KeepOptions<E, R>) =>
  Layer.effectDiscard(
    Effect.forEach(lanes, (lane) => Effect.andThen(checkKept(lane, options), Effect.forkScoped(keep(lane, options))), {
      discard: true,
    }),
  );

/** Returns what is in flight, ascending, with its bytes: predecessors for a simulation. Asks only the store. */
export const committed = Effect.fn("Nonces.committed")(function* (input: Lane) {
  const { lane } = yield* context(input);
  const snapshot = yield* asking("read", (store) => store.read(lane));
  return snapshot === null ? [] : committedIn(snapshot);
});

const snapshotOf = Effect.fnUntraced(function* (lane: LaneId) {
  return (yield* asking("read", (store) => store.read(lane))) ?? (yield* new NonceColdStart({ lane: lane.id }));
});

/**
 * State of a lane: its nonces, gaps and counts. Fails with `NonceColdStart`. JSON-RPC: the counts, `null` where the
 * node does not answer, and then `eth_getTransactionByHash` for each transaction in flight; nothing is asked where counts
 * are given, as numbers or as `null`.
 */
export const status = Effect.fn("Nonces.status")(function* (
  input: Lane,
  options?: { readonly counts?: Counts | null },
) {
  const { lane, given } = yield* context(input, options, ["counts"]);
  const snapshot = yield* snapshotOf(lane);
  const asked = options?.counts === null ? Effect.succeed(null) : Effect.orElseSucceed(readCounts(lane), () => null);
  const counts = given.counts ?? (yield* asked);
  const isTold = options?.counts === null || given.counts !== undefined || counts === null;
  const shown = yield* shownOf(isTold ? [] : committedIn(snapshot).map(({ hash }) => hash));
  const found = yield* asking("check", (store) => store.check(lane));
  yield* Metrics.gaugeLane(lane.id, snapshot);
  return statusOf(lane, snapshot, counts, found, shown);
});

/**
 * A health probe: every violation of the lane's partition, in words; empty while the store is sound.
 * Asks only the store. Fails with `NonceColdStart` for a lane that it does not know, or lost.
 */
export const check = Effect.fn("Nonces.check")(function* (input: Lane) {
  const { lane } = yield* context(input);
  yield* snapshotOf(lane);
  return yield* asking("check", (store) => store.check(lane));
});

/** The lanes of the store, as `chainId:address:key`. */
export const lanes = NonceStore.use((store) => Effect.tap(store.lanes, (names) => Metrics.gaugeLanes(names.length)));
