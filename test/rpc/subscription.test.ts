/** Subscriptions over the sockets of viem's transports. */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Scope from "effect/Scope";
import { createPublicClient, webSocket } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

it("is given back where nobody waits for it any more when it is taken", async () => {
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

it("that the node refuses leaves the socket open, which others share", async () => {
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

it("leaves nothing behind, however often it is begun and let go of", { timeout: 60_000 }, async () => {
  const transport = webSocket(line.url, { reconnect: false });
  const opened = line.connections();
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
  expect([rpcClient?.subscriptions.size, timers() <= before + 1, line.connections() - opened]).toEqual([0, true, 1]);
});

describe("the socket of a transport", () => {
  type Client = Awaited<ReturnType<NonNullable<ReturnType<ReturnType<typeof webSocket>>["value"]>["getRpcClient"]>>;
  /** viem's client of the line's socket, which it opens where there is none. */
  const socketClient = async (): Promise<Client> => {
    const client = await webSocket(line.url, { reconnect: false })({}).value?.getRpcClient();
    if (client === undefined) throw new Error("no socket");
    return client;
  };
  const isOpen = ({ socket }: Client): boolean => socket.readyState === 1;
  /** A layer that has asked, and how to release it. */
  const used = async (layer = Rpc.layerTransport(webSocket(line.url, { reconnect: false }))) => {
    const scope = Scope.makeUnsafe();
    await Effect.runPromise(
      Effect.flatMap(Layer.buildWithScope(layer, scope), (rpc) => Effect.provide(Eth.chainId, rpc)),
    );
    return () => Effect.runPromise(Scope.close(scope, Exit.void));
  };
  const fresh = async () => {
    line.cut();
    await new Promise((resolve) => setTimeout(resolve, 50));
    (await socketClient()).close();
  };

  it("is closed with the last layer that uses it", async () => {
    await fresh();
    const [first, second] = await Promise.all([used(), used()]);
    const client = await socketClient();
    await first();
    expect(isOpen(client)).toBe(true);
    await second();
    expect(isOpen(client)).toBe(false);
    const third = await used();
    expect(await socketClient()).not.toBe(client);
    await third();
  });

  it("stays open where another client is subscribed on it", async () => {
    await fresh();
    const release = await used();
    const client = await socketClient();
    const theirs = createPublicClient({ transport: webSocket(line.url, { reconnect: false }) });
    const { unsubscribe } = await theirs.transport.subscribe({ params: ["newHeads"], onData: () => undefined });
    await release();
    expect(isOpen(client)).toBe(true);
    await unsubscribe();
    client.close();
  });

  it("is the caller's where the caller made the client", async () => {
    await fresh();
    const release = await used(
      Rpc.layerClient(createPublicClient({ transport: webSocket(line.url, { reconnect: false }) })),
    );
    const client = await socketClient();
    await release();
    expect(isOpen(client)).toBe(true);
    client.close();
  });

  it("that was lost and opened again is closed as well", async () => {
    await fresh();
    const scope = Scope.makeUnsafe();
    const layer = Rpc.layerTransport(webSocket(line.url, { reconnect: false }));
    const rpc = await Effect.runPromise(Layer.buildWithScope(layer, scope));
    const chainId = () => Effect.runPromise(Effect.provide(Eth.chainId, rpc));
    await chainId();
    line.cut();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await chainId();
    const client = await socketClient();
    expect(isOpen(client)).toBe(true);
    await Effect.runPromise(Scope.close(scope, Exit.void));
    expect(isOpen(client)).toBe(false);
  });
});
