import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { afterEach, describe, expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import { startServer, type Asked } from "../harness/server.js";
import { kept, recordedIn, stopAll, tagOfFailure } from "./asking.js";
import { CurrentRun } from "../rooms/rpc.js";

afterEach(stopAll);

/** A node that hands whole bodies to `answer`, which gives status and text. */
const node = async (
  answer: (body: Asked | ReadonlyArray<Asked>) => string | readonly [status: number, text: string],
) => {
  const bodies: Array<Asked | ReadonlyArray<Asked>> = [];
  const server = await kept(
    startServer((body, _request, response) => {
      const parsed = JSON.parse(body) as Asked | ReadonlyArray<Asked>;
      bodies.push(parsed);
      const given = answer(parsed);
      const [status, text] = typeof given === "string" ? [200, given] : given;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(text);
    }),
  );
  return { url: server.url, bodies };
};

const list = (body: Asked | ReadonlyArray<Asked>): ReadonlyArray<Asked> =>
  (Array.isArray(body) ? body : [body]) as ReadonlyArray<Asked>;
const one = ({ id, method }: Asked) => ({ jsonrpc: "2.0", id, result: method });
const honest = (body: Asked | ReadonlyArray<Asked>) =>
  JSON.stringify(Array.isArray(body) ? list(body).map(one) : one(body as Asked));

const methods = ["a", "b", "c", "d"];

/** All methods at once, `times` times; each answer or the tag of its failure. */
const askAll = (url: string, options: Rpc.HttpOptions = {}, times = 1) => {
  const ledger: Array<Rpc.LedgerEntry> = [];
  return Effect.gen(function* () {
    const rpc = yield* Rpc.Rpc;
    const answers: Array<ReadonlyArray<unknown>> = [];
    for (let i = 0; i < times; i++) {
      answers.push(
        yield* Effect.forEach(
          methods,
          (method) => Effect.match(rpc.request(method, []), { onSuccess: (result) => result, onFailure: tagOfFailure }),
          { concurrency: "unbounded" },
        ),
      );
    }
    return { answers, ledger };
  }).pipe(
    Effect.provide(Rpc.layerHttp(url, { batch: true, retryBaseMs: 1, ...options })),
    Effect.provideService(CurrentRun, recordedIn(ledger)),
    Effect.runPromise,
  );
};

describe("batch: true", () => {
  it("puts simultaneous requests into one POST", async () => {
    const { url, bodies } = await node(honest);
    const { answers, ledger } = await askAll(url);
    expect(answers).toEqual([methods]);
    expect(bodies.map((body) => list(body).map(({ method }) => method))).toEqual([methods]);
    expect(ledger.map(({ tries }) => tries)).toEqual([1, 1, 1, 1]);
    expect(ledger.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(honest(bodies[0] ?? []).length);
  });

  it("does so also for requests from deeply nested forks", async () => {
    const { url, bodies } = await node(honest);
    const answers = await Effect.gen(function* () {
      const rpc = yield* Rpc.Rpc;
      const ask = (method: string) => Effect.fn("step")(() => rpc.request(method, []))();
      const left = yield* Effect.forkChild(Effect.all([ask("a"), ask("b")], { concurrency: "unbounded" }));
      const right = yield* Effect.forkChild(
        Effect.flatMap(Effect.forkChild(Effect.all([ask("c"), ask("d")], { concurrency: "unbounded" })), Fiber.join),
      );
      return [yield* Fiber.join(left), yield* Fiber.join(right)];
    }).pipe(Effect.provide(Rpc.layerHttp(url, { batch: true })), Effect.runPromise);
    expect(answers).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(bodies.length).toBe(1);
  });

  it("sends a single request as an object, and more than batchSize in several POSTs", async () => {
    const { url, bodies } = await node(honest);
    await Effect.flatMap(Rpc.Rpc, (rpc) => rpc.request("a", [])).pipe(
      Effect.provide(Rpc.layerHttp(url, { batch: true })),
      Effect.runPromise,
    );
    expect(Array.isArray(bodies[0])).toBe(false);
    await askAll(url, { batchSize: 3 });
    expect(bodies.slice(1).map((body) => list(body).length)).toEqual([3, 1]);
  });

  it("takes the answers in any order", async () => {
    const { url } = await node((body) => JSON.stringify([...list(body)].reverse().map(one)));
    expect((await askAll(url)).answers).toEqual([methods]);
  });

  it.each([
    ["an error object", '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not allowed"}}'],
    [
      "one error in an array",
      '[{"jsonrpc":"2.0","id":null,"error":{"code":-32014,"message":"too many RPC calls in batch request"}}]',
    ],
    ["an HTTP status", [413, "too large"] as const],
    ["HTTP 403", [403, ""] as const],
    ["an empty array", "[]"],
  ])("remembers a refusal by %s and sends single requests", async (_name, refusal) => {
    const { url, bodies } = await node((body) => (Array.isArray(body) ? refusal : honest(body)));
    const { answers, ledger } = await askAll(url, {}, 2);
    expect(answers).toEqual([methods, methods]);
    expect(bodies.filter((body) => Array.isArray(body)).length).toBe(1);
    expect(bodies.length).toBe(9);
    expect(ledger.length).toBe(8);
  });

  it("does not take a gateway's trouble for a refusal", async () => {
    let down = true;
    const { url, bodies } = await node((body) => {
      if (!down) return honest(body);
      down = false;
      return [503, "<html>no backend</html>"];
    });
    expect((await askAll(url)).answers).toEqual([methods]);
    expect((await askAll(url)).answers).toEqual([methods]);
    expect(bodies[0]).toHaveLength(4);
    expect(bodies[bodies.length - 1]).toHaveLength(4);
  });

  it("types each single answer by itself", async () => {
    const { url } = await node((body) =>
      JSON.stringify(
        list(body).flatMap((asked): ReadonlyArray<object> => {
          if (asked.method === "b")
            return [{ jsonrpc: "2.0", id: asked.id, error: { code: -32601, message: "method not found" } }];
          if (asked.method === "c") return [];
          return asked.method === "d" ? [one(asked), one(asked)] : [one(asked)];
        }),
      ),
    );
    expect((await askAll(url, { retryTimes: 0 })).answers).toEqual([
      ["a", "MethodNotSupported", "MalformedResponse", "MalformedResponse"],
    ]);
  });

  it("gives malformed JSON as an error to all requests", async () => {
    const { url } = await node((body) => honest(body).slice(0, -9));
    expect((await askAll(url, { retryTimes: 0 })).answers).toEqual([methods.map(() => "MalformedResponse")]);
  });

  it("continues for the others when one caller is gone, and aborts when all are", async () => {
    let closed = 0;
    let arrived: ((answer: () => void) => void) | null = null;
    const asked = new Promise<() => void>((resolve) => (arrived = resolve));
    const server = await kept(
      startServer((body, request, response) => {
        request.socket.on("close", () => closed++);
        arrived?.(() => response.end(honest(JSON.parse(body) as ReadonlyArray<Asked>)));
      }),
    );
    const layer = Rpc.layerHttp(server.url, { batch: true });
    const program = Effect.gen(function* () {
      const rpc = yield* Rpc.Rpc;
      const [a, b] = [yield* Effect.forkChild(rpc.request("a", [])), yield* Effect.forkChild(rpc.request("b", []))];
      const answer = yield* Effect.promise(() => asked);
      yield* Fiber.interrupt(a);
      expect(closed).toBe(0);
      answer();
      expect(yield* Fiber.join(b)).toBe("b");
      const [c, d] = [yield* Effect.forkChild(rpc.request("c", [])), yield* Effect.forkChild(rpc.request("d", []))];
      yield* Effect.sleep(50);
      yield* Fiber.interrupt(c);
      yield* Fiber.interrupt(d);
      yield* Effect.promise(() => expect.poll(() => closed).toBeGreaterThan(0));
    });
    await Effect.runPromise(program.pipe(Effect.provide(layer)));
  });
});
