import { createServer, type AddressInfo } from "node:net";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Result from "effect/Result";
import { afterEach, describe, expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import { startNode, startServer } from "../harness/server.js";
import { answering, ask, kept, layerOf, ok, pathOf, recordedIn, stopAll, tagOf, ways } from "./asking.js";
import { CurrentRun } from "../rooms/rpc.js";

afterEach(stopAll);

for (const [way, options] of ways) {
  describe(`layerHttp over ${way}`, () => {
    it("posts one JSON-RPC 2.0 object and gives its result as it came", async () => {
      const heard: Array<unknown> = [];
      const server = await kept(
        startServer((body, request, response) => {
          heard.push([request.method, request.url, request.headers["content-type"], JSON.parse(body)]);
          response.end('{"jsonrpc":"2.0","id":41,"result":{"deep":[null,1]}}');
        }),
      );
      const { result, ledger } = await ask(`${server.url}/path/to?key=v`, { ...options, firstId: 41 });
      expect(result).toEqual(Result.succeed({ deep: [null, 1] }));
      expect(heard).toEqual([
        ["POST", "/path/to?key=v", "application/json", { jsonrpc: "2.0", id: 41, method: "eth_chainId", params: [] }],
      ]);
      expect(ledger).toEqual([
        {
          ...{ method: "eth_chainId", endpoint: `${server.url}/…`, step: null, run: null, round: 1, because: null },
          ...{ ms: expect.any(Number), bytes: 52, tries: 1 },
        },
      ]);
    });

    it("survives a server that answers a long request before it is complete, and hangs up", async () => {
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => {
          socket.pause();
          socket.end("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\n\r\n");
          setTimeout(() => socket.resetAndDestroy(), 20);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const long = Effect.flatMap(Rpc.Rpc, (rpc) => Effect.result(rpc.request("eth_call", ["00".repeat(8_000_000)])));
      const layer = layerOf(url, { ...options, retryTimes: 0 });
      const failed = await Effect.runPromise(Effect.provide(Effect.tap(long, Effect.sleep(200)), layer));
      expect(Result.isFailure(failed)).toBe(true);
      await new Promise((resolve) => server.close(resolve));
    });

    it.each([
      ["a wrong id", '{"jsonrpc":"2.0","id":99,"result":"0x1"}', "id"],
      ["the id as text", '{"jsonrpc":"2.0","id":"ID","result":"0x1"}', "id"],
      ["no id", '{"jsonrpc":"2.0","result":"0x1"}', "id"],
      ["another version", '{"jsonrpc":"1.0","id":ID,"result":"0x1"}', "jsonrpc"],
      ["neither result nor error", '{"jsonrpc":"2.0","id":ID}', "result"],
      ["a null error and no result", '{"jsonrpc":"2.0","id":ID,"error":null}', "result"],
      [
        "an error for somebody else",
        '{"jsonrpc":"2.0","id":99,"error":{"code":3,"message":"execution reverted"}}',
        "id",
      ],
      ["cut JSON", '{"jsonrpc":"2.0","id":ID,"resul', ""],
      ["nothing", "", ""],
      ["a page", "<html>hello</html>", ""],
      ["an array", '[{"jsonrpc":"2.0","id":ID,"result":"0x1"}]', ""],
      ["a number", "7", ""],
      ["null", "null", ""],
    ])("calls %s malformed, with the path, and retries once", async (_name, body, path) => {
      const server = await kept(answering(() => ({ body })));
      const { result, ledger } = await ask(server.url, options);
      expect(pathOf(result)).toBe(path);
      expect(server.count()).toBe(2);
      expect(ledger).toMatchObject([{ tries: 2, bytes: 2 * body.replace("ID", "1").length }]);
    });

    it.each([
      [401, "Unauthorized"],
      [403, "MethodNotPermitted"],
      [429, "RateLimited"],
      [502, "UpstreamUnavailable"],
      [503, "UpstreamUnavailable"],
      [504, "Timeout"],
    ])("types HTTP %i with a page", async (status, tag) => {
      const server = await kept(answering(() => ({ status, body: `<html><h1>${status}</h1></html>` })));
      const { result } = await ask(server.url, options);
      expect(tagOf(result)).toBe(tag);
    });

    it("survives an HTTP 500 with HTML", async () => {
      const server = await kept(answering(() => ({ status: 500, body: "<html>oops</html>" })));
      const { result } = await ask(server.url, options);
      expect(["InternalError", "UpstreamUnavailable", "MalformedResponse"]).toContain(tagOf(result));
    });

    it("reads a JSON-RPC error under any HTTP status, without an id too", async () => {
      const body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"rpc method is not whitelisted"}}';
      const server = await kept(answering(() => ({ status: 403, body })));
      const { result } = await ask(server.url, options);
      expect(tagOf(result)).toBe("MethodNotPermitted");
      expect(server.count()).toBe(1);
    });

    it("retries as the reason advises, in one ledger entry", async () => {
      const server = await kept(answering((nth) => (nth < 3 ? { status: 503, body: "" } : { body: ok })));
      const { result, ledger } = await ask(server.url, options);
      expect(result).toEqual(Result.succeed("0x1"));
      expect(ledger).toMatchObject([{ tries: 3, bytes: 39 }]);
    });

    it("waits as long as Retry-After says", async () => {
      const server = await kept(
        answering((nth) => (nth === 1 ? { status: 429, body: "", headers: { "retry-after": "1" } } : { body: ok })),
      );
      const { result, ledger } = await ask(server.url, options);
      expect(result).toEqual(Result.succeed("0x1"));
      expect(ledger[0]?.ms).toBeGreaterThanOrEqual(990);
    });

    it("waits no longer than its patience or the deadline", async () => {
      const server = await kept(answering(() => ({ status: 429, body: "", headers: { "retry-after": "3600" } })));
      const { result, ledger } = await ask(server.url, options);
      expect(tagOf(result)).toBe("RateLimited");
      expect(ledger).toMatchObject([{ tries: 1 }]);
      const soon = await ask(server.url, { ...options, retryMaxMs: 1e7 }, "eth_chainId", {
        deadline: Date.now() + 500,
      });
      expect(tagOf(soon.result)).toBe("RateLimited");
      expect(soon.ledger[0]?.ms).toBeLessThan(400);
    });

    it("never retries a broadcast", async () => {
      const server = await kept(answering(() => ({ status: 503, body: "" })));
      const { result, ledger } = await ask(server.url, options, "eth_sendRawTransaction");
      expect(tagOf(result)).toBe("UpstreamUnavailable");
      expect(ledger).toMatchObject([{ tries: 1 }]);
      expect(server.count()).toBe(1);
    });

    it("fails with Timeout at the deadline and closes the connection", async () => {
      let closed = 0;
      const server = await kept(startServer((_body, request) => request.socket.on("close", () => closed++)));
      const { result, ledger } = await ask(server.url, options, "eth_call", { deadline: Date.now() + 120, round: 2 });
      expect(tagOf(result)).toBe("Timeout");
      const reason = Result.isFailure(result) && result.failure._tag === "RpcError" ? result.failure.reason : null;
      expect(reason?._tag === "Timeout" && reason.afterMs !== null && reason.afterMs <= 120).toBe(true);
      expect(ledger).toMatchObject([{ method: "eth_call", round: 2, tries: 1, bytes: 0 }]);
      await expect.poll(() => closed).toBe(1);
    });

    it("sends nothing when the deadline has passed", async () => {
      const server = await kept(answering(() => ({ body: ok })));
      const { result, ledger } = await ask(server.url, options, "eth_call", { deadline: Date.now() - 1 });
      expect(tagOf(result)).toBe("Timeout");
      expect(ledger).toMatchObject([{ tries: 0 }]);
      expect(server.count()).toBe(0);
    });

    it("has a timeout of its own without a deadline", async () => {
      const server = await kept(startServer(() => undefined));
      const { result } = await ask(server.url, { ...options, timeoutMs: 80 });
      expect(tagOf(result)).toBe("Timeout");
    });

    it("aborts the socket when it is interrupted, and records that too", async () => {
      let closed = 0;
      let asked = 0;
      const server = await kept(
        startServer((_body, request) => {
          asked++;
          request.socket.on("close", () => closed++);
        }),
      );
      const ledger: Array<Rpc.LedgerEntry> = [];
      const fiber = Effect.runFork(
        Effect.flatMap(Rpc.Rpc, (rpc) => rpc.request("eth_call", [])).pipe(
          Effect.provide(layerOf(server.url, options)),
          Effect.provideService(CurrentRun, recordedIn(ledger)),
        ),
      );
      await expect.poll(() => asked).toBe(1);
      await Effect.runPromise(Fiber.interrupt(fiber));
      await expect.poll(() => closed).toBe(1);
      expect(ledger).toMatchObject([{ method: "eth_call", tries: 1 }]);
    });

    it("stops when the run's signal says so", async () => {
      const server = await kept(startServer(() => undefined));
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 50);
      await expect(ask(server.url, options, "eth_call", { signal: controller.signal })).rejects.toThrow();
    });

    it("refuses answers that are too large, with and without their length", async () => {
      const big = `{"jsonrpc":"2.0","id":1,"result":"0x${"ab".repeat(50_000)}"}`;
      const server = await kept(answering(() => ({ body: big })));
      const { result, ledger } = await ask(server.url, { ...options, maxResponseBytes: 10_000 });
      expect(tagOf(result)).toBe("NodeLimitExceeded");
      expect(ledger).toMatchObject([{ tries: 1 }]);
      const endless = await kept(
        startServer((_body, _request, response) => {
          const timer = setInterval(() => response.write("x".repeat(5_000)), 1);
          response.on("close", () => clearInterval(timer));
        }),
      );
      expect(tagOf((await ask(endless.url, { ...options, maxResponseBytes: 100_000 })).result)).toBe(
        "NodeLimitExceeded",
      );
    });

    it("refuses oversized numbers and code, and answers that are too long together", async () => {
      const long = (size: number) => `{"jsonrpc":"2.0","id":1,"result":"0x${"ab".repeat(size / 2)}"}`;
      const large = await kept(answering(() => ({ body: long(300_000) })));
      const tag = async (method: string, run = {}) =>
        tagOf((await ask(large.url, { ...options, firstId: 1 }, method, run)).result);
      expect(await tag("eth_getTransactionCount")).toBe("NodeLimitExceeded");
      expect(await tag("eth_getCode")).toBe("success");
      const answers = { left: 1_000_000 };
      const tags = await Promise.all(Array.from({ length: 5 }, () => tag("eth_call", { answers })));
      expect(tags.filter((one) => one === "success").length).toBeLessThanOrEqual(3);
      expect(new Set([...tags, "success"])).toEqual(new Set(["success", "NodeLimitExceeded"]));
      expect(await tag("eth_call", { answers: { left: 1_000_000 } })).toBe("success");
    });

    it("types a connection that is refused, cut, or closed in silence", async () => {
      const gone = await startServer(() => undefined);
      await gone.stop();
      const refused = await ask(gone.url, options);
      expect(tagOf(refused.result)).toBe("Transport");
      expect(refused.ledger).toMatchObject([{ tries: 4 }]);
      const cut = await kept(
        startServer((_body, _request, response) => {
          response.writeHead(200, { "content-length": 1_000 });
          response.write('{"jsonrpc":');
          setTimeout(() => response.destroy(), 2);
        }),
      );
      expect(tagOf((await ask(cut.url, options)).result)).toBe("Transport");
      const silent = await kept(startServer((_body, request) => request.socket.destroy()));
      expect(tagOf((await ask(silent.url, options)).result)).toBe("Transport");
    });

    it("joins characters that arrive in two pieces", async () => {
      const whole = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"é€😀"}');
      const server = await kept(
        startServer((_body, _request, response) => {
          const middle = whole.indexOf(Buffer.from("😀")) + 2;
          response.write(whole.subarray(0, middle));
          setTimeout(() => response.end(whole.subarray(middle)), 20);
        }),
      );
      expect((await ask(server.url, options)).result).toEqual(Result.succeed("é€😀"));
    });

    it("reuses its connections", async () => {
      const server = await kept(answering(() => ({ body: ok })));
      await Effect.gen(function* () {
        const rpc = yield* Rpc.Rpc;
        for (let i = 0; i < 5; i++) yield* rpc.request("eth_chainId", []);
      }).pipe(Effect.provide(layerOf(server.url, options)), Effect.runPromise);
      expect(server.count()).toBe(5);
      // the next request may start before the last connection is free again
      expect(server.connections()).toBeLessThanOrEqual(2);
    });

    it("types parameters that cannot be JSON", async () => {
      const server = await kept(answering(() => ({ body: ok })));
      const failure = await Effect.flatMap(Rpc.Rpc, (rpc) => Effect.flip(rpc.request("eth_call", [1n]))).pipe(
        Effect.provide(layerOf(server.url, options)),
        Effect.runPromise,
      );
      expect(failure._tag === "RpcError" && failure.reason._tag).toBe("InvalidParams");
      expect(server.count()).toBe(0);
    });
  });
}

describe("layerHttp", () => {
  it("uses the given fetch and headers", async () => {
    const heard: Array<unknown> = [];
    const fetch = (input: string, init: RequestInit) => {
      heard.push([input, (init.headers as Record<string, string>)["x-key"]]);
      return Promise.resolve(new Response('{"jsonrpc":"2.0","id":1,"result":"0x7"}'));
    };
    const { result } = await ask("https://node.example/rpc", { fetch, headers: { "x-key": "abc" } });
    expect(result).toEqual(Result.succeed("0x7"));
    expect(heard).toEqual([["https://node.example/rpc", "abc"]]);
  });

  it("gives many requests the run's signal without a warning from Node", async () => {
    const warnings: Array<string> = [];
    const warned = (warning: Error) => warnings.push(warning.name);
    process.on("warning", warned);
    const node = await kept(startNode(() => ({ result: "0x1" })));
    const { signal } = new AbortController();
    const crowd = Effect.flatMap(Rpc.Rpc, (rpc) =>
      Effect.forEach(Array.from({ length: 40 }), () => rpc.request("eth_chainId", []), { concurrency: "unbounded" }),
    );
    await crowd.pipe(
      Effect.provide(Rpc.layerHttp(node.url)),
      Effect.provideService(CurrentRun, { round: 1, deadline: null, record: () => undefined, signal }),
      Effect.runPromise,
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });

  it("types a fetch that throws instead of rejecting", async () => {
    const fetch = () => {
      throw new TypeError("no network here");
    };
    const { result } = await ask("https://node.example", { fetch, retryTimes: 0 });
    expect(tagOf(result)).toBe("Transport");
  });

  it("gives each of 50 requests at once its own answer", async () => {
    const node = await kept(startNode(({ params }) => ({ result: params[0] })));
    const answers = await Effect.flatMap(Rpc.Rpc, (rpc) =>
      Effect.forEach(
        Array.from({ length: 50 }, (_, i) => i),
        (i) => rpc.request("echo", [i]),
        { concurrency: "unbounded" },
      ),
    ).pipe(Effect.provide(Rpc.layerHttp(node.url)), Effect.runPromise);
    expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });
});
