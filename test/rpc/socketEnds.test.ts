/** What is asked, told and left over where a socket opens, ends, or is let go of. */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Scope from "effect/Scope";
import * as Socket from "effect/socket/Socket";
import { TestClock } from "effect/testing";
import { describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { answer, peer, played, subscribing } from "./peer.js";

const broadcast = Rpc.Rpc.use(({ request }) => request("eth_sendRawTransaction", ["0x01"]));
const patiently = <A>(effect: Effect.Effect<A>) => Effect.runPromise(Effect.timeout(effect, 2_000));

describe("a broadcast over a WebSocket", () => {
  it("is not refused by an error without an id, which may be another's", async () => {
    const { told } = await played(
      Effect.all([Effect.flip(broadcast), Effect.flip(Eth.chainId)], { concurrency: "unbounded" }),
      ({ asked, say }) =>
        Effect.andThen(
          asked(2),
          say({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "invalid request" } }),
        ),
    );
    const [sent, read] = Result.getOrThrow(told);
    expect(sent).toMatchObject({ reason: { _tag: "Transport" } });
    expect(read).not.toMatchObject({ reason: { _tag: "Transport" } });
  });
});

describe("a closed WebSocket layer", () => {
  it("answers every open request at once", async () => {
    const [asked, told] = await patiently(
      Effect.gen(function* () {
        const { layer } = yield* peer;
        const scope = yield* Scope.make();
        const rpc = yield* Effect.map(Layer.buildWithScope(layer(), scope), (context) => context);
        yield* Scope.close(scope, Exit.void);
        return yield* Effect.all([
          Effect.provide(Effect.flip(Eth.chainId), rpc),
          Effect.provide(Effect.flip(Effect.scoped(subscribing(() => undefined))), rpc),
        ]);
      }).pipe(Effect.orDie),
    );
    for (const one of [asked, told]) expect(one).toMatchObject({ reason: { _tag: "Transport" } });
  });
});

describe("a subscription whose subscriber is gone", () => {
  it("is ended as soon as it begins", async () => {
    const { written } = await played(
      Effect.gen(function* () {
        const subscribed = yield* Effect.forkChild(Effect.scoped(subscribing(() => undefined)));
        yield* Effect.sleep(5);
        yield* Fiber.interrupt(subscribed);
        yield* Effect.result(Eth.chainId);
        yield* Effect.sleep(5);
      }),
      ({ asked, written, say }) =>
        Effect.gen(function* () {
          yield* asked(2);
          yield* say(answer(written[0]?.id, "0xa"), answer(written[1]?.id, "0x1"));
        }),
    );
    expect(written).toMatchObject([
      { method: "eth_subscribe" },
      { method: "eth_chainId" },
      { method: "eth_unsubscribe", params: ["0xa"] },
    ]);
  });
});

describe("a subscription over a WebSocket", () => {
  it("leaves nothing behind, however often it is begun and let go of", { timeout: 60_000 }, async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const { written, opened } = await played(
      Effect.forEach(
        Array.from({ length: 2_000 }, (_, index) => index),
        (index) => Effect.timeoutOption(Effect.scoped(subscribing(() => undefined)), index % 5),
        { concurrency: 8 },
      ).pipe(Effect.andThen(Effect.sleep(50))),
      ({ written, say }, fiber) => {
        let answered = 0;
        return Effect.repeat(
          Effect.suspend(() => {
            const asked = written.slice(answered);
            answered = written.length;
            return Effect.andThen(say(...asked.map(({ id }) => answer(id, `0x${id}`))), Effect.sleep(1));
          }),
          { until: () => fiber.pollUnsafe() !== undefined },
        );
      },
    );
    const count = (name: string) => written.filter(({ method }) => method === name).length;
    expect(count("eth_subscribe")).toBeGreaterThan(1_000);
    expect([count("eth_unsubscribe"), opened(), timers() <= before + 1]).toEqual([count("eth_subscribe"), 1, true]);
  });
});

describe("a WebSocket that was asked", () => {
  const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
  const settled = Effect.repeat(Effect.yieldNow, { times: 20 });
  /** Asks 13 times, a second apart; `answered` says which requests are answered then, as bytes. */
  const asking = (
    first: string,
    answered: (written: ReadonlyArray<{ readonly id: number }>) => ReadonlyArray<{ readonly id: number }>,
  ) =>
    played(
      Effect.forEach(Array.from({ length: 13 }), () => Effect.result(Eth.chainId)),
      ({ asked, written, say }, fiber) =>
        asked(1).pipe(
          Effect.andThen(first === "" ? Effect.void : say(bytes(first))),
          Effect.andThen(
            Effect.repeat(
              Effect.suspend(() => say(...answered(written).map(({ id }) => bytes(answer(id, "0x1"))))).pipe(
                Effect.andThen(settled),
                Effect.andThen(TestClock.adjust(1_000)),
                Effect.andThen(settled),
              ),
              { until: () => fiber.pollUnsafe() !== undefined },
            ),
          ),
        ),
      { retryTimes: 0, timeoutMs: 1_000 },
      TestClock.layer(),
    );

  it("is closed where a stray bracket swallows the answers, and the next request opens another", async () => {
    const { told, opened } = await asking("{", (written) => written.slice(-1));
    expect(opened()).toBe(2);
    expect(Result.getOrThrow(told).at(-1)).toEqual(Result.succeed(1));
  });

  it("stays open where its answers come too late for those who asked", async () => {
    const { told, opened } = await asking("", (written) => written.slice(-2, -1));
    expect(opened()).toBe(1);
    expect(Result.getOrThrow(told).some(Result.isSuccess)).toBe(false);
  });
});

describe("a WebSocket that does not open", () => {
  /** Opens as `openings` say, one after the other; the last for good. */
  const opening = (...openings: ReadonlyArray<Socket.Socket["reader"]>) => {
    let count = 0;
    const socket = Socket.make({
      reader: Effect.suspend(() => openings[Math.min(count++, openings.length - 1)] ?? Effect.never),
      writer: Effect.succeed({ write: () => Effect.void, writeAll: () => Effect.void }),
    });
    const layer = (options: Parameters<typeof Rpc.layerSocket>[0]) =>
      Rpc.layerSocket(options).pipe(Layer.provide(Layer.succeed(Socket.Socket)(socket)));
    return { layer, count: () => count };
  };
  const refused = Effect.fail(
    new Socket.SocketError({
      reason: new Socket.SocketOpenError({ kind: "Unknown", cause: new Error("connect to wss://node.example/v2/KEY") }),
    }),
  );

  it("is given up after ten silent seconds, and opened again by the next request", async () => {
    const { layer, count } = opening(Effect.never);
    await Effect.runPromise(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          Effect.gen(function* () {
            for (let asked = 0; asked < 15; asked++) yield* Effect.result(Eth.chainId);
          }).pipe(Effect.provide(layer({ retryTimes: 0, timeoutMs: 1_000 }))),
        );
        yield* Effect.repeat(Effect.andThen(TestClock.adjust(1_000), Effect.yieldNow), {
          until: () => fiber.pollUnsafe() !== undefined,
        });
      }).pipe(Effect.provide(TestClock.layer())),
    );
    expect(count()).toBe(2);
  });

  it("is opened once for each try, and no key of its address is shown", async () => {
    const { layer, count } = opening(refused);
    const failure = await Effect.runPromise(
      Effect.flip(Eth.chainId).pipe(Effect.provide(layer({ retryTimes: 2, retryBaseMs: 1 }))),
    );
    expect([count(), failure._tag === "RpcError" && failure.reason._tag]).toEqual([3, "Transport"]);
    expect(JSON.stringify(failure)).not.toContain("KEY");
  });
});
