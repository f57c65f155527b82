/** The first word on a lane: from which counts it begins. */
import * as Effect from "effect/Effect";
import { NonceColdStart } from "../../errors/index.js";
import { countsBy, type Lane, type LaneId } from "../lane.js";
import type { Counts } from "../laneRules.js";
import { poolHolds, readCounts } from "./chain.js";
import { anchorIn, checkIdentity, contradiction, findBlock } from "./identity.js";
import type { KeepOptions } from "./reconcile.js";
import { asking, context, unmovedError } from "./context.js";

const seenBefore = "its mark in the store, this process, or another schema of the database";

/** True if the marked chain is another one: what was in flight there is nothing to this one. */
const isReset = Effect.fnUntraced(function* (lane: LaneId, mark: string) {
  const anchor = anchorIn(mark);
  if (anchor === null) return false;
  const found = yield* findBlock(anchor.block);
  return found !== "none" && contradiction(lane.id, anchor, found) !== null;
});

/**
 * Starts a lane that the store does not know: when `latest` and `pending` agree, twice, `settleMs`
 * apart (default 15 s, more than a slot). A node that is blind to the mempool cannot show what waits
 * there: after a loss, let everything in flight be mined first. Answers whether the lane was new; for
 * one that is known, at once and without asking the node, so that every start of a process may call it.
 *
 * A lane with a key needs `counts`. Fails with `NonceColdStart` while something is in flight, and where the lane was
 * started before and the store has lost it (`lost`): this process has seen it, its mark is still there, or, in Postgres,
 * another schema of the database has it. Nobody knows that of a store that lost all, from a process that saw nothing.
 * JSON-RPC: as `reserve`, twice, unless `counts` read them, and `txpool_contentFrom` where the node has it.
 */
export const bootstrap = Effect.fn("Nonces.bootstrap")(function* <E = never, R = never>(
  input: Lane,
  options?: { readonly settleMs?: number | undefined; readonly counts?: KeepOptions<E, R>["counts"] },
) {
  const { lane, given } = yield* context(input, options, ["settleMs", "countsBy"]);
  if ((yield* asking("read", (store) => store.read(lane))) !== null) return false;
  const mark = yield* asking("mark", (store) => store.mark(lane));
  if (mark !== null && !(yield* isReset(lane, mark)))
    return yield* new NonceColdStart({ lane: lane.id, lost: mark === "" ? seenBefore : "its mark in the store" });
  const { counts, settleMs = 15_000 } = given;
  const ask = counts === undefined ? readCounts(lane) : countsBy(counts, lane);
  const before = yield* ask;
  const isHeldBefore = counts === undefined && (yield* poolHolds(lane));
  yield* Effect.sleep(settleMs);
  const after = yield* ask;
  const isHeld = isHeldBefore || (counts === undefined && (yield* poolHolds(lane)));
  if (isHeld || before.latest !== after.pending || before.pending !== after.latest)
    return yield* new NonceColdStart({ lane: lane.id, ...after });
  return yield* adopt(input, { counts: after });
});

/**
 * Starts a lane at the chain's counts as they are, on the operator's word that no transaction of ours
 * is in flight which they do not show. What waits between them is left alone.
 */
export const adopt = Effect.fn("Nonces.adopt")(function* (input: Lane, options?: { readonly counts?: Counts }) {
  const { lane, given, settings } = yield* context(input, options, ["counts"]);
  const counts = given.counts ?? (yield* readCounts(lane));
  const isNew = yield* asking("bootstrap", (store) => store.bootstrap(lane, counts, settings));
  if (isNew) yield* asking("setMark", (store) => store.setMark(lane, ""));
  // `keep` asks again where the node does not tell now
  yield* Effect.ignore(checkIdentity(lane));
  return isNew;
});

/**
 * Sets a lane that the store knows to the latest count at once, on the operator's word, where an operation
 * that only read it would doubt it. Upwards, what was committed below settles; downwards, what has its
 * bytes is in flight again, and all else is free. Answers the lane's bounds after it.
 *
 * Fails with `NonceColdStart`, and with `NonceForgotten` where the chain is too far below the lane.
 */
export const moveTo = Effect.fn("Nonces.moveTo")(function* (input: Lane, counts: Counts) {
  // why: what is null counts as absent elsewhere, and they may not be
  const { lane, settings } = yield* context(input, { counts: counts ?? false }, ["counts"]);
  const answer = yield* asking("adopt", (store) => store.adopt(lane, counts, settings));
  if (answer._tag === "Cold") return yield* new NonceColdStart({ lane: lane.id, ...counts });
  if (answer._tag === "Forgotten") return yield* unmovedError(lane, counts.latest, answer);
  return { floor: answer.floor, next: answer.next };
});

/**
 * Removes a lane with all that it holds; false when the store did not know it. After that, the store no longer knows
 * what is in flight: a lane that is started before it is mined may use its nonces twice.
 */
export const forget = Effect.fn("Nonces.forget")(function* (input: Lane) {
  const { lane } = yield* context(input);
  return yield* asking("forget", (store) => store.forget(lane));
});
