import * as Effect from "effect/Effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { runs } from "../harness/parts.js";

const asks: ReadonlyArray<Effect.Effect<unknown, Eth.Failure, Rpc.Rpc>> = [
  Eth.simulateV1({ blocks: [{ calls: [{}] }], block: "pending" }),
  Eth.getLogs({}),
  Eth.getBlockReceipts({ block: "latest" }),
  Eth.estimateGas({ data: "0x" }),
];

/** Every method over an endpoint that answers every POST with this. */
const outcomes = (status: number, body: string, batch = false) =>
  Effect.forEach(asks, (ask) => Effect.result(ask), { concurrency: "unbounded" }).pipe(
    Effect.provide(
      Rpc.layerHttp("http://node.example", {
        ...{ batch, retryTimes: 0, timeoutMs: 2_000 },
        fetch: () => Promise.resolve(new Response([101, 204, 205, 304].includes(status) ? null : body, { status })),
      }),
    ),
    Effect.runPromise,
  );

const expectTyped = (results: Awaited<ReturnType<typeof outcomes>>): void => {
  for (const result of results) {
    if (result._tag === "Failure") expect(typeof result.failure.message).toBe("string");
  }
};

const envelope = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc
    .record({ jsonrpc: fc.constant("2.0"), id: fc.integer({ min: 1, max: 4 }), result: fc.jsonValue() })
    .map((value) => JSON.stringify(value)),
  fc
    .record({ jsonrpc: fc.constant("2.0"), id: fc.constantFrom(1, 2, null), error: fc.jsonValue() })
    .map((value) => JSON.stringify(value)),
  fc
    .record({
      id: fc.constant(1),
      error: fc.record({
        code: fc.oneof(fc.integer(), fc.jsonValue()),
        message: fc.string({ unit: "binary" }),
        data: fc.jsonValue(),
      }),
    })
    .map((value) => JSON.stringify(value)),
  fc
    .array(fc.record({ id: fc.integer({ min: 0, max: 5 }), result: fc.jsonValue() }))
    .map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary" }),
);
const anyStatus = fc.oneof(fc.constant(200), fc.integer({ min: 200, max: 599 }));

describe("an endpoint with any answer", () => {
  it("causes a result or a typed error, never a defect", async () => {
    await fc.assert(
      fc.asyncProperty(anyStatus, envelope, fc.boolean(), async (status, body, batch) => {
        expectTyped(await outcomes(status, body, batch));
      }),
      { numRuns: runs(300) },
    );
  });

  it.each(["[", '{"a":', '{"data":'])("may nest %j without end, and the outcome is typed", async (open) => {
    const depth = 100_000;
    const deep = open.repeat(depth) + "1" + (open === "[" ? "]" : "}").repeat(depth);
    for (const body of [
      deep,
      `{"jsonrpc":"2.0","id":1,"error":${deep}}`,
      `{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"execution reverted","data":${deep}}}`,
      `{"jsonrpc":"2.0","id":1,"result":[{"calls":[{"status":"0x0","error":${deep}}]}]}`,
      `{"jsonrpc":"2.0","id":1,"result":${deep}}`,
    ]) {
      expectTyped(await outcomes(200, body));
    }
  });

  it("may put endless nesting into a failed call's error, and the simulation is read", async () => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    const word = `"0x${"11".repeat(32)}"`;
    const call = `{"status":"0x0","gasUsed":"0x1","returnData":"0x","logs":[],"error":{"code":3,"message":"execution reverted","data":${deep}}}`;
    const block = `{"number":"0x1","hash":${word},"parentHash":${word},"timestamp":"0x1","gasLimit":"0x1","gasUsed":"0x1","calls":[${call}]}`;
    const [simulated] = await outcomes(200, `{"jsonrpc":"2.0","id":1,"result":[${block}]}`);
    expect(simulated?._tag).toBe("Success");
  });

  it("may be a wallet that throws a graph of objects, and the failure is typed", async () => {
    const graph: Record<string, unknown> = { code: 4001, message: "no" };
    graph["data"] = [graph, { again: graph, more: [graph, graph, graph] }, graph];
    const getters = {
      code: 1,
      get message(): string {
        throw new Error("not yours");
      },
    };
    for (const error of [graph, getters, new Proxy({}, { get: () => graph })]) {
      const [result] = await Effect.forEach(asks, (ask) => Effect.result(ask)).pipe(
        Effect.provide(
          Rpc.layerProvider({ request: () => Promise.reject(error as unknown as Error) }, { retryTimes: 0 }),
        ),
        Effect.runPromise,
      );
      expect(result?._tag).toBe("Failure");
    }
  });
});
