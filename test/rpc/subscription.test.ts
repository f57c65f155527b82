/** Subscriptions over the sockets of viem's transports. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { webSocket } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { subscription, type Subscribing } from "../rooms/rpc.js";
import { startAnvil, type Node } from "../harness/anvil.js";
import { startLine, type Line } from "../harness/line.js";
import { subscribing } from "./peer.js";

let node: Node;
let line: Line;
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  line = await startLine(node.url);
});
afterAll(async () => {
  await line.stop();
  await node.stop();
});

it("a subscription is ended as soon as it begins when its subscriber is gone", async () => {
  let take: (told: unknown) => void = () => undefined;
  let givenBack = 0;
  const told = { unsubscribe: () => Promise.resolve((givenBack += 1)) };
  const transport: Subscribing = {
    subscribe: () => new Promise((resolve) => void (take = resolve)),
    getRpcClient: () => Promise.resolve({}),
  };
  const once = Effect.scoped(
    subscription(
      transport,
      (text) => text,
      ["newHeads"],
      () => undefined,
    ),
  );
  await Effect.runPromise(
    Effect.gen(function* () {
      const subscribed = yield* Effect.forkChild(once);
      yield* Effect.sleep(5);
      yield* Fiber.interrupt(subscribed);
      take(told);
      yield* Effect.sleep(5);
      expect(givenBack).toBe(1);
      const second = yield* Effect.forkChild(once);
      yield* Effect.sleep(5);
      take(told);
      yield* Fiber.join(second);
    }),
  );
  expect(givenBack).toBe(2);
});

it("a subscription that the node refuses leaves the shared socket open", async () => {
  const [failure, chainId] = await Effect.runPromise(
    Effect.all([
      Effect.flip(
        Rpc.Rpc.use(({ subscribe }) =>
          subscribe === undefined ? Effect.die("no socket") : Effect.scoped(subscribe(["nonsense"], () => undefined)),
        ),
      ),
      Eth.chainId,
    ]).pipe(Effect.provide(Rpc.layerTransport(webSocket(line.url, { reconnect: false })))),
  );
  expect([failure._tag, chainId, line.connections()]).toEqual(["RpcError", 31337, 1]);
});

it("a subscription leaves nothing behind, however often it begins and ends", { timeout: 60_000 }, async () => {
  const transport = webSocket(line.url, { reconnect: false });
  const rpcClient = await transport({}).value?.getRpcClient();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  await Effect.runPromise(
    Effect.forEach(
      Array.from({ length: 2_000 }, (_, index) => index),
      (index) =>
        Effect.scoped(subscribing(() => undefined)).pipe(
          Effect.timeoutOption(index % 5),
          Effect.andThen(Effect.yieldNow),
        ),
      { concurrency: 8 },
    ).pipe(Effect.andThen(Effect.sleep(300)), Effect.provide(Rpc.layerTransport(transport))),
  );
  expect([rpcClient?.subscriptions.size, timers() <= before + 1, line.connections()]).toEqual([0, true, 1]);
});
