/** The operations of the nonce protocol, one pure decision each. See `laneRules.ts`. */
import type * as Effect from "effect/Effect";
import { kindAndWhy } from "../errors/sendOutcome.js";
import type { Hash } from "../primitives/index.js";
import {
  advance,
  decide,
  draftOf,
  foreign,
  freeSlot,
  lower,
  maxAttempts,
  maxLead,
  maxSettled,
  raise,
  sweep,
  trim,
} from "./laneRules.js";
import type { Attempt, Counts, Decision, Draft, Keep, Slot, View } from "./laneRules.js";
import type { ReserveAnswer, ReserveRequest, Store } from "./store.js";

type StoreAnswer<K extends "commit" | "replace" | "reconcile" | "adopt"> = Effect.Success<ReturnType<Store[K]>>;

const lease = (request: ReserveRequest, width: Slot["width"], now: number): Slot => ({
  ...freeSlot,
  state: "reserved",
  token: request.token,
  width,
  until: now + request.ttlMs,
  since: now,
});

/** Nonces that were issued and are not settled; `slot` undefined = the store lost it, and it may have been committed. */
const activeIn = (draft: Draft): ReadonlyArray<{ readonly nonce: bigint; readonly slot: Slot | undefined }> => {
  const found: Array<{ readonly nonce: bigint; readonly slot: Slot | undefined }> = [];
  for (let nonce = draft.floor; nonce < draft.next; nonce += 1n) found.push({ nonce, slot: draft.get(nonce) });
  return found;
};

/** Finds what is in the way of a new nonce, and where the lowest free one is. */
const survey = (draft: Draft) => {
  const active = activeIn(draft);
  const free = active.find(({ slot }) => slot?.state === "free")?.nonce ?? null;
  const held = active.flatMap(({ nonce, slot }) =>
    slot === undefined || slot.state === "free" ? [] : [{ nonce, ...slot }],
  );
  const highest = held.findLast(({ state }) => state === "committed")?.nonce ?? null;
  const ends = held.flatMap(({ state, until }) => (state === "reserved" ? [until] : []));
  return {
    inFlight: active.filter(({ slot }) => slot?.state !== "free" && slot?.width !== 0).length,
    pair: held.some(({ width }) => width !== 1),
    free,
    gap: free !== null && highest !== null && free < highest,
    firstEnd: ends.length === 0 ? null : ends.reduce((first, end) => Math.min(first, end)),
    first: held[0],
  };
};

const isOwn = (slot: Slot | undefined, token: string): slot is Slot =>
  slot !== undefined && token !== foreign && slot.token === token && slot.width !== 0;

const find = (draft: Draft, token: string) => {
  for (let nonce = draft.floor; nonce < draft.next; nonce += 1n) {
    const slot = draft.get(nonce);
    if (isOwn(slot, token)) return { nonce, slot };
  }
  return null;
};

/**
 * The nonce that a request gets; null = none now. It is the lowest free one, else the next new one. A gap below a
 * committed nonce is always given, for nothing above it can be mined before.
 */
const nonceFor = (
  { free, gap, inFlight }: ReturnType<typeof survey>,
  next: bigint,
  { width, gapOnly }: Pick<ReserveRequest, "width" | "gapOnly">,
  cap: number,
): bigint | null => {
  if (gapOnly) return gap && width === 1 ? free : null;
  if (free === null) return inFlight < cap ? next : null;
  return width === 1 && (gap || inFlight < cap) ? free : null;
};

/** Leases a nonce, and with `width` 2 the one behind it. */
const grant = (draft: Draft, nonce: bigint, request: ReserveRequest, now: number): ReserveAnswer => {
  draft.writes.set(nonce, lease(request, request.width, now));
  if (request.width === 2) draft.writes.set(nonce + 1n, lease(request, 0, now));
  const end = nonce + BigInt(request.width);
  if (draft.next < end) draft.next = end;
  return { _tag: "Granted", nonce, leaseMs: request.ttlMs };
};

const busy = (
  { inFlight, firstEnd, first }: ReturnType<typeof survey>,
  cap: number,
  now: number,
): Extract<ReserveAnswer, { _tag: "Busy" }> => ({
  ...{ _tag: "Busy", inFlight, cap, retryInMs: firstEnd === null ? null : Math.max(0, firstEnd - now) },
  head:
    first === undefined
      ? null
      : {
          nonce: first.nonce,
          hash: first.attempts.at(-1)?.hash ?? null,
          outcome: first.outcome,
          ageMs: Math.max(0, now - first.since),
        },
});

/**
 * Leases a nonce to a token, or says what is in the way. Two nonces at once only on an idle lane, and nothing beside
 * them: pools take one transaction from an account that a pending authorisation speaks for.
 */
export const reserve = (view: View, request: ReserveRequest, now: number): Decision<ReserveAnswer> => {
  const draft = draftOf(view);
  if (request.token === foreign) return decide(draft, { _tag: "Spent", nonce: draft.floor });
  const unmoved = advance(draft, request.counts, request.keep, now);
  if (unmoved !== null) return decide(draft, unmoved);
  const known = find(draft, request.token);
  if (known !== null)
    return decide(
      draft,
      known.slot.state === "reserved"
        ? { _tag: "Granted", nonce: known.nonce, leaseMs: known.slot.until - now }
        : { _tag: "Spent", nonce: known.nonce },
    );
  const found = survey(draft);
  const cap = request.width === 2 || found.pair ? Math.min(1, request.cap) : request.cap;
  const nonce = nonceFor(found, draft.next, request, cap);
  if (nonce !== null) return decide(draft, grant(draft, nonce, request, now));
  return decide(draft, request.gapOnly ? { _tag: "NoGap" } : busy(found, cap, now));
};

/** Somebody else's transaction is final at the nonce. Its owner was told to pay again, so its bytes are never sent again. */
const isBurned = ({ outcome }: Slot): boolean => outcome === "burned";

/**
 * The fence: compare-and-set on the lease token. Committing the same transaction again succeeds; a
 * different one under the same token is `lost`.
 */
export const commit = (
  view: View,
  claim: Parameters<Store["commit"]>[1],
  attempt: Attempt,
  now: number,
): Decision<StoreAnswer<"commit">> => {
  const { nonce, token } = claim;
  const draft = draftOf(view);
  const slot = draft.get(nonce);
  if (!isOwn(slot, token)) return decide(draft, "lost");
  if (slot.state !== "reserved")
    return decide(draft, slot.attempts[0]?.hash === attempt.hash && !isBurned(slot) ? "committed" : "lost");
  const committed = { state: "committed", until: 0, since: now } as const;
  draft.writes.set(nonce, { ...slot, ...committed, offeredAt: now, attempts: [attempt] });
  const second = draft.get(nonce + 1n);
  if (slot.width === 2 && second?.width === 0 && second.token === token)
    draft.writes.set(nonce + 1n, { ...second, ...committed });
  return decide(draft, "committed");
};

const vacate = (draft: Draft, nonce: bigint, slot: Slot): void => {
  draft.writes.set(nonce, freeSlot);
  if (slot.width === 2) draft.writes.set(nonce + 1n, freeSlot);
  trim(draft);
};

/** Gives a reserved nonce back; false when the token does not hold it any more, or it is committed. */
export const release = (view: View, { token, nonce }: Parameters<Store["release"]>[1]): Decision<boolean> => {
  const draft = draftOf(view);
  const held = nonce === null ? find(draft, token) : { nonce, slot: draft.get(nonce) };
  if (held === null || !isOwn(held.slot, token) || held.slot.state !== "reserved") return decide(draft, false);
  vacate(draft, held.nonce, held.slot);
  return decide(draft, true);
};

/**
 * Gives a committed nonce back after its only transaction was refused for good: only while nobody
 * else was handed the bytes and no node is known to have taken them.
 */
export const recycle = (view: View, { nonce, token }: Parameters<typeof commit>[1], hash: Hash): Decision<boolean> => {
  const draft = draftOf(view);
  const slot = draft.get(nonce);
  const clean =
    isOwn(slot, token) &&
    slot.state === "committed" &&
    !slot.shared &&
    (slot.outcome === "" || kindAndWhy(slot.outcome).outcome === "rejected") &&
    slot.attempts.length === 1 &&
    slot.attempts[0]?.hash === hash;
  if (!clean) return decide(draft, false);
  vacate(draft, nonce, slot);
  return decide(draft, true);
};

/** Another transaction for a committed nonce: compare-and-set on the hash of the last one. */
export const replace = (
  view: View,
  nonce: bigint,
  replaces: Hash,
  attempt: Attempt,
  now: number,
): Decision<StoreAnswer<"replace">> => {
  const draft = draftOf(view);
  const slot = draft.get(nonce);
  const last = slot?.attempts.at(-1)?.hash ?? null;
  if (slot === undefined || last === null || isBurned(slot)) return decide(draft, { _tag: "Conflict", last });
  // Another may have replaced it since: it stands there all the same
  if (slot.attempts.some(({ hash }) => hash === attempt.hash)) return decide(draft, { _tag: "Replaced" });
  if (last !== replaces || slot.attempts.length >= maxAttempts) return decide(draft, { _tag: "Conflict", last });
  draft.writes.set(nonce, { ...slot, offeredAt: now, outcome: "", attempts: [...slot.attempts, attempt] });
  return decide(draft, { _tag: "Replaced" });
};

/**
 * Remembers it, where `hash` is one of the nonce's transactions. `mined` and `burned` are for settled
 * ones; `burned` only when that is final.
 */
export const report = (
  view: View,
  nonce: bigint,
  hash: Hash,
  outcome: Parameters<Store["report"]>[3],
): Decision<boolean> => {
  const draft = draftOf(view);
  const slot = draft.get(nonce);
  const final = outcome === "mined" || outcome === "burned";
  const fits =
    slot !== undefined && slot.attempts.some((each) => each.hash === hash) && (slot.state === "settled") === final;
  if (fits) draft.writes.set(nonce, { ...slot, outcome });
  return decide(draft, fits);
};

/** History that a snapshot shows; that of a reconciliation all of it from the latest count on. */
export const recent = 256n;
export const oldest = ({ floor, tail }: Pick<View, "floor" | "tail">): bigint =>
  floor - recent > tail ? floor - recent : tail;
/** Nonces handed out to be sent by one reconciliation. */
export const maxDue = 64;

/**
 * Moves the lane to the chain's counts and names, in ascending order, the nonces whose bytes the
 * caller is to send now: committed ones, and settled ones that the latest count no longer covers.
 */
export const reconcile = (
  view: View,
  request: Parameters<Store["reconcile"]>[1],
  now: number,
): Decision<StoreAnswer<"reconcile">["answer"]> => {
  const draft = draftOf(view);
  const unmoved = advance(draft, request.counts, request.keep, now);
  if (unmoved !== null) return decide(draft, unmoved);
  const { latest } = request.counts;
  const due: Array<bigint> = [];
  const start = latest > draft.tail ? latest : draft.tail;
  const from = start < oldest(draft) ? start : oldest(draft);
  for (let nonce = start; nonce < draft.next && due.length < maxDue; nonce += 1n) {
    const slot = draft.get(nonce);
    const last = slot?.attempts.at(-1);
    if (slot === undefined || isBurned(slot) || last === undefined || last.raw === null) continue;
    if (slot.offeredAt + request.resendAfterMs > now) continue;
    due.push(nonce);
    draft.writes.set(nonce, { ...slot, offeredAt: now, shared: true });
  }
  return decide(draft, { _tag: "Reconciled", due, from });
};

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
export const adopt = (view: View, counts: Counts, keep: Keep, now: number): Decision<StoreAnswer<"adopt">> => {
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
