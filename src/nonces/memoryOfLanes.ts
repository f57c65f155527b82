/** What a process remembers of lanes in a store that lasts, so that it notices when the store does not. */
import * as Effect from "effect/Effect";
import { NonceStoreError } from "../errors/nonces.js";

/** The format of lanes that this version writes; those of 0.1.0 have no number. A newer one may mean what we would destroy. */
export const laneFormat = 2;

const refuse = (operation: string, detail: string) =>
  Effect.fail(new NonceStoreError({ operation, detail, isRetryable: false }));

export const newerFormat = (operation: string, format: number) =>
  refuse(operation, `the lane has format ${format}, this version knows up to ${laneFormat}`);

/**
 * The most commits seen per lane. A store that has fewer was restored from an older state, and would
 * hand out again what was broadcast: nothing more is done with the lane in this process.
 */
export const makeCommitsSeen = () => {
  const seen = new Map<string, number>();
  const of = (lane: string) => seen.get(lane) ?? 0;
  return {
    of,
    remember: (lane: string, commits: number): void => void seen.set(lane, Math.max(of(lane), commits)),
    wentBack: (operation: string, lane: string, commits: number) =>
      refuse(
        operation,
        `the store went back in time: ${of(lane) - commits} commits of lane ${lane} are gone; let what is in flight be mined, then start the lane anew`,
      ),
  };
};
