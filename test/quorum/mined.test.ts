/** A quorum of which one endpoint lies about what is mined: nothing is settled by it, and no nonce burned. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Nonces from "../../src/Nonces.js";
import * as Preflight from "../../src/Preflight.js";
import type { BundleReport } from "../../src/Report.js";
import type * as Rpc from "../../src/Rpc.js";
import { layerNonces } from "../../src/testing.js";
import { rawRequest } from "../harness/anvil.js";
import { lagging, liar, silent, type Lie } from "../harness/lies.js";
import { liesAfterwards, liesOfBurning } from "../harness/minedLies.js";
import { forkOf, pairOf } from "../harness/pairs.js";
import { lane, sign } from "../nonces/chain.js";
import { furnish, transferOf } from "../preflight/furnished.js";
import {
  cleared,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  quantity,
  scenesFor,
  signAll,
  startAnvilScene,
  type Scene,
} from "../preflight/scene.js";

describe.each(scenesFor("what is mined"))("settle over two endpoints on %s", (name, start) => {
  let scene: Scene;
  let report: BundleReport;
  let hash: Hex;
  beforeAll(async () => {
    const { scene: made, token } = await furnish(start);
    scene = made;
    report = await preflight(scene.url, transferOf(token));
    const [raw = "0x"] = await signAll(await cleared(report));
    hash = await scene.broadcast(raw);
    await scene.mine();
    await scene.mine();
  }, 30_000);
  afterAll(() => scene?.stop());

  const settle = (layer: Layer.Layer<Rpc.Rpc>) =>
    Effect.runPromise(Effect.result(Preflight.settle(report, [hash])).pipe(Effect.provide(layer)));

  it("gives one endpoint's settlement, where both are honest", async () => {
    for (const layer of [
      layerOf(scene.url),
      pairOf(layerOf(scene.url), layerOf(scene.url)),
      pairOf(layerOf(scene.url), lagging(scene.url, 1n, false)),
    ])
      expect(await settle(layer)).toMatchObject({ success: { class: "same" } });
  });

  it.each(Object.entries(liesAfterwards))("does not settle the lie that %s", async (_, lie) => {
    for (const isFirst of [true, false]) {
      const told = { count: 0 };
      const [honest, lying] = [layerOf(scene.url), liar(scene.url, lie, null, told)];
      const settled = await settle(isFirst ? pairOf(lying, honest) : pairOf(honest, lying));
      expect(told.count).toBeGreaterThan(0);
      const tag = Result.isFailure(settled) ? settled.failure._tag : settled.success.class;
      expect([isFirst, ["WitnessesDisagree", "RpcError"].includes(tag), tag]).toEqual([isFirst, true, tag]);
    }
  });

  it("does not settle what the other lacks, or does not answer", async () => {
    for (const member of [lagging(scene.url, 2n), silent(scene.url)]) {
      const settled = await settle(pairOf(layerOf(scene.url), member, { waitMs: 200 }));
      expect(settled).toMatchObject({ failure: { _tag: "RpcError", reason: { _tag: "UpstreamUnavailable" } } });
    }
  });

  it("is decided by its receipts, of a block too", async () => {
    const { blockNumber } = await scene.receipt(hash);
    const asked = Eth.getBlockReceipts({ block: BigInt(blockNumber) });
    const lie: Lie = { method: "eth_getBlockReceipts", tell: () => [] };
    const on = (layer: Layer.Layer<Rpc.Rpc>) => Effect.runPromise(Effect.result(asked).pipe(Effect.provide(layer)));
    const [honest, lying] = [layerOf(scene.url), liar(scene.url, lie, null, { count: 0 })];
    expect(await on(pairOf(honest, honest))).toMatchObject({ success: [{ transactionHash: hash }] });
    for (const layer of [pairOf(lying, honest), pairOf(honest, lying)])
      expect(await on(layer)).toMatchObject({ failure: { _tag: "WitnessesDisagree", method: "eth_getBlockReceipts" } });
  });

  it("counts a transaction where it is pending, whoever does not know it", async () => {
    const count = await scene.count(owner.address);
    await scene.send(owner, { to: nobody, value: 1n });
    const asked = Eth.getTransactionCount({ address: owner.address, block: "pending" });
    const lie: Lie = { method: "eth_getTransactionCount", tell: () => quantity(count) };
    const [honest, blind] = [layerOf(scene.url), liar(scene.url, lie, null, { count: 0 })];
    for (const layer of [pairOf(honest, blind), pairOf(blind, honest)])
      expect(await Effect.runPromise(asked.pipe(Effect.provide(layer)))).toBe(BigInt(count) + 1n);
    // in a report it is a finding, whoever is asked first
    for (const layer of [pairOf(honest, blind), pairOf(blind, honest)]) {
      const input = { from: owner.address, to: nobody, value: 1n } as const;
      expect(codesOf(await preflightOn(layer, input))).toContain("DependsOnPending/warning");
    }
    await scene.mine();
  });

  it("allows that it is pending in one pool and not in another", async () => {
    const waiting = await scene.send(owner, { to: nobody, value: 1n });
    const asked = Eth.getTransaction({ hash: waiting });
    const blind = liar(scene.url, { method: "eth_getTransactionByHash", tell: () => null }, null, { count: 0 });
    const on = (layer: Layer.Layer<Rpc.Rpc>) => Effect.runPromise(Effect.result(asked).pipe(Effect.provide(layer)));
    expect(await on(pairOf(layerOf(scene.url), blind))).toMatchObject({ success: { hash: waiting } });
    // why: that it is gone is what nobody says who knows it
    expect(await on(pairOf(blind, layerOf(scene.url)))).toMatchObject({ failure: { _tag: "RpcError" } });
    await scene.mine();
  });

  it("takes no other branch, nor its block's number, for a lie", async () => {
    const fork = await forkOf(scene.url, scene.chainId);
    await scene.mine();
    await rawRequest(fork.url, "evm_mine", []);
    const number = BigInt((await scene.ask("eth_blockNumber", [])) as Hex);
    for (const layer of [pairOf(layerOf(scene.url), layerOf(fork.url)), pairOf(layerOf(fork.url), layerOf(scene.url))])
      for (const block of [number, "latest"] as const)
        expect(await Effect.runPromise(Eth.getBlock({ block }).pipe(Effect.provide(layer), Effect.flip))).toMatchObject(
          { _tag: "RpcError", reason: { _tag: "UpstreamUnavailable" } },
        );
    await fork.stop();
  });

  it.skipIf(name !== "geth")("reads two clients alike", async () => {
    const fork = await forkOf(scene.url, scene.chainId);
    for (const layer of [pairOf(layerOf(scene.url), layerOf(fork.url)), pairOf(layerOf(fork.url), layerOf(scene.url))])
      expect(await settle(layer)).toMatchObject({ success: { class: "same" } });
    await fork.stop();
  });
});

describe("a nonce over two endpoints", () => {
  const settings = { ...Nonces.defaults, resendAfterMs: 60_000, burnedAfterMs: 50 };
  const attacks = [
    ["no receipt", true],
    ["a receipt of another", true],
    ["a final head", false],
    ["a final count", false],
  ] as const;

  it.each(attacks)("is not burned by %s", async (about, isOurs) => {
    const scene = await startAnvilScene();
    const mine = Effect.promise(() => scene.mine());
    const pass = (blocks: Hex) => Effect.promise(() => rawRequest(scene.url, "anvil_mine", [blocks]));
    const honest = layerOf(scene.url);
    await scene.send(other, { to: nobody, value: 1n });
    const ended = Effect.gen(function* () {
      yield* mine;
      // anvil's final block is 64 behind the latest: it is the one before this, with its transaction
      yield* pass("0x3f");
      const sent = yield* Nonces.withNonce(lane, (nonce) =>
        Effect.gen(function* () {
          if (isOurs) return yield* sign(nonce);
          const foreign = yield* sign(nonce, 777n);
          yield* Effect.promise(() => scene.broadcast(foreign));
          yield* mine;
          return yield* sign(nonce);
        }),
      );
      if (isOurs) {
        yield* mine;
        yield* Effect.promise(() => scene.send(other, { to: nobody, value: 1n }));
        yield* mine;
        yield* pass("0x40");
      }
      const lie = liesOfBurning(
        sent.hash,
        yield* Effect.promise(() => scene.ask("eth_getBlockByNumber", ["latest", false])),
      )[about];
      const lying = liar(scene.url, lie, null, { count: 0 });
      const ends = (layer: Layer.Layer<Rpc.Rpc>) =>
        Nonces.reconcile(lane).pipe(
          Effect.map((reconciled) => reconciled.ended.map(({ end }) => end)),
          Effect.orElseSucceed((): ReadonlyArray<string> => []),
          Effect.provide(layer),
        );
      yield* ends(lying);
      yield* Effect.sleep(80);
      const quorums = [yield* ends(pairOf(lying, honest)), yield* ends(pairOf(honest, lying))];
      return { quorums, alone: yield* ends(lying) };
    }).pipe(Effect.provide(Layer.merge(honest, layerNonces)), Effect.provideService(Nonces.Settings, settings));
    const { quorums, alone } = await Effect.runPromise(ended);
    expect(quorums.flat()).not.toContain("burned");
    // why: one endpoint says which block is final; what it leaves out, or counts, proves nothing
    expect(alone.includes("burned")).toBe(about === "a final head");
    await scene.stop();
  });
});
