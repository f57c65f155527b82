/** Requests and subscriptions over Effect's `Socket`: a real node behind a line that breaks, and a peer that says anything. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as NodeSocket from "@effect/platform-node/NodeSocket";
import * as NodeWS from "@effect/platform-node/NodeWS";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Socket from "effect/socket/Socket";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Preflight from "../../src/Preflight.js";
import * as Rpc from "../../src/Rpc.js";
import { cutter } from "../rooms/rpc.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { startLine, type Line } from "../harness/line.js";
import { answer, played, subscribing } from "./peer.js";

const transfer = { from: accounts[1].address, to: accounts[2].address, value: 1n };
const folder = mkdtempSync(join(tmpdir(), "anvil-"));
const path = join(folder, "anvil.ipc");
let node: Node;
let line: Line;
beforeAll(async () => {
  node = await startAnvil({ noMining: true, args: ["--ipc", path] });
  await mineAnvil(node.url);
});
beforeEach(async () => {
  line = await startLine(node.url);
});
afterEach(() => line.stop());
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

const overWebSocket = (options: Parameters<typeof Rpc.layerSocket>[0] = {}) =>
  Rpc.layerSocket(options).pipe(
    Layer.provide(Layer.suspend(() => Socket.layerWebSocket(line.url))),
    Layer.provide(NodeWS.layerWebSocketConstructor),
  );
const overIpc = Rpc.layerSocket().pipe(Layer.provide(NodeSocket.layerNet({ path })), Layer.orDie);
const run = <A, E>(effect: Effect.Effect<A, E, Rpc.Rpc>, layer: Layer.Layer<Rpc.Rpc> = overWebSocket()) =>
  Effect.runPromise(Effect.provide(effect, layer));

describe("a node behind a WebSocket", () => {
  it.each([
    ["a WebSocket", () => overWebSocket()],
    ["a Unix socket", () => overIpc],
  ])("of %s proves a transfer in two rounds over one connection", async (_, layer) => {
    const report = await run(Preflight.preflight(transfer), layer());
    expect([report.verdict, report.stage, report.ledger.rounds]).toEqual(["ready", "proven", 2]);
    expect(line.connections()).toBeLessThan(2);
  });

  it("answers each request its own, and its refusals are typed", async () => {
    const all = await run(
      Effect.all(
        [
          Eth.chainId,
          Eth.getTransactionCount({ address: accounts[1].address, block: "latest" }),
          Effect.flip(Rpc.Rpc.use(({ request }) => request("eth_nonsense", []))),
          ...accounts.slice(0, 4).map(({ address }) => Eth.getCode({ address, block: "latest" })),
        ],
        { concurrency: "unbounded" },
      ),
    );
    expect(all).toMatchObject([
      31337,
      0n,
      { reason: { _tag: "InvalidParams" } },
      ...accounts.slice(0, 4).map(() => "0x"),
    ]);
  });

  it("gets another connection after one was cut, and that closes with the layer", async () => {
    await run(
      Effect.gen(function* () {
        yield* Eth.chainId;
        line.cut();
        yield* Effect.sleep(50);
        expect(yield* Eth.chainId).toBe(31337);
      }),
    );
    expect(line.connections()).toBe(2);
  });

  it("is retried after nobody was there", async () => {
    line.setDown(true);
    const told = await run(
      Effect.gen(function* () {
        const failure = yield* Effect.flip(Eth.chainId);
        line.setDown(false);
        return [failure, yield* Eth.chainId] as const;
      }),
      overWebSocket({ retryTimes: 0 }),
    );
    expect(told).toMatchObject([{ reason: { _tag: "Transport" } }, 31337]);
  });

  it("is not used with wrong options", () => {
    expect(() => Rpc.layerSocket({ maxResponseBytes: 0 })).toThrow(/maxResponseBytes/);
    expect(() => Rpc.layerSocket({ headers: {} } as Parameters<typeof Rpc.layerSocket>[0])).toThrow(/headers/);
  });
});

const chainIds = (count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.result(Eth.chainId), { concurrency: "unbounded" });

describe("a WebSocket peer that says anything", () => {
  it("may answer in any order, and answers nobody who did not ask", async () => {
    const { told } = await played(chainIds(3), ({ asked, written, say }) =>
      Effect.andThen(
        asked(3),
        Effect.suspend(() => {
          const [one, two, three] = written.map(({ id }) => id);
          return say(
            answer(999, "0x9"),
            answer(three, "0x3"),
            answer(one, "0x1"),
            answer(one, "0x7"),
            answer(two, "0x2"),
          );
        }),
      ),
    );
    expect(Result.getOrThrow(told)).toEqual([1, 2, 3].map((id) => Result.succeed(id)));
  });

  it.each([
    ["no JSON", "nonsense"],
    ["a list", [answer(1, "0x1")]],
    ["more than an answer may hold", answer(1, "x".repeat(600))],
  ])("ends the connection with %s", async (_, said) => {
    const { told, opened } = await played(chainIds(2), ({ asked, say }) => Effect.andThen(asked(2), say(said)), {
      retryTimes: 0,
      maxResponseBytes: 500,
    });
    expect(Result.getOrThrow(told).every(Result.isFailure)).toBe(true);
    expect(opened()).toBe(1);
  });

  it("gives an error without a request's id to all who wait", async () => {
    const { told } = await played(chainIds(2), ({ asked, say }) =>
      Effect.andThen(asked(2), say({ jsonrpc: "2.0", id: null, error: { code: -32005, message: "rate limit" } })),
    );
    for (const one of Result.getOrThrow(told))
      expect(one).toMatchObject({ failure: { reason: { _tag: "RateLimited" } } });
  });

  it("is subscribed from its answer on, with what comes at the same time, and lost with the line", async () => {
    const heard: Array<unknown> = [];
    const { told, written } = await played(
      Effect.scoped(
        Effect.flatMap(
          subscribing((result) => void heard.push(result)),
          ({ lost }) => Effect.flip(lost),
        ),
      ),
      ({ asked, written, say, close }) =>
        Effect.gen(function* () {
          yield* asked(1);
          const tell = (subscription: string, result: unknown) => ({
            ...{ jsonrpc: "2.0", method: "eth_subscription" },
            params: { subscription, result },
          });
          yield* say(answer(written[0]?.id, "0xa"), tell("0xa", 1), tell("0xb", 2), tell("0xa", 3));
          yield* Effect.repeat(Effect.yieldNow, { until: () => heard.length === 2 });
          yield* close;
        }),
    );
    expect(heard).toEqual([1, 3]);
    expect(Result.getOrThrow(told)).toMatchObject({ reason: { _tag: "Transport" } });
    expect(written.map(({ method }) => method)).toEqual(["eth_subscribe"]);
  });

  it("is unsubscribed with the scope", async () => {
    const { written } = await played(Effect.scoped(subscribing(() => undefined)), ({ asked, written, say }) =>
      Effect.andThen(
        asked(1),
        Effect.suspend(() => say(answer(written[0]?.id, "0xa"))),
      ),
    );
    expect(written).toMatchObject([{ method: "eth_subscribe" }, { method: "eth_unsubscribe", params: ["0xa"] }]);
  });

  it("never gets on a new line what was asked on one that ended", async () => {
    const { written, opened } = await played(
      Effect.andThen(
        Effect.result(Rpc.Rpc.use(({ request }) => request("eth_sendRawTransaction", ["0x01"]))),
        Eth.chainId,
      ),
      ({ asked, written, say, close }) =>
        Effect.gen(function* () {
          yield* asked(1);
          yield* close;
          yield* asked(2);
          yield* say(answer(written[1]?.id, "0x1"));
        }),
    );
    expect(written.map(({ method }) => method)).toEqual(["eth_sendRawTransaction", "eth_chainId"]);
    expect(opened()).toBe(2);
  });

  it("loses its line after ten silent seconds behind a request", async () => {
    const { opened } = await played(
      Effect.gen(function* () {
        for (let count = 0; count < 12; count++) yield* Effect.result(Eth.chainId);
      }),
      (_, fiber) =>
        Effect.repeat(Effect.andThen(TestClock.adjust(1_000), Effect.yieldNow), {
          until: () => fiber.pollUnsafe() !== undefined,
        }),
      { retryTimes: 0, timeoutMs: 1_000 },
      TestClock.layer(),
    );
    expect(opened()).toBe(2);
  });
});

describe("texts in a stream of bytes", () => {
  const encoder = new TextEncoder();
  const bytesOf = (texts: ReadonlyArray<string>) => encoder.encode(texts.join(""));
  const pieces = (bytes: Uint8Array, cuts: ReadonlyArray<number>) => {
    const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, two) => one - two), bytes.length];
    return at.slice(1).map((end, index) => bytes.slice(at[index], end));
  };
  it("are complete, however the stream is cut", () =>
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))),
        fc.array(fc.nat()),
        fc.constantFrom("", "\n", " \r\n"),
        (values, cuts, between) => {
          const cut = cutter(10 ** 6);
          const texts = pieces(bytesOf(values.map((value) => `${JSON.stringify(value)}${between}`)), cuts).flatMap(
            (piece) => cut(piece) ?? [],
          );
          expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(values)));
        },
      ),
    ));

  it("are no longer than the limit, however many pieces they come in", () => {
    const cut = cutter(100);
    const told = Array.from({ length: 30 }, () => cut(encoder.encode(`{"a":`)));
    expect(told.indexOf(null)).toBe(20);
    expect(cutter(3)("1234")).toBeNull();
  });

  it("never throw, whatever comes", () =>
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (chunks) => {
        const cut = cutter(1_000);
        for (const chunk of chunks) cut(chunk);
      }),
    ));
});
