/** Logs as real nodes tell them: over sockets that break, and read by the heads. */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { keccak256, pad, toHex, webSocket, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import { RpcError, Transport } from "../rooms/errors.js";
import { hasWholeBlooms, mayHold } from "../rooms/eth.js";
import * as Rpc from "../../src/Rpc.js";
import { Token } from "../contracts/artifacts.js";
import { startLine, type Line } from "../harness/line.js";
import { startProxy, type Proxy } from "../harness/proxy.js";
import { startNode } from "../harness/server.js";
import { socketUrl } from "../harness/socketUrl.js";
import { calldata, other, owner, scenesFor, startAnvilScene, type Scene } from "../preflight/scene.js";
import { followed, until, type Following } from "./watching.js";

/** Tells 400 logs whenever it is called. */
const crowd = { abi: [], bytecode: "0x601680600b6000396000f36101905b8060005260206000a0600190038060035700" as Hex };

const amountOf = ({ data, removed }: Eth.Log) => (removed ? -Number(data) : Number(data));
const amounts = ({ told }: Following<Eth.Log>) => told.map(amountOf);

describe.each(scenesFor("logs", { args: ["--ws", "--ws.addr", "127.0.0.1", "--ws.port", "0", "--ws.api", "eth"] }))(
  "watchLogs on %s",
  (name, start) => {
    let scene: Scene;
    let token: Hex;
    let line: Line;
    let proxy: Proxy;
    let following: Following<Eth.Log> | null = null;
    beforeAll(async () => {
      // why: what is loaded when it is first asked for takes longer on a busy machine than a test waits for the beginning
      await Promise.all([import("../rooms/eth.js"), import("../rooms/rpc.js")]);
      scene = await start();
      token = await scene.deploy(Token, ["Gold", "GLD", 18]);
    });
    afterAll(() => scene?.stop());
    beforeEach(async () => {
      line = await startLine(scene.url);
      proxy = await startProxy({ target: scene.url });
    });
    afterEach(async () => {
      await following?.stop();
      await line.stop();
      await proxy.stop();
    });

    const mint = (amount: number) =>
      scene.pool(owner, { to: token, data: calldata(Token, "mint", [other.address, BigInt(amount)]) });
    const mined = async (...values: ReadonlyArray<number>) => {
      for (const value of values) await mint(value);
      await scene.mine();
    };
    const watch = (layer = overSocket(), options: Eth.LogOptions = {}) =>
      (following = followed(Eth.watchLogs({ address: token }, { pollMs: 20, ...options }), layer));
    const overSocket = (timeoutMs = 1_000) =>
      Rpc.layerTransport(webSocket(line.url, { reconnect: false }), { retryTimes: 0, timeoutMs });
    it("tells each log once, and none from before", async () => {
      await mined(1);
      const logs = watch();
      await logs.begun;
      await mined(2, 3);
      await mined(4);
      await until(() => logs.told.length === 3, "three logs");
      await mined(5);
      await until(() => amounts(logs).includes(5), "what comes after");
      expect(amounts(logs)).toEqual([2, 3, 4, 5]);
    });

    it("reads the logs that it missed while the line was down", async () => {
      const logs = watch();
      await logs.begun;
      await mined(5);
      await until(() => logs.told.length === 1, "the first");
      line.setDown(true);
      await mined(6);
      await mined(7, 8);
      line.setDown(false);
      await until(() => amounts(logs).includes(8), "what it missed");
      await mined(9);
      await until(() => amounts(logs).includes(9), "what comes after");
      expect(amounts(logs)).toEqual([5, 6, 7, 8, 9]);
    });

    /** The node over its socket, with what is asked of it. */
    const counted = (layer: Layer.Layer<Rpc.Rpc> = overSocket()) => {
      const asked: Array<string> = [];
      const all = Layer.effect(
        Rpc.Rpc,
        Effect.map(Rpc.Rpc, (rpc) =>
          Rpc.Rpc.of({
            ...rpc,
            request: (method, params) => {
              asked.push(method);
              return rpc.request(method, params);
            },
            subscribe: (params, hear) => {
              asked.push(`${params[0]}`);
              return rpc.subscribe?.(params, hear) ?? Effect.die("no socket");
            },
          }),
        ),
      ).pipe(Layer.provide(layer));
      return { layer: all, asked, read: () => asked.filter((one) => one === "eth_getLogs").length };
    };

    it("reads only heads whose blooms show logs, and subscribes to heads alone", async () => {
      const { layer, asked, read } = counted();
      const logs = watch(layer);
      await logs.begun;
      await mined(30);
      await until(() => logs.told.length === 1, "the first");
      await scene.mine();
      await scene.mine();
      await mined(31);
      await until(() => logs.told.length === 2, "the second");
      expect([amounts(logs), read()]).toEqual([[30, 31], 2]);
      expect(asked.filter((one) => !one.startsWith("eth_"))).toEqual(["newHeads"]);
    });

    it("notices a dead line within some silence, and tells the logs that it missed", async () => {
      // why: whoever waits for an answer waits longer than the test does
      const logs = watch(overSocket(100_000), { silentMs: 600 });
      await logs.begun;
      await mined(40);
      await until(() => logs.told.length === 1, "the first");
      line.silence();
      await mined(41);
      await until(() => logs.told.length === 2, "what was missed");
      await mined(42);
      await until(() => logs.told.length === 3, "what comes after");
      expect([amounts(logs), line.connections() > 1]).toEqual([[40, 41, 42], true]);
    });

    it("retries a refused request, over a socket as well, though no other head comes", async () => {
      let refusals = 0;
      const layer = Layer.effect(
        Rpc.Rpc,
        Effect.map(Rpc.Rpc, (rpc) =>
          Rpc.Rpc.of({
            ...rpc,
            request: (method, params) => {
              const isRefused = method === "eth_getLogs" && ++refusals <= 2;
              const wrong = [{ blockHash: `0x${"ab".repeat(32)}` }];
              return rpc.request(method, isRefused ? wrong : params);
            },
          }),
        ),
      ).pipe(Layer.provide(overSocket()));
      const logs = watch(layer);
      await logs.begun;
      await mined(50);
      await until(() => logs.told.length === 1, "the log");
      expect([amounts(logs), refusals]).toEqual([[50], 3]);
    });

    it.runIf(name === "anvil")(
      "tells each log once after an outage of more blocks than it remembers, with another chain in between",
      { timeout: 60_000 },
      async () => {
        const fresh = await startAnvilScene();
        const wire = await startLine(fresh.url);
        const gold = await fresh.deploy(Token, ["Gold", "GLD", 18]);
        const give = (amount: number) =>
          fresh.send(owner, { to: gold, data: calldata(Token, "mint", [other.address, BigInt(amount)]) });
        const logs = followed(
          Eth.watchLogs({ address: gold }, { pollMs: 20 }),
          Rpc.layerTransport(webSocket(wire.url, { reconnect: false }), { retryTimes: 0, timeoutMs: 1_000 }),
        );
        try {
          await logs.begun;
          await give(1);
          await fresh.mine();
          await until(() => logs.told.length === 1, "the first");
          wire.setDown(true);
          await give(2);
          await fresh.ask("anvil_mine", ["0x64"]);
          await give(3);
          await fresh.ask("anvil_mine", ["0x64"]);
          wire.setDown(false);
          await give(4);
          await fresh.mine();
          await until(() => amounts(logs).includes(4), "the last", 20_000);
          await give(5);
          await fresh.mine();
          await until(() => amounts(logs).includes(5), "what comes after");
          expect(amounts(logs)).toEqual([1, 2, 3, 4, 5]);
        } finally {
          await logs.stop();
          await wire.stop();
          await fresh.stop();
        }
      },
    );

    it("tells a subscriber that stood still every log that it missed, once", { timeout: 60_000 }, async () => {
      const at = await scene.deploy(crowd);
      let go: () => void = () => undefined;
      const moving = new Promise<void>((resolve) => void (go = resolve));
      const logs = followed(Eth.watchLogs({ address: at }, { pollMs: 20 }), overSocket(), () => moving);
      following = logs;
      await logs.begun;
      const crowded = async () => {
        await scene.pool(owner, { to: at });
        await scene.mine();
      };
      for (let block = 0; block < 10; block++) await crowded();
      await until(() => logs.told.length > 0, "the first");
      expect(logs.told).toHaveLength(1);
      go();
      await until(() => logs.told.length >= 4_000, "all of it", 30_000);
      await crowded();
      await until(() => logs.told.length >= 4_400, "what comes after");
      const names = logs.told.map(({ blockNumber, logIndex }) => `${blockNumber} ${logIndex}`);
      expect([names.length, new Set(names).size]).toEqual([4_400, 4_400]);
    });

    it("passes over a block whose bloom excludes the logs", async () => {
      await mined(33);
      const { logsBloom, gasUsed } = await Effect.runPromise(
        Eth.getBlock({ block: "latest" }).pipe(Effect.provide(Rpc.layerHttp(scene.url))),
      );
      const [nobody, minted, moved] = [
        `0x${"ab".repeat(20)}`,
        pad("0x00"),
        keccak256(toHex("Transfer(address,address,uint256)")),
      ] as const;
      const asked: ReadonlyArray<readonly [filter: Eth.LogFilter, may: boolean]> = [
        [{}, true],
        [{ address: token }, true],
        [{ address: [nobody, token] }, true],
        [{ address: nobody }, false],
        [{ topics: [moved, minted, [pad(other.address), pad(nobody)]] }, true],
        [{ topics: [null, pad(nobody)] }, false],
        [{ address: token, topics: [pad(nobody)] }, false],
      ];
      expect(asked.map(([filter]) => mayHold(filter)({ logsBloom, gasUsed }))).toEqual(asked.map(([, may]) => may));
      const [none, cut, empty] = [null, "0x", `0x${"00".repeat(256)}`] as const;
      const blooms: ReadonlyArray<readonly [bloom: Hex | null, gas: bigint, may: boolean]> = [
        [none, 0n, true],
        [cut, 0n, true],
        [empty, 0n, false],
        // why: some chains have it whatever happens
        [empty, 21_000n, true],
      ];
      expect(blooms.map(([bloom, gas]) => mayHold({ address: token })({ logsBloom: bloom, gasUsed: gas }))).toEqual(
        blooms.map(([, , may]) => may),
      );
      expect([1, null, 137, 80_002].map(hasWholeBlooms)).toEqual([true, true, false, false]);
    });

    it("reads logs head by head where there is no socket", async () => {
      const logs = watch(Rpc.layerHttp(proxy.url, { retryTimes: 0 }));
      await logs.begun;
      await mined(10);
      await mined(11, 12);
      await until(() => logs.told.length === 3, "three logs");
      expect(amounts(logs)).toEqual([10, 11, 12]);
    });

    it("retries a read that the node refused once", async () => {
      const logs = watch(Rpc.layerHttp(proxy.url, { retryTimes: 0 }));
      await logs.begun;
      proxy.fail("eth_getLogs", { kind: "reset" }, 1);
      const asked = () => proxy.seen.filter(({ method }) => method === "eth_getLogs").length;
      await mined(13);
      await until(() => asked() > 0, "the question that fails");
      await mined(14);
      await until(() => logs.told.length === 2, "two logs");
      expect(amounts(logs)).toEqual([13, 14]);
    });

    it("fails where the node gives heads, but no logs for long", async () => {
      const logs = watch(Rpc.layerHttp(proxy.url, { retryTimes: 0 }), { giveUpMs: 300 });
      await logs.begun;
      proxy.fail("eth_getLogs", { kind: "reset" }, 1_000);
      await mined(20);
      await until(() => logs.failure() !== null, "the end");
      expect(logs.failure()).toMatchObject({ method: "eth_getLogs", reason: { _tag: "Transport" } });
    });

    it("refuses a malformed filter, and names the path", async () => {
      const logs = (following = followed(Eth.watchLogs({ address: "0x12" }), overSocket()));
      await until(() => logs.failure() !== null, "the end");
      expect(logs.failure()).toMatchObject({ reason: { _tag: "InvalidParams" }, message: /filter\.address/ });
    });

    it.runIf(name !== "anvil")(
      "ends soon where the node has no logs of pending state, and says so",
      { timeout: 60_000 },
      async () => {
        for (const layer of [overSocket(), Rpc.layerHttp(proxy.url, { retryTimes: 0 })]) {
          const logs = followed(Eth.watchLogs({ address: token }, { pending: true }), layer);
          await until(() => logs.failure() !== null, "the end", 20_000);
          expect(logs.failure()).toMatchObject({ method: "eth_getLogs", reason: { _tag: "PendingUnavailable" } });
        }
      },
    );

    it.runIf(name === "anvil")(
      "takes back the logs that a reorganisation removed, and tells the new ones",
      async () => {
        const fresh = await startAnvilScene();
        const gold = await fresh.deploy(Token, ["Gold", "GLD", 18]);
        const logs = followed(
          Eth.watchLogs({ address: gold }, { pollMs: 20 }),
          Rpc.layerTransport(webSocket(socketUrl(fresh.url), { reconnect: false })),
        );
        try {
          await logs.begun;
          await fresh.send(owner, { to: gold, data: calldata(Token, "mint", [other.address, 21n]) });
          await fresh.mine();
          await until(() => logs.told.length === 1, "the first");
          await fresh.ask("anvil_reorg", [1, []]);
          await fresh.mine();
          await until(() => amounts(logs).includes(-21), "what was taken back");
          expect(amounts(logs).filter((amount) => amount === -21)).toEqual([-21]);
          await fresh.send(owner, { to: gold, data: calldata(Token, "mint", [other.address, 22n]) });
          await fresh.mine();
          await until(() => amounts(logs).includes(22), "what came after");
        } finally {
          await logs.stop();
          await fresh.stop();
        }
      },
    );
  },
);

const pendingLog = (amount: number) => ({
  ...{ address: `0x${"11".repeat(20)}`, topics: [], data: `0x${amount.toString(16).padStart(64, "0")}` },
  ...{ blockNumber: null, blockHash: null, transactionHash: `0x${"22".repeat(32)}`, transactionIndex: "0x0" },
  logIndex: `0x${amount.toString(16)}`,
});

describe("watchLogs of pending state", () => {
  it("tells each log once, asked from and to `pending` where no socket serves them", async () => {
    let pool = [1, 2];
    const node = await startNode(() => ({ result: pool.map(pendingLog) }));
    const logs = followed(Eth.watchLogs({}, { pending: true, pollMs: 10 }), Rpc.layerHttp(node.url));
    await until(() => logs.told.length === 2, "two logs");
    pool = [2, 3];
    await until(() => logs.told.length === 3, "three logs");
    const asked = node.asked.length;
    await until(() => node.asked.length > asked + 1, "another question after that");
    await logs.stop();
    await node.stop();
    expect(amounts(logs)).toEqual([1, 2, 3]);
    expect(node.asked[0]).toMatchObject({
      method: "eth_getLogs",
      params: [{ fromBlock: "pending", toBlock: "pending" }],
    });
  });

  /** A socket that tells what the test says, and blocks by asking, a new one each time. */
  const telling = async () => {
    const asked: Array<ReadonlyArray<unknown>> = [];
    const heard: { hear: (result: unknown) => void } = { hear: () => undefined };
    let lose: Array<() => void> = [];
    let number = 0;
    const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
    const node = await startNode(() => {
      number += 1;
      const block = { number: `0x${number.toString(16)}`, hash: word(number), parentHash: word(number - 1) };
      return { result: { ...block, timestamp: "0x1", gasLimit: "0x1", gasUsed: "0x0" } };
    });
    const layer = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (rpc) =>
        Rpc.Rpc.of({
          ...rpc,
          subscribe: (params, hear) =>
            Effect.sync(() => {
              const gone = Deferred.makeUnsafe<never, RpcError>();
              const reason = new Transport({ detail: "" });
              lose.push(() => Deferred.doneUnsafe(gone, Effect.fail(new RpcError({ method: "", reason }))));
              if (params[0] === "pendingLogs") {
                asked.push(params);
                heard.hear = hear;
              }
              const abandon = Effect.sync(() => {
                for (const one of lose) one();
                lose = [];
              });
              return { lost: Deferred.await(gone), abandon };
            }),
        }),
      ),
    ).pipe(Layer.provide(Rpc.layerHttp(node.url)));
    return { layer, asked, heard, stop: node.stop };
  };

  it("uses `pendingLogs` where a socket serves it, and ends with the path of a malformed log", async () => {
    const { layer, asked, heard, stop } = await telling();
    const logs = followed(Eth.watchLogs({ topics: [null] }, { pending: true }), layer);
    await until(() => asked.length === 1, "the subscription");
    for (const amount of [4, 5, 4]) heard.hear(pendingLog(amount));
    await until(() => logs.told.length === 2, "two logs");
    expect([asked, amounts(logs)]).toEqual([[["pendingLogs", { topics: [null] }]], [4, 5]]);
    heard.hear({ ...pendingLog(6), data: "0xzz" });
    await until(() => logs.failure() !== null, "the end");
    expect(logs.failure()).toMatchObject({ reason: { _tag: "MalformedResponse", path: "params.result.data" } });
    await stop();
  });

  it("subscribes again where a socket is dead in silence", async () => {
    const { layer, asked, heard, stop } = await telling();
    const logs = followed(Eth.watchLogs({}, { pending: true, silentMs: 200 }), layer);
    await until(() => asked.length === 2, "another subscription");
    heard.hear(pendingLog(7));
    await until(() => logs.told.length === 1, "a log of it");
    await logs.stop();
    await stop();
  });
});
