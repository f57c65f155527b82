/** A connection that cannot be right is refused where it is made, by the name of what is wrong, and shows no key. */
import * as FetchHttpClient from "effect/http/FetchHttpClient";
import * as Layer from "effect/Layer";
import { createPublicClient, custom, http, type Transport } from "viem";
import { describe, expect, it } from "vitest";
import * as Errors from "../../src/Errors.js";
import { createPreflight, guardProvider, type Connection } from "../../src/promise.js";
import { guard, preflightActions } from "../../src/viem.js";
import * as Rpc from "../../src/Rpc.js";
import { layerScripted } from "../../src/testing.js";

const url = "http://127.0.0.1:8545";
const secret = "s3cr3tKey0123456789";
const provider = { request: () => Promise.resolve("0x1") };
const transport = custom(provider);
const client = createPublicClient({ transport });
const layer = layerScripted({});
const endpoints = [
  { url, provider: "a" },
  { layer, provider: "b" },
];

/** What a call throws. */
const thrown = (make: () => unknown): unknown => {
  try {
    make();
  } catch (error) {
    return error;
  }
  return null;
};
const refusal = (make: () => unknown) => {
  const error = thrown(make);
  expect(error).toBeInstanceOf(Errors.InvalidConnection);
  expect(error).toBeInstanceOf(Error);
  return error as Errors.InvalidConnection;
};

const refused: ReadonlyArray<readonly [connection: unknown, field: string, problem: RegExp]> = [
  [{ url: "" }, "url", /is empty/],
  [{ url: "  " }, "url", /is empty/],
  [{ url: undefined }, "url", /must be a string, got undefined/],
  [{ url: null }, "url", /must be a string, got null/],
  [{ url: 8545 }, "url", /must be a string, got number/],
  [{ url: "127.0.0.1:8545" }, "url", /must begin with http:\/\/ or https:\/\//],
  [{ url: "localhost:8545" }, "url", /must begin with http/],
  [{ url: `rpc.example.org/${secret}` }, "url", /must begin with http/],
  [{ url: "ftp://127.0.0.1" }, "url", /must begin with http/],
  [{ url: `ws://127.0.0.1/${secret}` }, "url", /WebSocket URL; give viem's webSocket\(url\) as the transport/],
  [{ url: "http://" }, "url", /is not a URL/],
  [{ url: `http://[${secret}` }, "url", /is not a URL/],
  [{ rpcUrl: url }, "rpcUrl", /is not a way to reach a node; did you mean url\?/],
  [{ uri: url }, "uri", /did you mean url\?/],
  [{ clinet: client }, "clinet", /did you mean client\?/],
  [{}, "connection", /needs one of url, client, transport, provider, endpoints and layer/],
  [null, "connection", /must be an object, got null/],
  [url, "connection", /must be an object, got string/],
  [[url], "connection", /must be an object, got an array/],
  [{ url, client }, "client", /cannot be combined with url/],
  [{ url, transport }, "transport", /cannot be combined with url/],
  [{ client, provider }, "provider", /cannot be combined with client/],
  [{ provider, layer }, "layer", /cannot be combined with provider/],
  [{ client: undefined }, "client", /must be an object with the function request/],
  [{ client: {} }, "client", /must be an object with the function request/],
  [{ provider: "metamask" }, "provider", /must be an object with the function request/],
  [{ provider, headers: {} }, "headers", /is not an option here/],
  [{ transport: {} }, "transport", /must be a function, got object/],
  [{ transport: http() }, "transport", /No URL was provided/],
  [{ layer: undefined }, "layer", /must be a layer/],
  [{ layer: {} }, "layer", /must be a layer/],
  [{ layer, timeoutMs: 1 }, "timeoutMs", /is not an option here/],
  [{ url, timeoutMs: 0 }, "timeoutMs", /must be a number of ms, at least 1/],
  [{ url, timeoutMs: -1 }, "timeoutMs", /at least 1/],
  [{ url, timeoutMs: Number.NaN }, "timeoutMs", /at least 1/],
  [{ url, timeoutMs: Infinity }, "timeoutMs", /at least 1/],
  [{ url, timeoutMs: "1000" }, "timeoutMs", /must be a number/],
  [{ client, timeoutMs: Number.NaN }, "timeoutMs", /must be a number/],
  [{ url, timeoutms: 5 }, "timeoutms", /is not an option here; did you mean timeoutMs\?/],
  [{ url, timeout: 5 }, "timeout", /did you mean timeoutMs\?/],
  [{ url, retries: 5 }, "retries", /is not an option here/],
  [{ url, retryTimes: -1 }, "retryTimes", /whole number, at least 0/],
  [{ url, retryTimes: 1.5 }, "retryTimes", /whole number/],
  [{ url, retryBaseMs: -1 }, "retryBaseMs", /at least 0/],
  [{ url, retryMaxMs: Number.NaN }, "retryMaxMs", /at least 0/],
  [{ url, refusalMs: -5 }, "refusalMs", /at least 0/],
  [{ url, maxInFlight: 0 }, "maxInFlight", /whole number, at least 1/],
  [{ url, maxInFlight: 1.5 }, "maxInFlight", /whole number/],
  [{ url, maxWaitMs: 0 }, "maxWaitMs", /at least 1/],
  [{ url, batch: "yes" }, "batch", /must be a boolean, got string/],
  [{ url, batchSize: 0 }, "batchSize", /at least 1/],
  [{ url, maxResponseBytes: 0 }, "maxResponseBytes", /at least 1/],
  [{ url, firstId: -1 }, "firstId", /at least 0/],
  [{ url, headers: "authorization" }, "headers", /must be an object of strings, got string/],
  [{ url, headers: { authorization: 7 } }, "headers.authorization", /must be a string, got number/],
  [{ url, headers: { authorization: undefined } }, "headers.authorization", /must be a string, got undefined/],
  [{ url, headers: { "x key": "a" } }, "headers.x key", /is not a header that HTTP can carry/],
  [{ url, headers: { "x-key": `${secret}\nb` } }, "headers.x-key", /is not a header that HTTP can carry/],
  [{ url, fetch: "fetch" }, "fetch", /must be a function/],
  [{ url, dispatcher: {} }, "dispatcher", /must be a dispatcher of undici/],
  [{ url, agent: {} }, "agent", /must be an Agent of node:http/],
  [{ client: { ...provider, chain: { id: 0 } } }, "client.chain.id", /above 0/],
  [{ client: { ...provider, chain: { id: "1" } } }, "client.chain.id", /whole number/],
  [{ url, chain: { id: 0 } }, "chain.id", /above 0/],
  [{ url, chain: 146 }, "chain", /must be a chain, got number/],
  [
    { client: { ...provider, chain: { id: 1 } }, chain: { id: 2 } },
    "chain.id",
    /is not the client's chain, which is 1/,
  ],
  [{ endpoints: [], chain: {} }, "chain.id", /whole number/],
  [{ endpoints, agre: 3 }, "agre", /is not an option here; did you mean agree\?/],
  [{ endpoints, agree: 3 }, "agree", /from 2 to the 2 different providers/],
  [{ endpoints, agree: 1 }, "agree", /whole number, at least 2/],
  [{ endpoints, timeoutMs: 5 }, "timeoutMs", /is not an option here/],
  [{ endpoints, waitMs: "5" }, "waitMs", /number of ms/],
  [{ endpoints: [...endpoints, { url, provider: "c", timeoutMs: -1 }] }, "endpoints[2].timeoutMs", /at least 1/],
  [{ endpoints: [...endpoints, { layer: 5, provider: "c" }] }, "endpoints[2].layer", /must be a layer/],
  [{ endpoints: [{ url, provder: "c" }, ...endpoints] }, "endpoints[0].provder", /did you mean provider\?/],
  [
    { endpoints: [{ layer, provider: "c", timeoutMs: 5 }, ...endpoints] },
    "endpoints[0].timeoutMs",
    /not an option here/,
  ],
  [{ client: { ...provider, account: { address: "0x12" } } }, "client.account.address", /20 bytes/],
  [{ client: { ...provider, account: "alice" } }, "client.account.address", /must be an address/],
];

describe("createPreflight", () => {
  it.each(refused)("refuses %j at %s", (connection, field, problem) => {
    const error = refusal(() => createPreflight(connection as Connection));
    expect([error.field, error.problem]).toEqual([field, expect.stringMatching(problem)]);
    expect(error.message).toContain(`${field}: `);
    expect(`${error.message} ${JSON.stringify(error)} ${error.stack}`).not.toContain(secret);
  });

  it.each<Connection>([
    { url },
    { url: `https://me:pass@example.org/v2/${secret}?key=${secret}` },
    { url, timeoutMs: 5, retryTimes: 0, retryBaseMs: 0, maxInFlight: Infinity, maxWaitMs: Infinity, batch: true },
    { url, headers: { authorization: `Bearer ${secret}` }, fetch: globalThis.fetch },
    { client },
    { client: { request: provider.request } },
    { transport, timeoutMs: 5 },
    { provider, retryTimes: 2 },
    { layer },
    { endpoints, agree: 2, waitMs: Infinity },
    ...[{ without: ["approvals"] }, { steps: [], without: ["approvals"] }].map((steps) => ({ layer, ...steps })),
  ])("accepts %j", async (connection) => {
    await createPreflight(connection).dispose();
  });
});

describe("the layers of the Effect entry", () => {
  it("refuse the options that the Promise entry refuses", () => {
    expect(refusal(() => Rpc.layerHttp("")).field).toBe("url");
    expect(refusal(() => Rpc.layerHttp(url, { timeoutMs: 0 })).field).toBe("timeoutMs");
    expect(refusal(() => Rpc.layerClient({} as Rpc.Requester)).field).toBe("client");
    expect(refusal(() => Rpc.layerClient(client, { timeoutMs: -1 })).field).toBe("timeoutMs");
    expect(refusal(() => Rpc.layerTransport(http())).field).toBe("transport");
    expect(refusal(() => Rpc.layerTransport(undefined as never as Transport)).field).toBe("transport");
    expect(refusal(() => Rpc.layerProvider(provider, { retryTimes: Number.NaN })).field).toBe("retryTimes");
    expect(refusal(() => Rpc.quorum(endpoints, null as never)).field).toBe("options");
    expect(refusal(() => Rpc.layerHttpClient("ws://x")).field).toBe("url");
    expect(refusal(() => Rpc.layerHttpClient(url, { fetch } as Rpc.PostingOptions)).field).toBe("fetch");
    expect(Layer.isLayer(Layer.provide(Rpc.layerHttpClient(url), FetchHttpClient.layer))).toBe(true);
  });

  it("leave the same steps out in a guard's node", () => {
    const options = { node: { layer }, without: ["approvals"] } as const;
    expect(guardProvider(provider, options)).toBeTypeOf("object");
    expect(guard(client, options)).toBeTypeOf("object");
  });

  it("are made by a viem client's actions, which refuse the same options", () => {
    expect(refusal(() => client.extend(preflightActions({}, { timeoutMs: Number.NaN }))).field).toBe("timeoutMs");
  });
});
