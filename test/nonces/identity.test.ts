/** A chain that was started anew has the same id, and is not the lane's: nothing is sent again there. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { describe, expect, it } from "vitest";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import { anchorIn, contradiction, makeMemory, markOf, nextAnchor } from "../rooms/nonces.js";
import * as Rpc from "../../src/Rpc.js";
import type { Hash } from "../rooms/primitives.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { lane, SimulatedChain } from "./chain.js";
import { quick, send } from "./running.js";

const hash = (byte: string) => `0x${byte.repeat(32)}` as Hash;
const anchor = { block: 7n, hash: hash("ab") };

describe("the anchor block that identifies a chain", () => {
  it("is written beside the lane, and nothing else is read as one", () => {
    expect(anchorIn(markOf(anchor))).toEqual(anchor);
    for (const mark of [null, "", "7", `7 ${hash("ab")} `, `-7 ${hash("ab")}`, `7 ${hash("ab").slice(2)}`])
      expect(anchorIn(mark)).toBeNull();
  });
  it.each([
    ["the same hash", anchor, { hash: hash("ab") }, null],
    ["the same in capitals", anchor, { hash: hash("AB") }, null],
    ["another hash", anchor, { hash: hash("cd") }, hash("cd")],
    ["a chain that ends before it", anchor, "none", null],
    ["a node that does not tell", anchor, null, undefined],
    ["a lane that knows none", null, { hash: hash("cd") }, undefined],
  ] as const)("contradicts another found block, or does not: %s", (what, known, found, actual) => {
    const wrong = contradiction("lane", known, found);
    if (actual === undefined || what.startsWith("the same")) return expect(wrong).toBeNull();
    expect(wrong).toMatchObject({ _tag: "NonceChainReset", block: 7n, actual, mayBeSent: false });
  });
  it.each([
    [null, null, null, 0n],
    [null, 10n, 1n, 0n],
    [null, 10n, 2n, 1n],
    [null, 100n, 164n, 36n],
    [{ ...anchor, block: 0n }, null, 1n, null],
    [{ ...anchor, block: 0n }, null, 2n, 1n],
    [anchor, null, null, null],
    [anchor, 134n, null, null],
    [anchor, 135n, null, 71n],
  ] as const)("moves on with the final block: %o at %s, %s", (known, final, head, next) =>
    expect(nextAnchor(known, final, head)).toBe(next),
  );
});

const on = (chain: Layer.Layer<Rpc.Rpc>, store: Store, settings: Partial<typeof quick> = {}) => {
  const layer = Layer.merge(chain, Layer.succeed(NonceStore, store));
  return <A, E>(effect: Effect.Effect<A, E, NonceStore | Rpc.Rpc>) =>
    Effect.runPromise(
      effect.pipe(Effect.provide(layer), Effect.provideService(Nonces.Settings, { ...quick, ...settings })),
    );
};

describe("a lane on a chain that was reset", () => {
  const start = async () => {
    const store = await Effect.runPromise(makeMemory);
    const chain = new SimulatedChain();
    const run = on(chain.layer(), store);
    await run(Effect.all([Nonces.adopt(lane), send(), send(), send()]));
    chain.mine(2);
    await run(Nonces.reconcile(lane));
    return store;
  };
  const reset = () => Object.assign(new SimulatedChain(), { identity: "22" });

  it("is refused by reconcile and by reserve, and none of its payments is sent again", async () => {
    const store = await start();
    const other = reset();
    const run = on(other.layer(), store, { doubtMs: 0 });
    expect(await run(Effect.flip(Nonces.reconcile(lane)))).toMatchObject({ _tag: "NonceChainReset", block: 1n });
    expect(await run(Effect.flip(send()))).toMatchObject({
      ...{ _tag: "NonceChainReset", mayBeSent: false },
    });
    expect(other.broadcasts).toEqual([]);
    // By the way that its words name, it starts there
    await run(Nonces.forget(lane));
    expect(await run(Nonces.bootstrap(lane, { settleMs: 1 }))).toBe(true);
    expect((await run(send())).nonce).toBe(0n);
  });
  it("is refused though another store just found the same endpoint right", async () => {
    const store = await start();
    const layer = reset().layer();
    const fresh = await Effect.runPromise(makeMemory);
    await on(
      layer,
      fresh,
    )(Effect.all([Nonces.adopt(lane), Nonces.reserve(lane), Nonces.reserve(lane)]).pipe(Effect.scoped));
    expect(await on(layer, store, { doubtMs: 0 })(Effect.flip(send()))).toMatchObject({ _tag: "NonceChainReset" });
  });
  it("stays usable where the chain only went back", async () => {
    const store = await start();
    const chain = new SimulatedChain();
    const run = on(chain.layer(), store, { doubtMs: 0 });
    chain.mineForeign(lane.address);
    expect((await run(Nonces.reconcile(lane))).resent.map(({ nonce }) => nonce)).toEqual([1n, 2n]);
  });

  it("is noticed though the first block is the same, once the lane saw the second, and again in the store", async () => {
    const store = await start();
    const other = new SimulatedChain();
    const answer = other.answer.bind(other);
    // Made of the same settings: block 0 is the same
    other.answer = (method, params) => {
      other.identity = params[0] === "0x0" ? "11" : "22";
      return answer(method, params);
    };
    const run = on(other.layer(), store, { doubtMs: 0 });
    expect(await run(Effect.flip(Nonces.reconcile(lane)))).toMatchObject({ _tag: "NonceChainReset", block: 1n });
    expect(other.broadcasts).toEqual([]);
  });

  it("is noticed on a real node that was started anew", async () => {
    const store = await Effect.runPromise(makeMemory);
    const first = await startAnvil({ noMining: true });
    const sent = await on(Rpc.layerHttp(first.url), store)(Effect.andThen(Nonces.adopt(lane), send()));
    await first.stop();
    // Its first block is of the second in which it was started
    const second = await startAnvil({
      noMining: true,
      args: ["--timestamp", String(Math.ceil(Date.now() / 1000) + 5)],
    });
    const failed = await on(Rpc.layerHttp(second.url), store)(Effect.flip(Nonces.reconcile(lane)));
    expect(failed).toMatchObject({ _tag: "NonceChainReset" });
    await mineAnvil(second.url);
    expect(await rawRequest(second.url, "eth_getTransactionReceipt", [sent.hash])).toBeNull();
    expect(await rawRequest(second.url, "eth_getTransactionCount", [accounts[0].address, "latest"])).toBe("0x0");
    await second.stop();
  });
});
