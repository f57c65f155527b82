import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as TestClock from "effect/testing/TestClock";
import { createClient, http } from "viem";
import { describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import { toText } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { gate, type Patience, CurrentRun } from "../rooms/rpc.js";
import { layerScripted, silence } from "../../src/testing.js";
import { startNode, startServer } from "../harness/server.js";
import { recordedIn, tagOf } from "./asking.js";

type GateOptions = Pick<Patience, "maxInFlight" | "maxWaitMs">;
const wide: GateOptions = { maxInFlight: 2, maxWaitMs: 1_000 };

/** A node that answers `a` and `b` with their names, a broadcast with a hash, and `slow` never. */
const node = (options: Partial<GateOptions>): Layer.Layer<Rpc.Rpc> =>
  layerScripted({ a: "a", b: "b", slow: silence, eth_sendRawTransaction: "0xhash" }, undefined, options);

const ask = (method: string) => Effect.flatMap(Rpc.Rpc, (rpc) => Effect.result(rpc.request(method, [])));
const admit = <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.flatMap(Rpc.Rpc, (rpc) => rpc.admit(run));

/** On a node, by a clock that the test moves. */
const itUnder = (
  what: string,
  layer: Layer.Layer<Rpc.Rpc>,
  use: () => Generator<Effect.Effect<unknown, unknown, Rpc.Rpc>, void>,
) => it(what, () => Effect.runPromise(Effect.gen(use).pipe(Effect.provide(layer), Effect.provide(TestClock.layer()))));
const narrow: GateOptions = { ...wide, maxInFlight: 1 };
/** Holds the one place until it is interrupted. */
const holding = Effect.tap(
  Effect.suspend(() => Effect.forkChild(ask("slow"))),
  () => TestClock.adjust(10),
);

describe("the gate of an endpoint", () => {
  it("lets in a limited number at once, and the others in their order", async () => {
    const order: Array<string> = [];
    let inside = 0;
    let most = 0;
    const program = Effect.gen(function* () {
      const enter = gate(wide, yield* Clock.Clock);
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => index),
        (index) =>
          enter(
            Effect.gen(function* () {
              most = Math.max(most, ++inside);
              order.push(String(index));
              yield* Effect.yieldNow;
              inside--;
            }),
          ),
        { concurrency: "unbounded" },
      );
    });
    await Effect.runPromise(program);
    expect(most).toBe(2);
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  });

  it("takes a crowd of runs that end at once", async () => {
    const program = Effect.gen(function* () {
      const enter = gate({ ...wide, maxInFlight: 1 }, yield* Clock.Clock);
      const held = yield* Effect.forkChild(enter(Effect.sleep(5)));
      yield* Effect.yieldNow;
      const all = yield* Effect.forEach(Array.from({ length: 20_000 }), () => enter(Effect.succeed(1)), {
        concurrency: "unbounded",
      });
      yield* Fiber.join(held);
      return all.length;
    });
    expect(await Effect.runPromise(program)).toBe(20_000);
  });

  itUnder("forgets an interrupted run, waiting or inside", node(wide), function* () {
    const inside = yield* Effect.forEach([1, 2], () => Effect.forkChild(admit(ask("slow"))));
    const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(admit(ask("slow"))));
    yield* TestClock.adjust(10);
    yield* Fiber.interruptAll(waiting);
    const last = yield* Effect.forkChild(admit(ask("a")));
    yield* TestClock.adjust(10);
    yield* Fiber.interruptAll(inside);
    expect([yield* Fiber.join(last), yield* admit(ask("b"))]).toEqual([Result.succeed("a"), Result.succeed("b")]);
  });

  itUnder("does not make a run wait within a run, at any endpoint", node(narrow), function* () {
    const other = yield* Effect.provide(Rpc.Rpc, Layer.fresh(node(narrow)));
    const elsewhere = other.admit(Effect.provideService(ask("b"), Rpc.Rpc, other));
    const all = yield* admit(Effect.all([admit(ask("a")), elsewhere, ask("b")], { concurrency: "unbounded" }));
    expect(all).toEqual([Result.succeed("a"), Result.succeed("b"), Result.succeed("b")]);
  });

  itUnder("counts a request outside a run as one, but never lets a broadcast wait", node(narrow), function* () {
    const inside = yield* holding;
    const waiting = yield* Effect.forkChild(ask("a"));
    yield* TestClock.adjust(10);
    expect(yield* ask("eth_sendRawTransaction")).toEqual(Result.succeed("0xhash"));
    expect(waiting.pollUnsafe()).toBeUndefined();
    yield* Fiber.interrupt(inside);
    expect(yield* Fiber.join(waiting)).toEqual(Result.succeed("a"));
  });

  itUnder("rejects runs that waited too long: every request says so, and asks nothing", node(narrow), function* () {
    const ledger: Array<Rpc.LedgerEntry> = [];
    const inside = yield* holding;
    const both = Effect.provideService(admit(Effect.all([ask("a"), ask("b")])), CurrentRun, recordedIn(ledger));
    const late = yield* Effect.forkChild(both);
    yield* TestClock.adjust(1_000);
    const answers = yield* Fiber.join(late);
    yield* Fiber.interrupt(inside);
    expect(answers.map(tagOf)).toEqual(["AdmissionTimeout", "AdmissionTimeout"]);
    expect(ledger).toMatchObject([
      { method: "a", tries: 0 },
      { method: "b", tries: 0 },
    ]);
  });
});

const transfer = {
  from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  value: 1n,
} as const;

describe("a report on a run at a full gate", () => {
  itUnder("is unknown, and says that the endpoint was not asked", node(narrow), function* () {
    const inside = yield* holding;
    const late = yield* Effect.forkChild(Preflight.preflight(transfer));
    yield* TestClock.adjust(1_000);
    const report = yield* Fiber.join(late);
    yield* Fiber.interrupt(inside);
    expect(report.verdict).toBe("unknown");
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: "AdmissionTimeout", severity: "unavailable", evidence: "unavailable" }),
    );
    expect(toText(report)).toContain("the endpoint was not asked");
    expect(report.ledger.requests.every(({ tries }) => tries === 0)).toBe(true);
  });

  itUnder("counts its deadline from when it was let in", node({ maxInFlight: 1, maxWaitMs: 60_000 }), function* () {
    const inside = yield* Effect.forkChild(admit(Effect.sleep(30_000)));
    yield* TestClock.adjust(10);
    const late = yield* Effect.forkChild(Preflight.scan(transfer, { deadline: 5_000 }));
    yield* TestClock.adjust(30_000);
    yield* Fiber.join(inside);
    const report = yield* Fiber.join(late);
    expect(report.ledger.requests.some(({ tries }) => tries === 1)).toBe(true);
    expect(report.findings.map(({ code }) => code)).not.toContain("Timeout");
  });
});

describe("every layer", () => {
  it("has a gate of its own", async () => {
    let most = 0;
    const waiting: Array<() => void> = [];
    const server = await startServer((body, _request, response) => {
      const { id } = JSON.parse(body) as { readonly id: number };
      most = Math.max(
        most,
        waiting.push(() => response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }))),
      );
      // the third lets all answers go, a moment later, in which a fourth would come
      if (waiting.length === 3) setTimeout(() => waiting.splice(0).forEach((answer) => answer()), 20);
    });
    const client = createClient({ transport: http(server.url) });
    for (const layer of [
      Rpc.layerHttp(server.url, { maxInFlight: 3 }),
      Rpc.layerClient(client, { maxInFlight: 3 }),
      Rpc.layerTransport(http(server.url), { maxInFlight: 3 }),
      Rpc.layerProvider(client, { maxInFlight: 3 }),
    ]) {
      most = 0;
      const many = Effect.forEach(Array.from({ length: 12 }), () => ask("a"), { concurrency: "unbounded" });
      const answers = await Effect.runPromise(Effect.provide(many, layer));
      expect(answers.every(Result.isSuccess)).toBe(true);
      expect(most).toBe(3);
    }
    await server.stop();
  });
});

describe("a gate without a width", () => {
  it("lets a run in all the same", async () => {
    const server = await startNode(() => ({ result: "0x1" }));
    const layer = Rpc.layerHttp(server.url, { maxInFlight: undefined as never, timeoutMs: undefined as never });
    const result = await Effect.runPromise(
      Effect.flatMap(Rpc.Rpc, (rpc) => rpc.request("eth_chainId", [])).pipe(Effect.provide(layer)),
    );
    expect(result).toBe("0x1");
    await server.stop();
  });

  itUnder("makes a fiber that outlives its run wait by itself", node({ maxInFlight: 1 }), function* () {
    const begun = yield* admit(Effect.forkDetach(Effect.andThen(Effect.sleep(10), ask("a"))));
    // turned away: the one place is taken until after the wait
    const held = yield* Effect.forkDetach(admit(Effect.sleep(1_000_000)));
    yield* Effect.yieldNow;
    const late = yield* Effect.forkDetach(admit(Effect.forkDetach(Effect.andThen(Effect.sleep(400_000), ask("b")))));
    yield* TestClock.adjust(310_000);
    yield* Fiber.interrupt(held);
    const outlived = yield* Fiber.join(late);
    yield* TestClock.adjust(800_000);
    yield* Fiber.join(begun);
    expect(yield* Fiber.join(outlived)).toEqual(Result.succeed("b"));
  });
});
