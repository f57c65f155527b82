/** What every way of posting owes: redirects, packed answers, agents and dispatchers of the caller's own. */
import * as http from "node:http";
import * as net from "node:net";
import type { Duplex } from "node:stream";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import * as Result from "effect/Result";
import { Agent, ProxyAgent } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { startServer } from "../harness/server.js";
import { answering, ask, kept, ok, pathOf, stopAll, tagOf, ways } from "./asking.js";

afterEach(stopAll);

const pointing = (status: number, location: string) => ({ status, body: "", headers: { location } });

for (const [way, options] of ways) {
  describe(`redirects over ${way}`, () => {
    it.each([307, 308])("follow %i within the origin, with method and body", async (status) => {
      const heard: Array<unknown> = [];
      const server = await kept(
        startServer((body, request, response) => {
          heard.push([request.method, request.url, JSON.parse(body)]);
          if (request.url === "/new") return response.end(ok.replace("ID", "1"));
          return response.writeHead(status, { location: "/new" }).end("moved");
        }),
      );
      const { result, ledger } = await ask(`${server.url}/old`, options);
      expect(result).toEqual(Result.succeed("0x1"));
      const asked = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] };
      expect(heard).toEqual([
        ["POST", "/old", asked],
        ["POST", "/new", asked],
      ]);
      expect(ledger).toMatchObject([{ tries: 1, bytes: ok.length - 1 }]);
    });

    it("do not leave the origin, and say where they pointed without its secrets", async () => {
      const elsewhere = await kept(answering(() => ({ body: ok })));
      const server = await kept(answering(() => pointing(307, `${elsewhere.url}/v2/s3cr3tKey`)));
      const { result } = await ask(server.url, { ...options, retryTimes: 0 });
      const words = Result.isFailure(result) ? result.failure.message : "";
      expect(words).toContain(`(HTTP 307) to another origin, ${elsewhere.url}, is not followed`);
      expect(words).not.toContain("s3cr3tKey");
      expect([elsewhere.count(), server.count()]).toEqual([0, 1]);
    });

    it("end after five in a row", async () => {
      const server = await kept(answering((nth) => pointing(308, `/again/${nth}`)));
      const { result } = await ask(server.url, { ...options, retryTimes: 0 });
      expect(Result.isFailure(result) && result.failure.message).toContain("6th in a row");
      expect(server.count()).toBe(6);
    });

    it("that turn a POST into a GET, or point nowhere, are the answer", async () => {
      for (const [status, location] of [
        [301, "/new"],
        [302, "/new"],
        [303, "/new"],
        [307, "http://["],
      ] as const) {
        const server = await kept(answering(() => pointing(status, location)));
        const { result } = await ask(server.url, { ...options, retryTimes: 0 });
        expect(tagOf(result)).not.toBe("success");
        expect(server.count()).toBe(1);
      }
    });

    it("stop with their asker", async () => {
      let closed = 0;
      const server = await kept(
        startServer((_body, request, response) => {
          request.socket.on("close", () => closed++);
          if (request.url === "/") response.writeHead(307, { location: "/slow" }).end();
        }),
      );
      const { result } = await ask(server.url, { ...options, timeoutMs: 150 });
      expect(tagOf(result)).toBe("Timeout");
      await expect.poll(() => closed).toBeGreaterThan(0);
    });
  });

  describe(`packed answers over ${way}`, () => {
    const packed = (body: Uint8Array, encoding: string) =>
      kept(
        startServer((_body, _request, response) => {
          response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
          response.end(body);
        }),
      );
    const text = `{"jsonrpc":"2.0","id":1,"result":"${"é😀".repeat(500)}"}`;

    it.each([
      ["gzip", gzipSync],
      ["deflate", deflateSync],
      ["deflate", deflateRawSync],
      ["br", brotliCompressSync],
      ["identity", (plain: string) => Buffer.from(plain)],
    ] as const)("are read: %s", async (encoding, pack) => {
      const server = await packed(pack(text), encoding);
      const { result, ledger } = await ask(server.url, options);
      expect(result).toEqual(Result.succeed("é😀".repeat(500)));
      expect(ledger).toMatchObject([{ bytes: Buffer.byteLength(text) }]);
    });

    it("count unpacked among the answers of their run", async () => {
      const body = `{"jsonrpc":"2.0","id":1,"result":"${"x".repeat(900_000)}"}`;
      const server = await packed(gzipSync(body), "gzip");
      const answers = { left: 1_000_000 };
      const asked = async () => tagOf((await ask(server.url, options, "eth_call", { answers })).result);
      expect([await asked(), await asked()]).toEqual(["success", "NodeLimitExceeded"]);
    });

    it("are bounded unpacked", async () => {
      const server = await packed(gzipSync("x".repeat(5_000_000)), "gzip");
      const { result } = await ask(server.url, { ...options, maxResponseBytes: 100_000 });
      expect(tagOf(result)).toBe("NodeLimitExceeded");
    });

    it.each([
      ["cut", gzipSync(text).subarray(0, 40)],
      ["damaged", Buffer.from(text)],
    ])("are a typed failure when %s", async (_name, body) => {
      const server = await packed(body, "gzip");
      const { result } = await ask(server.url, { ...options, retryTimes: 0 });
      expect(["MalformedResponse", "Transport"]).toContain(tagOf(result));
    });
  });
}

describe("packed answers through Node", () => {
  it("are malformed when packed in an unknown way, or thrice", async () => {
    for (const encoding of ["zstd-9", "gzip, gzip, gzip"]) {
      const server = await kept(
        startServer((_body, _request, response) => {
          response.writeHead(200, { "content-encoding": encoding }).end("x");
        }),
      );
      const { result } = await ask(server.url, { retryTimes: 0 });
      expect(pathOf(result)).toBe("");
    }
  });

  it("are asked for from afar, not on one's own machine, and as the caller says", async () => {
    const asked: Array<unknown> = [];
    const server = await kept(
      startServer((body, request, response) => {
        asked.push(request.headers["accept-encoding"]);
        response.end(ok.replace("ID", String((JSON.parse(body) as { readonly id: number }).id)));
      }),
    );
    const { port } = new URL(server.url);
    const dispatcher = new Agent({
      connect: { lookup: (_name, _options, found) => found(null, [{ address: "127.0.0.1", family: 4 }]) },
    });
    await ask(`http://node.example:${port}`, { dispatcher });
    await ask(server.url, {});
    await ask(server.url, { headers: { "accept-encoding": "gzip" } });
    expect(asked).toEqual(["gzip, deflate, br", undefined, "gzip"]);
    await dispatcher.close();
  });
});

/** A proxy that tunnels what it is asked to `CONNECT` to. */
const startTunnel = () =>
  new Promise<{ readonly url: string; readonly tunnels: Array<string>; readonly stop: () => Promise<void> }>(
    (resolve) => {
      const tunnels: Array<string> = [];
      const server = http.createServer();
      const open = new Set<Duplex>();
      server.on("connect", (request, near) => {
        tunnels.push(request.url ?? "");
        const { hostname, port } = new URL(`http://${request.url}`);
        const far = net.connect(Number(port), hostname, () => near.write("HTTP/1.1 200 OK\r\n\r\n"));
        near.pipe(far).pipe(near);
        for (const socket of [near, far]) open.add(socket.on("error", () => socket.destroy()));
      });
      server.listen(0, "127.0.0.1", () =>
        resolve({
          url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
          tunnels,
          stop: () =>
            new Promise((done) => {
              for (const socket of open) socket.destroy();
              server.close(() => done());
              server.closeAllConnections();
            }),
        }),
      );
    },
  );

/** An agent of `node:http` whose connections go through that proxy. */
class TunnelAgent extends http.Agent {
  readonly proxy: URL;
  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.proxy = proxy;
  }
  override createConnection(
    { host, port }: http.ClientRequestArgs,
    made?: (error: Error | null, socket: Duplex) => void,
  ): null {
    http
      .request({ host: this.proxy.hostname, port: this.proxy.port, method: "CONNECT", path: `${host}:${port}` })
      .on("connect", (_response, socket) => made?.(null, socket))
      .end();
    return null;
  }
}

describe("a way of the caller's own", () => {
  it("is an agent of node:http", async () => {
    const [proxy, server] = [await kept(startTunnel()), await kept(answering(() => ({ body: ok })))];
    const agent = new TunnelAgent(new URL(proxy.url));
    for (let time = 0; time < 2; time++)
      expect((await ask(server.url, { agent })).result).toEqual(Result.succeed("0x1"));
    // the agent is the caller's: the layer's end has not closed its connection
    expect(proxy.tunnels).toEqual([new URL(server.url).host]);
    agent.destroy();
  });

  it("is a dispatcher of undici", async () => {
    const [proxy, server] = [await kept(startTunnel()), await kept(answering(() => ({ body: ok })))];
    const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: true });
    for (let time = 0; time < 2; time++)
      expect((await ask(server.url, { dispatcher })).result).toEqual(Result.succeed("0x1"));
    expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(server.url).host]));
    await dispatcher.close();
  });

  it("types a dispatcher that throws, or is closed", async () => {
    const throwing = {
      dispatch: (): boolean => {
        throw new Error("out of order");
      },
    };
    const thrown = await ask("http://node.example", { dispatcher: throwing, retryTimes: 0 });
    expect(Result.isFailure(thrown.result) && thrown.result.failure.message).toContain("out of order");
    const closed = new ProxyAgent("http://127.0.0.1:1");
    await closed.close();
    expect(tagOf((await ask("http://node.example", { dispatcher: closed, retryTimes: 0 })).result)).toBe("Transport");
  });
});
