import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { afterEach, describe, expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import { startServer } from "../harness/server.js";
import { answering, ask, kept, layerOf, stopAll, ways } from "./asking.js";

afterEach(stopAll);

for (const [way, options] of ways) {
  describe(`credentials over ${way}`, () => {
    const secret = "s3cr3tKey0123456789";
    const shownIn = (value: unknown): string =>
      JSON.stringify(value, (_key, inner: unknown) =>
        inner instanceof Error ? { ...inner, message: inner.message, stack: inner.stack } : inner,
      );

    it("are sent, and shown nowhere", async () => {
      const heard: Array<unknown> = [];
      const server = await kept(
        startServer((_body, request, response) => {
          heard.push([request.url, request.headers.authorization]);
          response.writeHead(404, { "content-type": "text/html" });
          response.end(`<pre>Cannot POST ${request.url ?? ""}</pre>`);
        }),
      );
      const url = `${server.url.replace("//", `//me:p${secret}@`)}/v2/${secret}?apikey=q${secret}`;
      const { result } = await ask(url, options);
      expect(heard[0]).toEqual([
        `/v2/${secret}?apikey=q${secret}`,
        `Basic ${Buffer.from(`me:p${secret}`).toString("base64")}`,
      ]);
      expect(Result.isFailure(result)).toBe(true);
      expect(shownIn(result)).not.toContain(secret);
      const endpoint = await Effect.map(Rpc.Rpc, (rpc) => rpc.endpoint).pipe(
        Effect.provide(layerOf(url, options)),
        Effect.runPromise,
      );
      expect(endpoint).toBe(`${server.url}/…`);
    });

    it("are hidden in a JSON-RPC error that repeats them", async () => {
      const body = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"bad key ${secret}","data":{"k":["${secret}"]}}}`;
      const server = await kept(answering(() => ({ body })));
      const { result } = await ask(`${server.url}/${secret}`, options);
      expect(Result.isFailure(result)).toBe(true);
      expect(shownIn(result)).not.toContain(secret);
    });
  });
}
