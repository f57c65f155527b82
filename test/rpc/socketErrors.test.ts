/** What a node refuses says the same over a socket, of viem or of Effect, as over HTTP, and gives no secret away. */
import { createServer, type Server, type Socket as PipeSocket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as NodeWS from "@effect/platform-node/NodeWS";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Socket from "effect/socket/Socket";
import { createClient, custom, fallback, webSocket } from "viem";
import { ipc } from "viem/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Nonces from "../../src/Nonces.js";
import * as Rpc from "../../src/Rpc.js";
import { layerNonces } from "../../src/testing.js";
import { startBridge, type Bridge } from "../harness/bridge.js";
import { startLine } from "../harness/line.js";
import { startNode, type Asked } from "../harness/server.js";
import { lane, sign } from "../nonces/chain.js";
import { subscribing } from "./peer.js";

const key = "s3cr3tKey0123456789";
const folder = mkdtempSync(join(tmpdir(), `${key}-`));
const path = join(folder, "node.ipc");

let error: unknown = null;
const served: Readonly<Record<string, string>> = {
  ...{ eth_getTransactionCount: "0x0", eth_chainId: "0x7a69", eth_getCode: "0x" },
};
/** Whether nothing but a broadcast is refused. */
let sendsOnly = false;
let node: Awaited<ReturnType<typeof startNode>>;
let bridge: Bridge;
let pipe: Server;
const piped = new Set<PipeSocket>();
beforeAll(async () => {
  node = await startNode(({ method }) => {
    if (!sendsOnly || method === "eth_sendRawTransaction") return { error };
    return { result: served[method] ?? null };
  });
  bridge = await startBridge(node.url);
  pipe = createServer((socket) => {
    piped.add(socket);
    socket.on("data", (chunk: Buffer) => {
      const { id } = JSON.parse(chunk.toString()) as Asked;
      socket.write(JSON.stringify({ jsonrpc: "2.0", id, error }));
    });
  });
  await new Promise<void>((resolve) => pipe.listen(path, resolve));
});
afterAll(async () => {
  await bridge.stop();
  await node.stop();
  for (const socket of piped) socket.destroy();
  await new Promise((resolve) => pipe.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const secretUrl = () => {
  const { host, search } = new URL(bridge.url);
  return `ws://me:p${key}@${host}/v3/${key}${search}&apikey=q${key}`;
};
const own = { retryTimes: 0, timeoutMs: 2_000 };
const viems = { reconnect: false, keepAlive: false } as const;
const ways: ReadonlyArray<readonly [name: string, layer: () => Layer.Layer<Rpc.Rpc>]> = [
  ["viem's transport", () => Rpc.layerTransport(webSocket(secretUrl(), viems), own)],
  ["viem's client", () => Rpc.layerClient(createClient({ transport: webSocket(secretUrl(), viems) }), own)],
  ["viem's fallback", () => Rpc.layerTransport(fallback([webSocket(secretUrl(), viems)]), own)],
  ["viem's ipc", () => Rpc.layerTransport(ipc(path, { reconnect: false }), own)],
  [
    "a transport without a URL",
    () => Rpc.layerTransport(custom({ request: () => Promise.reject(error as Error) }, { retryCount: 0 }), own),
  ],
  [
    "Effect's socket",
    () =>
      Rpc.layerSocket(own).pipe(
        Layer.provide(Layer.suspend(() => Socket.layerWebSocket(secretUrl()))),
        Layer.provide(NodeWS.layerWebSocketConstructor),
      ),
  ],
];
const refusedOver = (layer: Layer.Layer<Rpc.Rpc>, method: string) =>
  Effect.runPromise(Effect.flip(Rpc.Rpc.use(({ request }) => request(method, ["0x01"]))).pipe(Effect.provide(layer)));
/** Everything of a failure but that HTTP has a status. */
const saidBy = (failure: Eth.Failure): unknown =>
  JSON.parse(
    JSON.stringify({ ...failure, tag: failure._tag }, (name, value: unknown) =>
      typeof value === "bigint" ? String(value) : name === "httpStatus" ? null : value,
    ),
  );

const errors: ReadonlyArray<readonly [what: string, error: unknown, method: string]> = [
  ["an unknown block", { code: -32000, message: "unknown block" }, "eth_getLogs"],
  ["a refused send", { code: -32000, message: "nonce too low: next nonce 5, tx nonce 3" }, "eth_sendRawTransaction"],
  [
    "an underpriced replacement",
    { code: -32000, message: "replacement transaction underpriced" },
    "eth_sendRawTransaction",
  ],
  [
    "too little to pay with",
    {
      code: -32000,
      message: "insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000",
    },
    "eth_sendRawTransaction",
  ],
  [
    "a revert with its bytes",
    { code: 3, message: "execution reverted: no", data: `0x08c379a0${"00".repeat(64)}` },
    "eth_call",
  ],
  [
    "nested data",
    { code: -32603, message: "Internal JSON-RPC error.", data: { code: 3, message: "execution reverted", data: "0x" } },
    "eth_call",
  ],
  [
    "a method that is not there",
    { code: -32601, message: "the method eth_call does not exist/is not available" },
    "eth_call",
  ],
  ["no code", { message: "insufficient funds for transfer" }, "eth_call"],
  ["a code that is a text", { code: "-32000", message: "header not found" }, "eth_call"],
  ["a limit", { code: -32005, message: "query returned more than 10000 results" }, "eth_getLogs"],
];

describe.each(ways)("a node's refusal over %s", (name, layer) => {
  it.each(errors)("has the error of HTTP: %s", async (_, told, method) => {
    error = told;
    const [overHttp, overSocket] = [
      await refusedOver(Rpc.layerHttp(node.url, own), String(method)),
      await refusedOver(layer(), String(method)),
    ];
    expect(saidBy(overSocket)).toEqual(saidBy(overHttp));
  });

  it("is shown without the URL's secrets", async () => {
    const url = name === "viem's ipc" ? path : secretUrl();
    error = { code: -32000, message: `cannot reach ${url}`, data: { url: [url], deep: { [key]: url } } };
    const failure = await refusedOver(layer(), "eth_call");
    const shown = `${JSON.stringify(saidBy(failure))} ${failure.message} ${String(failure.stack)}`;
    expect(shown.replaceAll(`"${key}"`, "").replaceAll(`\\"${key}\\"`, "")).not.toContain(key);
    expect(shown).toContain("cannot reach");
  });
});

it.each(ways.filter(([name]) => !["viem's ipc", "a transport without a URL"].includes(name)))(
  "a payment that the node refuses over %s is refused with its reason",
  async (_, layer) => {
    error = { code: -32000, message: "insufficient funds for gas * price + value: have 1 want 2" };
    sendsOnly = true;
    const sending = Nonces.withNonce(lane, (nonce) => sign(nonce));
    const failure = await Effect.runPromise(
      Effect.flip(sending).pipe(Effect.provide(Layer.mergeAll(layer(), layerNonces))),
    );
    sendsOnly = false;
    expect(failure).toMatchObject({ _tag: "SendRejected", kind: "rejected" });
  },
);

it("viem's socket that was cut is opened again for the next request", async () => {
  error = { code: -32000, message: "unknown block" };
  const line = await startLine(bridge.url.replace("ws", "http"));
  const ask = Effect.flip(Rpc.Rpc.use(({ request }) => request("eth_getLogs", [])));
  const cut = Effect.promise(() => {
    line.cut();
    return new Promise((resolve) => setTimeout(resolve, 100));
  });
  const failures = await Effect.runPromise(
    Effect.all([ask, cut, ask, ask]).pipe(
      Effect.provide(Rpc.layerTransport(webSocket(line.url, viems), { ...own, retryTimes: 2 })),
    ),
  );
  await line.stop();
  const blockNotFound = { reason: { _tag: "BlockNotFound" } };
  expect(failures).toMatchObject([blockNotFound, undefined, blockNotFound, blockNotFound]);
});

describe.each(ways.filter(([name]) => ["viem's transport", "viem's client", "Effect's socket"].includes(name)))(
  "a subscription over %s",
  (_, layer) => {
    it.each<readonly [unknown, string]>([
      [{ code: -32601, message: `no "x" subscription in eth namespace` }, "MethodNotSupported"],
      [{ message: "too many requests" }, "RateLimited"],
    ])("names the reason of its refusal, and the socket stays open: %s", async (told, tag) => {
      error = told;
      const both = await Effect.runPromise(
        Effect.all([
          Effect.flip(Effect.scoped(subscribing(() => undefined))),
          Effect.flip(Rpc.Rpc.use(({ request }) => request("eth_call", []))),
        ]).pipe(Effect.provide(layer())),
      );
      for (const failure of both) expect(failure).toMatchObject({ _tag: "RpcError", reason: { _tag: tag } });
    });

    it("shows its refusal without the URL's secrets", async () => {
      error = { code: -32000, message: `subscriptions are not allowed at ${secretUrl()}` };
      const failure = await Effect.runPromise(
        Effect.flip(Effect.scoped(subscribing(() => undefined))).pipe(Effect.provide(layer())),
      );
      expect(`${JSON.stringify(saidBy(failure))} ${failure.message}`).not.toContain(key);
    });
  },
);

it("each error of a batch over HTTP is its own, and none names the key", async () => {
  error = { code: -32000, message: `unknown block at /v3/${key}`, data: { [key]: key } };
  const layer = Rpc.layerHttp(`${node.url}/v3/${key}`, { ...own, batch: true });
  const failures = await Effect.runPromise(
    Effect.all(
      ["eth_call", "eth_getBalance"].map((method) => Effect.flip(Rpc.Rpc.use(({ request }) => request(method, [])))),
      { concurrency: "unbounded" },
    ).pipe(Effect.provide(layer)),
  );
  expect(failures).toMatchObject(Array(2).fill({ reason: { _tag: "BlockNotFound" } }));
  expect(JSON.stringify(failures.map(saidBy)).replaceAll(`"${key}"`, "")).not.toContain(`/${key}`);
});
