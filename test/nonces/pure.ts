/** The pure decisions over a lane in memory, without a store. */
import type { Decision, Slot, Snapshot, View } from "../rooms/nonces.js";

/** A lane at nought; `apply` writes what was decided, and answers as it does. */
export const pureLane = () => {
  const slots = new Map<bigint, Slot>();
  const state = { floor: 0n, next: 0n, tail: 0n, doubt: 0n, doubtAt: 0 };
  const view = (): View => ({ ...state, get: (nonce) => slots.get(nonce) });
  const apply = <A>({ floor, next, tail, doubt, doubtAt, writes, answer }: Decision<A>): A => {
    Object.assign(state, { floor, next, tail, doubt, doubtAt });
    for (const [nonce, slot] of writes) {
      if (slot === null) slots.delete(nonce);
      else slots.set(nonce, slot);
    }
    return answer;
  };
  const snapshot = (now = 1): Snapshot => ({
    ...{ now, floor: state.floor, next: state.next, tail: state.tail },
    slots: [...slots].sort(([a], [b]) => (a < b ? -1 : 1)).map(([nonce, slot]) => ({ nonce, ...slot })),
  });
  return { state, slots, view, apply, snapshot };
};
