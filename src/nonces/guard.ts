/** Refuses what no lane can hold, and remembers lanes, so that a process notices when a store that lasts does not. */
import * as Effect from "effect/Effect";
import { NonceStoreError } from "../errors/index.js";
import { areCounts, type LaneId } from "./lane.js";
import type { Attempt, Counts, Keep } from "./laneRules.js";
import type { Result, Store } from "./store.js";

/** Nothing gets better by itself. */
export const refuse = (operation: string, detail: string): NonceStoreError =>
  new NonceStoreError({ operation, detail, isRetryable: false });

/** A newer format may mean what we would destroy. */
export const newerFormat = (operation: string, format: number, known: number): NonceStoreError =>
  refuse(operation, `the lane has format ${format}, this version knows up to ${known}`);

/**
 * The most commits seen per lane. A store that has fewer was restored from an older state, and would
 * hand out again what was broadcast: nothing more is done with the lane in this process. One that others have
 * pushed past the count since is not noticed.
 */
export const makeCommitCounts = () => {
  const highest = new Map<string, number>();
  const of = ({ id }: LaneId): number => highest.get(id) ?? 0;
  return {
    of,
    remember: (lane: LaneId, commits: number): void => void highest.set(lane.id, Math.max(of(lane), commits)),
    /** Fails where the store has fewer. */
    check: (operation: string, lane: LaneId, commits: number): Result<void> =>
      commits >= of(lane)
        ? Effect.void
        : Effect.fail(
            refuse(
              operation,
              `the store went back in time: ${of(lane) - commits} commits of lane ${lane.id} are gone; let what is in flight be mined, then start the lane anew`,
            ),
          ),
    /** The mark of a lane that is kept, else that this process has seen it. */
    markOf:
      (lane: LaneId) =>
      (mark: string | null): string | null =>
        mark ?? (of(lane) > 0 ? "" : null),
    forget: ({ id }: LaneId): void => void highest.delete(id),
  };
};

const largest = BigInt(Number.MAX_SAFE_INTEGER);

const tokenProblem = (token: string): string | null =>
  /^[\w-]{1,64}$/.test(token) ? null : "token: has 1 to 64 of A-Z a-z 0-9 _ -";

const ttlProblem = (ttlMs: number): string | null =>
  Number.isSafeInteger(Math.trunc(ttlMs)) && ttlMs >= 0 ? null : "ttlMs: is a time in ms";

const chainProblem = (counts: Counts, { settledMs, foreignMs, doubtMs }: Keep): string | null => {
  if (!areCounts(counts) || counts.latest >= largest) return "counts: are not believable";
  const isWhole = [settledMs, foreignMs, doubtMs].every((ms) => Number.isSafeInteger(ms) && ms >= 0);
  return isWhole ? null : "keep: has whole ms";
};

const attemptProblem = ({ hash, raw }: Attempt): string | null => {
  if (!/^0x[0-9a-f]{64}$/.test(hash)) return "hash: has 32 bytes of hex, in lower case";
  return raw === null || /^0x(?:[0-9a-f]{2})+$/.test(raw) ? null : "raw: is bytes in hex, in lower case";
};

const unless = <A>(problem: string | null, operation: string, effect: Result<A>): Result<A> =>
  problem === null ? effect : Effect.fail(refuse(operation, problem));

/** The store, with a refusal that names the field for what no lane can hold. */
export const guarded = (store: Store): Store => ({
  ...store,
  bootstrap: (lane, counts, keep) =>
    unless(chainProblem(counts, keep), "bootstrap", store.bootstrap(lane, counts, keep)),
  reserve: (lane, request) => {
    const { token, counts, keep, ttlMs } = request;
    const problem = tokenProblem(token) ?? chainProblem(counts, keep) ?? ttlProblem(ttlMs);
    return unless(problem, "reserve", store.reserve(lane, { ...request, ttlMs: Math.trunc(ttlMs) }));
  },
  commit: (lane, claim, attempt) => unless(attemptProblem(attempt), "commit", store.commit(lane, claim, attempt)),
  replace: (lane, nonce, replaces, attempt) =>
    unless(attemptProblem(attempt), "replace", store.replace(lane, nonce, replaces, attempt)),
  reconcile: (lane, request) =>
    unless(chainProblem(request.counts, request.keep), "reconcile", store.reconcile(lane, request)),
  adopt: (lane, counts, keep) => unless(chainProblem(counts, keep), "adopt", store.adopt(lane, counts, keep)),
});
