/** The protocol against a real node. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Semaphore from "effect/Semaphore";
import { createClient } from "redis";
import { createWalletClient, http, keccak256, parseTransaction, type Hex } from "viem";
import { anvil as anvilChain } from "viem/chains";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import { layerNonces } from "../../src/testing.js";
import * as Nonces from "../../src/Nonces.js";
import { layerNodeRedis } from "../../src/redis.js";
import * as Rpc from "../../src/Rpc.js";
import { mineAnvil, rawRequest, startAnvil, type Node } from "../harness/anvil.js";
import { lane, sender, sign, signPair } from "./chain.js";
import { findRedis, startRedis } from "./servers.js";

const quick = { ...Nonces.defaults, resendAfterMs: 0, burnedAfterMs: 100 };
let node: Node;
let clean: unknown;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
});
afterAll(() => node.stop());
beforeEach(async () => {
  if (clean !== undefined) await rawRequest(node.url, "evm_revert", [clean]);
  await rawRequest(node.url, "anvil_dropAllTransactions");
  clean = await rawRequest(node.url, "evm_snapshot");
});

const run = <A, E>(effect: Effect.Effect<A, E, NonceStore | Rpc.Rpc>, store: Layer.Layer<NonceStore> = layerNonces) =>
  Effect.runPromise(
    effect.pipe(
      Effect.provide(Layer.merge(Rpc.layerHttp(node.url), store)),
      Effect.provideService(Nonces.Settings, quick),
    ),
  );
const itRuns = (what: string, use: () => Generator<Effect.Effect<unknown, unknown, NonceStore | Rpc.Rpc>, void>) =>
  it(what, () => run(Effect.gen(use)));
const ask = (method: string, ...params: ReadonlyArray<unknown>) =>
  Effect.promise(() => rawRequest(node.url, method, params));
const mine = Effect.promise(() => mineAnvil(node.url));
const send = Nonces.withNonce(lane, (nonce) => sign(nonce));
const minedCount = Effect.map(ask("eth_getTransactionCount", lane.address, "latest"), Number);

describe("Nonces on anvil", () => {
  itRuns("a dropped transaction is sent again, byte for byte", function* () {
    const sent = yield* Effect.all([send, send, send]);
    yield* ask("anvil_dropTransaction", sent[1].hash);
    const { resent } = yield* Nonces.reconcile(lane);
    expect(resent.map(({ hash, outcome, fellOut }) => [hash, outcome.kind, fellOut])).toEqual([
      [sent[0].hash, "alreadyKnown", false],
      [sent[1].hash, "accepted", false],
      // anvil drops what depends on a dropped one
      [sent[2].hash, "accepted", false],
    ]);
    yield* mine;
    expect(yield* minedCount).toBe(3);
    const { ended, committed } = yield* Nonces.reconcile(lane);
    expect([ended.map(({ end }) => end), committed]).toEqual([["mined", "mined", "mined"], []]);
  });
  itRuns("a transaction that a reorganisation dropped after it had settled is sent again", function* () {
    yield* send;
    yield* mine;
    const before = yield* ask("evm_snapshot");
    const [second, third] = [yield* send, yield* send];
    yield* mine;
    expect((yield* Nonces.reconcile(lane)).floor).toBe(3n);
    yield* ask("evm_revert", before);
    yield* ask("anvil_dropAllTransactions");
    const { resent, floor } = yield* Nonces.reconcile(lane);
    expect(resent.map(({ hash, fellOut, outcome }) => [hash, fellOut, outcome.kind])).toEqual([
      [second.hash, true, "accepted"],
      [third.hash, true, "accepted"],
    ]);
    yield* mine;
    expect([floor, yield* minedCount, (yield* send).nonce]).toEqual([3n, 3, 3n]);
  });
  itRuns("somebody else's transaction with the key is taken into account, pending and mined", function* () {
    yield* send;
    const foreign = (nonce: bigint) => Effect.flatMap(sign(nonce, 777n), (raw) => ask("eth_sendRawTransaction", raw));
    yield* foreign(1n);
    expect((yield* send).nonce).toBe(2n);
    yield* mine;
    expect(yield* minedCount).toBe(3);
    yield* foreign(3n);
    yield* mine;
    expect((yield* send).nonce).toBe(4n);
    expect(yield* Nonces.check(lane)).toEqual([]);
  });
  itRuns("a nonce that somebody else used burns ours, and keep reports it when that is final", function* () {
    const sent = yield* Nonces.withNonce(lane, (nonce) =>
      Effect.gen(function* () {
        yield* ask("eth_sendRawTransaction", yield* sign(nonce, 777n));
        yield* mine;
        return yield* sign(nonce);
      }),
    );
    expect(sent.outcome.kind).toBe("tooLow");
    expect((yield* Nonces.reconcile(lane)).ended).toEqual([]);
    yield* Effect.sleep(120);
    expect((yield* Nonces.reconcile(lane)).ended).toEqual([]);
    // anvil's final block is 64 behind the latest: the one behind that block, which is looked for from there
    yield* ask("anvil_mine", "0x41");
    expect((yield* Nonces.reconcile(lane)).ended).toEqual([{ nonce: 0n, hash: sent.hash, end: "burned" }]);
    expect((yield* send).nonce).toBe(1n);
  });
  itRuns("a replacement is mined in the place of the first", function* () {
    const first = yield* send;
    const cheap = yield* Nonces.replace(lane, 0n, first.hash, yield* sign(0n, 1n));
    const { resent } = yield* Nonces.reconcile(lane);
    expect(resent[0]).toMatchObject({ hash: cheap.hash, outcome: { kind: "underpriced" } });
    const raw = yield* sign(0n, 0n, 9_000_000_000n);
    const dear = yield* Nonces.replace(lane, 0n, cheap.hash, raw);
    expect((yield* Nonces.reconcile(lane)).resent[0]?.outcome.kind).toBe("accepted");
    yield* mine;
    expect((yield* Nonces.reconcile(lane)).ended).toEqual([{ nonce: 0n, hash: dear.hash, end: "mined" }]);
  });
  itRuns("a self-authorisation uses two nonces, and a delegated sender has one in flight", function* () {
    const pair = yield* Nonces.withNonce(lane, signPair, undefined, { width: 2 });
    expect(pair.outcome.kind).toBe("accepted");
    yield* mine;
    expect(yield* minedCount).toBe(2);
    const next = yield* send;
    expect(next.nonce).toBe(2n);
    expect(yield* Effect.flip(send)).toMatchObject({ _tag: "NonceBusy", cap: 1 });
  });
  itRuns("viem's own errors are read by the node's words, not by viem's interpretation", function* () {
    const wallet = createWalletClient({
      account: sender,
      chain: anvilChain,
      transport: http(node.url, { retryCount: 0 }),
    });
    const viaViem = (raw: Hex) =>
      Effect.tryPromise({
        try: () => wallet.sendRawTransaction({ serializedTransaction: raw }),
        catch: (error) => error,
      });
    const sent = yield* Nonces.withNonce(lane, (nonce) => sign(nonce), viaViem);
    expect(sent.outcome.kind).toBe("accepted");
    const { resent } = yield* Nonces.reconcile(lane, viaViem);
    expect(resent[0]?.outcome.kind).toBe("alreadyKnown");
    yield* mine;
    const late = Nonces.outcomeOf(yield* Effect.flip(viaViem(yield* sign(0n))));
    expect(late.kind).toBe("tooLow");
  });
});

/** Transactions of both replicas together; the full proof is a thousand: `npm run crash:replicas`. */
const many = Number(process.env["NONCE_REPLICA_SENDS"] ?? 200);

describe("two replicas on one account", () => {
  /** Each sends half, and keeps the lane beside it; blocks come 50 ms apart, and the node forgets a tenth of what it took. */
  const sendMany = async (one: Layer.Layer<NonceStore>, other: Layer.Layer<NonceStore>, count: number) => {
    const forgotten: Array<number> = [];
    // why: from its signature until it is forgotten no block comes, which would keep it: keepers send it too
    const blocks = Semaphore.makeUnsafe(1);
    const noBlock = Effect.acquireRelease(blocks.take(1), () => blocks.release(1));
    let isOver = false;
    const mining = Effect.runPromise(
      Effect.whileLoop({
        while: () => !isOver,
        body: () => Effect.andThen(blocks.withPermit(mine), Effect.sleep(50)),
        step: () => undefined,
      }),
    );
    onTestFinished(() => {
      isOver = true;
      return mining;
    });
    const sending = (raw: Hex) =>
      Effect.tryPromise({
        try: () => rawRequest(node.url, "eth_sendRawTransaction", [raw]),
        catch: (error) => error,
      });
    const isForgotten = (nonce: bigint | number | undefined) => Number(nonce) % 10 === 0;
    const forget = (raw: Hex) =>
      Effect.map(ask("anvil_dropTransaction", keccak256(raw)), (dropped) => {
        if (dropped !== null) forgotten.push(parseTransaction(raw).nonce ?? 0);
      });
    const sendOne = Nonces.withNonce(
      lane,
      // its scope ends when the bytes were sent, and forgotten
      (nonce) => (isForgotten(nonce) ? Effect.andThen(noBlock, sign(nonce)) : sign(nonce)),
      (raw) => (isForgotten(parseTransaction(raw).nonce) ? Effect.ensuring(sending(raw), forget(raw)) : sending(raw)),
      { waitMs: 120_000 },
    );
    const all = Effect.forEach(Array.from({ length: count / 2 }), () => sendOne, { concurrency: 8 });
    const keep = Effect.forkChild(Nonces.keep(lane, { everyMs: 200 }));
    const replica = (store: Layer.Layer<NonceStore>) =>
      run(Effect.andThen(Effect.andThen(Nonces.adopt(lane), keep), all), store);
    const sent = (await Promise.all([replica(one), replica(other)])).flat();
    const isMined = Effect.andThen(Nonces.reconcile(lane), minedCount);
    await expect.poll(() => run(isMined, one), { timeout: 120_000 }).toBe(count);
    // anvil drops what is next of its sender and what follows on it: the first is, whatever else has come by then
    expect(forgotten).toContain(0);
    expect(sent.map(({ nonce }) => Number(nonce)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: count }, (_, index) => index),
    );
    for (const { hash } of sent.slice(0, 20)) {
      expect(await rawRequest(node.url, "eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
    }
  };

  it(`send ${many} transactions on one store with no gap and no duplicate`, async () => {
    const store: Store = await Effect.runPromise(Effect.provide(NonceStore, layerNonces));
    const shared = Layer.succeed(NonceStore, store);
    await sendMany(shared, shared, many);
  }, 180_000);
  it("do the same on Redis, each with a client of its own", async () => {
    const bin = findRedis("two replicas on Redis");
    if (bin === null) return expect(bin).toBeNull();
    const server = await startRedis(bin);
    onTestFinished(server.stop);
    const connect = () => createClient({ socket: { path: server.socket, tls: false } }).connect();
    const clients = await Promise.all([connect(), connect()]);
    await sendMany(layerNodeRedis(clients[0]), layerNodeRedis(clients[1]), many);
    for (const client of clients) client.destroy();
  }, 180_000);
});
