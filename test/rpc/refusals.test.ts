import * as Effect from "effect/Effect";
import * as TestClock from "effect/testing/TestClock";
import * as Layer from "effect/Layer";
import { afterEach, describe, expect, it } from "vitest";
import { faults, startProxy } from "../harness/proxy.js";
import { startNode } from "../harness/server.js";
import * as Rpc from "../../src/Rpc.js";
import { kept, recordedIn, stopAll, tagOfFailure } from "./asking.js";
import { CurrentRun } from "../rooms/rpc.js";

afterEach(stopAll);

describe("a refused method", () => {
  it.each([
    ["MethodNotSupported", faults.notFound],
    ["MethodNotPermitted", faults.forbidden],
  ])("is remembered with %s, per endpoint and method, for a time", async (tag, fault) => {
    const node = await kept(startNode(() => ({ result: "0x1" })));
    const proxy = await kept(startProxy({ target: node.url }));
    proxy.fail("eth_simulateV1", fault);
    const ledger: Array<Rpc.LedgerEntry> = [];
    const program = Effect.gen(function* () {
      const rpc = yield* Rpc.Rpc;
      expect(rpc.memory.refused("eth_simulateV1")).toBe(null);
      const first = yield* Effect.flip(rpc.request("eth_simulateV1", []));
      const second = yield* Effect.flip(rpc.request("eth_simulateV1", []));
      expect([tagOfFailure(first), tagOfFailure(second)]).toEqual([tag, tag]);
      expect(rpc.memory.refused("eth_simulateV1")).toBe(first);
      expect(yield* rpc.request("eth_call", [])).toBe("0x1");
      expect(rpc.memory.refused("eth_call")).toBe(null);
      expect(ledger.map(({ method, tries }) => [method, tries])).toEqual([
        ["eth_simulateV1", 1],
        ["eth_simulateV1", 0],
        ["eth_call", 1],
      ]);
      expect(proxy.seen.length).toBe(2);
      yield* TestClock.adjust(59_999);
      expect(rpc.memory.refused("eth_simulateV1")).toBe(first);
      yield* TestClock.adjust(1);
      expect(rpc.memory.refused("eth_simulateV1")).toBe(null);
      proxy.fail("eth_simulateV1", null);
      expect(yield* rpc.request("eth_simulateV1", [])).toBe("0x1");
    });
    await program.pipe(
      Effect.provide(Rpc.layerHttp(proxy.url, { refusalMs: 60_000 })),
      Effect.provideService(CurrentRun, recordedIn(ledger)),
      Effect.provide(TestClock.layer()),
      Effect.runPromise,
    );
  });

  it("is requested again if it answered before, because the refusal was for one request", async () => {
    const node = await kept(startNode(() => ({ result: "0x1" })));
    const proxy = await kept(startProxy({ target: node.url }));
    await Effect.gen(function* () {
      const rpc = yield* Rpc.Rpc;
      yield* rpc.request("eth_call", []);
      proxy.fail("eth_call", faults.forbidden, 1);
      expect(tagOfFailure(yield* Effect.flip(rpc.request("eth_call", [])))).toBe("MethodNotPermitted");
      expect(rpc.memory.refused("eth_call")).toBe(null);
      expect(yield* rpc.request("eth_call", [])).toBe("0x1");
    }).pipe(Effect.provide(Rpc.layerHttp(proxy.url)), Effect.runPromise);
  });

  it("is forgotten with its layer", async () => {
    const node = await kept(startNode(() => ({ error: { code: -32601, message: "method not found" } })));
    const asked = Effect.flatMap(Rpc.Rpc, (rpc) =>
      Effect.andThen(Effect.flip(rpc.request("m", [])), Effect.flip(rpc.request("m", []))),
    );
    const fresh = () => Effect.runPromise(asked.pipe(Effect.provide(Layer.fresh(Rpc.layerHttp(node.url)))));
    await fresh();
    await fresh();
    expect(node.asked.length).toBe(2);
  });
});
