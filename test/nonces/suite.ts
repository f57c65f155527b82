/** What every store of nonces must do: run unchanged for memory, Redis and Postgres. */
import * as Effect from "effect/Effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NonceStoreError } from "../rooms/errors.js";
import { type LaneId, type ReserveRequest, type Store } from "../../src/NonceStore.js";
import { at, attempt, ever, freshLane, hashOf, keepAll, newToken, request } from "./lanes.js";
import { history, liveThrough } from "./model.js";

type Steps = Generator<Effect.Effect<unknown, NonceStoreError>, void>;
type Run = <A>(use: (store: Store) => Effect.Effect<A, NonceStoreError>) => Promise<A>;

const take = (store: Store, lane: LaneId, given: Partial<ReserveRequest> = {}) =>
  Effect.map(store.reserve(lane, request(given)), ({ answer }) => answer);

const granted = (nonce: bigint) => ({ _tag: "Granted", nonce, leaseMs: expect.any(Number) });

/** `runs`: how many random histories. */
export const contract = (run: Run, runs: number): void => {
  const itOnStore = (what: string, use: (store: Store) => Steps) =>
    it(what, () => run((store) => Effect.gen(() => use(store))));
  /** On a lane that begins at the counts, and is sound at the end. */
  const itStarted = (what: string, use: (store: Store, lane: LaneId) => Steps, counts = at(5n)) =>
    itOnStore(what, function* (store) {
      const lane = freshLane();
      yield* store.bootstrap(lane, counts, keepAll);
      yield* use(store, lane);
      expect(yield* store.check(lane)).toEqual([]);
    });

  describe("against the model", () => {
    it(
      "agrees through random histories, and stays sound after every step (invariants 2, 3)",
      () =>
        run((store) =>
          Effect.promise(() =>
            fc.assert(
              fc.asyncProperty(history, (commands) => Effect.runPromise(liveThrough(store, commands))),
              { numRuns: runs, endOnFailure: false },
            ),
          ),
        ),
      120_000,
    );
  });

  describe("a lane", () => {
    itOnStore("that was never started is cold for everything", function* (store) {
      const lane = freshLane();
      const claim = { token: newToken(), nonce: 5n };
      expect(yield* take(store, lane)).toEqual({ _tag: "Cold" });
      expect(yield* store.commit(lane, claim, attempt(1))).toBe("cold");
      expect(yield* store.release(lane, claim)).toBe(false);
      expect(yield* store.replace(lane, 5n, hashOf(1), attempt(2))).toEqual({ _tag: "Cold" });
      const { answer, snapshot } = yield* store.reconcile(lane, {
        counts: at(5n),
        keep: keepAll,
        resendAfterMs: 0,
      });
      expect([answer, snapshot, yield* store.read(lane), yield* store.check(lane)]).toEqual([
        { _tag: "Cold" },
        null,
        null,
        [],
      ]);
      expect((yield* store.lanes).includes(lane.id)).toBe(false);
    });
    itOnStore("starts once, at the counts, and leaves alone what waits between them", function* (store) {
      const lane = freshLane();
      expect(yield* store.bootstrap(lane, at(5n, 7n), keepAll)).toBe(true);
      expect(yield* store.bootstrap(lane, at(9n), keepAll)).toBe(false);
      expect(yield* take(store, lane, { counts: at(5n, 7n) })).toEqual(granted(7n));
      expect((yield* store.lanes).includes(lane.id)).toBe(true);
    });
    itOnStore("is separate from another account's, and from another key prefix", function* (store) {
      const lane = freshLane();
      const others = [{ ...lane, id: `${lane.id}1`, key: 1n }, freshLane()];
      yield* store.bootstrap(lane, at(5n), keepAll);
      yield* take(store, lane, { counts: at(5n) });
      for (const other of others) expect(yield* take(store, other, { counts: at(5n) })).toEqual({ _tag: "Cold" });
    });
  });

  describe("an operator's correction", () => {
    itStarted("sets the floor to the chain's count, in either direction, at once", function* (store, lane) {
      const tokens = [newToken(), newToken(), newToken()];
      for (const token of tokens) yield* take(store, lane, { token, counts: at(5n) });
      yield* store.commit(lane, { token: tokens[1] ?? "", nonce: 6n }, attempt(6));
      expect(yield* store.adopt(lane, at(7n), keepAll)).toEqual({ _tag: "Adopted", floor: 7n, next: 8n });
      expect(yield* store.commit(lane, { token: tokens[0] ?? "", nonce: 5n }, attempt(5))).toBe("lost");
      expect(yield* store.adopt(lane, at(5n), keepAll)).toEqual({ _tag: "Adopted", floor: 5n, next: 8n });
      expect((yield* store.read(lane))?.slots.map(({ state }) => state)).toEqual(["free", "committed", "reserved"]);
      expect((yield* store.read(lane))?.slots[1]?.attempts).toEqual([attempt(6)]);
      expect(yield* take(store, lane, { gapOnly: true, counts: at(5n) })).toEqual(granted(5n));
      expect(yield* store.adopt(lane, at(3n), keepAll)).toEqual({ _tag: "Adopted", floor: 3n, next: 8n });
      expect(yield* store.adopt(lane, at(60_000_000n), keepAll)).toMatchObject({ floor: 60_000_000n });
      expect(yield* store.adopt(lane, at(3n), keepAll)).toMatchObject({ _tag: "Forgotten" });
      expect(yield* store.adopt(freshLane(), at(3n), keepAll)).toEqual({ _tag: "Cold" });
    });
    itOnStore("removes a lane with its name, and can start it anew", function* (store) {
      const lane = freshLane();
      const claim = { token: newToken(), nonce: 5n };
      expect(yield* store.forget(lane)).toBe(false);
      yield* store.bootstrap(lane, at(5n), keepAll);
      yield* take(store, lane, { token: claim.token, counts: at(5n) });
      yield* store.commit(lane, claim, attempt(5));
      expect(yield* store.forget(lane)).toBe(true);
      expect([yield* store.read(lane), (yield* store.lanes).includes(lane.id)]).toEqual([null, false]);
      expect(yield* store.commit(lane, claim, attempt(5))).toBe("cold");
      expect(yield* store.forget(lane)).toBe(false);
      expect(yield* store.bootstrap(lane, at(2n), keepAll)).toBe(true);
      expect(yield* take(store, lane, { counts: at(2n) })).toEqual(granted(2n));
    });
  });

  describe("values that no lane can hold", () => {
    const lane = freshLane();
    const [token, claim] = ["a token with spaces", { token: newToken(), nonce: 5n }];
    const refused: ReadonlyArray<readonly [string, (store: Store) => Effect.Effect<unknown, NonceStoreError>]> = [
      ["token", (store) => store.reserve(lane, request({ token }))],
      ["ttlMs", (store) => store.reserve(lane, request({ ttlMs: Number.NaN }))],
      ["counts", (store) => store.bootstrap(lane, at(-1n), keepAll)],
      ["counts", (store) => store.adopt(lane, at(2n ** 60n), keepAll)],
      ["keep", (store) => store.reserve(lane, request({ keep: { ...keepAll, foreignMs: 0.5 } }))],
      ["hash", (store) => store.commit(lane, claim, { hash: "0x1|2", raw: null })],
      ["raw", (store) => store.replace(lane, 5n, hashOf(1), attempt(2, "0xA"))],
    ];
    it.each(refused)("are refused by the name of the field: %s", (field, use) =>
      run((store) =>
        Effect.gen(function* () {
          const failure = { isRetryable: false, detail: expect.stringContaining(`${field}: `) };
          expect(yield* Effect.result(use(store))).toMatchObject({ _tag: "Failure", failure });
        }),
      ),
    );
  });

  describe("reserve", () => {
    itStarted("gives distinct nonces without a hole to many at once, up to the cap", function* (store, lane) {
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => take(store, lane, { counts: at(5n) })),
        { concurrency: "unbounded" },
      );
      const nonces = answers.flatMap((answer) => (answer._tag === "Granted" ? [answer.nonce] : []));
      expect(nonces.sort((a, b) => Number(a - b))).toEqual(
        Array.from({ length: 16 }, (_, index) => 5n + BigInt(index)),
      );
      expect(answers.find(({ _tag }) => _tag === "Busy")).toMatchObject({ inFlight: 16, cap: 16 });
    });
    itStarted("gives the same nonce to the same token, at once and later (invariant 5)", function* (store, lane) {
      const token = newToken();
      const one = take(store, lane, { token, counts: at(5n) });
      const answers = yield* Effect.all([one, one, one, one], { concurrency: "unbounded" });
      expect(answers).toEqual([granted(5n), granted(5n), granted(5n), granted(5n)]);
      expect(yield* take(store, lane, { counts: at(5n) })).toEqual(granted(6n));
    });
    itStarted("gives the lowest free nonce first (invariant 3)", function* (store, lane) {
      const tokens = [newToken(), newToken(), newToken()];
      for (const token of tokens) yield* take(store, lane, { token, counts: at(5n) });
      for (const nonce of [6n, 5n]) yield* store.release(lane, { token: tokens[Number(nonce) - 5] ?? "", nonce });
      expect(yield* take(store, lane, { counts: at(5n) })).toEqual(granted(5n));
      expect(yield* take(store, lane, { counts: at(5n) })).toEqual(granted(6n));
      expect(yield* take(store, lane, { counts: at(5n) })).toEqual(granted(8n));
    });
    itStarted("gives a gap even at the cap, and only a gap when asked for one (invariant 7)", function* (store, lane) {
      const [low, high] = [newToken(), newToken()];
      yield* take(store, lane, { token: low, counts: at(5n) });
      yield* take(store, lane, { token: high, counts: at(5n) });
      expect(yield* take(store, lane, { gapOnly: true, counts: at(5n) })).toEqual({ _tag: "NoGap" });
      yield* store.release(lane, { token: low, nonce: 5n });
      expect(yield* take(store, lane, { gapOnly: true, counts: at(5n) })).toEqual({ _tag: "NoGap" });
      yield* store.commit(lane, { token: high, nonce: 6n }, attempt(6));
      const gap = newToken();
      expect(yield* take(store, lane, { token: gap, gapOnly: true, cap: 1, counts: at(5n) })).toEqual(granted(5n));
      yield* store.release(lane, { token: gap, nonce: 5n });
      expect(yield* take(store, lane, { cap: 1, counts: at(5n) })).toEqual(granted(5n));
      expect(yield* take(store, lane, { cap: 1, counts: at(5n) })).toMatchObject({
        _tag: "Busy",
        inFlight: 2,
        cap: 1,
      });
    });
    itStarted("reports as no room the lowest nonce that is not free, for which all wait", function* (store, lane) {
      const [first, low, high] = [newToken(), newToken(), newToken()];
      const full = take(store, lane, { cap: 1, counts: at(5n) });
      const headNow = Effect.map(full, (answer) => (answer._tag === "Busy" ? answer.head : answer));
      const none = { _tag: "Busy", inFlight: 0, cap: 0, retryInMs: null, head: null };
      expect(yield* take(store, lane, { cap: 0, counts: at(5n) })).toEqual(none);
      yield* take(store, lane, { token: first, counts: at(5n) });
      yield* take(store, lane, { token: low, counts: at(5n) });
      yield* take(store, lane, { token: high, counts: at(5n) });
      expect(yield* headNow).toMatchObject({ nonce: 5n, hash: null, outcome: "" });
      yield* store.commit(lane, { token: first, nonce: 5n }, attempt(5));
      yield* store.report(lane, 5n, hashOf(5), "rejected: poor");
      yield* store.replace(lane, 5n, hashOf(5), attempt(15));
      yield* store.report(lane, 5n, hashOf(15), "underpriced: by much");
      const head = yield* headNow;
      expect(head).toMatchObject({ nonce: 5n, hash: hashOf(15), outcome: "underpriced: by much" });
      expect("ageMs" in (head ?? {}) && head).toSatisfy(({ ageMs }) => ageMs >= 0 && ageMs < 60_000);
      expect(yield* take(store, lane, { cap: 1, counts: at(6n) })).toMatchObject({ head: { nonce: 6n, hash: null } });
      yield* store.release(lane, { token: low, nonce: 6n });
      expect(yield* take(store, lane, { cap: 1, counts: at(6n) })).toMatchObject({ head: { nonce: 7n, hash: null } });
    });
    itStarted(
      "takes two for a self-authorisation, on an idle lane, and nothing beside them (invariant 9)",
      function* (store, lane) {
        const [one, pair] = [newToken(), newToken()];
        yield* take(store, lane, { token: one, counts: at(5n) });
        expect(yield* take(store, lane, { width: 2, counts: at(5n) })).toMatchObject({ _tag: "Busy", cap: 1 });
        yield* store.release(lane, { token: one, nonce: 5n });
        expect(yield* take(store, lane, { token: pair, width: 2, counts: at(5n) })).toEqual(granted(5n));
        expect(yield* take(store, lane, { counts: at(5n) })).toMatchObject({ _tag: "Busy", inFlight: 1, cap: 1 });
        expect(yield* store.commit(lane, { token: pair, nonce: 5n }, attempt(5))).toBe("committed");
        expect(yield* take(store, lane, { counts: at(7n) })).toEqual(granted(7n));
      },
    );
    itStarted("frees the second nonce when the authorisation was not applied", function* (store, lane) {
      const pair = newToken();
      yield* take(store, lane, { token: pair, width: 2, counts: at(5n) });
      yield* store.commit(lane, { token: pair, nonce: 5n }, attempt(5));
      expect(yield* take(store, lane, { counts: at(6n) })).toEqual(granted(6n));
    });
    itStarted(
      "skips a nonce that somebody else sent, and gives it when that never came (invariant 10)",
      function* (store, lane) {
        const forgotten = { ...keepAll, foreignMs: 0 };
        expect(yield* take(store, lane, { counts: at(5n, 8n), keep: forgotten })).toEqual(granted(8n));
        expect(yield* take(store, lane, { counts: at(5n, 8n) })).toEqual(granted(9n));
        const { answer } = yield* store.reconcile(lane, { counts: at(6n, 6n), keep: forgotten, resendAfterMs: ever });
        expect(answer._tag).toBe("Reconciled");
        const snapshot = yield* store.read(lane);
        expect(snapshot?.floor).toBe(6n);
      },
    );
    itStarted("does not believe a count far above all it issued, and moves nothing", function* (store, lane) {
      expect(yield* take(store, lane, { counts: at(10_000_000n) })).toEqual({ _tag: "Implausible", next: 5n });
      expect(yield* take(store, lane, { counts: at(5n, 1n << 60n) })).toEqual(granted(5n));
    });
    itStarted("is not moved for good by one count that lies upwards", function* (store, lane) {
      const token = newToken();
      const over = { ...keepAll, foreignMs: 0 };
      expect(yield* take(store, lane, { token, counts: at(7n), keep: over })).toEqual(granted(7n));
      yield* store.commit(lane, { token, nonce: 7n }, attempt(7));
      expect(yield* take(store, lane, { gapOnly: true, counts: at(5n) })).toEqual(granted(5n));
      expect(yield* take(store, lane, { counts: at(60_000n) })).toEqual({ _tag: "Implausible", next: 8n });
      expect(yield* take(store, lane, { counts: at(5n) })).toEqual(granted(6n));
    });
    itStarted("names as a gap again what a count that lied had passed, once none repeats it", function* (store, lane) {
      const [low, high] = [newToken(), newToken()];
      yield* take(store, lane, { token: low, counts: at(5n) });
      yield* take(store, lane, { token: high, counts: at(5n) });
      yield* store.commit(lane, { token: high, nonce: 6n }, attempt(6));
      yield* store.reconcile(lane, { counts: at(7n), keep: keepAll, resendAfterMs: ever });
      expect(yield* store.commit(lane, { token: low, nonce: 5n }, attempt(5))).toBe("lost");
      expect(yield* take(store, lane, { gapOnly: true, counts: at(5n) })).toEqual({ _tag: "NoGap" });
      const believed = { ...keepAll, doubtMs: 0 };
      expect(yield* take(store, lane, { gapOnly: true, counts: at(5n), keep: believed })).toEqual(granted(5n));
      expect((yield* store.read(lane))?.slots.map(({ state }) => state)).toEqual(["reserved", "committed"]);
      expect(yield* store.commit(lane, { token: high, nonce: 6n }, attempt(6))).toBe("committed");
    });
    itStarted("believes a count far above all that was issued when it stays", function* (store, lane) {
      const far = { counts: at(50_000n), keep: { ...keepAll, doubtMs: 30 } };
      expect(yield* take(store, lane, far)).toEqual({ _tag: "Implausible", next: 5n });
      yield* Effect.sleep(60);
      expect(yield* take(store, lane, far)).toEqual(granted(50_000n));
    });
    itStarted("never goes below the floor for a stale count (invariant 4)", function* (store, lane) {
      yield* take(store, lane, { counts: at(9n) });
      expect(yield* take(store, lane, { counts: at(2n) })).toEqual(granted(10n));
    });
  });

  describe("commit", () => {
    itStarted("is refused to a lease that ended and was given to another (invariant 1)", function* (store, lane) {
      const [late, quick] = [newToken(), newToken()];
      yield* take(store, lane, { token: late, ttlMs: 0, counts: at(5n) });
      expect(yield* take(store, lane, { token: quick, counts: at(5n) })).toEqual(granted(5n));
      expect(yield* store.commit(lane, { token: late, nonce: 5n }, attempt(1))).toBe("lost");
      expect(yield* store.commit(lane, { token: quick, nonce: 5n }, attempt(2))).toBe("committed");
      expect(yield* store.commit(lane, { token: late, nonce: 5n }, attempt(1))).toBe("lost");
    });
    itStarted("ends a lease on the store's own clock (invariant 6)", function* (store, lane) {
      const late = newToken();
      yield* take(store, lane, { token: late, ttlMs: 30, counts: at(5n) });
      yield* Effect.sleep(60);
      expect(yield* take(store, lane, { counts: at(5n) })).toEqual(granted(5n));
      expect(yield* store.commit(lane, { token: late, nonce: 5n }, attempt(1))).toBe("lost");
    });
    itStarted(
      "can be repeated with the same transaction, also after it settled, and never with another (invariant 5)",
      function* (store, lane) {
        const claim = { token: newToken(), nonce: 5n };
        yield* take(store, lane, { token: claim.token, counts: at(5n) });
        const tries = Array.from({ length: 4 }, () => store.commit(lane, claim, attempt(1)));
        expect(yield* Effect.all(tries, { concurrency: "unbounded" })).toEqual(Array(4).fill("committed"));
        expect(yield* store.commit(lane, claim, attempt(2))).toBe("lost");
        yield* store.reconcile(lane, { counts: at(6n), keep: keepAll, resendAfterMs: ever });
        expect(yield* store.commit(lane, claim, attempt(1))).toBe("committed");
        expect(yield* take(store, lane, { token: claim.token, counts: at(6n) })).toEqual(granted(6n));
      },
    );
    itStarted("succeeds for one of many at once", function* (store, lane) {
      const claim = { token: newToken(), nonce: 5n };
      yield* take(store, lane, { token: claim.token, counts: at(5n) });
      const tries = Array.from({ length: 8 }, (_, index) => store.commit(lane, claim, attempt(index + 1)));
      const answers = yield* Effect.all(tries, { concurrency: "unbounded" });
      expect(answers.filter((answer) => answer === "committed")).toHaveLength(1);
    });
    itStarted(
      "is nobody's with the token of somebody else's transactions",
      function* (store, lane) {
        expect(yield* store.commit(lane, { token: "foreign", nonce: 5n }, attempt(1))).toBe("lost");
        expect(yield* store.release(lane, { token: "foreign", nonce: 5n })).toBe(false);
      },
      at(5n, 7n),
    );
    itStarted("keeps the bytes unchanged", function* (store, lane) {
      const raw = `0x02${"ab".repeat(140_000)}`;
      const claim = { token: newToken(), nonce: 5n };
      yield* take(store, lane, { token: claim.token, counts: at(5n) });
      yield* store.commit(lane, claim, attempt(1, raw));
      const snapshot = yield* store.read(lane);
      expect(snapshot?.slots[0]?.attempts).toEqual([attempt(1, raw)]);
    });
  });

  describe("a committed transaction", () => {
    const inFlight = (store: Store, lane: LaneId, nonces: ReadonlyArray<bigint>) =>
      Effect.forEach(nonces, (nonce) =>
        Effect.gen(function* () {
          const token = newToken();
          yield* take(store, lane, { token, counts: at(5n) });
          yield* store.commit(lane, { token, nonce }, attempt(nonce));
          return token;
        }),
      );
    const again = { keep: keepAll, resendAfterMs: 0 };

    itStarted("is handed out to be sent again, in order, to one at a time", function* (store, lane) {
      yield* inFlight(store, lane, [5n, 6n, 7n]);
      const first = yield* store.reconcile(lane, { ...again, counts: at(6n) });
      expect(first.answer).toMatchObject({ _tag: "Reconciled", due: [6n, 7n] });
      expect(first.moved.settled).toBe(1);
      const second = yield* store.reconcile(lane, { ...again, counts: at(6n), resendAfterMs: ever });
      expect(second.answer).toMatchObject({ due: [] });
      const raws = first.snapshot?.slots.map(({ nonce, attempts }) => [nonce, attempts.at(-1)]);
      expect(raws).toEqual([5n, 6n, 7n].map((nonce) => [nonce, attempt(nonce)]));
    });
    itStarted("is handed out again when a reorganisation drops it after it had settled", function* (store, lane) {
      yield* inFlight(store, lane, [5n, 6n]);
      expect((yield* store.reconcile(lane, { ...again, counts: at(7n) })).answer).toMatchObject({ due: [] });
      expect((yield* store.reconcile(lane, { ...again, counts: at(6n) })).answer).toMatchObject({ due: [6n] });
      expect(yield* take(store, lane, { counts: at(6n) })).toEqual(granted(7n));
    });
    itStarted(
      "is handed out again from the chain's count on, however deep the reorganisation",
      function* (store, lane) {
        const nonces = Array.from({ length: 100 }, (_, index) => 5n + BigInt(index));
        for (const nonce of nonces) {
          const token = newToken();
          yield* take(store, lane, { token, counts: at(nonce) });
          yield* store.commit(lane, { token, nonce }, attempt(nonce));
        }
        yield* store.reconcile(lane, { ...again, counts: at(105n) });
        yield* Effect.sleep(5);
        const first = yield* store.reconcile(lane, { ...again, counts: at(10n), resendAfterMs: 1 });
        const due = "due" in first.answer ? first.answer.due : [];
        expect(due).toEqual(nonces.slice(5, 69));
        expect(first.snapshot?.slots.find(({ nonce }) => nonce === 10n)?.attempts).toEqual([attempt(10)]);
        const second = yield* store.reconcile(lane, { ...again, counts: at(10n), resendAfterMs: 60_000 });
        expect(second.answer).toMatchObject({ due: [] });
        const believed = { ...keepAll, doubtMs: 0 };
        const third = yield* store.reconcile(lane, { keep: believed, counts: at(10n), resendAfterMs: 0 });
        expect(third.snapshot).toMatchObject({ floor: 10n, next: 105n });
        expect(third.snapshot?.slots.filter(({ state }) => state === "committed")).toHaveLength(95);
        expect(yield* take(store, lane, { counts: at(10n) })).toMatchObject({ _tag: "Busy", inFlight: 95 });
      },
    );
    itStarted(
      "fails closed when the chain went back further than is kept, until it comes back",
      function* (store, lane) {
        yield* inFlight(store, lane, [5n, 6n]);
        const keep = { ...keepAll, settledMs: 0, doubtMs: 0 };
        yield* store.reconcile(lane, { ...again, keep, counts: at(7n) });
        const forgotten = { _tag: "Forgotten", tail: 7n };
        const { answer, snapshot } = yield* store.reconcile(lane, { ...again, keep, counts: at(6n) });
        expect([answer, snapshot?.floor]).toEqual([forgotten, 7n]);
        expect(yield* take(store, lane, { keep, counts: at(6n) })).toEqual(forgotten);
        expect(yield* take(store, lane, { keep, counts: at(7n) })).toEqual(granted(7n));
      },
    );
    itStarted("holds its second nonce again when the chain goes back before both", function* (store, lane) {
      const token = newToken();
      yield* take(store, lane, { token, width: 2, counts: at(5n) });
      yield* store.commit(lane, { token, nonce: 5n }, attempt(5));
      for (const passed of [at(7n), at(6n)]) {
        yield* store.reconcile(lane, { ...again, counts: passed, keep: { ...keepAll, doubtMs: 0 } });
      }
      expect((yield* store.read(lane))?.next).toBe(6n);
      yield* store.reconcile(lane, { ...again, counts: at(5n), keep: { ...keepAll, doubtMs: 0 } });
      expect((yield* store.read(lane))?.slots.map(({ nonce, state, width }) => [nonce, state, width])).toEqual([
        [5n, "committed", 2],
        [6n, "committed", 0],
      ]);
    });
    itStarted("is never sent again once it is burned, whatever the chain's count", function* (store, lane) {
      const [token = ""] = yield* inFlight(store, lane, [5n]);
      yield* store.reconcile(lane, { ...again, counts: at(6n) });
      expect(yield* store.report(lane, 5n, hashOf(5), "burned")).toBe(true);
      expect((yield* store.reconcile(lane, { ...again, counts: at(5n) })).answer).toMatchObject({ due: [] });
      expect(yield* store.commit(lane, { token, nonce: 5n }, attempt(5))).toBe("lost");
      expect(yield* store.replace(lane, 5n, hashOf(5), attempt(105))).toMatchObject({ _tag: "Conflict" });
      const keep = { ...keepAll, doubtMs: 0 };
      expect(yield* take(store, lane, { counts: at(5n), keep })).toEqual(granted(5n));
    });
    itStarted("is forgotten after its time", function* (store, lane) {
      yield* inFlight(store, lane, [5n, 6n]);
      const keep = { ...keepAll, settledMs: 0 };
      yield* store.reconcile(lane, { counts: at(7n), keep, resendAfterMs: 0 });
      expect(yield* store.read(lane)).toMatchObject({ floor: 7n, next: 7n, tail: 7n, slots: [] });
    });
    itStarted("is replaced only by a caller who names the replaced hash", function* (store, lane) {
      yield* inFlight(store, lane, [5n]);
      const tries = [1, 2, 3].map((n) => store.replace(lane, 5n, hashOf(5), attempt(100 + n)));
      const answers = yield* Effect.all(tries, { concurrency: "unbounded" });
      expect(answers.filter(({ _tag }) => _tag === "Replaced")).toHaveLength(1);
      const [slot] = (yield* store.read(lane))?.slots ?? [];
      const last = slot?.attempts.at(-1);
      expect(slot?.attempts).toHaveLength(2);
      expect(last === undefined ? null : yield* store.replace(lane, 5n, hashOf(5), last)).toEqual({
        _tag: "Replaced",
      });
      const next = attempt(200);
      yield* store.replace(lane, 5n, last?.hash ?? hashOf(5), next);
      // A lost reply is asked for again after another replaced it in turn: it was recorded, so it may be mined
      expect(last === undefined ? null : yield* store.replace(lane, 5n, hashOf(5), last)).toEqual({
        _tag: "Replaced",
      });
      expect(yield* store.replace(lane, 6n, hashOf(6), attempt(9))).toEqual({ _tag: "Conflict", last: null });
      const { snapshot } = yield* store.reconcile(lane, { ...again, counts: at(5n) });
      expect(snapshot?.slots[0]?.attempts.at(-1)).toEqual(next);
    });
    itStarted("is undone only while nobody else was given it and no node took it", function* (store, lane) {
      const [five = "", six = ""] = yield* inFlight(store, lane, [5n, 6n]);
      expect(yield* store.report(lane, 6n, hashOf(6), "rejected")).toBe(true);
      expect(yield* store.recycle(lane, { token: six, nonce: 6n }, hashOf(9))).toBe(false);
      expect(yield* store.recycle(lane, { token: six, nonce: 6n }, hashOf(6))).toBe(true);
      expect(yield* take(store, lane, { counts: at(5n) })).toEqual(granted(6n));
      yield* store.reconcile(lane, { ...again, counts: at(5n) });
      expect(yield* store.recycle(lane, { token: five, nonce: 5n }, hashOf(5))).toBe(false);
    });
    itStarted("settles below the count, and a mere reservation there is lost", function* (store, lane) {
      yield* inFlight(store, lane, [5n]);
      const token = newToken();
      yield* take(store, lane, { token, counts: at(5n) });
      yield* store.reconcile(lane, { ...again, counts: at(7n) });
      expect(yield* store.commit(lane, { token, nonce: 6n }, attempt(6))).toBe("lost");
      const snapshot = yield* store.read(lane);
      expect(snapshot?.slots.map(({ nonce, state, token }) => [nonce, state, token === "foreign"])).toEqual([
        [5n, "settled", false],
        [6n, "settled", true],
      ]);
    });
  });
};

/** What a store that lasts says of a lane that it lost by `lose`. */
export const coldWhenLost = (run: Run, lose: (lane: LaneId) => Promise<unknown>): void => {
  it("is cold when a lane is lost, and refuses to commit a lease from before a new start", () =>
    run((store) =>
      Effect.gen(function* () {
        const lane = freshLane();
        const claim = { token: newToken(), nonce: 5n };
        yield* store.bootstrap(lane, at(5n), keepAll);
        yield* store.reserve(lane, request({ token: claim.token, counts: at(5n) }));
        yield* Effect.promise(() => lose(lane));
        expect(yield* store.commit(lane, claim, attempt(5))).toBe("cold");
        expect((yield* store.reserve(lane, request({ counts: at(5n) }))).answer).toEqual({ _tag: "Cold" });
        yield* store.bootstrap(lane, at(5n), keepAll);
        expect(yield* store.commit(lane, claim, attempt(5))).toBe("lost");
      }),
    ));
};
