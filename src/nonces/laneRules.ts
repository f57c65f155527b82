/**
 * The nonce protocol as pure decisions: what every store does, and what the property tests hold it to.
 *
 * A lane is the partition of `[floor, next)` into free, reserved and committed nonces, and a history
 * `[tail, floor)` of settled ones. An operation reads a {@link View} and the store's clock and answers
 * with a {@link Decision}: the answer, and what to write. It changes nothing itself.
 */
import type { Mutable } from "effect/Types";
import type { Hash, Hex } from "../primitives/index.js";

/** One signed transaction for a nonce. Without `raw` it can be looked up, but not sent again. */
export interface Attempt {
  /** The hash of the signed bytes. */ readonly hash: Hash;
  /** The signed bytes. */ readonly raw: Hex | null;
}

/** One nonce. Times are epoch ms on the store's clock. */
export interface Slot {
  /** Its state. */ readonly state: "free" | "reserved" | "committed" | "settled";
  /**
   * Made by who reserved it; {@link foreign} where a transaction of somebody else seems to wait, or the
   * chain passed a nonce that held none of ours; empty when free.
   */
  readonly token: string;
  /** 1 = one transaction, one nonce; 2 = the transaction uses this nonce and the next; 0 = that next one. */
  readonly width: 0 | 1 | 2;
  /** When a reservation ends; 0 otherwise. */
  readonly until: number;
  /** When it became what it is. */
  readonly since: number;
  /** When its bytes were last taken for sending. */
  readonly offeredAt: number;
  /** True if anyone but its owner has the bytes. */
  readonly shared: boolean;
  /** The last thing reported about it; empty = nothing yet. */
  readonly outcome: string;
  /** First the transaction that was committed, then its replacements. */
  readonly attempts: ReadonlyArray<Attempt>;
}

/** The bounds of a lane, beside its nonces. */
export interface Bounds {
  /** The first nonce that is not settled. */
  readonly floor: bigint;
  /** The first nonce that was never issued. */
  readonly next: bigint;
  /** The first nonce of the history. */
  readonly tail: bigint;
  /** A latest count that contradicts the lane and is not believed yet; it means nothing while `doubtAt` is 0. */
  readonly doubt: bigint;
  /** Since when every latest count contradicted the lane to the same side, epoch ms; 0 = the last one did not. */
  readonly doubtAt: number;
}

export const boundsOf = ({ floor, next, tail, doubt, doubtAt }: Bounds): Bounds => ({
  ...{ floor, next, tail, doubt, doubtAt },
});

/** A lane as an operation sees it. */
export interface View extends Bounds {
  readonly get: (nonce: bigint) => Slot | undefined;
}

/** The chain's counts for the account. `pending` may be blind to the mempool, and both may be stale. */
export interface Counts {
  /** `eth_getTransactionCount` on `latest`. */ readonly latest: bigint;
  /** The same on `pending`. */ readonly pending: bigint;
}

/** How long things are kept. */
export interface Keep {
  /** How long settled rows are kept, ms, so that what a reorganisation drops can be sent again: longer than blocks take to be final. */
  readonly settledMs: number;
  /** How long a nonce is left alone after a transaction of somebody else was last seen there, ms. */
  readonly foreignMs: number;
  /**
   * How long every latest count has to contradict the lane before that is believed, ms: be below its floor (a
   * reorganisation, or a stale node), or far above all that was issued.
   */
  readonly doubtMs: number;
}

/** An operation's answer, and the lane after it. */
export interface Decision<A> extends Bounds {
  /** The answer to the caller. */ readonly answer: A;
  /** null = the nonce is forgotten. */
  readonly writes: ReadonlyMap<bigint, Slot | null>;
  /** Nonces settled, and leases that ended and went back, by this operation. */
  readonly moved: { readonly settled: number; readonly recycled: number };
}

/** The token of nonces that transactions of somebody else hold. Nobody can reserve with it. */
export const foreign = "foreign";
/** A latest count this far above all we ever issued is not believed: it would close the lane for good. */
export const maxLead = 65_536n;
/** A pending count this far above the floor is not believed, a latest one this far above all we issued not at once. */
export const maxPendingLead = 1_024n;
/** Settled rows kept at most. */
export const maxSettled = 4_096n;
/** History looked at by one operation. */
export const pruneStep = 64;
/** Transactions for one nonce. */
export const maxAttempts = 32;

export const freeSlot: Slot = {
  state: "free",
  token: "",
  width: 1,
  until: 0,
  since: 0,
  offeredAt: 0,
  shared: false,
  outcome: "",
  attempts: [],
};

/** A lane under one operation: reads through to the view, keeps what is to be written. */
export interface Draft extends Mutable<Bounds> {
  readonly writes: Map<bigint, Slot | null>;
  settled: number;
  recycled: number;
  readonly get: (nonce: bigint) => Slot | undefined;
}

export const draftOf = (view: View): Draft => {
  const writes = new Map<bigint, Slot | null>();
  return {
    ...boundsOf(view),
    writes,
    settled: 0,
    recycled: 0,
    get: (nonce) => {
      const write = writes.get(nonce);
      return write === undefined ? view.get(nonce) : (write ?? undefined);
    },
  };
};

export const decide = <A>(draft: Draft, answer: A): Decision<A> => ({
  ...boundsOf(draft),
  answer,
  writes: draft.writes,
  moved: { settled: draft.settled, recycled: draft.recycled },
});

/** Free nonces at the top were never committed: give them back to `next`. */
export const trim = (draft: Draft): void => {
  while (draft.next > draft.floor && draft.get(draft.next - 1n)?.state === "free") {
    draft.next -= 1n;
    draft.writes.set(draft.next, null);
  }
};

/** Everything below the latest count is over: committed rows settle, and that the others held none of ours is remembered. */
export const raise = (draft: Draft, latest: bigint, now: number): void => {
  const end = latest < draft.next ? latest : draft.next;
  for (let nonce = draft.floor; nonce < end; nonce += 1n) {
    const slot = draft.get(nonce);
    // A missing slot was lost, and may have been committed: it stays missing
    if (slot === undefined) continue;
    const settles = slot.state === "committed";
    if (settles && slot.width !== 0) draft.settled += 1;
    const base = settles ? slot : { ...freeSlot, token: foreign };
    draft.writes.set(nonce, { ...base, state: "settled", since: now });
  }
  draft.floor = latest;
  if (draft.next < latest) draft.next = latest;
  // The transaction and its authorisation count up together. If the count stopped between them, the
  // authorisation was not applied and the second nonce is free.
  if (draft.floor < draft.next && draft.get(draft.floor)?.width === 0) draft.writes.set(draft.floor, freeSlot);
};

const keepsAll = (draft: Draft, from: bigint): boolean => {
  for (let nonce = from; nonce < draft.floor; nonce += 1n) if (draft.get(nonce) === undefined) return false;
  return true;
};

/** The second nonce of a pair that is in flight again: it was taken for free; where another has it by now, that one keeps it. */
const holdSecond = (draft: Draft, nonce: bigint, first: Slot): void => {
  const { token, since } = first;
  const after = draft.get(nonce + 1n);
  if (after?.width === 0 && after.token === token) return;
  const isFree = after === undefined ? nonce + 1n >= draft.next : after.state === "free";
  if (!isFree) return void draft.writes.set(nonce, { ...first, width: 1 });
  draft.writes.set(nonce + 1n, { ...freeSlot, state: "committed", token, width: 0, since });
  if (draft.next < nonce + 2n) draft.next = nonce + 2n;
};

/**
 * The chain went back to `to`: what had settled is in flight again, what held none of ours is free, and
 * so is what is burned, whose bytes are never sent again, and what is no longer kept.
 */
export const lower = (draft: Draft, to: bigint, now: number): void => {
  for (let nonce = to; nonce < draft.floor; nonce += 1n) {
    const slot = draft.get(nonce) ?? freeSlot;
    const before = draft.get(nonce - 1n);
    const isSecond = slot.width === 0 && before?.state === "committed" && before.token === slot.token;
    const isOurs = slot.attempts.length > 0 && slot.outcome !== "burned";
    if (!isSecond && !isOurs) {
      draft.writes.set(nonce, freeSlot);
      continue;
    }
    const again: Slot = { ...slot, state: "committed", since: now, outcome: "" };
    draft.writes.set(nonce, again);
    if (slot.width === 2) holdSecond(draft, nonce, again);
  }
  draft.floor = to;
};

const hold = (draft: Draft, nonce: bigint, now: number, ms: number): void => {
  draft.writes.set(nonce, { ...freeSlot, state: "reserved", token: foreign, until: now + ms, since: now });
};

/**
 * Judges the latest count. One below the floor is stale, or a reorganisation; one far above all
 * we issued is a lie, or somebody else's: either is believed when none contradicted it for `doubtMs`,
 * and then the one nearest to what the lane knew.
 */
const settle = (draft: Draft, latest: bigint, keep: Keep, now: number): Unmoved | null => {
  const isLow = latest < draft.floor;
  const isFar = latest > draft.next && latest > draft.floor + maxPendingLead;
  if (!isLow && !isFar) {
    draft.doubtAt = 0;
    // One that is a little above what we issued is first taken for a pending one: see `advance`
    if (latest <= draft.next) raise(draft, latest, now);
    return null;
  }
  const implausible: Unmoved = { _tag: "Implausible", next: draft.next };
  if (latest > draft.next + maxLead) return implausible;
  if (draft.doubtAt === 0 || draft.doubt < draft.floor !== isLow) {
    draft.doubt = latest;
    draft.doubtAt = now;
  } else if (isLow ? latest > draft.doubt : latest < draft.doubt) draft.doubt = latest;
  const isBelieved = draft.doubtAt + keep.doubtMs <= now;
  if (!isBelieved) return isLow ? null : implausible;
  if (isLow && !keepsAll(draft, draft.doubt)) return { _tag: "Forgotten", tail: draft.tail };
  if (isLow) lower(draft, draft.doubt, now);
  else raise(draft, draft.doubt, now);
  draft.doubtAt = 0;
  return null;
};

/** The counts cannot be acted on. */
export type Unmoved =
  /** The latest count is too far above all that was issued. */
  | { readonly _tag: "Implausible"; readonly next: bigint }
  /** For as long as the settings say, the latest count was below all that is kept. */
  | { readonly _tag: "Forgotten"; readonly tail: bigint };

/** The common start of every operation that read the chain. Where it answers something, no nonce was moved. */
export const advance = (draft: Draft, counts: Counts, keep: Keep, now: number): Unmoved | null => {
  const unmoved = settle(draft, counts.latest, keep, now);
  if (unmoved === null) sweep(draft, counts, keep, now);
  return unmoved;
};

/** Takes back leases that ended. */
const endLeases = (draft: Draft, now: number): void => {
  for (let nonce = draft.floor; nonce < draft.next; nonce += 1n) {
    const slot = draft.get(nonce);
    if (slot?.state !== "reserved" || slot.until > now) continue;
    if (slot.width !== 0 && slot.token !== foreign) draft.recycled += 1;
    draft.writes.set(nonce, freeSlot);
  }
};

/** Forgets what is old, a few nonces at a time. */
const forgetOld = (draft: Draft, keep: Keep, now: number): void => {
  for (let step = 0; step < pruneStep && draft.tail < draft.floor; step += 1) {
    const slot = draft.get(draft.tail);
    const old = slot === undefined || slot.since + keep.settledMs <= now || draft.floor - draft.tail > maxSettled;
    if (!old) break;
    if (slot !== undefined) draft.writes.set(draft.tail, null);
    draft.tail += 1n;
  }
};

/** Leases that ended go back, what somebody else sent is held, and what is old is forgotten. */
export const sweep = (draft: Draft, counts: Counts, keep: Keep, now: number): void => {
  endLeases(draft, now);
  // A pending count above a nonce that is free here, or above all that were issued, means that somebody else sent there.
  const pending = counts.pending > counts.latest ? counts.pending : counts.latest;
  if (pending <= draft.floor + maxPendingLead) {
    for (let nonce = draft.floor; nonce < pending; nonce += 1n) {
      const slot = nonce < draft.next ? draft.get(nonce) : freeSlot;
      if (slot?.state === "free" || slot?.token === foreign) hold(draft, nonce, now, keep.foreignMs);
    }
    if (draft.next < pending) draft.next = pending;
  }
  trim(draft);
  forgetOld(draft, keep, now);
};

/** A lane that begins at the chain's counts; what waits between them is held for whoever sent it. */
export const begin = (counts: Counts, keep: Keep, now: number): Decision<null> => {
  const { latest } = counts;
  const draft = draftOf({ floor: latest, next: latest, tail: latest, doubt: 0n, doubtAt: 0, get: () => undefined });
  advance(draft, counts, keep, now);
  return decide(draft, null);
};
