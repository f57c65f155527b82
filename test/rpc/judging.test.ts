/** The dialects, which are loaded with the first error: what happens meanwhile, and where they do not come. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { afterEach, describe, expect, it, vi } from "vitest";
import { classify } from "../rooms/errors.js";
import type * as RpcModule from "../../src/Rpc.js";
import { startServer } from "../harness/server.js";
import { simulated } from "../eth/answers.js";
import { kept, stopAll } from "./asking.js";
import { CurrentRun, type RunContext } from "../rooms/rpc.js";

const underpriced = { code: -32000, message: "max fee per gas less than block base fee: address 0x1" };
const refusing = { request: () => Promise.reject(Object.assign(new Error(underpriced.message), { code: -32000 })) };
const reverted = { code: 3, message: "execution reverted", data: "0x" };
const failing = { status: "0x0", gasUsed: "0x5208", returnData: "0x", logs: [], error: reverted };
const forever = () => new Promise<object>(() => undefined);
const offline = () => Promise.reject<object>(new Error("offline"));

/** The library as in a page that has loaded nothing yet, and whose loading of the dialects goes like this. */
const fresh = async (load: () => Promise<object>) => {
  vi.resetModules();
  let loads = 0;
  vi.doMock("../../src/errors/classify.js", () => {
    loads++;
    return load();
  });
  const [Rpc, Eth] = await Promise.all([import("../../src/Rpc.js"), import("../../src/Eth.js")]);
  const ledger: Array<RpcModule.LedgerEntry> = [];
  const asked = <A, E>(effect: Effect.Effect<A, E, RpcModule.Rpc>, run: Partial<RunContext> = {}, node = refusing) =>
    effect.pipe(
      Effect.provide(Rpc.layerProvider(node as never, { retryBaseMs: 1 })),
      Effect.provideService(CurrentRun, {
        ...{ round: 1, deadline: null, signal: null, record: (entry) => void ledger.push(entry) },
        ...run,
      }),
    );
  const request = Rpc.Rpc.use((rpc) => rpc.request("eth_call", []));
  return { Rpc, Eth, ledger, loads: () => loads, asked, request };
};
const dialects = () => Promise.resolve({ classify });

afterEach(async () => {
  vi.doUnmock("../../src/errors/classify.js");
  await stopAll();
});

const unread = { _tag: "RpcError", reason: { _tag: "InternalError", detail: underpriced.message } };

describe("the error dialects", () => {
  it("are not loaded while nothing fails", async () => {
    const { asked, request, loads } = await fresh(dialects);
    expect(await Effect.runPromise(asked(request, {}, { request: () => Promise.resolve("0x1") as never }))).toBe("0x1");
    expect(loads()).toBe(0);
  });

  it("are loaded once for many errors, which keep their order", async () => {
    const { asked, request, loads } = await fresh(dialects);
    const failures = await Effect.runPromise(
      asked(Effect.forEach([1, 2, 3], () => Effect.flip(request), { concurrency: 3 })),
    );
    for (const failure of failures)
      expect(failure.toString()).toBe(classify({ method: "eth_call", error: underpriced }).toString());
    expect(loads()).toBe(1);
  });

  it("classify each answer of a batch", async () => {
    const { Rpc } = await fresh(dialects);
    const server = await kept(
      startServer((body, _request, response) => {
        const asked = JSON.parse(body) as ReadonlyArray<{ readonly id: number; readonly method: string }>;
        const answers = asked.map(({ id, method }) =>
          method === "eth_call" ? { id, jsonrpc: "2.0", error: reverted } : { id, jsonrpc: "2.0", result: method },
        );
        response.end(JSON.stringify(answers));
      }),
    );
    const methods = ["eth_a", "eth_call", "eth_b", "eth_call"];
    const told = await Effect.runPromise(
      Rpc.Rpc.use((rpc) =>
        Effect.forEach(
          methods,
          (method) =>
            Effect.match(rpc.request(method, []), {
              onSuccess: (result) => result,
              onFailure: ({ _tag }) => _tag,
            }),
          { concurrency: "unbounded" },
        ),
      ).pipe(Effect.provide(Rpc.layerHttp(server.url, { batch: true }))),
    );
    expect(told).toEqual(["eth_a", "ExecutionReverted", "eth_b", "ExecutionReverted"]);
  });
});

describe("error dialects that cannot be loaded", () => {
  it("leave an error with the node's own words, and the next error loads them again", async () => {
    let load = offline;
    const { asked, request } = await fresh(() => load());
    expect(await Effect.runPromise(asked(Effect.flip(request)))).toMatchObject(unread);
    load = dialects;
    expect(await Effect.runPromise(asked(Effect.flip(request)))).toMatchObject({ _tag: "FeeCapTooLow" });
  });

  it("are waited for once, and not for long; they serve when they come after all", async () => {
    let arrive: (loaded: object) => void = () => undefined;
    const { asked, request } = await fresh(() => new Promise((resolve) => (arrive = resolve)));
    const [first, failure] = await Effect.runPromise(asked(Effect.timed(Effect.flip(request))));
    expect(failure).toMatchObject(unread);
    expect(Duration.toMillis(first)).toBeLessThan(3_000);
    const [second] = await Effect.runPromise(asked(Effect.timed(Effect.flip(request))));
    expect(Duration.toMillis(second)).toBeLessThan(500);
    arrive({ classify });
    const last = () => Effect.runPromise(asked(Effect.flip(request)));
    await expect.poll(last).toMatchObject({ _tag: "FeeCapTooLow" });
  });

  it("do not extend a deadline", async () => {
    const { asked, request, ledger } = await fresh(forever);
    const [time, failure] = await Effect.runPromise(
      asked(Effect.timed(Effect.flip(request)), { deadline: Date.now() + 150 }),
    );
    expect(failure).toMatchObject({ _tag: "RpcError", reason: { _tag: "Timeout" } });
    expect(Duration.toMillis(time)).toBeLessThan(1_000);
    expect(ledger).toMatchObject([{ method: "eth_call", tries: 1 }]);
  });

  it.each(["an interruption", "the run's signal"])("end the request at once on %s", async (how) => {
    const { asked, request, ledger, loads } = await fresh(forever);
    const controller = new AbortController();
    const fiber = Effect.runFork(asked(request, { signal: controller.signal }));
    await expect.poll(loads).toBe(1);
    const started = Date.now();
    if (how === "an interruption") await Effect.runPromise(Fiber.interrupt(fiber));
    else controller.abort();
    expect((await Effect.runPromise(Fiber.await(fiber)))._tag).toBe("Failure");
    expect(Date.now() - started).toBeLessThan(1_000);
    expect(ledger[0]).toMatchObject({ method: "eth_call", tries: 1 });
  });

  it("leave a report in time and never ready", async () => {
    const { asked } = await fresh(forever);
    const { scan } = await import("../../src/Preflight.js");
    const tx = { from: `0x${"11".repeat(20)}`, to: `0x${"22".repeat(20)}` } as const;
    const [time, { verdict }] = await Effect.runPromise(asked(Effect.timed(scan(tx))));
    expect(verdict).toBe("unknown");
    expect(Duration.toMillis(time)).toBeLessThan(8_000);
  });

  it("leave a failed simulated call failed, with the node's words", async () => {
    const { Eth, asked } = await fresh(offline);
    const blocks = [{ ...simulated, calls: [failing] }];
    const simulation = Eth.simulateV1({ blocks: [{ calls: [{}] }], block: "latest" });
    const [block] = await Effect.runPromise(asked(simulation, {}, { request: () => Promise.resolve(blocks) as never }));
    expect(block?.calls[0]).toMatchObject({
      status: "failure",
      failure: { _tag: "RpcError", reason: { _tag: "InternalError", detail: "execution reverted" } },
    });
  });
});
