/** The invariants of a lane, whichever store holds it. Pure. */
import { foreign } from "./laneRules.js";
import type { Snapshot } from "./store.js";

const hash = /^0x[0-9a-f]{64}$/;

type CheckedSlot = Snapshot["slots"][number];

/** The place of a slot: its lane, whether it is at the floor or above, and its neighbours. */
const placeOf = (lane: Snapshot, index: number, active: boolean) => ({
  lane,
  active,
  before: lane.slots[index - 1],
  after: lane.slots[index + 1],
});

/** True if a slot has transactions in a sound lane. */
const isExpected = ({ state, width, token }: CheckedSlot): boolean =>
  width !== 0 && (state === "committed" || (state === "settled" && token !== foreign));

/** True if the other nonce is the one beside it that one lease took with it. */
const isPair = ({ nonce, token }: CheckedSlot, other: CheckedSlot | undefined, by: bigint, width: number): boolean =>
  other?.nonce === nonce + by && other.width === width && other.token === token;

const hasSecond = (slot: CheckedSlot, after: CheckedSlot | undefined): boolean =>
  isPair(slot, after, 1n, 0) && after?.state === slot.state;

/** Each way in which a slot violates the partition, and its words. */
const faults: ReadonlyArray<
  readonly [
    isFault: (slot: CheckedSlot, at: ReturnType<typeof placeOf>) => boolean,
    what: (slot: CheckedSlot, at: ReturnType<typeof placeOf>) => string,
  ]
> = [
  [({ nonce }, { lane }) => nonce < lane.tail || nonce >= lane.next, () => "lies outside the lane"],
  [
    (slot, at) => at.active === (slot.state === "settled"),
    ({ state }, at) => `is ${state} ${at.active ? "above" : "below"} the floor`,
  ],
  [({ state, token }) => (state === "free") !== (token === ""), () => "is free with a token, or held without one"],
  [({ state, token }) => token === foreign && state === "committed", () => "is committed for somebody else"],
  [
    (slot) => isExpected(slot) !== slot.attempts.length > 0,
    ({ state, attempts }) => `is ${state} with ${attempts.length} transactions`,
  ],
  [({ attempts }) => attempts.some((each) => !hash.test(each.hash)), () => "has a transaction without a hash"],
  [({ state, until }) => state === "reserved" && !(until > 0), () => "is reserved without an end"],
  [(slot, at) => at.active && slot.width === 2 && !hasSecond(slot, at.after), () => "misses its second nonce"],
  [
    (slot, at) => at.active && slot.width === 0 && !isPair(slot, at.before, -1n, 2),
    () => "is a second nonce without the first",
  ],
];

/** Every violation by a slot, alone or beside others. */
const ofSlots = (lane: Snapshot): Array<string> => {
  const found: Array<string> = [];
  const [numbers, tokens, hashes] = [new Set<bigint>(), new Map<string, bigint>(), new Map<string, bigint>()];
  lane.slots.forEach((slot, index) => {
    const { nonce, token, state, width, attempts } = slot;
    const say = (what: string) => found.push(`nonce ${nonce} ${what}`);
    if (numbers.has(nonce)) say("stands twice");
    numbers.add(nonce);
    const at = placeOf(lane, index, nonce >= lane.floor);
    for (const [isFault, what] of faults) if (isFault(slot, at)) say(what(slot, at));
    if (width !== 0 && token !== foreign && (state === "reserved" || state === "committed")) {
      if (tokens.has(token)) say(`shares its token with nonce ${tokens.get(token)}`);
      tokens.set(token, nonce);
    }
    for (const attempt of attempts) {
      if (hashes.has(attempt.hash)) say(`shares a transaction with nonce ${hashes.get(attempt.hash)}`);
      hashes.set(attempt.hash, nonce);
    }
  });
  return found;
};

/**
 * Every violation of the partition, in words; empty for a sound lane. The snapshot must be a whole
 * one, with all of `[tail, next)`.
 */
export const violations = (snapshot: Snapshot): ReadonlyArray<string> => {
  const { floor, next, tail, slots } = snapshot;
  const isOrdered = tail <= floor && floor <= next;
  const bounds = isOrdered ? [] : [`the bounds are out of order: ${tail}, ${floor}, ${next}`];
  const found = [...bounds, ...ofSlots(snapshot)];
  const active = slots.filter(({ nonce }) => nonce >= floor && nonce < next).length;
  if (BigInt(active) !== next - floor && next - floor <= 1_000_000n) {
    const numbers = new Set(slots.map(({ nonce }) => nonce));
    for (let nonce = floor; nonce < next && found.length < 32; nonce += 1n)
      if (!numbers.has(nonce)) found.push(`nonce ${nonce} is in no state`);
  }
  const last = slots.at(-1);
  if (next > floor && last?.nonce === next - 1n && last.state === "free")
    found.push(`nonce ${last.nonce} is free at the top`);
  return found;
};
