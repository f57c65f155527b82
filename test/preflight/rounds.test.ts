/** Rounds, sources and time: what goes out together, what replaces what, and that everything ends. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import { Gate } from "../contracts/artifacts.js";
import {
  faults,
  heldMs,
  sevenMethods,
  startProxy,
  type Fault,
  type Proxy,
  type ProxyOptions,
  type Seen,
} from "../harness/proxy.js";
import { startServer } from "../harness/server.js";
import {
  cleared,
  codesOf,
  layerOf,
  other,
  owner,
  preflight,
  preflightOn,
  prove,
  scan,
  scanOn,
  scenesFor,
  severe,
  signAll,
  type AnyInput,
  type Scene,
} from "./scene.js";
import { furnish, transferOf } from "./furnished.js";

/** Arrivals, by rounds. */
const roundsOf = (seen: ReadonlyArray<Seen>): ReadonlyArray<ReadonlyArray<string>> => {
  const rounds: Array<Array<string>> = [];
  for (const { round, method } of seen) (rounds[round] ??= []).push(method);
  return rounds;
};

const inLedger = (report: Report.Report): ReadonlyArray<ReadonlyArray<string>> =>
  Array.from({ length: report.ledger.rounds }, (_, index) =>
    report.ledger.requests.filter(({ round, tries }) => round === index + 1 && tries > 0).map(({ method }) => method),
  );
/** Without traces: of a bundle each begins when the one before it is told, beside everything else, and keeps nobody waiting. */
const sorted = (rounds: ReadonlyArray<ReadonlyArray<string>>) =>
  rounds
    .map((round) => round.filter((method) => method !== "debug_traceCall").sort())
    .filter((round) => round.length > 0);

describe.each(scenesFor("rounds"))("the rounds of a preflight on %s", (_, start) => {
  let scene: Scene;
  let token: `0x${string}`;
  let gate: `0x${string}`;
  const open: Array<Proxy> = [];
  const proxied = async (options: Omit<ProxyOptions, "target"> = {}): Promise<Proxy> => {
    const proxy = await startProxy({ target: scene.url, ...options });
    open.push(proxy);
    return proxy;
  };
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
  });
  afterEach(async () => {
    for (const proxy of open.splice(0)) await proxy.stop();
  });
  afterAll(() => scene?.stop());

  const transfer = () => transferOf(token);

  it("are one for a scan and two for a preflight, in the ledger and by arrival", async () => {
    const bundle = [transfer(), { from: other.address, to: gate, abi: Gate.abi, functionName: "open" }];
    // why: what is loaded with the first bundle is here before answers are held
    await preflightOn(layerOf(scene.url), bundle);
    const proxy = await proxied({ inRounds: true });
    const layer = layerOf(proxy.url);
    for (const [input, width] of [
      [{ from: owner.address, to: other.address, value: 1n }, 1],
      [transfer(), 1],
      [bundle, 2],
    ] as const) {
      proxy.reset();
      const scanned = await scanOn(layer, input);
      expect(scanned.ledger.rounds).toBe(1);
      expect(sorted(roundsOf(proxy.seen))).toEqual(sorted(inLedger(scanned)));
      expect(proxy.seen.filter(({ method }) => method === "eth_simulateV1")).toHaveLength(2);
      expect(proxy.seen.filter(({ method }) => method === "eth_getTransactionCount")).toHaveLength(2 * width);
      proxy.reset();
      const report = await preflightOn(layer, input);
      expect([report.verdict, report.ledger.rounds]).toEqual(["ready", 2]);
      expect(sorted(roundsOf(proxy.seen))).toEqual(sorted(inLedger(report)));
      expect(report.ledger.requests).toHaveLength(proxy.seen.length);
      expect(report.ledger.requests.every(({ tries, bytes, ms }) => tries === 1 && bytes > 0 && ms >= heldMs - 5)).toBe(
        true,
      );
      expect(report.ledger.ms).toBeGreaterThanOrEqual(2 * heldMs - 10);
      proxy.reset();
      const again = await prove(proxy.url, report);
      // the head, then everything on it
      expect([again.ledger.rounds, sorted(roundsOf(proxy.seen)).length]).toEqual([2, 2]);
    }
  });

  it("end ready on a strict node with the seven methods and no batches", async () => {
    for (const batch of [false, true]) {
      const proxy = await proxied({ only: sevenMethods, refuseBatches: true });
      const layer = layerOf(proxy.url, { batch });
      for (const input of [{ from: owner.address, to: other.address, value: 1n }, transfer()]) {
        const report = await preflightOn(layer, input);
        expect(severe(report)).toEqual([]);
        expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
        expect(Report.matches(await cleared(report), await signAll(await cleared(report)))).toBe(true);
      }
      const methods = new Set(proxy.seen.map(({ method }) => method));
      expect([...methods].filter((method) => !(sevenMethods as ReadonlyArray<string>).includes(method)).sort()).toEqual(
        [...["eth_chainId", "eth_config", "eth_feeHistory", "eth_getBlockByNumber"]],
      );
    }
  });

  it("are one POST each where batches are wanted", async () => {
    const proxy = await proxied({ delayMs: 20 });
    const report = await preflightOn(layerOf(proxy.url, { batch: true }), transfer());
    expect([report.verdict, report.ledger.rounds, proxy.posts()]).toEqual(["ready", 2, 2]);
  });

  const refusals: Readonly<Record<string, Fault>> = {
    "-32601": faults.notFound,
    "-32604": { kind: "error", error: { code: -32604, message: "Method not supported" } },
    "-32004": { kind: "error", error: { code: -32004, message: "Method eth_simulateV1 is not supported" } },
    "-32004 without known words": { kind: "error", error: { code: -32004, message: "not available" } },
    "HTTP 403": faults.forbidden,
    "403 with words": {
      kind: "status",
      status: 403,
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"rpc method is not whitelisted"}}',
    },
  };
  it.each(Object.entries(refusals))(
    "end in an estimate by eth_call, never ready and remembered, without eth_simulateV1 (%s)",
    async (_name, fault) => {
      const proxy = await proxied();
      proxy.fail("eth_simulateV1", fault);
      const node = ManagedRuntime.make(layerOf(proxy.url));
      const run = (input: AnyInput) => node.runPromise(Preflight.preflight(input as never));

      const first = await run(transfer());
      expect([first.verdict, first.observed.tier, first.stage, first.ledger.rounds]).toEqual([
        "unknown",
        "call",
        "scanned",
        2,
      ]);
      expect(first.transactions[0].outcome).toMatchObject({ status: "success", evidence: "estimated", gasUsed: null });
      proxy.seen.length = 0;
      const second = await node.runPromise(Preflight.scan(transfer() as never));
      expect([second.verdict, second.observed.tier, second.ledger.rounds]).toEqual(["unknown", "call", 1]);
      expect(proxy.seen.filter(({ method }) => method === "eth_simulateV1")).toEqual([]);
      const reverting = await run({ ...transfer(), from: other.address });
      expect([reverting.verdict, reverting.observed.tier]).toEqual(["blocked", "call"]);
      expect(codesOf(reverting)).toContain("ExecutionReverted/blocker");
      const bundle = await run([transfer(), transfer()]);
      expect([bundle.verdict, bundle.transactions[1]?.outcome.status]).toEqual(["unknown", "unknown"]);
      const again = await node.runPromise(Preflight.prove(first));
      expect([again.verdict, again.observed.tier]).toEqual(["unknown", "call"]);
      await node.dispose();
    },
  );

  it("end with the deadline: unknown, with Timeout", async () => {
    for (const method of ["*", "eth_simulateV1", "eth_getTransactionCount"]) {
      const proxy = await proxied();
      proxy.fail(method, faults.hang);
      const started = performance.now();
      const report = await preflight(proxy.url, transfer(), { deadline: 250 });
      expect(performance.now() - started).toBeLessThan(1_500);
      expect(report.verdict, method).toBe("unknown");
      expect(codesOf(report)).toContain("Timeout/unavailable");
      expect(report.ledger.requests.every(({ ms }) => ms < 1_000)).toBe(true);
    }
  });

  it("close every connection when they are interrupted", async () => {
    const sockets = new Set<object>();
    const server = await startServer((_body, request) => {
      sockets.add(request.socket);
      request.socket.once("close", () => sockets.delete(request.socket));
    });
    const warnings: Array<Error> = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on("warning", listen);
    const run = Preflight.preflight(transfer() as never).pipe(Effect.provide(layerOf(server.url)));
    const fiber = Effect.runFork(run);
    while (sockets.size < 8) await new Promise((resolve) => setTimeout(resolve, 10));
    await Effect.runPromise(Fiber.interrupt(fiber));
    for (let tries = 0; sockets.size > 0 && tries < 50; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(sockets.size).toBe(0);
    await server.stop();
    process.off("warning", listen);
    expect(warnings.map(({ name }) => name)).toEqual([]);
  });

  it("ask nothing for a report with a hole in its request, which is never ready", async () => {
    const proxy = await proxied();
    const report = await scan(proxy.url, { from: owner.address, to: other.address, value: 1n });
    const hole: Report.Report = { ...report, transactions: [{ ...report.transactions[0], request: null }] };
    proxy.seen.length = 0;
    const unproven = await prove(proxy.url, hole, { maxAge: 5 });
    expect(unproven).toMatchObject({ verdict: "unknown", stage: "scanned", transactions: hole.transactions });
    expect(unproven.findings.map(({ code }) => code)).toContain("RequestIncomplete");
    expect(proxy.seen).toEqual([]);
  });
});
