/** Seen from outside: the spans and metrics that arrive at an OpenTelemetry collector. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Metric from "effect/Metric";
import * as References from "effect/References";
import * as Tracer from "effect/Tracer";
import { FetchHttpClient } from "effect/http";
import { Otlp, OtlpSerialization } from "effect/observability";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import * as Rpc from "../../src/Rpc.js";
import { createPreflight } from "../../src/promise.js";
import { layerScripted, rpcError } from "../../src/testing.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { startServer, type Server } from "../harness/server.js";

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly doubleValue?: number };
}
interface Span {
  readonly name: string;
  readonly kind: number;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceId: string;
  readonly attributes: ReadonlyArray<KeyValue>;
  readonly status: { readonly code: number };
}
interface Point {
  readonly attributes: ReadonlyArray<KeyValue>;
  readonly asDouble?: number;
  readonly count?: number;
  readonly explicitBounds?: ReadonlyArray<number>;
}
interface Measured {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: ReadonlyArray<Point> };
  readonly histogram?: { readonly dataPoints: ReadonlyArray<Point> };
}

const valuesOf = ({ attributes }: { readonly attributes: ReadonlyArray<KeyValue> }): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue === undefined ? value.doubleValue : Number(value.intValue)),
    ]),
  );

let node: Node;
let collector: Server;
const arrived: Array<{ readonly path: string; readonly body: string }> = [];
beforeAll(async () => {
  node = await startAnvil({ noMining: true });
  await mineAnvil(node.url);
  collector = await startServer((body, request, response) => {
    arrived.push({ path: request.url ?? "", body });
    response.setHeader("content-type", "application/json");
    response.end("{}");
  });
});
afterAll(async () => {
  await node.stop();
  await collector.stop();
});

/** Runs `effect`, and reads what the collector was sent of it. */
const collected = async <A, E>(effect: Effect.Effect<A, E, Rpc.Rpc>, rpc: Layer.Layer<Rpc.Rpc>) => {
  arrived.length = 0;
  const otlp = Otlp.layer({ baseUrl: collector.url, resource: { serviceName: "wallet" } }).pipe(
    Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]),
  );
  // only what this run counts
  const registry = Layer.succeed(Metric.MetricRegistry, new Map());
  const layer = Layer.provideMerge(Layer.merge(rpc, otlp), registry);
  const exit = await Effect.runPromise(Effect.exit(effect).pipe(Effect.provide(layer)));
  const of = <T>(path: string) => arrived.filter((each) => each.path === path).map(({ body }) => JSON.parse(body) as T);
  const spans = of<{ resourceSpans: [{ scopeSpans: [{ spans: ReadonlyArray<Span> }] }] }>("/v1/traces").flatMap(
    ({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans,
  );
  const metrics = of<{ resourceMetrics: [{ scopeMetrics: [{ metrics: ReadonlyArray<Measured> }] }] }>("/v1/metrics").at(
    -1,
  )?.resourceMetrics[0].scopeMetrics[0].metrics;
  return { exit, spans, metrics: metrics ?? [], text: arrived.map(({ body }) => body).join("\n") };
};

const [alice, bob] = [accounts[1], accounts[2]];
const transfer = { from: alice.address, to: bob.address, value: 1n };

describe("the telemetry of a preflight at a collector", () => {
  let seen: Awaited<ReturnType<typeof collected>>;
  beforeAll(async () => {
    seen = await collected(Preflight.preflight(transfer), Rpc.layerHttp(node.url));
  });
  const named = (name: string) => seen.spans.filter((span) => span.name === name);
  const parentOf = (span: Span | undefined) => seen.spans.find(({ spanId }) => spanId === span?.parentSpanId);

  it("is one trace: the call, its two halves, their runs, and every request under its step", () => {
    expect(new Set(seen.spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [root] = named("Preflight.preflight");
    expect(root?.parentSpanId).toBeUndefined();
    for (const half of ["Preflight.scan", "Preflight.prove"]) expect(parentOf(named(half)[0])).toBe(root);
    expect(parentOf(named("run ample")[0])?.name).toBe("Preflight.scan");
    for (const run of ["exact", "next"]) expect(parentOf(named(`run ${run}`)[0])?.name).toBe("Preflight.prove");
    for (const request of named("eth_simulateV1"))
      expect(parentOf(request)?.name).toBe(`run ${String(valuesOf(request)["preflight.run"])}`);
    expect(named("eth_feeHistory").map((span) => parentOf(span)?.name)).toEqual(["Preflight.scan"]);
  });

  it("has no proof where nothing is simulated", async () => {
    const { preflight } = Preflight.make({ without: ["simulate"] });
    const { spans } = await collected(preflight(transfer), Rpc.layerHttp(node.url));
    const halves = spans.map(({ name }) => name).filter((name) => /^Preflight\.(scan|prove)$/.test(name));
    expect(halves).toEqual(["Preflight.scan"]);
  });

  it("gives the result of the call", () => {
    const [root] = named("Preflight.preflight");
    const requests = seen.spans.filter(({ kind }) => kind === 3);
    expect(valuesOf(root ?? { attributes: [] })).toEqual({
      "preflight.chain_id": 31337,
      "preflight.verdict": "ready",
      "preflight.stage": "proven",
      "preflight.rounds": 2,
      "preflight.requests": requests.length,
      "preflight.transactions": 1,
    });
    expect(valuesOf(named("Preflight.scan")[0] ?? { attributes: [] })).toMatchObject({
      "preflight.stage": "scanned",
      "preflight.rounds": 1,
    });
  });

  it("names each run, and how it ended", () => {
    expect(valuesOf(named("run exact")[0] ?? { attributes: [] })).toEqual({
      "preflight.run": "exact",
      "preflight.status": "success",
    });
  });

  it("gives each request OpenTelemetry's attributes, and its place in the preflight", () => {
    const request = named("eth_simulateV1").find((span) => valuesOf(span)["preflight.run"] === "exact");
    expect(request?.kind).toBe(3);
    expect(valuesOf(request ?? { attributes: [] })).toEqual({
      "rpc.system.name": "jsonrpc",
      "rpc.method": "eth_simulateV1",
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(node.url).port),
      "preflight.step": "simulate",
      "preflight.run": "exact",
      "preflight.round": 2,
      "preflight.tries": 1,
      "preflight.bytes": expect.any(Number),
    });
  });

  it("counts the report and every request, with their durations in ms", () => {
    const pointsOf = (name: string) => {
      const metric = seen.metrics.find((each) => each.name === name);
      return { metric, points: metric?.sum?.dataPoints ?? metric?.histogram?.dataPoints ?? [] };
    };
    const reports = pointsOf("evm_preflight_reports_total");
    expect(reports.metric?.sum?.isMonotonic).toBe(true);
    expect(reports.points.map((point) => [valuesOf(point), point.asDouble])).toEqual([
      [{ "preflight.operation": "preflight", "preflight.stage": "proven", "preflight.verdict": "ready" }, 1],
    ]);
    const requests = pointsOf("evm_preflight_requests_total");
    const simulated = requests.points.find((point) => valuesOf(point)["rpc.method"] === "eth_simulateV1");
    expect(simulated?.asDouble).toBe(named("eth_simulateV1").length);
    expect(requests.points.reduce((sum, { asDouble }) => sum + (asDouble ?? 0), 0)).toBe(
      seen.spans.filter(({ kind }) => kind === 3).length,
    );
    for (const [name, count] of [
      ["evm_preflight_report_duration_milliseconds", 1],
      ["evm_preflight_request_duration_milliseconds", seen.spans.filter(({ kind }) => kind === 3).length],
    ] as const) {
      const { metric, points } = pointsOf(name);
      expect(metric?.unit).toBe("ms");
      expect(points.reduce((sum, point) => sum + (point.count ?? 0), 0)).toBe(count);
    }
  });
});

describe("the telemetry of a failure", () => {
  it("has an error.type in its spans and its counter", async () => {
    const limited = layerScripted(
      { eth_feeHistory: rpcError({ code: -32005, message: "limit exceeded" }) },
      Rpc.layerHttp(node.url),
    );
    const { spans, metrics } = await collected(Preflight.scan(transfer), limited);
    const failed = spans.find(({ name }) => name === "eth_feeHistory");
    expect(failed?.status.code).toBe(2);
    const values = valuesOf(failed ?? { attributes: [] });
    expect(values).toMatchObject({ "error.type": "RateLimited", "server.address": "scripted node" });
    const points = metrics.find(({ name }) => name === "evm_preflight_requests_total")?.sum?.dataPoints ?? [];
    expect(points.map(valuesOf)).toContainEqual({
      "rpc.method": "eth_feeHistory",
      "server.address": "scripted node",
      "error.type": "RateLimited",
    });
  });

  it("exists for a run that reverts, and for a refused input", async () => {
    const reverts = { stateOverrides: { [bob.address]: { code: "0x60006000fd" } } } as const;
    const { spans } = await collected(Preflight.scan(transfer, reverts), Rpc.layerHttp(node.url));
    const valuesAt = (name: string) => valuesOf(spans.find((span) => span.name === name) ?? { attributes: [] });
    expect(valuesAt("run ample")["preflight.status"]).toBe("reverted");
    expect(valuesAt("eth_estimateGas")["error.type"]).toBe("ExecutionReverted");
    expect(valuesAt("Preflight.scan")["preflight.verdict"]).toBe("blocked");
    const refused = await collected(Preflight.scan({ ...transfer, from: "0x12" } as never), Rpc.layerHttp(node.url));
    expect(refused.spans.map((span) => [span.name, span.status.code])).toEqual([["Preflight.scan", 2]]);
  });

  it("tells no secret of the endpoint, neither when it answers nor when it fails", async () => {
    const secrets = ["passphrase", "secretkey", "alsosecret", "headersecret"];
    const url = node.url.replace("http://", "http://user:passphrase@");
    for (const path of ["/?token=alsosecret", "/v3/secretkey?token=alsosecret"]) {
      const rpc = Rpc.layerHttp(url + path, { headers: { "x-api-key": "headersecret" } });
      const { text } = await collected(Preflight.preflight(transfer), rpc);
      expect(text).toContain("eth_simulateV1");
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    }
  });
});

describe("telemetry of the Promise entry", () => {
  it("sends spans and metrics to its connection's collector", async () => {
    const span = vi.fn<Tracer.Tracer["span"]>((options) => Tracer.nativeTracer.span(options));
    const layer = Layer.merge(Rpc.layerHttp(node.url), Layer.succeed(Tracer.Tracer, Tracer.make({ span })));
    await using preflight = createPreflight({ layer });
    await preflight.run(transfer);
    expect(span.mock.calls.map(([{ name }]) => name)).toEqual(
      expect.arrayContaining(["Preflight.preflight", "Preflight.prove", "run next", "eth_simulateV1"]),
    );
  });
});

describe("telemetry without a listener", () => {
  const scanned = Preflight.scan(transfer);
  const run = (effect: Effect.Effect<unknown, unknown, Rpc.Rpc>) =>
    Effect.runPromise(Effect.provide(effect, Rpc.layerHttp(node.url)));
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("makes no span of a run or a request without a tracer", async () => {
    const span = vi.spyOn(Tracer.nativeTracer, "span");
    await run(scanned);
    expect(span.mock.calls.map(([{ name }]) => name)).toEqual(["Preflight.scan"]);
  });

  it("makes no span with a tracer that is switched off", async () => {
    const span = vi.fn<Tracer.Tracer["span"]>((options) => Tracer.nativeTracer.span(options));
    const traced = Effect.withTracer(scanned, Tracer.make({ span }));
    await run(Effect.provideService(traced, References.TracerEnabled, false));
    expect(span).not.toHaveBeenCalled();
    await run(traced);
    expect(span.mock.calls.map(([{ name }]) => name)).toContain("eth_simulateV1");
  });
});
