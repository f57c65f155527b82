/** An operator's word about where the chain is. Pure. */
import { decide, draftOf, lower, maxLead, maxSettled, raise, sweep } from "./laneRules.js";
import type { Counts, Decision, Draft, Keep, Unmoved, View } from "./laneRules.js";

/** What became of setting a lane to the chain's counts. */
export type AdoptAnswer =
  | { readonly _tag: "Adopted"; readonly floor: bigint; readonly next: bigint }
  /** The count is more than 65,536 below the lane: forget it, and start it anew. */
  | Extract<Unmoved, { _tag: "Forgotten" }>
  | { readonly _tag: "Cold" };

/** Nothing is kept further below the floor than `maxSettled`: after a jump there is nothing to walk through. */
const shorten = (draft: Draft, next: bigint): void => {
  const tail = draft.floor - maxSettled;
  if (tail <= draft.tail) return;
  for (let nonce = draft.tail; nonce < tail && nonce < next; nonce += 1n) {
    if (draft.get(nonce) !== undefined) draft.writes.set(nonce, null);
  }
  draft.tail = tail;
};

/**
 * Sets the lane's floor to the latest count at once, where an operation that only read it would doubt it.
 * Upwards, what was committed below it settles, and all else there is settled as foreign. Downwards, what
 * has its bytes is in flight again, and all else is free, to be filled. A lease below the count is gone.
 */
export const adopt = (view: View, counts: Counts, keep: Keep, now: number): Decision<AdoptAnswer> => {
  const draft = draftOf(view);
  const { latest } = counts;
  if (latest + maxLead < view.floor) return decide(draft, { _tag: "Forgotten", tail: view.tail });
  draft.doubtAt = 0;
  if (latest < draft.floor) {
    lower(draft, latest, now);
    if (draft.tail > latest) draft.tail = latest;
  } else {
    raise(draft, latest, now);
    shorten(draft, view.next);
  }
  sweep(draft, counts, keep, now);
  return decide(draft, { _tag: "Adopted", floor: draft.floor, next: draft.next });
};
