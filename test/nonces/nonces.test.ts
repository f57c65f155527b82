import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Metric from "effect/Metric";
import { keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import { NonceStoreError } from "../rooms/errors.js";
import { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import type { Hex } from "../rooms/primitives.js";
import { lane, sender, sign, signPair, SimulatedChain } from "./chain.js";
import { at } from "./lanes.js";
import { changed, itOnChain, run, send } from "./running.js";

describe("withNonce", () => {
  itOnChain("takes the next nonce, commits, sends", function* (chain) {
    const sent = yield* Effect.all([send(), send(), send()]);
    expect(sent.map(({ nonce, outcome }) => [nonce, outcome.kind])).toEqual(
      [0, 1, 2].map((n) => [BigInt(n), "accepted"]),
    );
    expect(chain.broadcasts.map(({ nonce, hash }) => [nonce, hash])).toEqual(
      sent.map(({ nonce, hash }) => [Number(nonce), hash]),
    );
  });
  itOnChain("gives the nonce back when signing fails", function* () {
    const failing = Nonces.withNonce(lane, () => Effect.fail("the user said no" as const));
    expect([yield* Effect.flip(failing), (yield* send()).nonce]).toEqual(["the user said no", 0n]);
  });
  itOnChain("sends with the function that it is given, and reads its answer", function* () {
    const seen: Array<Hex> = [];
    const sending = (raw: Hex) =>
      Effect.sync(() => {
        seen.push(raw);
        return keccak256(raw);
      });
    const sent = yield* Nonces.withNonce(lane, (nonce) => sign(nonce), sending);
    expect([sent.outcome.kind, seen.map((raw) => keccak256(raw))]).toEqual(["accepted", [sent.hash]]);
  });
  it.each([
    ["nonce", (nonce: bigint) => sign(nonce + 1n)],
    ["raw", () => Effect.succeed("0x02c0" as const)],
    [
      "from",
      (nonce: bigint) => Effect.map(sign(nonce), (raw): `0x${string}` => `0x${raw.slice(2, -64)}${"1".repeat(64)}`),
    ],
  ])("sends nothing that was signed with a different %s", async (field, wrong) => {
    const chain = new SimulatedChain();
    const [failure, sent] = await run(chain, Effect.all([Effect.flip(Nonces.withNonce(lane, wrong)), send()]));
    expect(failure).toMatchObject({ _tag: "SignedMismatch", field, mayBeSent: false });
    expect([sent.nonce, chain.broadcasts.length]).toEqual([0n, 1]);
  });
  it.each([
    ["already known", "alreadyKnown"],
    ["nonce too high", "tooHigh"],
    ["txpool is full", "unknown"],
    ["upstream connect error", "unknown"],
  ] as const)("keeps the nonce when the node says: %s", async (refusal, kind) => {
    const chain = new SimulatedChain();
    chain.refusals.push(refusal);
    const [sent, next, committed] = await run(chain, Effect.all([send(), send(), Nonces.committed(lane)]));
    expect([sent.outcome.kind, next.nonce]).toEqual([kind, 1n]);
    expect(committed.map(({ nonce }) => nonce)).toEqual([0n, 1n]);
  });
  it("gives a rejected nonce back only where that is allowed", async () => {
    const chain = new SimulatedChain();
    chain.refusals.push("intrinsic gas too low: have 1, want 21000");
    const settings = { recycleRejected: true };
    const [failure, sent] = await run(chain, Effect.all([Effect.flip(send(1n)), send(2n)]), { settings });
    expect(failure).toMatchObject({ _tag: "SendRejected", nonce: 0n, isFree: true, mayBeSent: false });
    expect(sent.nonce).toBe(0n);
  });
  it("keeps a rejected nonce whose bytes somebody else was given", async () => {
    const rejected = { code: -32000, message: "intrinsic gas too low" };
    const given = Nonces.reconcile(lane, () => Effect.void);
    const shared = Nonces.withNonce(
      lane,
      (nonce) => sign(nonce),
      () => Effect.andThen(given, Effect.fail(rejected)),
    );
    const failure = await run(new SimulatedChain(), Effect.flip(shared), { settings: { recycleRejected: true } });
    expect(failure).toMatchObject({ _tag: "SendRejected", isFree: false, mayBeSent: true });
  });
  /** Sends bytes after `before`, and passes on what the chain says. */
  const sendAfter = (chain: SimulatedChain, before: (raw: Hex) => void) =>
    Nonces.withNonce(
      lane,
      (nonce) => sign(nonce),
      (raw) =>
        Effect.sync(() => {
          before(raw);
          return chain.send(raw);
        }).pipe(Effect.catchDefect(Effect.fail)),
    );
  itOnChain("tells a nonce that our transaction used from one that somebody else used", function* (chain) {
    const ours = yield* sendAfter(chain, (raw) => {
      chain.send(raw);
      chain.mine();
    });
    const foreign = yield* Effect.flip(sendAfter(chain, () => chain.mineForeign(sender.address)));
    expect([ours.nonce, ours.outcome.kind]).toEqual([0n, "tooLow"]);
    expect(foreign).toMatchObject({ _tag: "NonceBurned", nonce: 1n, mayBeSent: false });
    expect((yield* send()).nonce).toBe(2n);
  });
  itOnChain(
    "finds ours in the block, and does not call it burned, where receipts lag behind the count",
    function* (chain) {
      chain.receiptsLag = true;
      const sent = yield* sendAfter(chain, (raw) => {
        chain.send(raw);
        chain.mine();
      });
      yield* Nonces.reconcile(lane);
      yield* Effect.sleep(80);
      expect(sent.outcome.kind).toBe("tooLow");
      expect((yield* Nonces.reconcile(lane)).ended).toMatchObject([{ nonce: 0n, hash: sent.hash, end: "mined" }]);
    },
  );
  itOnChain("uses two nonces for the sender's own authorisation, and recognises one", function* () {
    const mismatch = { _tag: "SignedMismatch", field: "authorizationList" };
    expect(yield* Effect.flip(Nonces.withNonce(lane, signPair))).toMatchObject(mismatch);
    const plain = Nonces.withNonce(lane, (nonce) => sign(nonce), undefined, { width: 2 });
    expect(yield* Effect.flip(plain)).toMatchObject(mismatch);
    expect((yield* Nonces.withNonce(lane, signPair, undefined, { width: 2 })).nonce).toBe(0n);
    expect(yield* Effect.flip(send())).toMatchObject({ _tag: "NonceBusy", cap: 1 });
  });
});

describe("reserve", () => {
  itOnChain("is released when its scope closes uncommitted, and kept when committed", function* () {
    const reserved = Effect.scoped(Effect.map(Nonces.reserve(lane), ({ nonce }) => nonce));
    const first = yield* reserved;
    const committed = Effect.gen(function* () {
      const lease = yield* Nonces.reserve(lane, { ttl: 5_000 });
      return (yield* Nonces.commit(lease, { raw: yield* sign(lease.nonce) })).nonce;
    });
    expect([first, yield* Effect.scoped(committed), yield* reserved]).toEqual([0n, 0n, 1n]);
  });
  itOnChain("can be released early, once", function* () {
    const program = Effect.gen(function* () {
      const lease = yield* Nonces.reserve(lane);
      yield* Nonces.release(lease);
      const other = yield* Nonces.reserve(lane);
      yield* Nonces.release(lease);
      const committed = yield* Nonces.commit(other, { hash: `0x${"AB".repeat(32)}` as never });
      return [lease.nonce, other.nonce, committed.hash];
    });
    expect(yield* Effect.scoped(program)).toEqual([0n, 0n, `0x${"ab".repeat(32)}`]);
  });
  it("asks nothing of the chain when the counts are given, and peeks without reserving", async () => {
    const counts = at(4n);
    const found = Effect.gen(function* () {
      const cold = yield* Nonces.peek(lane, { counts: at(4n, 6n) });
      const lease = yield* Nonces.reserve(lane, { counts });
      const peeked = [yield* Nonces.peek(lane, { counts }), yield* Nonces.peek(lane, { counts })];
      return [cold, lease.nonce, ...peeked, (yield* Nonces.reserve(lane, { counts })).nonce];
    });
    expect(await run(new SimulatedChain({}, 1), Effect.scoped(found))).toEqual([6n, 4n, 5n, 5n, 5n]);
  });
  it("gives a delegated sender one nonce in flight, others sixteen (invariant 9)", async () => {
    const chain = new SimulatedChain();
    chain.codes.set(sender.address.toLowerCase(), `0xef0100${"11".repeat(20)}`);
    const delegated = await run(chain, Effect.all([send(), Effect.flip(send())]));
    expect(delegated[1]).toMatchObject({ _tag: "NonceBusy", inFlight: 1, cap: 1, retryInMs: null });
    const many = Effect.all(Array.from({ length: 17 }, () => Effect.result(send())));
    const busy = (await run(new SimulatedChain(), many)).flatMap((each) =>
      each._tag === "Failure" ? [each.failure] : [],
    );
    expect(busy).toMatchObject([{ _tag: "NonceBusy", inFlight: 16, cap: 16 }]);
  });
  itOnChain("refuses an impossible lane, another chain, and the counts of a key", function* () {
    const wrongs = [{ chainId: 0 }, { address: "0x12" as const }, { key: -1n }, { key: 1n }, { chainId: 10 }];
    const failures = yield* Effect.forEach(wrongs, (wrong) =>
      Effect.flip(Effect.scoped(Nonces.reserve({ ...lane, ...wrong }))),
    );
    expect(failures.map(({ _tag }) => _tag)).toEqual([...Array(4).fill("InvalidLane"), "ChainIdMismatch"]);
  });
  itOnChain("does not let an absurd count close the lane", function* () {
    yield* send();
    const failure = yield* Effect.flip(Effect.scoped(Nonces.reserve(lane, { counts: at(1n << 40n) })));
    expect(failure).toMatchObject({ _tag: "NonceImplausible", next: 1n });
    expect((yield* send()).nonce).toBe(1n);
  });
});

describe("a durable store", () => {
  const lasting = () => changed(() => ({ persistent: true }));
  it("is cold until one call starts it and the counts agree, and answers at once from then on", async () => {
    const chain = new SimulatedChain();
    const started = Effect.gen(function* () {
      const cold = yield* Effect.flip(send());
      expect(cold).toMatchObject({
        _tag: "NonceColdStart",
        message: expect.stringContaining("Nonces.bootstrap(lane)"),
      });
      expect(cold.message).toContain("preflight.nonces.bootstrap(lane)");
      expect((yield* Effect.flip(Nonces.check(lane)))._tag).toBe("NonceColdStart");
      chain.account(sender.address).pool.set(0, "0x01");
      expect((yield* Effect.flip(Nonces.bootstrap(lane, { settleMs: 1 })))._tag).toBe("NonceColdStart");
      chain.mine();
      expect(yield* Nonces.bootstrap(lane, { settleMs: 1 })).toBe(true);
      const before = performance.now();
      expect(yield* Nonces.bootstrap(lane)).toBe(false);
      expect(performance.now() - before).toBeLessThan(5_000);
      expect([(yield* send()).nonce, yield* Nonces.adopt(lane), yield* Nonces.check(lane)]).toEqual([1n, false, []]);
      expect(yield* Nonces.lanes).toEqual([`31337:${sender.address.toLowerCase()}:0`]);
    });
    await run(chain, started, { store: lasting() });
  });
  it("can be started at given counts", async () => {
    const chain = new SimulatedChain();
    chain.account(sender.address).pool.set(0, "0x01");
    const [, sent] = await run(chain, Effect.all([Nonces.adopt(lane), send()]), { store: lasting() });
    expect(sent.nonce).toBe(1n);
  });
});

describe("reconcile", () => {
  itOnChain("names a gap, which a no-op fills (invariant 7)", function* (chain) {
    expect(yield* Nonces.fillGap(lane, (nonce) => sign(nonce))).toBeNull();
    yield* Effect.scoped(Effect.andThen(Nonces.reserve(lane), send()));
    expect((yield* Nonces.reconcile(lane)).gaps).toEqual([0n]);
    const filled = yield* Nonces.fillGap(lane, (nonce) => {
      const noop = { to: lane.address, value: 0n, data: "0x", chainId: 31337, nonce: 0 };
      expect(Nonces.noop(lane, nonce)).toMatchObject(noop);
      return sign(nonce, 0n);
    });
    expect([filled?.nonce, (yield* Nonces.reconcile(lane)).gaps]).toEqual([0n, []]);
    chain.mine();
    expect(chain.account(sender.address).mined).toHaveLength(2);
  });
  itOnChain("sends the replacement, once it is committed", function* () {
    const sent = yield* send();
    const replaced = yield* Nonces.replace(lane, 0n, sent.hash, yield* sign(0n, 0n, 3_000_000_000n));
    expect(replaced.hash).not.toBe(sent.hash);
    const late = Nonces.replace(lane, 0n, sent.hash, yield* sign(0n, 9n));
    expect(yield* Effect.flip(late)).toMatchObject({ _tag: "ReplaceConflict", last: replaced.hash });
    const wrong = Nonces.replace(lane, 0n, replaced.hash, yield* sign(1n));
    expect(yield* Effect.flip(wrong)).toMatchObject({ _tag: "SignedMismatch", field: "nonce" });
    const { resent } = yield* Nonces.reconcile(lane);
    expect(resent).toMatchObject([{ hash: replaced.hash, outcome: { kind: "accepted" } }]);
  });
  itOnChain("keeps a replacement to the nonces that are held: an authorisation would burn the next", function* (chain) {
    const sent = yield* send();
    const wide = Nonces.replace(lane, 0n, sent.hash, yield* signPair(0n));
    expect(yield* Effect.flip(wide)).toMatchObject({ _tag: "SignedMismatch", field: "authorizationList" });
    chain.mine();
    const pair = yield* Nonces.withNonce(lane, signPair, undefined, { width: 2 });
    expect((yield* Nonces.replace(lane, 1n, pair.hash, yield* sign(1n))).nonce).toBe(1n);
  });
});

describe("a store that fails", () => {
  const broken = new NonceStoreError({ operation: "reserve", detail: "gone", isRetryable: true });
  it("is retried with the same token, so that a lost reply costs nothing", async () => {
    const chain = new SimulatedChain();
    /** Acts, and loses the first reply of each operation. */
    const losing = changed((store) => {
      let lost = 0;
      const lose = <A>(effect: Effect.Effect<A, NonceStoreError>) =>
        Effect.tap(effect, () => ((lost += 1) % 2 === 1 ? Effect.fail(broken) : Effect.void));
      return {
        reserve: (...args) => lose(store.reserve(...args)),
        commit: (...args) => lose(store.commit(...args)),
      };
    });
    const sent = await run(chain, Effect.all([send(), send(), send()]), { store: losing });
    expect(sent.map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
  });
  it("leaves the answer in doubt when it says no after a lost try: the first may have committed", async () => {
    const chain = new SimulatedChain();
    for (const answer of ["lost", "cold"] as const) {
      let tries = 0;
      const losing = changed((store) => ({
        commit: (...args) =>
          Effect.suspend(() => {
            tries += 1;
            return tries === 1 ? Effect.andThen(store.commit(...args), Effect.never) : Effect.succeed(answer);
          }),
      }));
      const failure = await run(chain, Effect.flip(send()), { store: losing });
      expect([tries, failure]).toMatchObject([
        2,
        { _tag: "NonceStoreError", operation: "commit", nonce: 0n, mayBeSent: true },
      ]);
    }
    expect(chain.broadcasts).toEqual([]);
  });
  it("is waited for a limited time, also where nothing can be interrupted", async () => {
    const chain = new SimulatedChain();
    const settings = { storeTimeoutMs: 20, storeRetries: 0 };
    const began = performance.now();
    const hanging = changed(() => ({ commit: () => Effect.never }));
    const failure = await run(chain, Effect.flip(send()), { settings, store: hanging });
    expect(failure).toMatchObject({ _tag: "NonceStoreError", operation: "commit", mayBeSent: true });
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(chain.broadcasts).toEqual([]);
  });
  it("does not undo a send when it cannot be told of that", async () => {
    const chain = new SimulatedChain();
    const deaf = changed(() => ({ report: () => Effect.fail(broken) }));
    const sent = await run(chain, send(), { store: deaf, settings: { storeRetries: 0 } });
    expect(sent.outcome.kind).toBe("accepted");
  });
});

describe("interruption of a send", () => {
  /** Interrupts at the n-th boundary between the protocol and the store, the chain or the signer. */
  const interruptedAt = async (at: number) => {
    const chain = new SimulatedChain();
    let passed = 0;
    const reached = Deferred.makeUnsafe<void>();
    const boundary = Effect.suspend(() => {
      passed += 1;
      return passed - 1 === at
        ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.sleep(5))
        : Effect.yieldNow;
    });
    const around = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.andThen(
        boundary,
        Effect.tap(effect, () => boundary),
      );
    const slow = changed((store) => ({
      reserve: (...args) => around(store.reserve(...args)),
      commit: (...args) => around(store.commit(...args)),
      release: (...args) => around(store.release(...args)),
      report: (...args) => around(store.report(...args)),
    }));
    const left = await Effect.runPromise(
      Effect.gen(function* () {
        const one = Nonces.withNonce(lane, (nonce) => Effect.andThen(boundary, sign(nonce)));
        const fiber = yield* Effect.forkChild(one);
        const ended = Effect.map(Fiber.await(fiber), () => false);
        const interrupted = yield* Effect.raceFirst(ended, Effect.as(Deferred.await(reached), true));
        if (interrupted) yield* Fiber.interrupt(fiber);
        const exit = yield* Fiber.await(fiber);
        const store = yield* NonceStore;
        const id = {
          ...lane,
          id: `31337:${sender.address.toLowerCase()}:0`,
          key: 0n,
          address: sender.address.toLowerCase(),
        };
        const snapshot = yield* store.read(id as Parameters<typeof store.read>[0]);
        return { interrupted, exit, states: snapshot?.slots.map(({ state }) => state) ?? [] };
      }).pipe(Effect.provide(Layer.mergeAll(chain.layer(boundary), slow))),
    );
    return { ...left, sent: chain.broadcasts.length };
  };

  it("anywhere leaves the nonce free or committed, and sends nothing uncommitted (invariant 8)", async () => {
    const found: Array<string> = [];
    for (let at = 0; ; at += 1) {
      const { interrupted, exit, states, sent } = await interruptedAt(at);
      if (!interrupted) {
        expect(Exit.isSuccess(exit)).toBe(true);
        break;
      }
      expect(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)).toBe(true);
      expect([[], ["committed"]]).toContainEqual(states);
      if (sent > 0) expect(states).toEqual(["committed"]);
      found.push(states[0] ?? "free");
    }
    // Eight requests around the counts, then reserve, sign, commit, send, report
    expect(found.length).toBeGreaterThan(12);
    expect(new Set(found)).toEqual(new Set(["free", "committed"]));
  });
});

describe("observing Nonces", () => {
  it("counts reservations, sends and releases", async () => {
    const chain = new SimulatedChain();
    const snapshot = await run(
      chain,
      Effect.gen(function* () {
        yield* Effect.all([send(), send()]);
        yield* Effect.flip(
          Nonces.withNonce(
            lane,
            (nonce) => Effect.andThen(Effect.sleep(30), Effect.andThen(send(5n), sign(nonce, 6n))),
            undefined,
            { ttl: 10 },
          ),
        );
        chain.mine(1);
        yield* Effect.scoped(Effect.andThen(Nonces.reserve(lane), send(9n)));
        yield* Nonces.reconcile(lane);
        return yield* Metric.snapshot;
      }).pipe(Effect.provideContext(Context.make(Metric.MetricRegistry, new Map()))),
    );
    const values = Object.fromEntries(
      snapshot
        .filter(({ id }) => id.startsWith("evm_preflight_nonces_"))
        .map(({ id, attributes, state }) => {
          const name = id.replace("evm_preflight_nonces_", "");
          const of = attributes?.["state"];
          return [
            of === undefined ? name : `${name} ${of}`,
            "count" in state ? state.count : "value" in state ? state.value : null,
          ];
        }),
    );
    expect(values).toEqual({
      reserved_total: 6,
      committed_total: 4,
      settled_total: 1,
      recycled_total: 1,
      fenced_total: 1,
      "in_flight reserved": 0,
      "in_flight committed": 3,
      gaps: 1,
    });
  });
  itOnChain("prints status as text", function* (chain) {
    yield* send();
    chain.mine();
    yield* Effect.scoped(Effect.andThen(Nonces.reserve(lane), send()));
    const status = yield* Effect.scoped(Effect.andThen(Nonces.reserve(lane), Nonces.status(lane)));
    expect(yield* Nonces.check(lane)).toEqual([]);
    const text = Nonces.toText({ ...status, gaps: [1n], violations: ["nonce 9 \u202e"] });
    expect(text.replace(/0x[0-9a-f]{64}/g, "HASH").replace(/\d+\.\d s/g, "N s")).toMatchInlineSnapshot(`
      "account 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266 on chain 31337
        chain      latest 1, pending 1
        range      from 1 to before 3
        reserved   1, ends in N s
        committed  2, HASH, N s old, accepted, handed
        GAPS       1: nothing above is mined before they are used
        settled    1 kept
        DAMAGED    nonce 9 \\u{202e}"
    `);
  });
  it("fails for a lane that was never started", async () => {
    expect(await run(new SimulatedChain(), Effect.flip(Nonces.status(lane)))).toMatchObject({ _tag: "NonceColdStart" });
    expect(await run(new SimulatedChain(), Effect.flip(Nonces.reconcile(lane)))).toMatchObject({
      _tag: "NonceColdStart",
    });
  });
});
