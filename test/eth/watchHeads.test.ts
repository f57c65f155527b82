/** Heads as real nodes tell them, over sockets that break and without any. */
import * as NodeWS from "@effect/platform-node/NodeWS";
import * as Layer from "effect/Layer";
import * as Socket from "effect/socket/Socket";
import { webSocket } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import { tampered } from "../preflight/scene.js";
import * as Rpc from "../../src/Rpc.js";
import { mineAnvil, rawRequest, startAnvil, type Node } from "../harness/anvil.js";
import { findGethOrWarn, startGethDev, type GethDev } from "../harness/geth.js";
import { startLine, type Line } from "../harness/line.js";
import { faults, startProxy, type Proxy } from "../harness/proxy.js";
import { socketUrl } from "../harness/socketUrl.js";
import { followed, until, type Following } from "./watching.js";

let node: Node;
let line: Line;
let following: Following<Eth.Head> | null = null;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
});
beforeEach(async () => {
  line = await startLine(node.url);
});
afterEach(async () => {
  await following?.stop();
  following = null;
  await line.stop();
});
afterAll(() => node.stop());

/** A socket of viem's, which waits for an answer no longer than the endpoint, and Effect's own. */
const sockets = [
  [
    "viem",
    ({ timeoutMs = 10_000 }: Rpc.Options = {}) =>
      Rpc.layerTransport(webSocket(line.url, { reconnect: false, timeout: timeoutMs }), { retryTimes: 0, timeoutMs }),
  ],
  [
    "Effect",
    ({ timeoutMs = 10_000 }: Rpc.Options = {}) =>
      Rpc.layerSocket({ retryTimes: 0, timeoutMs }).pipe(
        Layer.provide(Layer.suspend(() => Socket.layerWebSocket(line.url))),
        Layer.provide(NodeWS.layerWebSocketConstructor),
      ),
  ],
] as const;
let overSocket: (options?: Rpc.Options) => Layer.Layer<Rpc.Rpc> = sockets[0][1];
const numbers = ({ told }: Following<Eth.Head>) => told.map(({ header }) => Number(header.number));
const watch = (options: Eth.HeadOptions = {}, layer = overSocket(), slowness = 0) =>
  (following = followed(Eth.watchHeads(options), layer, slowness));
/** The heads follow each other without a gap, but for those that are named. */
const isChain = ({ told }: Following<Eth.Head>): boolean =>
  told.every(({ header, replaced, skipped }, at) => {
    const before = told[at - 1]?.header;
    return before === undefined || skipped > 0n || replaced.length > 0 || header.parentHash === before.hash;
  });
const atHead = async (heads: Following<Eth.Head>) => {
  const { hash } = (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as { hash: string };
  await until(() => heads.told.at(-1)?.header.hash === hash, `the head ${hash}`);
};

describe.each(sockets)("watchHeads over a socket of %s", (_, over) => {
  beforeAll(() => {
    overSocket = over;
  });
  it("tells each block once, from the notification alone", async () => {
    const heads = watch();
    await until(() => heads.told.length === 1, "the present head");
    const sent = line.sent();
    for (let count = 0; count < 5; count++) {
      await mineAnvil(node.url);
      await atHead(heads);
    }
    const [first = 0] = numbers(heads);
    expect(numbers(heads)).toEqual([0, 1, 2, 3, 4, 5].map((after) => first + after));
    expect([isChain(heads), line.sent()]).toEqual([true, sent]);
  });

  it("opens a socket again that was cut, and fills the gap", async () => {
    const heads = watch();
    await until(() => heads.told.length === 1, "the present head");
    line.setDown(true);
    const tried = line.connections();
    await mineAnvil(node.url, 7);
    await until(() => line.connections() > tried, "a try that gets nobody through");
    line.setDown(false);
    await atHead(heads);
    await mineAnvil(node.url);
    await atHead(heads);
    const skipped = heads.told.reduce((sum, one) => sum + Number(one.skipped), 0);
    expect([heads.told.length + skipped, isChain(heads)]).toEqual([9, true]);
  });

  it("asks over a silent socket, and opens another when the chain moved in silence", async () => {
    const heads = watch({ silentMs: 200 }, overSocket({ timeoutMs: 300 }));
    await until(() => heads.told.length === 1, "the present head");
    line.silence();
    await mineAnvil(node.url, 2);
    await atHead(heads);
    await mineAnvil(node.url);
    await atHead(heads);
    expect(line.connections()).toBeGreaterThan(1);
    expect(isChain(heads)).toBe(true);
  });

  it("tells which blocks a reorganisation replaced", async () => {
    await mineAnvil(node.url, 3);
    const heads = watch();
    await until(() => heads.told.length === 1, "the present head");
    await mineAnvil(node.url);
    await atHead(heads);
    await mineAnvil(node.url);
    await atHead(heads);
    const gone = heads.told.slice(-2).map(({ header }) => header.hash);
    await rawRequest(node.url, "anvil_reorg", [2, []]);
    await mineAnvil(node.url);
    await atHead(heads);
    const replaced = heads.told.flatMap((head) => head.replaced.map(({ hash }) => hash));
    expect(gone.every((hash) => replaced.includes(hash))).toBe(true);
  });

  it("tells that the chain dropped its latest blocks, though no new one came", async () => {
    await mineAnvil(node.url, 3);
    const heads = watch({ silentMs: 200 });
    await until(() => heads.told.length === 1, "the present head");
    await mineAnvil(node.url, 1);
    await atHead(heads);
    await mineAnvil(node.url, 1);
    await atHead(heads);
    const [first, ...gone] = heads.told.slice(-3).map(({ header }) => header);
    await rawRequest(node.url, "anvil_rollback", [2]);
    await until(() => heads.told.length === 4, "the head that is left");
    expect(heads.told.at(-1)).toEqual({
      ...{ header: first, skipped: 0n },
      replaced: gone.map(({ number, hash }) => ({ number, hash })).reverse(),
    });
    await mineAnvil(node.url);
    await atHead(heads);
    expect([heads.told.at(-1)?.replaced, isChain(heads)]).toEqual([[], true]);
  });

  it("gives a slow subscriber the newest head, and the number left out", async () => {
    const heads = watch({}, overSocket(), 300);
    await until(() => heads.told.length === 1, "the present head");
    const before = numbers(heads)[0] ?? 0;
    for (let count = 0; count < 20; count++) await mineAnvil(node.url);
    await atHead(heads);
    const told = heads.told.length - 1;
    const skipped = heads.told.reduce((sum, one) => sum + Number(one.skipped), 0);
    expect(told).toBeLessThan(10);
    expect(told + skipped).toBe((numbers(heads).at(-1) ?? 0) - before);
  });

  it("names a gap that is too wide to fill", async () => {
    const heads = watch({ fill: 3 });
    await until(() => heads.told.length === 1, "the present head");
    line.setDown(true);
    await mineAnvil(node.url, 10);
    line.setDown(false);
    await atHead(heads);
    expect(heads.told.at(-1)).toMatchObject({ skipped: 9n, replaced: [] });
  });

  it("ends the subscription when nobody takes its heads any more", async () => {
    const heads = watch();
    await until(() => heads.told.length === 1, "the present head");
    await heads.stop();
    const others = watch();
    await others.begun;
    await mineAnvil(node.url);
    await atHead(others);
    expect(heads.told).toHaveLength(1);
  });

  it.each([
    [{ pollMs: Number.NaN }, "options.pollMs: "],
    [{ silentMs: -1 }, "options.silentMs: "],
    [{ giveUpMs: 2 ** 40 }, "options.giveUpMs: "],
    [{ fill: 2.5 }, "options.fill: "],
    [{ pollMS: 20 }, "options.pollMS: no such field; did you mean pollMs?"],
    [null, "options: "],
  ])("refuses %o by its name, and sends nothing", async (options, detail) => {
    const heads = watch(options as Eth.HeadOptions);
    await until(() => heads.failure() !== null, "the refusal");
    expect(heads.failure()).toMatchObject({
      reason: { _tag: "InvalidParams", detail: expect.stringContaining(detail) },
    });
    expect(heads.told).toEqual([]);
  });

  it("fails with the last failure where nothing answers for too long", async () => {
    const heads = watch({ giveUpMs: 500 });
    await until(() => heads.told.length === 1, "the present head");
    line.setDown(true);
    await until(() => heads.failure() !== null, "the end");
    expect(heads.failure()).toMatchObject({ _tag: "RpcError" });
  });
});

describe("watchHeads without a socket", () => {
  let proxy: Proxy;
  beforeEach(async () => {
    proxy = await startProxy({ target: node.url });
  });
  afterEach(() => proxy.stop());
  const polled = (options: Eth.HeadOptions = {}) =>
    watch({ pollMs: 20, ...options }, Rpc.layerHttp(proxy.url, { retryTimes: 0 }));

  it("polls, and tells the same", async () => {
    const heads = polled();
    await until(() => heads.told.length === 1, "the present head");
    await mineAnvil(node.url, 4);
    await atHead(heads);
    const skipped = heads.told.reduce((sum, one) => sum + Number(one.skipped), 0);
    expect([heads.told.length + skipped, isChain(heads)]).toEqual([5, true]);
  });

  it("does not take an old block for a head, where a backend lags", async () => {
    await mineAnvil(node.url, 2);
    const head = BigInt(String(await rawRequest(node.url, "eth_blockNumber")));
    const old = await rawRequest(node.url, "eth_getBlockByNumber", [`0x${(head - 1n).toString(16)}`, false]);
    let isOld = false;
    let asked = 0;
    const lagging = tampered(node.url, ({ method, params }) => {
      asked++;
      return isOld && method === "eth_getBlockByNumber" && params[0] === "latest" ? () => old : null;
    });
    const heads = watch({ pollMs: 50 }, lagging);
    await until(() => heads.told.length === 1, "the present head");
    [isOld, asked] = [true, 0];
    await until(() => asked >= 6, "some answers of the one that lags");
    isOld = false;
    await mineAnvil(node.url);
    await atHead(heads);
    expect(heads.told.map(({ header, replaced }) => [header.number, replaced])).toEqual([
      [head, []],
      [head + 1n, []],
    ]);
  });

  it("tells of no shorter chain while one backend has the longer one", async () => {
    await mineAnvil(node.url, 2);
    const head = BigInt(String(await rawRequest(node.url, "eth_blockNumber")));
    const old = await rawRequest(node.url, "eth_getBlockByNumber", [`0x${(head - 1n).toString(16)}`, false]);
    let asked = 0;
    let isAlone = false;
    const lagging = tampered(node.url, ({ method, params }) => {
      if (method !== "eth_getBlockByNumber") return null;
      if (params[0] !== "latest") return () => null;
      asked++;
      return isAlone || asked % 4 > 0 ? () => old : null;
    });
    const heads = watch({ pollMs: 20, silentMs: 400 }, lagging);
    await until(() => asked > 40, "many answers");
    expect(heads.told.every(({ replaced }) => replaced.length === 0)).toBe(true);
    isAlone = true;
    await until(() => heads.told.at(-1)?.replaced.length === 1, "the shorter chain");
    expect(heads.told.at(-1)?.header.number).toBe(head - 1n);
  });

  it("goes on after failures, and ends with the path of a malformed answer", async () => {
    const heads = polled();
    await until(() => heads.told.length === 1, "the present head");
    const asked = proxy.seen.length;
    proxy.fail("eth_getBlockByNumber", faults.reset);
    await until(() => proxy.seen.length > asked, "one that fails");
    proxy.fail("eth_getBlockByNumber", null);
    await mineAnvil(node.url);
    await atHead(heads);
    proxy.fail("eth_getBlockByNumber", { kind: "result", result: { number: "seven" } });
    await until(() => heads.failure() !== null, "the end");
    expect(heads.failure()).toMatchObject({ reason: { _tag: "MalformedResponse", path: "result.number" } });
  });
});

const geth = findGethOrWarn("heads over geth's sockets");

describe.skipIf(geth === null)("watchHeads on geth", () => {
  let chain: GethDev;
  beforeAll(async () => {
    const args = ["--ws", "--ws.addr", "127.0.0.1", "--ws.port", "0", "--ws.api", "eth"];
    // both listen on one port, so that it is known
    chain = await startGethDev(geth ?? "", { args });
  });
  afterAll(() => chain?.stop());

  it("tells each block once", async () => {
    const heads = watch({}, Rpc.layerTransport(webSocket(socketUrl(chain.url), { reconnect: false })));
    await until(() => heads.told.length === 1, "the present head");
    for (let count = 0; count < 3; count++) await chain.mine();
    await until(() => numbers(heads).at(-1) === (numbers(heads)[0] ?? 0) + 3, "three more");
    expect(isChain(heads)).toBe(true);
  });
});
