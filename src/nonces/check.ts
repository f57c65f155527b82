/** The invariants of a lane, whichever store holds it. Pure. */
import { foreign } from "./laneRules.js";
import type { Snapshot } from "./store.js";

const hash = /^0x[0-9a-f]{64}$/;

const ofSlot = (
  slot: Snapshot["slots"][number],
  { floor, next, tail }: Snapshot,
  before: typeof slot | undefined,
  after: typeof slot | undefined,
) => {
  const found: Array<string> = [];
  const active = slot.nonce >= floor;
  if (slot.nonce < tail || slot.nonce >= next) found.push("lies outside the lane");
  if (active === (slot.state === "settled")) found.push(`is ${slot.state} ${active ? "above" : "below"} the floor`);
  if ((slot.state === "free") !== (slot.token === "")) found.push("is free with a token, or held without one");
  if (slot.token === foreign && slot.state === "committed") found.push(`is ${slot.state} for somebody else`);
  const isPassed = slot.state === "settled" && slot.token === foreign;
  const expected = (slot.state === "committed" || slot.state === "settled") && slot.width !== 0 && !isPassed;
  if (expected !== slot.attempts.length > 0) found.push(`is ${slot.state} with ${slot.attempts.length} transactions`);
  if (slot.attempts.some((each) => !hash.test(each.hash))) found.push("has a transaction without a hash");
  if (slot.state === "reserved" && !(slot.until > 0)) found.push("is reserved without an end");
  const second = after?.nonce === slot.nonce + 1n && after.width === 0 && after.token === slot.token;
  if (active && slot.width === 2 && !(second && after.state === slot.state)) found.push("misses its second nonce");
  const first = before?.nonce === slot.nonce - 1n && before.width === 2 && before.token === slot.token;
  if (active && slot.width === 0 && !first) found.push("is a second nonce without the first");
  return found;
};

/**
 * Every violation of the partition, in words; empty for a sound lane. The snapshot must be a whole
 * one, with all of `[tail, next)`.
 */
export const violations = (snapshot: Snapshot): ReadonlyArray<string> => {
  const { floor, next, tail, slots } = snapshot;
  const found: Array<string> = [];
  if (!(tail <= floor && floor <= next)) found.push(`the bounds are out of order: ${tail}, ${floor}, ${next}`);
  const numbers = new Set<bigint>();
  const tokens = new Map<string, bigint>();
  const hashes = new Map<string, bigint>();
  slots.forEach((slot, index) => {
    const say = (what: string) => found.push(`nonce ${slot.nonce} ${what}`);
    if (numbers.has(slot.nonce)) say("stands twice");
    numbers.add(slot.nonce);
    ofSlot(slot, snapshot, slots[index - 1], slots[index + 1]).forEach(say);
    if (slot.width !== 0 && slot.token !== foreign && (slot.state === "reserved" || slot.state === "committed")) {
      if (tokens.has(slot.token)) say(`shares its token with nonce ${tokens.get(slot.token)}`);
      tokens.set(slot.token, slot.nonce);
    }
    for (const attempt of slot.attempts) {
      if (hashes.has(attempt.hash)) say(`shares a transaction with nonce ${hashes.get(attempt.hash)}`);
      hashes.set(attempt.hash, slot.nonce);
    }
  });
  const active = slots.filter(({ nonce }) => nonce >= floor && nonce < next).length;
  if (BigInt(active) !== next - floor && next - floor <= 1_000_000n) {
    for (let nonce = floor; nonce < next && found.length < 32; nonce += 1n) {
      if (!numbers.has(nonce)) found.push(`nonce ${nonce} is in no state`);
    }
  }
  if (next > floor && slots.at(-1)?.nonce === next - 1n && slots.at(-1)?.state === "free") {
    found.push(`nonce ${next - 1n} is free at the top`);
  }
  return found;
};
