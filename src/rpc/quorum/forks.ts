/** What several endpoints say of forks, as one answer. Pure. */
import * as Result from "effect/Result";
import { forksIn } from "../../primitives/names.js";
import { isRecord } from "../../primitives/record.js";
import { byMiddle, providersOf, reachedBy, type Vote } from "./middle.js";
import type { Answer } from "./verdict.js";

/**
 * One answer to `eth_config` that can be read, with the earliest fork still to come (`now` in epoch ms) that more than
 * `others` providers tell of: these alone can neither hide nor invent one. A node that was not updated knows of none, so
 * that no difference is a lie. Who does not serve the method says nothing; null where no more than `others` say anything.
 */
export const earliestFork = (votes: ReadonlyArray<Vote>, now: number, others: number): Answer | null => {
  const readable = votes.flatMap((vote) => {
    const config = Result.isSuccess(vote.answer) ? vote.answer.success : null;
    const { fork, next } = forksIn(config);
    return isRecord(config) && fork !== null ? [{ ...vote, config, next }] : [];
  });
  const [first] = byMiddle([], readable);
  if (first === undefined || providersOf(readable) <= others) return null;
  const coming = readable.flatMap(({ provider, next }) => (next === null ? [] : [[provider, next] as const]));
  const ahead = coming.filter(([, next]) => next * 1_000n > BigInt(now));
  const earliest = reachedBy(
    (ahead.length > others ? ahead : coming).map(([provider, next]) => [provider, -next] as const),
    others,
  );
  const next = readable.find((one) => one.next !== null && one.next === (earliest === null ? null : -earliest));
  return Result.succeed({ ...first.config, next: next?.config["next"] ?? null });
};
