/** The pure model as a lane that changes, and random histories that a store must live through like it. */
import * as Effect from "effect/Effect";
import fc from "fast-check";
import { expect } from "vitest";
import type { ReserveAnswer, Snapshot, Store } from "../../src/NonceStore.js";
import { adopt, begin, foreign, Operations, type Keep } from "../rooms/nonces.js";
import { SendOutcomeKind } from "../rooms/errors.js";
import { pureLane } from "./pure.js";
import { at, attempt, ever, freshLane, hashOf } from "./lanes.js";

const which = (most: number) => fc.nat({ max: most });
const duration = fc.constantFrom(0, ever);
/** Counts around what the lane has: behind it, at it, ahead of it, and now and then absurd. */
const counts = fc.record({
  latest: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.constant(1) },
    { weight: 4, arbitrary: fc.integer({ min: -3, max: 6 }) },
    { weight: 1, arbitrary: fc.constantFrom(-1_000, 70_000, 2 ** 40) },
  ),
  pending: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -3, max: 4 }) },
    { weight: 1, arbitrary: fc.constantFrom(-1_000, 40, 5_000) },
  ),
});
const keep = fc.record({ settledMs: duration, foreignMs: duration, doubtMs: duration });

const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("reserve" as const),
      token: which(11),
      ttlMs: duration,
      width: fc.constantFrom<1 | 2>(1, 1, 1, 2),
      cap: fc.constantFrom(1, 3, 16),
      gapOnly: fc.constantFrom(false, false, false, true),
      counts,
      keep,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("commit" as const),
      token: which(11),
      shift: fc.constantFrom(0, 0, 0, 0, 1),
      variant: which(1),
      raw: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("release" as const),
      token: which(11),
      shift: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("recycle" as const), token: which(11), variant: which(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("replace" as const), token: which(11), variant: which(2), by: which(3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("report" as const),
      token: which(11),
      variant: which(1),
      outcome: fc.constantFrom<Parameters<Store["report"]>[3]>(...SendOutcomeKind.literals, "mined", "burned"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("reconcile" as const), counts, keep, resendAfterMs: duration }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("adopt" as const), counts, keep }) },
);
type Command = typeof command extends fc.Arbitrary<infer A> ? A : never;

export const history = fc.array(command, { minLength: 10, maxLength: 50, size: "max" });

const tokenOf = (index: number, generation = 0): string =>
  index === 11 ? foreign : `token-of-owner-${index}${generation === 0 ? "" : `-${generation}`}`;
const hashFor = (token: number, nonce: bigint, variant: number): bigint =>
  0xa000_0000n + BigInt(token) * 0x100_0000n + nonce * 8n + BigInt(variant);

/** What of a slot does not depend on the clock. */
const visible = (snapshot: Snapshot | null) =>
  snapshot === null
    ? null
    : {
        floor: snapshot.floor,
        next: snapshot.next,
        tail: snapshot.tail,
        slots: snapshot.slots.map(({ nonce, state, token, width, shared, outcome, attempts }) => ({
          ...{ nonce, state, token, width, shared, outcome, attempts },
        })),
      };

const seen = ({ snapshot, state }: ReturnType<typeof pureLane>, from = Operations.oldest(state)): Snapshot => ({
  ...snapshot(),
  slots: snapshot().slots.filter(({ nonce }) => nonce >= from),
});

const timeless = (answer: ReserveAnswer) =>
  answer._tag === "Granted"
    ? { ...answer, leaseMs: 0 }
    : answer._tag === "Busy"
      ? { ...answer, retryInMs: 0, head: answer.head && { ...answer.head, ageMs: 0 } }
      : answer;

/** Lives through a history with the store and with the model; fails at the first difference. */
export const liveThrough = (store: Store, commands: ReadonlyArray<Command>, start = 7n) =>
  Effect.gen(function* () {
    const lane = freshLane();
    const pure = pureLane();
    const { state: model, slots, view, apply } = pure;
    let now = 1_000_000;
    const all: Keep = { settledMs: ever, foreignMs: ever, doubtMs: ever };
    expect(yield* store.bootstrap(lane, at(start, start + 1n), all)).toBe(true);
    apply(begin(at(start, start + 1n), all, now));
    /** Where each token last got a nonce, and what was ever committed: told apart from the model's own memory. */
    const claims = new Map<number, bigint>();
    const committed = new Map<bigint, string>();
    /** Who reserves again after its nonce was settled does so with a new token, as every lease has its own. */
    const generations = new Map<number, number>();
    const tokenNow = (index: number) => tokenOf(index, generations.get(index));
    for (const each of commands) {
      now += 10;
      const around = (shift: { readonly latest: number; readonly pending: number }) => {
        const latest = model.floor + BigInt(shift.latest);
        const pending = model.next + BigInt(shift.pending);
        return at(latest < 0n ? 0n : latest, pending < 0n ? 0n : pending);
      };
      switch (each.kind) {
        case "reserve": {
          const asked = around(each.counts);
          const used = claims.get(each.token);
          const passed = asked.latest > model.floor ? asked.latest : model.floor;
          const isPassed = used !== undefined && used < passed && committed.has(used);
          const generation = (generations.get(each.token) ?? 0) + (isPassed ? 1 : 0);
          const request = { ...each, token: tokenOf(each.token, generation), counts: asked };
          const before = [...slots].filter(([, slot]) => slot.state !== "free");
          const expected = apply(Operations.reserve(view(), request, now));
          const { answer } = yield* store.reserve(lane, request);
          expect(timeless(answer)).toEqual(timeless(expected));
          if (answer._tag === "Granted") {
            claims.set(each.token, answer.nonce);
            generations.set(each.token, generation);
            // Never below the floor, never what a live lease or a commit holds
            expect(answer.nonce >= model.floor).toBe(true);
            expect(committed.has(answer.nonce) && answer.nonce >= model.floor).toBe(false);
            // The second nonce of a pair whose first one is gone is nobody's
            const other = before.find(
              ([nonce, slot]) =>
                nonce === answer.nonce && slot.width !== 0 && slot.until > now && slot.token !== request.token,
            );
            expect(other).toBeUndefined();
          }
          break;
        }
        case "commit": {
          const nonce = (claims.get(each.token) ?? start) + BigInt(each.shift);
          const id = hashFor(each.token, nonce, each.variant);
          const made = attempt(id, each.raw ? undefined : null);
          const claim = { token: tokenNow(each.token), nonce };
          const expected = apply(Operations.commit(view(), claim, made, now));
          expect(yield* store.commit(lane, claim, made)).toEqual(expected);
          if (expected === "committed") {
            // The fence: one transaction per nonce, for ever
            expect(committed.get(nonce) ?? made.hash).toBe(made.hash);
            committed.set(nonce, made.hash);
          }
          break;
        }
        case "release": {
          const claim = { token: tokenNow(each.token), nonce: (claims.get(each.token) ?? start) + BigInt(each.shift) };
          const expected = apply(Operations.release(view(), claim));
          expect(yield* store.release(lane, claim)).toBe(expected);
          break;
        }
        case "recycle": {
          const nonce = claims.get(each.token) ?? start;
          const claim = { token: tokenNow(each.token), nonce };
          const hash = hashOf(hashFor(each.token, nonce, each.variant));
          const expected = apply(Operations.recycle(view(), claim, hash));
          expect(yield* store.recycle(lane, claim, hash)).toBe(expected);
          if (expected) committed.delete(nonce);
          break;
        }
        case "replace": {
          const nonce = claims.get(each.token) ?? start;
          const replaces = hashOf(hashFor(each.token, nonce, each.variant));
          const made = attempt(hashFor(each.token, nonce, 2 + each.by));
          const expected = apply(Operations.replace(view(), nonce, replaces, made, now));
          expect(yield* store.replace(lane, nonce, replaces, made)).toEqual(expected);
          break;
        }
        case "report": {
          const nonce = claims.get(each.token) ?? start;
          const hash = hashOf(hashFor(each.token, nonce, each.variant));
          const expected = apply(Operations.report(view(), nonce, hash, each.outcome));
          expect(yield* store.report(lane, nonce, hash, each.outcome)).toBe(expected);
          // Its bytes are dead, so that another may have the nonce if the chain forgets who burned it
          if (expected && each.outcome === "burned") committed.delete(nonce);
          break;
        }
        case "adopt": {
          const given = around(each.counts);
          const floor = model.floor;
          const expected = apply(adopt(view(), given, each.keep, now));
          expect(yield* store.adopt(lane, given, each.keep)).toEqual(expected);
          // The operator said that these were never mined: what is no longer kept may be used again
          for (const nonce of committed.keys())
            if (nonce >= model.floor && nonce < floor && slots.get(nonce)?.state !== "committed")
              committed.delete(nonce);
          break;
        }
        case "reconcile": {
          const request = { ...each, counts: around(each.counts) };
          const floor = model.floor;
          const expected = apply(Operations.reconcile(view(), request, now));
          const { answer, snapshot } = yield* store.reconcile(lane, request);
          expect(answer).toEqual(expected);
          const from = expected._tag === "Reconciled" ? expected.from : undefined;
          expect(visible(snapshot)).toEqual(visible(seen(pure, from)));
          // A lower count moves the floor only when it is believed
          if (each.keep.doubtMs > 0) expect(model.floor >= floor).toBe(true);
          break;
        }
      }
      expect(visible(yield* store.read(lane))).toEqual(visible(seen(pure)));
      expect(yield* store.check(lane)).toEqual([]);
    }
  });
