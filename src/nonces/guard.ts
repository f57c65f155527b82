/** What would damage a lane is written to none. */
import * as Effect from "effect/Effect";
import { refuse } from "./distrust.js";
import type { Attempt, Counts, Keep } from "./laneRules.js";
import type { Result, Store } from "./store.js";

const largest = BigInt(Number.MAX_SAFE_INTEGER);

const tokenProblem = (token: string): string | null =>
  /^[\w-]{1,64}$/.test(token) ? null : "token: has 1 to 64 of A-Z a-z 0-9 _ -";

const countsProblem = ({ latest, pending }: Counts): string | null =>
  latest >= 0n && latest < largest && pending >= 0n ? null : "counts: are not believable";

const keepProblem = (keep: Keep): string | null =>
  Object.values(keep).every((ms: number) => Number.isSafeInteger(ms) && ms >= 0) ? null : "keep: has whole ms";

const ttlProblem = (ttlMs: number): string | null =>
  Number.isSafeInteger(Math.trunc(ttlMs)) && ttlMs >= 0 ? null : "ttlMs: is a time in ms";

const attemptProblem = ({ hash, raw }: Attempt): string | null =>
  !/^0x[0-9a-f]{64}$/.test(hash)
    ? "hash: has 32 bytes of hex, in lower case"
    : raw !== null && !/^0x(?:[0-9a-f]{2})+$/.test(raw)
      ? "raw: is bytes in hex, in lower case"
      : null;

const unless = <A>(operation: string, problems: ReadonlyArray<string | null>, effect: Result<A>): Result<A> => {
  const detail = problems.find((problem) => problem !== null) ?? null;
  return detail === null ? effect : Effect.fail(refuse(operation, detail));
};

/** The store, with a refusal that names the field for what no lane can hold. */
export const guarded = (store: Store): Store => ({
  ...store,
  bootstrap: (lane, counts, keep) =>
    unless("bootstrap", [countsProblem(counts), keepProblem(keep)], store.bootstrap(lane, counts, keep)),
  reserve: (lane, request) => {
    const { token, counts, keep, ttlMs } = request;
    const problems = [tokenProblem(token), countsProblem(counts), keepProblem(keep), ttlProblem(ttlMs)];
    return unless("reserve", problems, store.reserve(lane, { ...request, ttlMs: Math.trunc(ttlMs) }));
  },
  commit: (lane, claim, attempt) => unless("commit", [attemptProblem(attempt)], store.commit(lane, claim, attempt)),
  replace: (lane, nonce, replaces, attempt) =>
    unless("replace", [attemptProblem(attempt)], store.replace(lane, nonce, replaces, attempt)),
  reconcile: (lane, request) =>
    unless("reconcile", [countsProblem(request.counts), keepProblem(request.keep)], store.reconcile(lane, request)),
  adopt: (lane, counts, keep) =>
    unless("adopt", [countsProblem(counts), keepProblem(keep)], store.adopt(lane, counts, keep)),
});
