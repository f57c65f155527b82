/** What a process remembers of lanes in a store that lasts, so that it notices when the store does not, and what it refuses. */
import * as Effect from "effect/Effect";
import { NonceStoreError } from "../errors/nonces.js";
import type { LaneId } from "./lane.js";
import type { Result } from "./store.js";

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
export const makeCommitsSeen = () => {
  const seen = new Map<string, number>();
  const of = ({ id }: LaneId): number => seen.get(id) ?? 0;
  return {
    of,
    remember: (lane: LaneId, commits: number): void => void seen.set(lane.id, Math.max(of(lane), commits)),
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
    forget: ({ id }: LaneId): void => void seen.delete(id),
  };
};
