/** Operations of one process on one lane, over a store that fails in every way. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { describe, expect, it } from "vitest";
import { NonceStoreError } from "../rooms/errors.js";
import { defaults, makeTogether, Settings, type Change, type LaneBackend, type Slot } from "../rooms/nonces.js";
import type { Store } from "../../src/NonceStore.js";
import { at, attempt, ever, freshLane, keepAll, newToken, request } from "./lanes.js";

/** A lane in a variable. `before` runs ahead of every write and may answer in its place. */
const scripted = () => {
  let head: Change["after"] | null = null;
  let slots = new Map<bigint, Slot>();
  const state = {
    asked: 0,
    /** Added to the store's clock, ms. */
    ahead: 0,
    before: (change: Change): Effect.Effect<ReturnType<typeof write> | null, NonceStoreError> =>
      Effect.as(Effect.succeed(change), null),
    save: () => {
      const saved = { head, slots: new Map(slots) };
      return () => {
        head = saved.head;
        slots = new Map(saved.slots);
      };
    },
  };
  const now = () => Date.now() + state.ahead;
  const found = (): Effect.Success<ReturnType<LaneBackend["read"]>> => ({
    now: now(),
    ...{ head, slots: [...slots].map(([nonce, slot]) => ({ nonce, ...slot })) },
  });
  const write = (change: Change): Effect.Success<ReturnType<LaneBackend["compareAndSet"]>> => {
    if (change.before?.version !== head?.version || Math.abs(change.now - now()) > 1_000) return { _tag: "Conflict" };
    head = change.after;
    for (const { nonce, to } of change.writes) {
      if (to === null) slots.delete(nonce);
      else slots.set(nonce, to);
    }
    return { _tag: "Written", now: now() };
  };
  const backend: LaneBackend = {
    kind: "scripted",
    read: () => Effect.sync(found),
    compareAndSet: (_, __, change) =>
      Effect.suspend(() => {
        state.asked += 1;
        return Effect.flatMap(Effect.andThen(Effect.sleep(1), state.before(change)), (answer) =>
          Effect.sync(() => answer ?? write(change)),
        );
      }),
    readAll: () => Effect.succeed(null),
    forget: () => Effect.succeed(false),
    mark: () => Effect.succeed(null),
    setMark: () => Effect.void,
    lanes: Effect.succeed([]),
  };
  return { state, backend, write };
};

const broken = new NonceStoreError({ operation: "scripted", detail: "the connection is gone", isRetryable: true });

type Scene = ReturnType<typeof scripted> & { readonly store: Store; readonly lane: ReturnType<typeof freshLane> };

const itLives = (what: string, use: (scene: Scene) => Generator<Effect.Effect<unknown, unknown>, void>) =>
  it(what, () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const scene = scripted();
        const store = yield* makeTogether(scene.backend);
        const lane = freshLane();
        yield* store.bootstrap(lane, at(5n), keepAll);
        scene.state.asked = 0;
        yield* use({ ...scene, store, lane });
      }).pipe(Effect.provideService(Settings, { ...defaults, storeTimeoutMs: 200 })),
    ),
  );

const take = ({ store, lane }: Pick<Scene, "store" | "lane">, token = newToken()) =>
  Effect.map(store.reserve(lane, request({ token, counts: at(5n) })), ({ answer }) =>
    answer._tag === "Granted" ? answer.nonce : answer._tag,
  );

describe("operations of one process on one lane", () => {
  itLives("are written together, and each gets its own answer", function* (scene) {
    const all = yield* Effect.all(
      Array.from({ length: 20 }, () => take(scene)),
      { concurrency: "unbounded" },
    );
    expect(all).toEqual([
      ...Array.from({ length: 16 }, (_, index) => BigInt(index + 5)),
      ..."Busy Busy Busy Busy".split(" "),
    ]);
    expect(scene.state.asked).toBeLessThanOrEqual(2);
  });
  itLives("get their own answers, also when one of them is refused", function* (scene) {
    const { store, lane } = scene;
    const lost = store.commit(lane, { token: newToken(), nonce: 5n }, attempt(1));
    const bad = Effect.result(take(scene, "no token"));
    const [nonce, answer, failed] = yield* Effect.all([take(scene), lost, bad], { concurrency: "unbounded" });
    expect([nonce, answer, failed._tag]).toEqual([5n, "lost", "Failure"]);
  });
  itLives("go on when a waiting one is interrupted", function* (scene) {
    const gone = yield* Effect.forkChild(take(scene));
    const stays = yield* Effect.forkChild(take(scene));
    yield* Effect.yieldNow;
    yield* Fiber.interrupt(gone);
    expect(typeof (yield* Fiber.join(stays))).toBe("bigint");
    expect(typeof (yield* take(scene))).toBe("bigint");
  });
  itLives("are decided again when another process was quicker, without its nonces", function* (scene) {
    const other = yield* makeTogether(scene.backend);
    yield* take(scene);
    expect(yield* take({ store: other, lane: scene.lane })).toBe(6n);
    expect(yield* take(scene)).toBe(7n);
  });
  itLives("can be repeated when the reply to their write is lost", function* (scene) {
    const token = newToken();
    scene.state.before = (change) =>
      Effect.andThen(
        Effect.sync(() => scene.write(change)),
        Effect.fail(broken),
      );
    const failed = yield* Effect.flip(take(scene, token));
    expect(failed).toMatchObject({ operation: "reserve", detail: broken.detail, isRetryable: true });
    scene.state.before = () => Effect.succeed(null);
    expect(yield* take(scene, token)).toBe(5n);
    expect(yield* take(scene)).toBe(6n);
  });
  itLives(
    "fail in time when the store never answers, also where they cannot be interrupted, and the next ones are served",
    function* (scene) {
      scene.state.before = () => Effect.never;
      const began = performance.now();
      const failed = yield* Effect.flip(Effect.uninterruptible(take(scene)));
      expect(failed).toMatchObject({ operation: "reserve", isRetryable: true, detail: "no answer in 200 ms" });
      expect(performance.now() - began).toBeLessThan(2_000);
      scene.state.before = () => Effect.succeed(null);
      expect(yield* take(scene)).toBe(5n);
    },
  );
  itLives("fail in time when others are always quicker", function* (scene) {
    scene.state.before = () => Effect.succeed({ _tag: "Conflict" });
    expect(yield* Effect.flip(take(scene))).toMatchObject({ isRetryable: true });
  });
  itLives("refuse a store that went back and moved on again, though it looks as remembered", function* (scene) {
    const { store, lane, backend, state } = scene;
    const restore = state.save();
    expect(yield* take(scene)).toBe(5n);
    // The lane of before; another process writes as often as this one did
    restore();
    const other = yield* makeTogether(backend);
    const claim = { token: newToken(), nonce: 5n };
    expect(yield* take({ store: other, lane }, claim.token)).toBe(5n);
    expect(yield* take(scene)).toBe(6n);
    expect(yield* other.commit(lane, claim, attempt(5))).toBe("committed");
    expect(yield* store.commit(lane, { token: newToken(), nonce: 5n }, attempt(6))).toBe("lost");
  });
  itLives("refuse a store that lost a commit", function* (scene) {
    const { store, lane, state } = scene;
    const token = newToken();
    yield* take(scene, token);
    const restore = state.save();
    expect(yield* store.commit(lane, { token, nonce: 5n }, attempt(5))).toBe("committed");
    restore();
    const failed = yield* Effect.flip(take(scene));
    expect(failed).toMatchObject({ isRetryable: false, detail: expect.stringContaining("1 commits") });
  });
  itLives("are decided on the store's clock, also when it jumps", function* (scene) {
    const { store, lane, state } = scene;
    const short = request({ ttlMs: 60_000, counts: at(5n) });
    yield* store.reserve(lane, short);
    state.ahead = 70_000;
    expect(yield* take(scene)).toBe(5n);
    expect(yield* store.commit(lane, { token: short.token, nonce: 5n }, attempt(1))).toBe("lost");
    state.ahead = -ever;
    expect(yield* take(scene)).toBe(6n);
  });
  itLives("write a repeated commit as well, because only a writer waits for the standby", function* (scene) {
    const { store, lane, state } = scene;
    const claim = { token: newToken(), nonce: 5n };
    yield* take(scene, claim.token);
    yield* store.commit(lane, claim, attempt(5));
    const versions: Array<boolean> = [];
    state.before = ({ before, after }) => {
      versions.push(before?.version !== after.version);
      return Effect.succeed(null);
    };
    expect(yield* store.commit(lane, claim, attempt(5))).toBe("committed");
    expect(versions).toEqual([true]);
  });
});
