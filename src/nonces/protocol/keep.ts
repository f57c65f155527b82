/** Reconciling in the background, beside the senders. */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as Metric from "effect/Metric";
import * as Random from "effect/Random";
import { errorTypeOf, Listener } from "../../primitives/telemetry.js";
import type { Hex } from "../../primitives/hex.js";
import { refusalText } from "../../errors/sendOutcome.js";
import type { Lane, LaneId } from "../lane.js";
import * as Metrics from "../metrics.js";
import { ownNonceOnly } from "./chain.js";
import { context } from "./context.js";
import { reconcile, type Reconciliation } from "./reconcile.js";
import type { ReadCounts } from "./start.js";

/** How lanes are kept; every field has a default. */
export interface KeepOptions<E = unknown, R = never> {
  /** Between two reconciliations, ms. Default 5 s; longer, up to a minute, while they fail. */
  readonly everyMs?: number | undefined;
  /** Sends bytes again; the `Sender` when left out. */
  readonly send?: ((raw: Hex) => Effect.Effect<unknown, unknown, R>) | undefined;
  /** Reads the chain's counts, for each reconciliation: needed for a lane with a key. */
  readonly counts?: ReadCounts<E, R> | undefined;
}

/** Something that `keep` could not do: it goes on, and somebody should look. */
export interface KeepEvent {
  /** What kind of event it is. */
  readonly type: "keep";
  /** `chainId:address:key`. */
  readonly lane: string;
  /** The tag of the error that a reconciliation failed with; `rejected` or `underpriced` where a node refused bytes that were sent again; `burned` where another's transaction is final at the nonce of one that is then never mined. */
  readonly reason: string;
  /** What happened, for people. */
  readonly message: string;
}

const longestPauseMs = 60_000;

const tell = Effect.fnUntraced(function* (lane: LaneId, reason: string, message: string) {
  yield* Metric.update(Metric.withAttributes(Metrics.keepFailed, { lane: lane.id, reason }), 1);
  yield* Effect.logWarning(`nonces of ${lane.id}: ${message}`).pipe(Effect.annotateLogs({ lane: lane.id, reason }));
  const listener = yield* Listener;
  listener?.({ type: "keep", lane: lane.id, reason, message } satisfies KeepEvent);
});

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause);
  return error instanceof Error ? error.message : String(error);
};

/** What is lost, told once; and what nodes refuse, told once for each transaction and answer. */
const tellLost = Effect.fnUntraced(function* (
  lane: LaneId,
  told: Map<string, string>,
  { resent, committed, ended }: Reconciliation,
) {
  for (const { nonce, hash, end } of ended) {
    if (end === "mined") continue;
    const words = `nonce ${nonce} was taken by a transaction that is none of ours and is final: ${hash} is never mined`;
    yield* tell(lane, end, words);
  }
  for (const { nonce, hash, outcome } of resent) {
    const { kind } = outcome;
    if ((kind !== "rejected" && kind !== "underpriced") || told.get(hash) === kind) continue;
    told.set(hash, kind);
    const why = refusalText(outcome);
    yield* tell(lane, kind, `nonce ${nonce} is refused, and what is behind it waits: ${why}`);
  }
  const held = new Set<string>(committed.map(({ hash }) => hash));
  for (const hash of told.keys()) if (!held.has(hash)) told.delete(hash);
});

/** The lane, where `keep` can work for it. */
export const checkKept = Effect.fnUntraced(function* (given: Lane, hasCounts: boolean) {
  const { lane } = yield* context(given);
  if (!hasCounts) yield* ownNonceOnly(lane);
  return lane;
});

/**
 * Reconciles for ever, `everyMs` apart: fork it beside the senders, or use {@link layerKeep}. A
 * reconciliation that fails, and bytes that a node refuses, are logged at Warning with lane and reason,
 * counted (`evm_preflight_nonces_keep_failed_total`), and never end it.
 *
 * Fails at once with `InvalidLane`, also for a lane with a key without `counts`.
 */
export const keep = Effect.fn("Nonces.keep")(function* <E = never, R = never>(
  given: Lane,
  options: KeepOptions<E, R> = {},
) {
  const { counts, send, everyMs = 5_000 } = options;
  const lane = yield* checkKept(given, counts !== undefined);
  const once =
    counts === undefined
      ? reconcile<unknown, unknown, R>(given, send)
      : Effect.flatMap(counts(lane), (read) => reconcile<unknown, unknown, R>(given, send, { counts: read }));
  const told = new Map<string, string>();
  let pauseMs = everyMs;
  while (true) {
    const exit = yield* Effect.exit(once);
    if (Exit.isSuccess(exit)) {
      pauseMs = everyMs;
      yield* tellLost(lane, told, exit.value);
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
export const layerKeep = <E = never, R = never>(lanes: ReadonlyArray<Lane>, options: KeepOptions<E, R> = {}) =>
  Layer.effectDiscard(
    Effect.forEach(
      lanes,
      (lane) => Effect.andThen(checkKept(lane, options.counts !== undefined), Effect.forkScoped(keep(lane, options))),
      { discard: true },
    ),
  );
