/** What several endpoints say of forks, as one answer. Pure. */
import * as Result from "effect/Result";
import { forksIn } from "../../primitives/forks.js";
import { isRecord } from "../../primitives/record.js";
import type { Answer } from "./verdict.js";

/**
 * The first answer to `eth_config` that can be read, with the earliest fork still to come (`now` in epoch ms) that any
 * tells of: what comes is hidden only where all hide it, and by none that has been. A node that was not updated knows of
 * none, so that no difference is a lie. Who does not serve the method says nothing; null where nobody says anything.
 */
export const earliestFork = (answers: ReadonlyArray<Answer>, now: number): Answer | null => {
  const told = answers.flatMap((answer) => {
    const config = Result.isSuccess(answer) ? answer.success : null;
    const { fork, next } = forksIn(config);
    return isRecord(config) && fork !== null ? [{ config, next }] : [];
  });
  const [first] = told;
  if (first === undefined) return null;
  const coming = told.flatMap(({ config, next }) => (next === null ? [] : [{ config, next }]));
  const isPast = ({ next }: { readonly next: bigint }): boolean => next * 1_000n <= BigInt(now);
  const [earliest] = coming.sort((a, b) => Number(isPast(a)) - Number(isPast(b)) || (a.next < b.next ? -1 : 1));
  return Result.succeed({ ...first.config, next: earliest?.config["next"] ?? null });
};
