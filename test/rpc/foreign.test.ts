import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import { createClient, createPublicClient, custom, fallback, http, type EIP1193Provider } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import { faults, startProxy, type Proxy } from "../harness/proxy.js";
import { startNode, startServer } from "../harness/server.js";
import { kept, recordedIn, stopAll, tagOf } from "./asking.js";
import { CurrentRun, type RunContext } from "../rooms/rpc.js";

afterEach(stopAll);
const start = async (): Promise<Proxy> => {
  const node = await kept(startNode(({ method }) => ({ result: method })));
  return kept(startProxy({ target: node.url }));
};

/** An EIP-1193 provider over fetch that rejects with the plain error object, as wallets do. */
const providerOf = (url: string): EIP1193Provider =>
  ({
    on: () => undefined,
    removeListener: () => undefined,
    request: async ({ method, params }: { method: string; params?: unknown }) => {
      const response = await fetch(url, {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: params ?? [] }),
      });
      const { error, result } = (await response.json()) as { error?: object; result?: unknown };
      if (error !== undefined) throw error;
      return result;
    },
  }) as unknown as EIP1193Provider; // viem types every known method; this one passes all through

const ways: ReadonlyArray<readonly [string, (url: string, options?: Rpc.Options) => Layer.Layer<Rpc.Rpc>]> = [
  ["layerTransport(http)", (url, options) => Rpc.layerTransport(http(url), options)],
  [
    "layerTransport(http, 5 retries of its own)",
    (url, options) => Rpc.layerTransport(http(url, { retryCount: 5 }), options),
  ],
  ["layerTransport(fallback)", (url, options) => Rpc.layerTransport(fallback([http(url)]), options)],
  ["layerClient(createClient)", (url, options) => Rpc.layerClient(createClient({ transport: http(url) }), options)],
  [
    "layerClient(createPublicClient)",
    (url, options) => Rpc.layerClient(createPublicClient({ transport: http(url) }), options),
  ],
  [
    "layerClient(custom(provider))",
    (url, options) => Rpc.layerClient(createClient({ transport: custom(providerOf(url)) }), options),
  ],
  ["layerProvider", (url, options) => Rpc.layerProvider(providerOf(url), options)],
];

const outcome = (layer: Layer.Layer<Rpc.Rpc>, run: Partial<RunContext> = {}, method = "eth_call") => {
  const ledger: Array<Rpc.LedgerEntry> = [];
  return Effect.flatMap(Rpc.Rpc, (rpc) => Effect.result(rpc.request(method, [{ to: "0x01" }, "latest"]))).pipe(
    Effect.provide(layer),
    Effect.provideService(CurrentRun, recordedIn(ledger, { round: 3, ...run })),
    Effect.map((result) => ({
      ledger,
      failure: result._tag === "Failure" ? result.failure : null,
      value: result._tag === "Success" ? result.success : null,
      tag: tagOf(result),
    })),
    Effect.runPromise,
  );
};

const reverted = { code: 3, message: "execution reverted: no", data: "0x08c379a0" };

for (const [name, layerOf] of ways) {
  describe(name, () => {
    it("gives the result and writes the ledger", async () => {
      const proxy = await start();
      const { value, ledger } = await outcome(layerOf(proxy.url));
      expect(value).toBe("eth_call");
      expect(ledger).toMatchObject([{ method: "eth_call", round: 3, tries: 1 }]);
      expect(proxy.seen).toMatchObject([{ method: "eth_call", params: [{ to: "0x01" }, "latest"] }]);
    });

    it("unwraps a revert with its data, asked once", async () => {
      const proxy = await start();
      proxy.fail("eth_call", { kind: "error", error: reverted });
      const { failure } = await outcome(layerOf(proxy.url));
      expect(failure).toMatchObject({ _tag: "ExecutionReverted", data: "0x08c379a0" });
      expect(proxy.seen.length).toBe(1);
    });

    it.each([
      [-32601, "the method does not exist/is not available", "MethodNotSupported"],
      [
        -32000,
        "insufficient funds for gas * price + value: address 0xC000000000000000000000000000000000000000 have 0 want 1000",
        "InsufficientFunds",
      ],
      [-38010, "nonce too low", "NonceTooLow"],
      [-32602, "missing value for required argument 1", "InvalidParams"],
    ])("types %i %s", async (code, message, tag) => {
      const proxy = await start();
      proxy.fail("eth_call", { kind: "error", error: { code, message } });
      expect((await outcome(layerOf(proxy.url))).tag).toBe(tag);
    });

    it("tries again by our rules, not by viem's", async () => {
      const proxy = await start();
      proxy.fail("eth_call", { kind: "error", error: { code: -32603, message: "Internal error" } });
      const layer = layerOf(proxy.url, { retryBaseMs: 1 });
      const { ledger } = await outcome(layer, {}, "eth_call");
      expect(proxy.seen.length).toBe(ledger[0]?.tries);
      expect(proxy.seen.length).toBeLessThanOrEqual(2);
    });

    it("never broadcasts twice", async () => {
      const proxy = await start();
      proxy.fail("*", faults.drop);
      await outcome(layerOf(proxy.url, { timeoutMs: 300 }), {}, "eth_sendRawTransaction");
      expect(proxy.seen.length).toBe(1);
    });

    it("fails with Timeout at the deadline", async () => {
      const proxy = await start();
      proxy.fail("*", faults.hang);
      expect((await outcome(layerOf(proxy.url), { deadline: Date.now() + 80 })).tag).toBe("Timeout");
    });
  });
}

describe("viem over HTTP", () => {
  it.each([
    [403, "MethodNotPermitted"],
    [401, "Unauthorized"],
    [503, "UpstreamUnavailable"],
  ])("types HTTP %i", async (status, tag) => {
    const proxy = await start();
    proxy.fail("*", { kind: "status", status, body: "<html>no</html>" });
    const { tag: seen } = await outcome(Rpc.layerTransport(http(proxy.url), { retryBaseMs: 1 }));
    expect(seen).toBe(tag);
  });

  it("obeys Retry-After", async () => {
    const proxy = await start();
    proxy.fail("*", { kind: "status", status: 429, body: "", headers: { "retry-after": "7" } });
    const { failure } = await outcome(Rpc.layerTransport(http(proxy.url)));
    expect(failure).toMatchObject({ reason: { _tag: "RateLimited", retryAfterMs: 7000 } });
    expect(proxy.seen.length).toBe(1);
  });

  it("types cut JSON, a dropped connection and a node that is not there", async () => {
    const proxy = await start();
    proxy.fail("*", faults.cut);
    const quick = { retryTimes: 0 };
    expect((await outcome(Rpc.layerTransport(http(proxy.url), quick))).tag).toBe("MalformedResponse");
    proxy.fail("*", faults.drop);
    expect((await outcome(Rpc.layerTransport(http(proxy.url), quick))).tag).toBe("Transport");
    const gone = await startServer(() => undefined);
    await gone.stop();
    expect((await outcome(Rpc.layerTransport(http(gone.url), quick))).tag).toBe("Transport");
  });

  it("keeps viem's batching: one POST for a run with one signal", async () => {
    const proxy = await start();
    const { signal } = new AbortController();
    const answers = await Effect.flatMap(Rpc.Rpc, (rpc) =>
      Effect.forEach(["a", "b", "c"], (method) => rpc.request(method, []), { concurrency: "unbounded" }),
    ).pipe(
      Effect.provide(Rpc.layerTransport(http(proxy.url, { batch: true }))),
      Effect.provideService(CurrentRun, { round: 1, deadline: null, record: () => undefined, signal }),
      Effect.runPromise,
    );
    expect(answers).toEqual(["a", "b", "c"]);
    expect(proxy.posts()).toBe(1);
  });

  it("aborts with the run's signal", async () => {
    let closed = 0;
    const controller = new AbortController();
    const server = await kept(
      startServer((_body, request) => {
        request.socket.on("close", () => closed++);
        controller.abort();
      }),
    );
    await expect(outcome(Rpc.layerTransport(http(server.url)), { signal: controller.signal })).rejects.toThrow();
    await expect.poll(() => closed).toBe(1);
  });

  it("shows no credentials", async () => {
    const secret = "k3yK3yK3yK3yK3y";
    const server = await kept(
      startServer((_body, request, response) => {
        response.writeHead(404);
        response.end(`Cannot POST ${request.url ?? ""}`);
      }),
    );
    for (const layer of [
      Rpc.layerTransport(http(`${server.url}/v2/${secret}`), { retryTimes: 0 }),
      Rpc.layerClient(createClient({ transport: http(`${server.url}/v2/${secret}`) }), { retryTimes: 0 }),
      Rpc.layerTransport(fallback([http(`${server.url}/v2/${secret}`)]), { retryTimes: 0 }),
    ]) {
      const { failure } = await outcome(layer);
      expect(failure).not.toBe(null);
      expect(`${JSON.stringify(failure)} ${failure?.message} ${failure?.stack}`).not.toContain(secret);
    }
    const endpoint = await Effect.map(Rpc.Rpc, (rpc) => rpc.endpoint).pipe(
      Effect.provide(Rpc.layerTransport(http(`${server.url}/v2/${secret}`))),
      Effect.runPromise,
    );
    expect(endpoint).toBe(`${server.url}/…`);
  });
});

describe("layerProvider", () => {
  it("types what a provider throws, whatever it is", async () => {
    const thrown: ReadonlyArray<unknown> = [
      "text",
      null,
      undefined,
      7,
      { code: 4200, message: "unsupported method" },
      new Error("x"),
      { message: 7 },
    ];
    for (const error of thrown) {
      const { tag } = await outcome(
        Rpc.layerProvider({ request: () => Promise.reject(error as Error) }, { retryTimes: 0 }),
      );
      expect(tag).not.toBe("success");
    }
    const throwing = {
      request: (): Promise<unknown> => {
        throw new Error("at once");
      },
    };
    expect((await outcome(Rpc.layerProvider(throwing, { retryTimes: 0 }))).tag).not.toBe("success");
  });

  it("takes undefined for no answer", async () => {
    const { failure } = await outcome(
      Rpc.layerProvider({ request: () => Promise.resolve(undefined) }, { retryTimes: 0 }),
    );
    expect(failure).toMatchObject({ reason: { _tag: "MalformedResponse", path: "result" } });
  });
});
