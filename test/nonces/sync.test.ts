/** Sending with the receipt in the same answer: what a node takes, refuses, loses and says in time, and never twice. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import fc from "fast-check";
import { keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import { layerMemory, type NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import * as Rpc from "../../src/Rpc.js";
import { accounts, rawRequest, startAnvil, type Node } from "../harness/anvil.js";
import { findGethOrWarn, startGethDev, type GethDev } from "../harness/geth.js";
import { faults, startProxy, type Fault, type Proxy } from "../harness/proxy.js";
import { memoryOf } from "../rooms/rpc.js";

const [sync, realtime, plain] = ["eth_sendRawTransactionSync", "realtime_sendRawTransaction", "eth_sendRawTransaction"];
const [first, second] = [privateKeyToAccount(accounts[0].privateKey), privateKeyToAccount(accounts[1].privateKey)];

const signing =
  (chainId: number, account = first) =>
  (nonce: bigint) =>
    Effect.promise(() =>
      account.signTransaction({
        ...{ type: "eip1559", chainId, nonce: Number(nonce), to: account.address, gas: 60_000n, value: nonce },
        ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n },
      }),
    );

const running =
  (layer: Layer.Layer<Rpc.Rpc>) =>
  <A, E>(program: Effect.Effect<A, E, Rpc.Rpc | NonceStore>) =>
    Effect.runPromise(
      program.pipe(
        Effect.provide(Layer.merge(layer, layerMemory)),
        Effect.provideService(Nonces.Settings, { ...Nonces.defaults, resendAfterMs: 0 }),
      ),
    );

const bin = findGethOrWarn("receipts at once, on geth");
describe.skipIf(bin === null)("sending with eth_sendRawTransactionSync on geth", () => {
  let geth: GethDev;
  let proxy: Proxy;
  beforeAll(async () => {
    geth = await startGethDev(bin ?? "");
    proxy = await startProxy({ target: geth.url });
  });
  afterEach(() => proxy?.reset());
  afterAll(async () => {
    await proxy?.stop();
    await geth?.stop();
  });
  const run = <A, E>(program: Effect.Effect<A, E, Rpc.Rpc | NonceStore>) => running(Rpc.layerHttp(proxy.url))(program);
  const seen = () =>
    proxy.seen.filter(({ method }) => [sync, realtime, plain].includes(method)).map(({ method }) => method);
  const laneOf = ({ address }: typeof first) => ({ chainId: 1_337, address });

  it("gets the receipt with one request", async () => {
    const mining = expect.poll(() => seen().length, { timeout: 10_000 }).toBe(1);
    const sent = run(Nonces.withNonce(laneOf(first), signing(1_337), Nonces.sendSync({ timeout: 10_000 })));
    await mining;
    await geth.mine();
    const { hash, nonce, outcome, receipt, state } = await sent;
    expect([nonce, outcome.kind, outcome.hash, state]).toEqual([0n, "accepted", hash, "mined"]);
    expect(proxy.seen.find(({ method }) => method === sync)?.params).toEqual([expect.any(String), 10_000]);
    expect(receipt?.status).toBe("success");
    expect(receipt).toEqual(await run(Eth.getTransactionReceipt({ hash })));
    expect(seen()).toEqual([sync]);
  });

  it("hands over a transaction above a gap within the given time, and the filler has both mined", async () => {
    const lane = laneOf(second);
    const sign = signing(1_337, second);
    const send = Nonces.sendSync({ timeout: 100 });
    await run(
      Effect.gen(function* () {
        const behind = yield* Effect.scoped(
          Effect.gen(function* () {
            const lower = yield* Nonces.reserve(lane);
            const upper = yield* Nonces.reserve(lane);
            const sent = yield* Nonces.deliver(upper, yield* sign(upper.nonce), send);
            yield* Nonces.deliver(lower, yield* sign(lower.nonce), send);
            return sent;
          }),
        );
        const { hash } = behind;
        expect(behind).toMatchObject({
          state: "handed",
          receipt: null,
          outcome: { kind: "accepted", hash, error: null },
        });
        expect(seen()).toEqual([sync, sync]);
        const [, upper] = (yield* Nonces.status(lane)).committed;
        expect(["seen", "next"]).toContain(upper?.state);
        yield* Effect.promise(() => geth.mine());
        const states = (yield* Nonces.status(lane)).committed.map(({ state }) => state);
        expect(states).toEqual(["mined", "mined"]);
      }),
    );
  });

  it("hands over, finds by its hash and does not resend a transaction whose answer was lost", async () => {
    const lane = laneOf(first);
    await run(
      Effect.gen(function* () {
        // why: a connection of which nothing more comes is given up when the node has long answered
        proxy.fail(sync, faults.drop);
        const sent = yield* Nonces.withNonce(lane, signing(1_337), Nonces.sendSync({ timeout: 50 }));
        expect(sent).toMatchObject({ state: "handed", receipt: null, outcome: { kind: "unknown", hash: null } });
        expect(
          yield* Effect.promise(() => rawRequest(geth.url, "eth_getTransactionByHash", [sent.hash])),
        ).not.toBeNull();
        expect((yield* Nonces.status(lane)).committed).toMatchObject([{ hash: sent.hash, state: expect.any(String) }]);
        expect(seen()).toEqual([sync]);
        // the same bytes, asked for again by whoever keeps the lane: the node has them
        const again = yield* Nonces.reconcile(lane);
        expect(again.resent).toMatchObject([{ hash: sent.hash, outcome: { kind: "alreadyKnown", state: "seen" } }]);
        yield* Effect.promise(() => geth.mine());
        expect((yield* Nonces.status(lane)).committed).toMatchObject([{ state: "mined" }]);
      }),
    );
  });

  it("fails with the pool's refusal after one request", async () => {
    const poor = privateKeyToAccount(`0x${"42".repeat(32)}`);
    const lane = laneOf(poor);
    const failure = await run(Effect.flip(Nonces.withNonce(lane, signing(1_337, poor), Nonces.sendSync())));
    expect(failure).toMatchObject({ _tag: "SendRejected", kind: "rejected", mayBeSent: true });
    expect(proxy.seen.filter(({ method }) => method === sync).map(({ params }) => params.length)).toEqual([1]);
    expect(seen()).toEqual([sync]);
  });
});

describe("sending through a proxy in front of anvil, which knows only the form without a time", () => {
  let anvil: Node;
  let proxy: Proxy;
  beforeAll(async () => {
    anvil = await startAnvil();
    proxy = await startProxy({ target: anvil.url, names: { [realtime]: sync } });
  });
  afterEach(() => proxy?.reset());
  afterAll(async () => {
    await proxy?.stop();
    await anvil?.stop();
  });
  const seen = () =>
    proxy.seen.flatMap(({ method, params }) =>
      [sync, realtime, plain].includes(method) ? [`${method} ${params.length}`] : [],
    );
  const lane = { chainId: 31_337, address: first.address };
  const raws = () => new Set(proxy.seen.flatMap(({ method, params }) => (/_send/.test(method) ? [params[0]] : [])));
  const sending = (options: Nonces.SyncOptions = {}) =>
    Nonces.withNonce(lane, signing(31_337), Nonces.sendSync(options));
  const run = <A, E>(program: Effect.Effect<A, E, Rpc.Rpc | NonceStore>, timeoutMs = 30_000) =>
    running(Rpc.layerHttp(proxy.url, { timeoutMs }))(program);
  /** What the node gives of it, when it has it. */
  const minedOf = (hash: string) => rawRequest(anvil.url, "eth_getTransactionReceipt", [hash]);

  it("leaves refused parameters out, for nothing was sent", async () => {
    const { state, receipt, hash } = await run(sending({ timeout: 5_000 }));
    expect([state, receipt?.transactionHash, receipt?.status]).toEqual(["mined", hash, "success"]);
    expect(seen()).toEqual([`${sync} 2`, `${sync} 1`]);
    expect(raws().size).toBe(1);
  });

  it("uses eth_sendRawTransaction on a node with neither method, at once the next time", async () => {
    for (const method of [sync, realtime]) proxy.fail(method, faults.notFound);
    const both = Effect.gen(function* () {
      const one = yield* sending({ timeout: 5_000 });
      const asked = seen();
      const two = yield* sending({ timeout: 5_000 });
      return { one, two, asked, later: seen().slice(asked.length) };
    });
    const { one, two, asked, later } = await run(both);
    expect(one).toMatchObject({ state: "handed", receipt: null, outcome: { kind: "accepted", hash: one.hash } });
    expect(two).toMatchObject({ state: "handed", receipt: null, outcome: { kind: "accepted", hash: two.hash } });
    expect(asked).toEqual([`${sync} 2`, `${realtime} 2`, `${plain} 1`]);
    expect(later).toEqual([`${plain} 1`]);
  });

  it("uses realtime_sendRawTransaction where the node has it, and hands over when its time is up", async () => {
    proxy.fail(sync, faults.notFound);
    const { state, receipt, hash } = await run(sending());
    expect([state, receipt?.transactionHash]).toEqual(["mined", hash]);
    expect(seen()).toEqual([`${sync} 1`, `${realtime} 1`]);
    proxy.reset();
    proxy.fail(sync, faults.forbidden);
    proxy.fail(realtime, { kind: "error", error: { code: -32_000, message: "realtime transaction expired" } });
    const late = await run(sending());
    expect(late).toMatchObject({ state: "handed", receipt: null, outcome: { kind: "unknown" } });
    expect(seen()).toEqual([`${sync} 1`, `${realtime} 1`]);
    expect(await run(Nonces.reconcile(lane))).toMatchObject({
      resent: [{ hash: late.hash, outcome: { kind: "accepted" } }],
    });
    proxy.reset();
    proxy.fail(sync, faults.notFound);
    proxy.fail(realtime, faults.rateLimited);
    // a sending is not tried again by itself, whatever it is called
    expect(await run(sending())).toMatchObject({ state: "handed", receipt: null, outcome: { kind: "unknown" } });
    expect(seen()).toEqual([`${sync} 1`, `${realtime} 1`]);
    await run(Nonces.reconcile(lane));
  });

  const other = `0x${"ab".repeat(32)}`;
  /** Answers of which the transaction is handed: the node has it, or may have. */
  const handed: Readonly<
    Record<string, { readonly fault: Fault; readonly kind?: string; readonly isMined?: boolean }>
  > = {
    "a dropped connection": { fault: faults.drop, isMined: true },
    "a connection that breaks in the answer": { fault: faults.reset, isMined: true },
    "an answer cut in half": { fault: faults.cut, isMined: true },
    "the answer to another request": { fault: faults.wrongId, isMined: true },
    "no answer at all": { fault: faults.hang },
    "a gateway in trouble": { fault: faults.html500 },
    "a receipt of nothing": { fault: faults.nullResult },
    "something else": { fault: faults.wrongType },
    "a hash": {
      fault: { kind: "map", map: (receipt) => (receipt as { transactionHash: string }).transactionHash },
      isMined: true,
    },
    "the receipt of another transaction": {
      fault: { kind: "map", map: (receipt) => ({ ...(receipt as object), transactionHash: other }) },
      isMined: true,
    },
    "a receipt without its gas": {
      fault: { kind: "map", map: (receipt) => ({ ...(receipt as object), gasUsed: null }) },
      isMined: true,
    },
    "a receipt whose bloom is of other logs": {
      fault: { kind: "map", map: (receipt) => ({ ...(receipt as object), logsBloom: `0x${"0".repeat(510)}11` }) },
      isMined: true,
    },
    "the time over, with the hash of another": {
      fault: { kind: "error", error: { code: 4, message: "was added to the transaction pool but", data: other } },
    },
    "the time over, and no hash": { fault: { kind: "error", error: { code: 4, message: "wasn't processed in 2s" } } },
    "anvil's own words": {
      fault: { kind: "error", error: { code: -32_603, message: "Transaction confirmation timeout" } },
    },
    "too many requests": { fault: faults.rateLimited },
  };
  it.each(Object.entries(handed))("hands over, sends nothing else and believes no receipt: %s", async (_, row) => {
    proxy.fail(sync, row.fault);
    const sent = await run(sending(), 3_000);
    expect(sent).toMatchObject({ state: "handed", receipt: null, outcome: { kind: "unknown", hash: null } });
    expect(seen()).toEqual([`${sync} 1`]);
    expect(sent.hash).toBe(keccak256([...raws()][0] as `0x${string}`));
    expect((await minedOf(sent.hash)) !== null).toBe(row.isMined === true);
    proxy.reset();
    // whoever keeps the lane sends the same bytes again, where the node has them not
    await run(Nonces.reconcile(lane));
    expect(seen()).toEqual(row.isMined === true ? [] : [`${plain} 1`]);
    // anvil answers a moment before it mines
    await expect.poll(() => minedOf(sent.hash), { timeout: 10_000 }).not.toBeNull();
  });

  it.each([4, 5])("hands over on code %s with the hash, and finds the transaction by that", async (code) => {
    const [raw, nonce] = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const { nonce } = yield* Nonces.reserve(lane);
          return [yield* signing(31_337)(nonce), nonce] as const;
        }),
      ),
    );
    const hash = keccak256(raw);
    proxy.fail(sync, { kind: "error", error: { code, message: "was added, but insufficient funds", data: hash } });
    const sent = await run(sending());
    expect(sent).toMatchObject({ nonce, hash, state: "handed", receipt: null, outcome: { kind: "accepted", hash } });
    expect(seen()).toEqual([`${sync} 1`]);
    await run(Nonces.reconcile(lane));
  });

  it("never waits longer than the given time, where the node has none of its own", async () => {
    proxy.fail(sync, faults.hang);
    const sent = await run(sending({ timeout: 1 }));
    expect(sent).toMatchObject({
      state: "handed",
      outcome: { error: { reason: { _tag: "Timeout", afterMs: 2_001 } } },
    });
    expect(seen()).toEqual([`${sync} 2`]);
    await run(Nonces.reconcile(lane));
  });

  it("prefers a sender of the caller's", async () => {
    const relayed: Array<string> = [];
    const relay = (raw: `0x${string}`) => Effect.sync(() => (relayed.push(raw), keccak256(raw)));
    const sent = await run(Effect.provideService(sending(), Nonces.Sender, relay));
    expect([sent.state, sent.receipt, relayed.length, seen()]).toEqual(["handed", null, 1, []]);
    await run(Nonces.reconcile(lane));
  });

  it("takes no error of another client that names a transaction for a receipt", async () => {
    const hash = `0x${"cd".repeat(32)}`;
    const poor = Object.assign(new Error("insufficient funds"), { code: "INSUFFICIENT_FUNDS", transactionHash: hash });
    for (const send of [() => Effect.fail(poor), () => Effect.succeed({ transactionHash: hash, status: "success" })]) {
      const outcome = await run(Effect.result(Nonces.withNonce(lane, signing(31_337), send)));
      const told = Result.isSuccess(outcome) ? outcome.success : outcome.failure;
      if ("outcome" in told)
        expect(told).toMatchObject({ state: "handed", receipt: null, outcome: { kind: "unknown" } });
      else expect(told).toMatchObject({ _tag: "SendRejected" });
      await run(Nonces.reconcile(lane));
    }
  });
});

it.each([0, -1, 1.5, 86_400_001, Number.NaN, Infinity, "100", { timeout: "100" }, { timeout: 0 }, { ms: 5 }, []])(
  "refuses a malformed time by its name: %j",
  (wrong) => {
    const options = (typeof wrong === "object" ? wrong : { timeout: wrong }) as never;
    expect(() => Nonces.sendSync(options)).toThrow(expect.objectContaining({ _tag: "InvalidLane", field: "sync" }));
  },
);

describe("sending to a node with any answer", () => {
  const raw = first.signTransaction({ type: "eip1559", chainId: 1, nonce: 0, to: first.address, gas: 21_000n });
  /** A node that gives each sending method one answer. */
  const answering = (asked: Array<string>, answer: Effect.Effect<unknown, never>) =>
    Layer.succeed(
      Rpc.Rpc,
      Rpc.Rpc.of({
        ...{ endpoint: "any", memory: memoryOf(() => 0, 0), admit: (effect) => effect },
        request: (method) => (asked.push(method), answer),
      }),
    );
  const quantity = fc.bigInt({ min: 0n, max: 1n << 64n }).map((value) => `0x${value.toString(16)}`);
  const receipts = (hash: string) =>
    fc.record(
      {
        transactionHash: fc.oneof(
          { weight: 4, arbitrary: fc.constant(hash) },
          fc.constant(hash.toUpperCase()),
          fc.anything(),
        ),
        blockNumber: fc.oneof({ weight: 4, arbitrary: quantity }, fc.anything()),
        gasUsed: fc.oneof({ weight: 4, arbitrary: quantity }, fc.anything()),
        logs: fc.oneof(fc.constant([]), fc.constant(null), fc.anything()),
        status: fc.constantFrom("0x1", "0x0", null, "0x2", 1),
        blockHash: fc.oneof(fc.constant(hash), fc.constant(null), fc.anything()),
        logsBloom: fc.oneof(fc.constant(null), fc.anything()),
      },
      { requiredKeys: ["transactionHash", "blockNumber", "gasUsed"] },
    );

  it("believes a receipt only of these bytes, and sends nothing twice", async () => {
    const bytes = await raw;
    const hash = keccak256(bytes);
    let believed = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: receipts(hash) }, fc.anything()), async (answer) => {
        const asked: Array<string> = [];
        const result = await Effect.runPromise(
          Effect.result(Nonces.sendSync()(bytes)).pipe(Effect.provide(answering(asked, Effect.succeed(answer)))),
        );
        expect(asked).toEqual([sync]);
        if (Result.isFailure(result)) {
          expect(result.failure).toMatchObject({ _tag: "RpcError", mayBeSent: true });
          return;
        }
        believed += 1;
        const { transactionHash, blockNumber } = result.success as { transactionHash: string; blockNumber: unknown };
        expect([transactionHash.toLowerCase(), typeof blockNumber]).toEqual([hash, "bigint"]);
      }),
      { numRuns: 500 },
    );
    expect(believed).toBeGreaterThan(0);
  });
});
