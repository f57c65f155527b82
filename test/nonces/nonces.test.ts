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
import { accounts } from "../harness/anvil.js";
import { lane, sender, sign, SimulatedChain } from "./chain.js";
import { at } from "./lanes.js";
import { changed, run, send } from "./running.js";

const signPair = (nonce: bigint) =>
  Effect.promise(async () => {
    const authorization = await sender.signAuthorization({
      address: accounts[2].address,
      chainId: 31337,
      nonce: Number(nonce) + 1,
    });
    return sender.signTransaction({
      ...{ type: "eip7702", chainId: 31337, nonce: Number(nonce), gas: 100_000n, to: accounts[1].address },
      ...{ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n, authorizationList: [authorization] },
    });
  });

describe("withNonce", () => {
  it("takes the next nonce, commits, sends", async () => {
    const chain = new SimulatedChain();
    const sent = await run(chain, Effect.all([send(), send(), send()]));
    expect(sent.map(({ nonce, outcome }) => [nonce, outcome.kind])).toEqual(
      [0, 1, 2].map((n) => [BigInt(n), "accepted"]),
    );
    expect(chain.broadcasts.map(({ nonce, hash }) => [nonce, hash])).toEqual(
      sent.map(({ nonce, hash }) => [Number(nonce), hash]),
    );
  });
  it("does not make two of one under concurrency", async () => {
    const chain = new SimulatedChain();
    const sent = await run(
      chain,
      Effect.all(
        Array.from({ length: 16 }, () => send()),
        { concurrency: "unbounded" },
      ),
    );
    expect(new Set(sent.map(({ nonce }) => nonce)).size).toBe(16);
    expect(chain.duplicates(sender.address)).toEqual([]);
    chain.mine();
    expect(chain.account(sender.address).mined).toHaveLength(16);
  });
  it("gives the nonce back when signing fails", async () => {
    const chain = new SimulatedChain();
    const failing = Nonces.withNonce(lane, () => Effect.fail("the user said no" as const));
    const [failure, sent] = await run(chain, Effect.all([Effect.flip(failing), send()]));
    expect([failure, sent.nonce]).toEqual(["the user said no", 0n]);
  });
  it("sends with what it is given, and reads its answer", async () => {
    const chain = new SimulatedChain();
    const seen: Array<string> = [];
    const sent = await run(
      chain,
      Nonces.withNonce(
        lane,
        (nonce) => sign(nonce),
        (raw) =>
          Effect.sync(() => {
            seen.push(raw);
            return keccak256(raw);
          }),
      ),
    );
    expect([sent.outcome.kind, seen.map((raw) => keccak256(raw as `0x${string}`))]).toEqual(["accepted", [sent.hash]]);
  });
  it.each([
    ["nonce", (nonce: bigint) => sign(nonce + 1n)],
    ["raw", () => Effect.succeed("0x02c0" as const)],
    [
      "from",
      (nonce: bigint) => Effect.map(sign(nonce), (raw): `0x${string}` => `0x${raw.slice(2, -64)}${"1".repeat(64)}`),
    ],
  ])("sends nothing that was signed with another %s", async (field, wrong) => {
    const chain = new SimulatedChain();
    const [failure, sent] = await run(chain, Effect.all([Effect.flip(Nonces.withNonce(lane, wrong)), send()]));
    expect(failure).toMatchObject({ _tag: "SignedMismatch", field, mayBeSent: false });
    expect([sent.nonce, chain.broadcasts.length]).toEqual([0n, 1]);
  });
  it("sends nothing when the lease ended while it was signed (invariant 1)", async () => {
    const chain = new SimulatedChain();
    const slow = Nonces.withNonce(
      lane,
      (nonce) =>
        Effect.gen(function* () {
          yield* Effect.sleep(40);
          const other = yield* send(7n);
          expect(other.nonce).toBe(nonce);
          return yield* sign(nonce, 8n);
        }),
      undefined,
      { ttl: 20 },
    );
    const failure = await run(chain, Effect.flip(slow));
    expect(failure).toMatchObject({ _tag: "LeaseLost", nonce: 0n, mayBeSent: false });
    expect(chain.broadcasts).toHaveLength(1);
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
    const chain = new SimulatedChain();
    chain.refusals.push("intrinsic gas too low: have 1, want 21000");
    const shared = Nonces.withNonce(
      lane,
      (nonce) => sign(nonce),
      () =>
        Effect.andThen(
          Nonces.reconcile(lane, () => Effect.void),
          Effect.fail({ code: -32000, message: "intrinsic gas too low" }),
        ),
    );
    const failure = await run(chain, Effect.flip(shared), { settings: { recycleRejected: true } });
    expect(failure).toMatchObject({ _tag: "SendRejected", isFree: false, mayBeSent: true });
  });
  it("tells a nonce that ours used from one that somebody else used", async () => {
    const chain = new SimulatedChain();
    const mined = Nonces.withNonce(
      lane,
      (nonce) => sign(nonce),
      (raw) =>
        Effect.sync(() => {
          chain.send(raw);
          chain.mine();
          return chain.send(raw);
        }).pipe(Effect.catchDefect(Effect.fail)),
    );
    const burned = Nonces.withNonce(
      lane,
      (nonce) => sign(nonce),
      (raw) =>
        Effect.sync(() => {
          chain.mineForeign(sender.address);
          return chain.send(raw);
        }).pipe(Effect.catchDefect(Effect.fail)),
    );
    const [ours, foreign, next] = await run(chain, Effect.all([mined, Effect.flip(burned), send()]));
    expect([ours.nonce, ours.outcome.kind]).toEqual([0n, "tooLow"]);
    expect(foreign).toMatchObject({ _tag: "NonceBurned", nonce: 1n, mayBeSent: false });
    expect(next.nonce).toBe(2n);
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
  it("says burned only when that is final, and never sends burned bytes again", async () => {
    const chain = new SimulatedChain();
    chain.unfinal = 1;
    const [sent, early, final, again] = await run(
      chain,
      Effect.gen(function* () {
        const first = yield* sendAfter(chain, () => chain.mineForeign(sender.address));
        const second = yield* Nonces.reconcile(lane);
        yield* Effect.sleep(80);
        const third = yield* Nonces.reconcile(lane);
        chain.unfinal = 0;
        const fourth = yield* Nonces.reconcile(lane);
        chain.reorganise(sender.address, 1);
        return [first, [...second.ended, ...third.ended], fourth.ended, yield* Nonces.reconcile(lane)] as const;
      }),
    );
    expect([sent.outcome.kind, early]).toEqual(["tooLow", []]);
    expect(final).toMatchObject([{ nonce: 0n, hash: sent.hash, end: "burned" }]);
    expect(again.resent).toEqual([]);
  });
  it("does not say burned because receipts lag behind the count: it finds ours in the block", async () => {
    const chain = new SimulatedChain();
    chain.receiptsLag = true;
    const [sent, found] = await run(
      chain,
      Effect.gen(function* () {
        const first = yield* sendAfter(chain, (raw) => {
          chain.send(raw);
          chain.mine();
        });
        yield* Nonces.reconcile(lane);
        yield* Effect.sleep(80);
        return [first, (yield* Nonces.reconcile(lane)).ended] as const;
      }),
    );
    expect(sent.outcome.kind).toBe("tooLow");
    expect(found).toMatchObject([{ nonce: 0n, hash: sent.hash, end: "mined" }]);
  });
  it("uses two nonces for an authorisation of the sender itself, and knows one when it sees it", async () => {
    const chain = new SimulatedChain();
    const wrong = Nonces.withNonce(lane, signPair);
    const also = Nonces.withNonce(lane, (nonce) => sign(nonce), undefined, { width: 2 });
    const right = Nonces.withNonce(lane, signPair, undefined, { width: 2 });
    const [first, second, sent, busy] = await run(
      chain,
      Effect.all([Effect.flip(wrong), Effect.flip(also), right, Effect.flip(send())]),
    );
    expect([first, second]).toMatchObject(Array(2).fill({ _tag: "SignedMismatch", field: "authorizationList" }));
    expect(sent.nonce).toBe(0n);
    expect(busy).toMatchObject({ _tag: "NonceBusy", cap: 1 });
  });
});

describe("reserve", () => {
  it("is released when its scope closes uncommitted, and kept when committed", async () => {
    const chain = new SimulatedChain();
    const nonces = await run(
      chain,
      Effect.gen(function* () {
        const first = yield* Effect.scoped(Effect.map(Nonces.reserve(lane), ({ nonce }) => nonce));
        const second = yield* Effect.scoped(
          Effect.gen(function* () {
            const lease = yield* Nonces.reserve(lane, { ttl: 5_000 });
            const committed = yield* Nonces.commit(lease, { raw: yield* sign(lease.nonce) });
            return committed.nonce;
          }),
        );
        const third = yield* Effect.scoped(Effect.map(Nonces.reserve(lane), ({ nonce }) => nonce));
        return [first, second, third];
      }),
    );
    expect(nonces).toEqual([0n, 0n, 1n]);
  });
  it("can be released early, once", async () => {
    const chain = new SimulatedChain();
    const nonces = await run(
      chain,
      Effect.scoped(
        Effect.gen(function* () {
          const lease = yield* Nonces.reserve(lane);
          yield* Nonces.release(lease);
          const other = yield* Nonces.reserve(lane);
          yield* Nonces.release(lease);
          const committed = yield* Nonces.commit(other, { hash: `0x${"AB".repeat(32)}` as never });
          return [lease.nonce, other.nonce, committed.hash];
        }),
      ),
    );
    expect(nonces).toEqual([0n, 0n, `0x${"ab".repeat(32)}`]);
  });
  it("asks nothing of the chain when the counts are given, and peeks without taking", async () => {
    const chain = new SimulatedChain({}, 1);
    const counts = at(4n);
    const found = await run(
      chain,
      Effect.scoped(
        Effect.gen(function* () {
          const cold = yield* Nonces.peek(lane, { counts: at(4n, 6n) });
          const lease = yield* Nonces.reserve(lane, { counts });
          const peeked = [yield* Nonces.peek(lane, { counts }), yield* Nonces.peek(lane, { counts })];
          return [cold, lease.nonce, ...peeked, (yield* Nonces.reserve(lane, { counts })).nonce];
        }),
      ),
    );
    expect(found).toEqual([6n, 4n, 5n, 5n, 5n]);
  });
  it("lets a delegated sender have one in flight, others sixteen (invariant 9)", async () => {
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
  it("refuses what cannot be a lane, another chain, and the counts of a key", async () => {
    const failures = await run(
      new SimulatedChain(),
      Effect.scoped(
        Effect.all(
          [
            Nonces.reserve({ ...lane, chainId: 0 }),
            Nonces.reserve({ ...lane, address: "0x12" }),
            Nonces.reserve({ ...lane, key: -1n }),
            Nonces.reserve({ ...lane, key: 1n }),
            Nonces.reserve({ ...lane, chainId: 10 }),
          ].map(Effect.flip),
        ),
      ),
    );
    expect(failures.map(({ _tag }) => _tag)).toEqual([...Array(4).fill("InvalidLane"), "ChainIdMismatch"]);
  });
  it("does not let an absurd count close the lane", async () => {
    const chain = new SimulatedChain();
    const counts = at(1n << 40n);
    const [, failure, next] = await run(
      chain,
      Effect.all([send(), Effect.flip(Effect.scoped(Nonces.reserve(lane, { counts }))), send()]),
    );
    expect(failure).toMatchObject({ _tag: "NonceImplausible", next: 1n });
    expect(next.nonce).toBe(1n);
  });
});

describe("a store that lasts", () => {
  const lasting = () => changed(() => ({ persistent: true }));
  it("is cold until it is started, which waits for the counts to agree", async () => {
    const chain = new SimulatedChain();
    const outcome = await run(
      chain,
      Effect.gen(function* () {
        const first = yield* Effect.flip(send());
        chain.account(sender.address).pool.set(0, "0x01");
        const second = yield* Effect.flip(Nonces.bootstrap(lane, { settleMs: 1 }));
        chain.mine();
        const third = yield* Nonces.bootstrap(lane, { settleMs: 1 });
        return [first._tag, second._tag, third, (yield* send()).nonce, yield* Nonces.adopt(lane), yield* Nonces.lanes];
      }),
      { store: lasting() },
    );
    const id = `31337:${sender.address.toLowerCase()}:0`;
    expect(outcome).toEqual(["NonceColdStart", "NonceColdStart", true, 1n, false, [id]]);
  });
  it("can be started at the counts as they are", async () => {
    const chain = new SimulatedChain();
    chain.account(sender.address).pool.set(0, "0x01");
    const [, sent] = await run(chain, Effect.all([Nonces.adopt(lane), send()]), { store: lasting() });
    expect(sent.nonce).toBe(1n);
  });
});

describe("reconcile", () => {
  it("sends again what the pool lost, byte for byte, in order (invariant 6)", async () => {
    const chain = new SimulatedChain();
    const { resent, committed } = await run(
      chain,
      Effect.gen(function* () {
        yield* Effect.all([send(), send(), send()]);
        chain.account(sender.address).pool.clear();
        return yield* Nonces.reconcile(lane);
      }),
    );
    expect(resent.map(({ nonce, outcome, fellOut }) => [nonce, outcome.kind, fellOut])).toEqual(
      [0n, 1n, 2n].map((nonce) => [nonce, "accepted", false]),
    );
    expect(committed.map(({ hash }) => hash)).toEqual(resent.map(({ hash }) => hash));
    expect(chain.duplicates(sender.address)).toEqual([]);
    chain.mine();
    expect(chain.account(sender.address).mined).toHaveLength(3);
  });
  it("sends again what a reorganisation dropped after it had settled", async () => {
    const chain = new SimulatedChain();
    const [settled, again] = await run(
      chain,
      Effect.gen(function* () {
        yield* Effect.all([send(), send()]);
        chain.mine();
        const first = yield* Nonces.reconcile(lane);
        chain.reorganise(sender.address, 1);
        return [first, yield* Nonces.reconcile(lane)] as const;
      }),
    );
    expect(settled.ended.map(({ nonce, end }) => [nonce, end])).toEqual([
      [0n, "mined"],
      [1n, "mined"],
    ]);
    expect(again.resent).toMatchObject([{ nonce: 1n, fellOut: true, outcome: { kind: "accepted" } }]);
    expect([again.floor, again.next]).toEqual([2n, 2n]);
  });
  it("absorbs what somebody else sent with the key, and names what it burned (invariant 10)", async () => {
    const chain = new SimulatedChain();
    const [first, second, next] = await run(
      chain,
      Effect.gen(function* () {
        yield* send();
        chain.account(sender.address).pool.clear();
        chain.mineForeign(sender.address);
        chain.mineForeign(sender.address);
        const one = yield* Nonces.reconcile(lane);
        yield* Nonces.reconcile(lane);
        yield* Effect.sleep(80);
        return [one, yield* Nonces.reconcile(lane), yield* send()] as const;
      }),
    );
    expect([first.ended, first.floor, first.next]).toEqual([[], 0n, 2n]);
    expect([second.floor, second.next]).toEqual([2n, 2n]);
    expect(second.ended).toMatchObject([{ nonce: 0n, end: "burned" }]);
    expect(next.nonce).toBe(2n);
  });
  it("names a gap, which a no-op fills (invariant 7)", async () => {
    const chain = new SimulatedChain();
    const found = await run(
      chain,
      Effect.gen(function* () {
        const none = yield* Nonces.fillGap(lane, (nonce) => sign(nonce));
        yield* Effect.scoped(Effect.andThen(Nonces.reserve(lane), send()));
        const before = yield* Nonces.reconcile(lane);
        const filled = yield* Nonces.fillGap(lane, (nonce) => {
          const { to, value, data, chainId } = Nonces.noop(lane, nonce);
          expect([to, value, data, chainId, Nonces.noop(lane, nonce).nonce]).toEqual([
            lane.address,
            0n,
            "0x",
            31337,
            0,
          ]);
          return sign(nonce, 0n);
        });
        const after = yield* Nonces.reconcile(lane);
        return { none, before: before.gaps, filled: filled?.nonce, after: after.gaps };
      }),
    );
    expect(found).toEqual({ none: null, before: [0n], filled: 0n, after: [] });
    chain.mine();
    expect(chain.account(sender.address).mined).toHaveLength(2);
  });
  it("sends the replacement, once it is committed", async () => {
    const chain = new SimulatedChain();
    const found = await run(
      chain,
      Effect.gen(function* () {
        const sent = yield* send();
        const raw = yield* sign(0n, 0n, 3_000_000_000n);
        const replaced = yield* Nonces.replace(lane, 0n, sent.hash, raw);
        const late = yield* Effect.flip(Nonces.replace(lane, 0n, sent.hash, yield* sign(0n, 9n)));
        const wrong = yield* Effect.flip(Nonces.replace(lane, 0n, replaced.hash, yield* sign(1n)));
        const { resent } = yield* Nonces.reconcile(lane);
        return { sent, replaced, late, wrong, resent };
      }),
    );
    expect(found.replaced.hash).not.toBe(found.sent.hash);
    expect(found.late).toMatchObject({ _tag: "ReplaceConflict", last: found.replaced.hash });
    expect(found.wrong).toMatchObject({ _tag: "SignedMismatch", field: "nonce" });
    expect(found.resent).toMatchObject([{ hash: found.replaced.hash, outcome: { kind: "accepted" } }]);
  });
  it("keeps a replacement to the nonces that are held: an authorisation of the sender would burn the next", async () => {
    const chain = new SimulatedChain();
    const [refused, narrowed] = await run(
      chain,
      Effect.gen(function* () {
        const sent = yield* send();
        const wide = yield* Effect.flip(Nonces.replace(lane, 0n, sent.hash, yield* signPair(0n)));
        chain.mine();
        const pair = yield* Nonces.withNonce(lane, signPair, undefined, { width: 2 });
        return [wide, yield* Nonces.replace(lane, 1n, pair.hash, yield* sign(1n))] as const;
      }),
    );
    expect(refused).toMatchObject({ _tag: "SignedMismatch", field: "authorizationList" });
    expect(narrowed.nonce).toBe(1n);
  });
  it("goes on for ever, whatever fails", async () => {
    const chain = new SimulatedChain();
    await run(
      chain,
      Effect.gen(function* () {
        yield* send();
        const keeping = yield* Effect.forkChild(Nonces.keep(lane, { everyMs: 5 }));
        chain.account(sender.address).pool.clear();
        Object.assign(chain, { chainId: 5 });
        yield* Effect.sleep(20);
        Object.assign(chain, { chainId: 31337 });
        yield* Effect.sleep(30);
        yield* Fiber.interrupt(keeping);
      }),
    );
    expect(chain.account(sender.address).pool.size).toBe(1);
  });
});

describe("a store that fails", () => {
  const broken = new NonceStoreError({ operation: "reserve", detail: "gone", isRetryable: true });
  it("is asked again with the same token, so that a lost reply costs nothing", async () => {
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
  it("that says no after a try without an answer is in doubt: it may have committed, told another, and lost it", async () => {
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
  it("is waited for only so long, also where nothing can be interrupted", async () => {
    const chain = new SimulatedChain();
    const settings = { storeTimeoutMs: 20, storeRetries: 0 };
    const began = performance.now();
    const hanging = changed(() => ({ commit: () => Effect.never }));
    const failure = await run(chain, Effect.flip(send()), { settings, store: hanging });
    expect(failure).toMatchObject({ _tag: "NonceStoreError", operation: "commit", mayBeSent: true });
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(chain.broadcasts).toEqual([]);
  });
  it("does not undo a send by failing to be told of it", async () => {
    const chain = new SimulatedChain();
    const deaf = changed(() => ({ report: () => Effect.fail(broken) }));
    const sent = await run(chain, send(), { store: deaf, settings: { storeRetries: 0 } });
    expect(sent.outcome.kind).toBe("accepted");
  });
});

describe("interruption", () => {
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

describe("what is seen of it", () => {
  it("is counted", async () => {
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
  it("reads as text", async () => {
    const chain = new SimulatedChain();
    const status = await run(
      chain,
      Effect.gen(function* () {
        yield* send();
        chain.mine();
        yield* Effect.scoped(Effect.andThen(Nonces.reserve(lane), send()));
        const found = yield* Effect.scoped(Effect.andThen(Nonces.reserve(lane), Nonces.status(lane)));
        expect(yield* Nonces.check(lane)).toEqual([]);
        return found;
      }),
    );
    const text = Nonces.toText({ ...status, gaps: [1n], violations: ["nonce 9 \u202e"] });
    expect(text.replace(/0x[0-9a-f]{64}/g, "HASH").replace(/\d+\.\d s/g, "N s")).toMatchInlineSnapshot(`
      "lane 31337:0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266:0
        chain      latest 1, pending 1
        range      from 1 to before 3
        reserved   1, ends in N s
        committed  2, HASH, N s old, accepted
        GAPS       1: nothing above is mined before they are used
        settled    1 kept
        DAMAGED    nonce 9 \\u{202e}"
    `);
  });
  it("fails for a lane nobody started", async () => {
    expect(await run(new SimulatedChain(), Effect.flip(Nonces.status(lane)))).toMatchObject({ _tag: "NonceColdStart" });
    expect(await run(new SimulatedChain(), Effect.flip(Nonces.reconcile(lane)))).toMatchObject({
      _tag: "NonceColdStart",
    });
  });
});
