/** How far a sent transaction came, by what the node shows: its hash in an answer is no place in its pool. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NonceStore } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import * as Rpc from "../../src/Rpc.js";
import { layerNonces } from "../../src/testing.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { findGethOrWarn, findOldGethOrWarn, startGethDev, type GethDev } from "../harness/geth.js";
import { startProxy } from "../harness/proxy.js";

const [ordinary, delegated] = [
  privateKeyToAccount(accounts[0].privateKey),
  privateKeyToAccount(accounts[1].privateKey),
];
type Account = typeof ordinary;
const delegate = `0x${"de".repeat(20)}`;

const settings = { ...Nonces.defaults, resendAfterMs: 0, delegatedInFlight: 16 };
const run = <A, E>(url: string, program: Effect.Effect<A, E, Rpc.Rpc | NonceStore>) =>
  Effect.runPromise(
    program.pipe(
      Effect.provide(Layer.merge(Rpc.layerHttp(url), layerNonces)),
      Effect.provideService(Nonces.Settings, settings),
    ),
  );

/** One account on one chain: what it sends, and how far that came. */
const senderOf = (account: Account, chainId: number) => {
  const lane = { chainId, address: account.address } as const;
  const sign = (nonce: bigint) =>
    Effect.promise(() =>
      account.signTransaction({
        ...{ type: "eip1559", chainId, nonce: Number(nonce), to: account.address, gas: 60_000n, value: nonce },
        ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n },
      }),
    );
  const states = Effect.map(Nonces.status(lane), ({ committed }) =>
    committed.map(({ nonce, state }) => [Number(nonce), state]),
  );
  return { lane, sign, states };
};

/** Sends nonce 1 while the nonce below it is only reserved, then that one. */
const gapped = <E, R>(
  account: Account,
  chainId: number,
  between: (sent: Nonces.Sent) => Effect.Effect<unknown, E, R>,
) =>
  Effect.gen(function* () {
    const { lane, sign } = senderOf(account, chainId);
    yield* Nonces.adopt(lane, { counts: { latest: 0n, pending: 0n } });
    yield* Effect.scoped(
      Effect.gen(function* () {
        const first = yield* Nonces.reserve(lane);
        const second = yield* Nonces.reserve(lane);
        const send = (raw: `0x${string}`) => Rpc.Rpc.use((rpc) => rpc.request("eth_sendRawTransaction", [raw]));
        yield* between(yield* Nonces.deliver(second, yield* sign(second.nonce), send));
        yield* Nonces.deliver(first, yield* sign(first.nonce), send);
      }),
    );
  });

const beds = [
  ["geth", findGethOrWarn("how far a transaction came, on geth")],
  ["an older geth", findOldGethOrWarn("how far a transaction came, on an older geth")],
] as const;
for (const [name, bin] of beds)
  describe.skipIf(bin === null)(`sending on ${name}`, () => {
    let geth: GethDev;
    beforeAll(async () => {
      const balance = "0x21e19e0c9bab2400000";
      const alloc = { [accounts[1].address.slice(2)]: { balance, code: `0xef0100${delegate.slice(2)}` } };
      geth = await startGethDev(bin ?? "", { alloc });
    });
    afterAll(() => geth.stop());
    const shown = (hash: string) => Effect.promise(() => rawRequest(geth.url, "eth_getTransactionByHash", [hash]));

    it("hands over a transaction above a gap, which is seen, then next, then mined", () => {
      const { lane, states } = senderOf(ordinary, 1_337);
      return run(
        geth.url,
        Effect.gen(function* () {
          yield* gapped(ordinary, 1_337, (sent) =>
            Effect.gen(function* () {
              expect(sent.outcome.state).toBe("handed");
              expect(yield* states).toEqual([[1, "seen"]]);
              expect((yield* Nonces.reconcile(lane)).resent).toMatchObject([{ outcome: { state: "seen" } }]);
            }),
          );
          // geth keeps a pending block for up to two seconds
          yield* Effect.promise(() => expect.poll(() => run(geth.url, countOf(lane)), { timeout: 5_000 }).toBe(2n));
          expect(yield* states).toEqual([
            [0, "next"],
            [1, "next"],
          ]);
          yield* Effect.promise(() => geth.mine());
          expect(yield* states).toEqual([
            [0, "mined"],
            [1, "mined"],
          ]);
        }),
      );
    });

    it("hands over a delegated account's above a gap though its hash came back, and repeats the bytes until it is mined", () => {
      const { lane, states } = senderOf(delegated, 1_337);
      return run(
        geth.url,
        Effect.gen(function* () {
          yield* gapped(delegated, 1_337, ({ hash, outcome }) =>
            Effect.gen(function* () {
              expect(outcome).toMatchObject({ kind: "accepted", hash });
              expect(yield* shown(hash)).toBeNull();
              const pool = yield* Effect.promise(() => rawRequest(geth.url, "txpool_contentFrom", [delegated.address]));
              expect(pool).toEqual({ pending: {}, queued: {} });
              expect(yield* states).toEqual([[1, "handed"]]);
              // sent again it is handed again: nothing else takes its nonce
              expect((yield* Nonces.reconcile(lane)).resent).toMatchObject([{ hash, outcome: { state: "handed" } }]);
              expect(yield* states).toEqual([[1, "handed"]]);
            }),
          );
          const [, second] = yield* Nonces.committed(lane);
          yield* Effect.promise(() => geth.mine());
          yield* Nonces.reconcile(lane);
          yield* Effect.promise(() => geth.mine());
          expect(yield* states).toEqual([[1, "mined"]]);
          expect(yield* shown(second?.hash ?? "")).toMatchObject({ nonce: "0x1" });
        }),
      );
    });
  });

const countOf = (lane: Nonces.Lane) =>
  Rpc.Rpc.use((rpc) => rpc.request("eth_getTransactionCount", [lane.address, "pending"])).pipe(
    Effect.map((count) => BigInt(String(count))),
  );

describe("the states of sent transactions", () => {
  it("follow from a shown transaction's own fields: none under a wrong hash, none where a node shows nothing", async () => {
    const anvil = await startAnvil({ noMining: true });
    const proxy = await startProxy({ target: anvil.url });
    const { states } = senderOf(ordinary, 31_337);
    try {
      await run(
        proxy.url,
        gapped(ordinary, 31_337, () =>
          Effect.gen(function* () {
            expect(yield* states).toEqual([[1, "seen"]]);
            const change = (more: object) =>
              proxy.fail("eth_getTransactionByHash", {
                kind: "map",
                map: (result: unknown) => ({ ...(result as object), ...more }),
              });
            for (const more of [{ value: "0x5" }, { nonce: "0x0" }, { type: "0x7e" }, { r: null }]) {
              change(more);
              expect(yield* states).toEqual([[1, "handed"]]);
            }
            proxy.fail("eth_getTransactionByHash", { kind: "error", error: { code: -32601, message: "no" } });
            expect(yield* states).toEqual([[1, "handed"]]);
            proxy.fail("eth_getTransactionByHash", null);
          }),
        ),
      );
      await mineAnvil(anvil.url);
    } finally {
      await proxy.stop();
      await anvil.stop();
    }
  });
});

describe("keep", () => {
  it("sends again the same bytes that the node lost, and nothing that the node shows or counts", async () => {
    const anvil = await startAnvil({ noMining: true });
    const proxy = await startProxy({ target: anvil.url });
    const sends = () => proxy.seen.filter(({ method }) => method === "eth_sendRawTransaction");
    /** Waits for so many more looks of `keep` at the chain's counts. */
    const looks = async (more: number) => {
      const counted = () => proxy.seen.filter(({ method }) => method === "eth_getTransactionCount").length;
      const from = counted();
      await expect.poll(counted, { timeout: 10_000, interval: 5 }).toBeGreaterThan(from + 2 * more);
    };
    const { lane, sign } = senderOf(ordinary, 31_337);
    try {
      await run(
        proxy.url,
        Effect.gen(function* () {
          yield* Nonces.adopt(lane, { counts: { latest: 0n, pending: 0n } });
          const sent = yield* Nonces.withNonce(lane, sign);
          const keeping = yield* Effect.forkChild(Nonces.keep(lane, { everyMs: 5 }));
          // counted as pending
          yield* Effect.promise(() => looks(3));
          expect(sends()).toHaveLength(1);
          // not counted, and shown by its hash
          proxy.fail("eth_getTransactionCount", { kind: "result", result: "0x0" });
          yield* Effect.promise(() => looks(3));
          expect(sends()).toHaveLength(1);
          // shown by a hash that its fields do not make: sent again, and known
          const map = (shown: unknown) => ({ ...(shown as object), value: "0x5" });
          proxy.fail("eth_getTransactionByHash", { kind: "map", map });
          yield* Effect.promise(() => expect.poll(() => sends().length, { timeout: 10_000 }).toBeGreaterThan(1));
          proxy.fail("eth_getTransactionByHash", null);
          yield* Effect.promise(() => looks(2));
          const before = sends().length;
          yield* Effect.promise(() => rawRequest(anvil.url, "anvil_dropTransaction", [sent.hash]));
          yield* Effect.promise(() => expect.poll(() => sends().length, { timeout: 10_000 }).toBe(before + 1));
          yield* Effect.promise(() => looks(3));
          expect(sends()).toHaveLength(before + 1);
          expect(new Set(sends().map(({ params: [raw] }) => raw)).size).toBe(1);
          yield* Fiber.interrupt(keeping);
        }),
      );
    } finally {
      await proxy.stop();
      await anvil.stop();
    }
  });
});
