/** Settlements from the receipt that came with the sending: the same as asked for, and never from another. */
import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TransactionSerializable } from "viem";
import * as Preflight from "../../src/Preflight.js";
import { createPreflight } from "../../src/promise.js";
import type * as Report from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { layerNonces } from "../../src/testing.js";
import type { Hash } from "../rooms/primitives.js";
import { accounts } from "../harness/anvil.js";
import { startProxy, type Fault, type Proxy } from "../harness/proxy.js";
import { furnish, transferOf } from "../preflight/furnished.js";
import { nobody, owner, scenesFor, tampered, type Scene } from "../preflight/scene.js";

const receipt = "eth_getTransactionReceipt";
const other = privateKeyToAccount(accounts[1].privateKey);

describe.each(scenesFor("settlements from the receipt of the sending"))("a settlement, on %s", (name, start) => {
  let scene: Scene;
  let proxy: Proxy;
  let token: `0x${string}`;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
    proxy = await startProxy({ target: scene.url });
  });
  afterAll(async () => {
    await proxy?.stop();
    await scene?.stop();
  });

  const asked = ({ ledger }: Report.Settled, method: string) =>
    ledger.requests.filter((request) => request.method === method).length;
  const without = (settled: Report.Settled) => ({ ...settled, ledger: null });
  const sending = (input: unknown, signer = owner, fault: Fault | null = null) => {
    const preflight = createPreflight({ url: proxy.url }, { nonces: layerNonces });
    proxy.reset();
    proxy.fail("eth_sendRawTransactionSync", fault);
    const sends = () => proxy.seen.filter(({ method }) => /_sendRaw/.test(method));
    // why: anvil mines nothing by itself here, and geth neither
    const mining = (async () => {
      const least = Array.isArray(input) ? input.length : 1;
      const isLast = () => sends().length >= least && sends().at(-1)?.method === "eth_sendRawTransactionSync";
      await expect.poll(isLast, { timeout: 20_000 }).toBe(true);
      // anvil refuses the time, and is asked again
      if (name === "anvil") await expect.poll(() => sends().length, { timeout: 20_000 }).toBe(least + 1);
      await expect
        .poll(() => scene.count(signer.address, "pending"), { timeout: 20_000 })
        .toBeGreaterThan(await scene.count(signer.address));
      await scene.mine();
    })();
    const sign = (request: Report.Request) => signer.signTransaction(request as TransactionSerializable);
    const delivered = preflight.deliver(input as never, sign, { sync: { timeout: 15_000 }, onCaution: "send" });
    return Promise.all([delivered, mining]).then(([{ report, sent }]) => ({ preflight, report, sent, sends }));
  };

  it("does not ask for the receipt of deliver again, and is the same", async () => {
    const { preflight, report, sent, sends } = await sending(transferOf(token));
    expect(sent).toMatchObject([{ state: "mined", receipt: { status: "success" }, outcome: { kind: "accepted" } }]);
    expect(sends().at(-1)?.method).toBe("eth_sendRawTransactionSync");
    const [from, again] = [
      await preflight.settle(report, sent),
      await preflight.settle(report, [sent[0]?.hash ?? "0x"]),
    ];
    expect(without(from)).toEqual(without(again));
    expect([from.class, asked(from, receipt), asked(again, receipt)]).toEqual(["same", 0, 1]);
    // what was changed, or kept as text, is not read
    const [{ hash, receipt: came } = { hash: "0x" as const, receipt: null }] = sent;
    const text: unknown = JSON.parse(
      JSON.stringify(came, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
    );
    for (const receiptGiven of [text, { ...came, gasUsed: 1n }, {}, "0x", 5, null]) {
      const settled = await preflight.settle(report, [{ hash, receipt: receiptGiven as never }]);
      expect([settled.class, asked(settled, receipt)]).toEqual(["same", 1]);
    }
    Object.assign(came ?? {}, { gasUsed: 1n, logs: null, status: "failure" });
    const changed = await preflight.settle(report, sent);
    expect(without(changed)).toEqual(without(again));
    await preflight.dispose();
  });

  it("asks again for a receipt of another block or transaction, or one that a single endpoint of several gave", async () => {
    const { preflight, report, sent } = await sending({ from: owner.address, to: nobody, value: 1n });
    const [one] = sent;
    if (one === undefined) return expect.fail();
    const { hash } = one;
    const settled = (layer: Layer.Layer<Rpc.Rpc>, of: Hash | Report.SentTransaction) =>
      Effect.runPromise(Preflight.settle(report, [of]).pipe(Effect.provide(layer)));
    const unlike = `0x${"ab".repeat(32)}` as const;
    const changing = (method: string, change: (told: object) => unknown) =>
      tampered(scene.url, (asks) => (asks.method === method ? (told) => change(told as object) : null));
    const shown = (change: (told: object) => unknown) => changing("eth_getTransactionByHash", change);
    const several = Rpc.quorum([
      { url: scene.url, provider: "a" },
      { url: proxy.url, provider: "b" },
    ]);
    const rows: ReadonlyArray<readonly [layer: Layer.Layer<Rpc.Rpc>, least: number, of?: Hash]> = [
      [shown((told) => told), 0],
      [shown(() => null), 1],
      [shown((told) => ({ ...told, blockHash: null, blockNumber: null })), 1],
      [shown((told) => ({ ...told, blockHash: unlike })), 1],
      [shown((told) => told), 1, unlike],
      [several, 1],
    ];
    for (const [layer, least, of = hash] of rows) {
      const [from, again] = [await settled(layer, { hash: of, receipt: one.receipt }), await settled(layer, of)];
      expect(without(from)).toEqual(without(again));
      if (least === 0) expect(asked(from, receipt)).toBe(0);
      else expect([asked(from, receipt), asked(from, receipt) >= least]).toEqual([asked(again, receipt), true]);
    }
    await preflight.dispose();
  });

  it("asks for fields that a receipt lacks, and is the same", async () => {
    const less: Fault = {
      kind: "map",
      map: (told) => ({ ...(told as object), effectiveGasPrice: null, logs: null }),
    };
    const { preflight, report, sent } = await sending({ from: owner.address, to: nobody, value: 1n }, owner, less);
    expect(sent).toMatchObject([{ state: "mined", receipt: { logs: null, effectiveGasPrice: null } }]);
    const [from, again] = [
      await preflight.settle(report, sent),
      await preflight.settle(report, [sent[0]?.hash ?? "0x"]),
    ];
    expect(without(from)).toEqual(without(again));
    expect([from.class, asked(from, receipt)]).toEqual(["same", 1]);
    await preflight.dispose();
  });

  it("covers a bundle whose last one waits and whose others are handed before it", async () => {
    const pay = (value: bigint) => ({ from: other.address, to: nobody, value });
    const { preflight, report, sent, sends } = await sending([pay(1n), pay(2n), pay(3n)], other);
    expect(sent.map(({ state, receipt: came }) => [state, came !== null])).toEqual([
      ["handed", false],
      ["handed", false],
      ["mined", true],
    ]);
    expect(
      sends()
        .slice(0, 3)
        .map(({ method }) => method),
    ).toEqual(["eth_sendRawTransaction", "eth_sendRawTransaction", "eth_sendRawTransactionSync"]);
    const settled = await preflight.settle(report, sent);
    expect([settled.class, asked(settled, receipt)]).toEqual(["same", 2]);
    await preflight.dispose();
  });

  it("refuses a malformed hash by its field", async () => {
    const preflight = createPreflight({ url: scene.url });
    const report = await preflight.preflight({ from: owner.address, to: nobody, value: 1n });
    for (const [given, field] of [
      [{ hash: "0x12" }, "hashes[0].hash"],
      [{}, "hashes[0].hash"],
      ["0x12", "hashes[0]"],
      [null, "hashes[0]"],
    ] as const)
      await expect(preflight.settle(report, [given as never])).rejects.toMatchObject({
        _tag: "InvalidTransaction",
        field,
      });
    await preflight.dispose();
  });
});

it.each([0, -1, 1.5, "100", {}, { timeout: 0 }, { timeout: 1.5 }, { ms: 5 }])(
  "deliver and withNonce refuse a malformed time by its name: %j",
  async (wrong) => {
    await using preflight = createPreflight({ url: "http://127.0.0.1:1" });
    const sync = (typeof wrong === "object" && Object.keys(wrong).length === 0 ? [] : wrong) as never;
    const sign = () => Promise.reject(new Error("never asked"));
    const refused = { _tag: "InvalidLane", field: "sync", mayBeSent: false };
    const lane = { chainId: 1, address: owner.address };
    await expect(preflight.deliver({} as never, sign as never, { sync })).rejects.toMatchObject(refused);
    await expect(preflight.withNonce(lane, sign, { sync })).rejects.toMatchObject(refused);
  },
);
