/** What the random histories are too short for. */
import { describe, expect, it } from "vitest";
import {
  begin,
  commit,
  freeSlot,
  maxSettled,
  pruneStep,
  reconcile,
  replace,
  reserve,
  violations,
  type Slot,
  type Snapshot,
} from "../rooms/nonces.js";
import { pureLane } from "./pure.js";
import { at, attempt, ever, hashOf, keepAll, request } from "./lanes.js";

describe("a lane", () => {
  it("keeps a bounded history, however long it lives", () => {
    const { state, slots, view, apply } = pureLane();
    apply(begin(at(0n), keepAll, 0));
    const count = Number(maxSettled) + 500;
    for (let nonce = 0; nonce < count; nonce += 1) {
      const token = `token-of-${nonce}`;
      apply(reserve(view(), request({ token, counts: at(BigInt(nonce)) }), nonce));
      apply(commit(view(), { token, nonce: BigInt(nonce) }, attempt(nonce + 1), nonce));
    }
    expect(state.floor - state.tail).toBe(maxSettled);
    expect(BigInt(slots.size)).toBe(maxSettled + 1n);
  });
  it("forgets a long history in steps", () => {
    const { state, slots, view, apply } = pureLane();
    apply(begin(at(0n), keepAll, 0));
    for (let nonce = 0; nonce < 200; nonce += 1) {
      const token = `token-of-${nonce}`;
      apply(reserve(view(), request({ token, counts: at(BigInt(nonce)) }), 1));
      apply(commit(view(), { token, nonce: BigInt(nonce) }, attempt(nonce + 1), 1));
    }
    const forgetful = { counts: at(200n), keep: { ...keepAll, settledMs: 0 }, resendAfterMs: ever };
    const sizes = [1, 2, 3, 4].map(() => {
      apply(reconcile(view(), forgetful, 2));
      return slots.size;
    });
    expect(sizes).toEqual([200 - pruneStep, 200 - 2 * pruneStep, 200 - 3 * pruneStep, 0]);
    expect(state).toMatchObject({ floor: 200n, next: 200n, tail: 200n });
  });
  it("accepts a limited number of replacements", () => {
    const { view, apply } = pureLane();
    apply(begin(at(0n), keepAll, 0));
    apply(reserve(view(), request({ token: "the-only-token-here" }), 1));
    apply(commit(view(), { token: "the-only-token-here", nonce: 0n }, attempt(1), 1));
    const answers = Array.from(
      { length: 40 },
      (_, n) => apply(replace(view(), 0n, hashOf(n + 1), attempt(n + 2), 1))._tag,
    );
    expect(answers.filter((answer) => answer === "Replaced")).toHaveLength(31);
    expect(answers.at(-1)).toBe("Conflict");
  });
});

describe("the check of a lane", () => {
  it("finds every fault of a lane that holds very many nonces", () => {
    const foreign = Array.from({ length: 60_000 }, (_, index) => ({
      nonce: BigInt(index),
      ...freeSlot,
      state: "settled",
    }));
    const lane = { now: 1, floor: 0n, next: 0n, tail: 0n, slots: foreign } as never;
    expect(violations(lane).length).toBeGreaterThanOrEqual(60_000);
  });

  const slot = (nonce: bigint, given: Partial<Slot> = {}): Snapshot["slots"][number] => ({
    nonce,
    ...freeSlot,
    ...given,
  });
  const held = { state: "reserved", token: "owner", until: 9 } as const;
  const sent = { state: "committed", token: "owner", attempts: [attempt(1)] } as const;
  const whole = (slots: Snapshot["slots"], bounds: Partial<Snapshot> = {}): Snapshot => ({
    ...{ now: 1, floor: 5n, next: 5n + BigInt(slots.length), tail: 5n, slots },
    ...bounds,
  });
  const bad: ReadonlyArray<readonly [string, Snapshot]> = [
    ["nonce 6 is in no state", whole([slot(5n, held)], { next: 7n })],
    ["nonce 5 stands twice", whole([slot(5n, held), slot(5n, { ...held, token: "other" })], { next: 6n })],
    ["nonce 6 is free at the top", whole([slot(5n, held), slot(6n)])],
    ["nonce 7 lies outside the lane", whole([slot(5n, held), slot(7n, { ...held, token: "other" })], { next: 6n })],
    ["nonce 5 is settled above the floor", whole([slot(5n, { ...sent, state: "settled" })])],
    ["nonce 4 is committed below the floor", whole([slot(4n, sent)], { tail: 4n, next: 5n })],
    ["nonce 6 shares its token with nonce 5", whole([slot(5n, held), slot(6n, held)])],
    ["nonce 6 shares a transaction with nonce 5", whole([slot(5n, sent), slot(6n, { ...sent, token: "other" })])],
    ["nonce 5 is committed with 0 transactions", whole([slot(5n, { ...sent, attempts: [] })])],
    ["nonce 5 is reserved with 1 transactions", whole([slot(5n, { ...held, attempts: [attempt(1)] })])],
    ["nonce 5 is reserved without an end", whole([slot(5n, { ...held, until: 0 })])],
    ["nonce 5 is free with a token, or held without one", whole([slot(5n, { ...held, token: "" })])],
    ["nonce 5 is committed for somebody else", whole([slot(5n, { ...sent, token: "foreign" })])],
    [
      "nonce 5 has a transaction without a hash",
      whole([slot(5n, { ...sent, attempts: [{ hash: "0x" as never, raw: null }] })]),
    ],
    ["nonce 5 misses its second nonce", whole([slot(5n, { ...held, width: 2 })])],
    ["nonce 5 is a second nonce without the first", whole([slot(5n, { ...held, width: 0 })])],
    ["the bounds are out of order: 5, 5, 4", whole([], { next: 4n })],
  ];
  it.each(bad)("finds that %s", (what, snapshot) => expect(violations(snapshot)).toContain(what));
  it("finds no fault in a sound lane", () => {
    const pair = [slot(6n, { ...held, token: "pair", width: 2 }), slot(7n, { ...held, token: "pair", width: 0 })];
    const old = slot(4n, { ...sent, state: "settled", token: "old", attempts: [attempt(9)] });
    expect(violations(whole([old, slot(5n, sent), ...pair], { tail: 4n, next: 8n }))).toEqual([]);
  });
});
