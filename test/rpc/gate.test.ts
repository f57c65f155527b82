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
import { gate, type GateOptions } from "../rooms/rpc.js";
import { layerScripted, silence } from "../../src/testing.js";
import { startNode, startServer } from "../harness/server.js";
import { tagOf } from "./asking.js";

const wide: GateOptions = { maxInFlight: 2, maxWaitMs: 1_000 };

/** A node that answers `a` and `b` with their names, and `slow` never. */
const node = (options: Partial<GateOptions>): Layer.Layer<Rpc.Rpc> =>
  layerScripted({ a: "a", b: "b", slow: silence }, undefined, options);

const ask = (method: string) => Effect.flatMap(Rpc.Rpc, (rpc) => Effect.result(rpc.request(method, [])));
const admit = <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.flatMap(Rpc.Rpc, (rpc) => rpc.admit(run));

const under = <A, E>(layer: Layer.Layer<Rpc.Rpc>, program: Effect.Effect<A, E, Rpc.Rpc>): Promise<A> =>
  Effect.runPromise(program.pipe(Effect.provide(layer), Effect.provide(TestClock.layer())));

describe("the gate", () => {
  it("lets so many in at once, and the others in the order in which they came", async () => {
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

  it("forgets who is interrupted, waiting or inside", async () => {
    const answer = await under(
      node(wide),
      Effect.gen(function* () {
        const inside = yield* Effect.forEach([1, 2], () => Effect.forkChild(admit(ask("slow"))));
        const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(admit(ask("slow"))));
        yield* TestClock.adjust(10);
        yield* Fiber.interruptAll(waiting);
        const last = yield* Effect.forkChild(admit(ask("a")));
        yield* TestClock.adjust(10);
        yield* Fiber.interruptAll(inside);
        return [yield* Fiber.join(last), yield* admit(ask("b"))];
      }),
    );
    expect(answer).toEqual([Result.succeed("a"), Result.succeed("b")]);
  });

  it("does not make a run wait within a run, at any endpoint", async () => {
    const answer = await under(
      node({ ...wide, maxInFlight: 1 }),
      Effect.gen(function* () {
        const other = yield* Effect.provide(Rpc.Rpc, Layer.fresh(node({ ...wide, maxInFlight: 1 })));
        return yield* admit(
          Effect.all([admit(ask("a")), other.admit(Effect.provideService(ask("b"), Rpc.Rpc, other)), ask("b")], {
            concurrency: "unbounded",
          }),
        );
      }),
    );
    expect(answer).toEqual([Result.succeed("a"), Result.succeed("b"), Result.succeed("b")]);
  });

  it("counts a request outside a run as one, but never lets a broadcast wait", async () => {
    const answer = await under(
      layerScripted({ a: "a", slow: silence, eth_sendRawTransaction: "0xhash" }, undefined, {
        ...wide,
        maxInFlight: 1,
      }),
      Effect.gen(function* () {
        const inside = yield* Effect.forkChild(ask("slow"));
        yield* TestClock.adjust(10);
        const waiting = yield* Effect.forkChild(ask("a"));
        yield* TestClock.adjust(10);
        const sent = yield* ask("eth_sendRawTransaction");
        const waited = waiting.pollUnsafe();
        yield* Fiber.interrupt(inside);
        return { sent, waited, answered: yield* Fiber.join(waiting) };
      }),
    );
    expect(answer).toEqual({ sent: Result.succeed("0xhash"), waited: undefined, answered: Result.succeed("a") });
  });

  it("turns away who waited too long: every request says so, asking nothing", async () => {
    const ledger: Array<Rpc.LedgerEntry> = [];
    const results = await under(
      node({ ...wide, maxInFlight: 1 }),
      Effect.gen(function* () {
        const inside = yield* Effect.forkChild(ask("slow"));
        yield* TestClock.adjust(10);
        const late = yield* Effect.forkChild(
          Effect.provideService(admit(Effect.all([ask("a"), ask("b")])), Rpc.CurrentRun, {
            ...{ round: 1, deadline: null, signal: null },
            record: (entry) => void ledger.push(entry),
          }),
        );
        yield* TestClock.adjust(1_000);
        const answers = yield* Fiber.join(late);
        yield* Fiber.interrupt(inside);
        return answers;
      }),
    );
    expect(results.map(tagOf)).toEqual(["AdmissionTimeout", "AdmissionTimeout"]);
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
  it("is unknown, and says that the endpoint was not asked", async () => {
    const report = await under(
      node({ ...wide, maxInFlight: 1 }),
      Effect.gen(function* () {
        const inside = yield* Effect.forkChild(ask("slow"));
        yield* TestClock.adjust(10);
        const late = yield* Effect.forkChild(Preflight.preflight(transfer));
        yield* TestClock.adjust(1_000);
        const made = yield* Fiber.join(late);
        yield* Fiber.interrupt(inside);
        return made;
      }),
    );
    expect(report.verdict).toBe("unknown");
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: "AdmissionTimeout", severity: "unavailable", evidence: "unavailable" }),
    );
    expect(toText(report)).toContain("the endpoint was not asked");
    expect(report.ledger.requests.every(({ tries }) => tries === 0)).toBe(true);
  });

  it("counts its deadline from when it was let in", async () => {
    const report = await under(
      node({ maxInFlight: 1, maxWaitMs: 60_000 }),
      Effect.gen(function* () {
        const inside = yield* Effect.forkChild(admit(Effect.sleep(30_000)));
        yield* TestClock.adjust(10);
        const late = yield* Effect.forkChild(Preflight.scan(transfer, { deadline: 5_000 }));
        yield* TestClock.adjust(30_000);
        yield* Fiber.join(inside);
        return yield* Fiber.join(late);
      }),
    );
    expect(report.ledger.requests.some(({ tries }) => tries === 1)).toBe(true);
    expect(report.findings.map(({ code }) => code)).not.toContain("Timeout");
  });
});

describe("every layer", () => {
  it("has a gate of its own", async () => {
    let [inside, most] = [0, 0];
    const server = await startServer((body, _request, response) => {
      most = Math.max(most, ++inside);
      const { id } = JSON.parse(body) as { readonly id: number };
      setTimeout(() => {
        inside--;
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }));
      }, 5);
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

describe("what a caller gets wrong", () => {
  it("a width that is left out lets somebody in all the same", async () => {
    const server = await startNode(() => ({ result: "0x1" }));
    const layer = Rpc.layerHttp(server.url, { maxInFlight: undefined as never, timeoutMs: undefined as never });
    const result = await Effect.runPromise(
      Effect.flatMap(Rpc.Rpc, (rpc) => rpc.request("eth_chainId", [])).pipe(Effect.provide(layer)),
    );
    expect(result).toBe("0x1");
    await server.stop();
  });

  it("a fiber that outlives its run waits by itself", async () => {
    const answers = await under(
      node({ maxInFlight: 1 }),
      Effect.gen(function* () {
        const begun = yield* admit(Effect.forkDetach(Effect.andThen(Effect.sleep(10), ask("a"))));
        // turned away: the one place is taken until after the wait
        const holding = yield* Effect.forkDetach(admit(Effect.sleep(1_000_000)));
        yield* Effect.yieldNow;
        const late = yield* Effect.forkDetach(
          admit(Effect.forkDetach(Effect.andThen(Effect.sleep(400_000), ask("b")))),
        );
        yield* TestClock.adjust(310_000);
        yield* Fiber.interrupt(holding);
        const outlived = yield* Fiber.join(late);
        yield* TestClock.adjust(800_000);
        return [yield* Fiber.join(begun), yield* Fiber.join(outlived)];
      }),
    );
    expect(answers[1]).toEqual(Result.succeed("b"));
  });
});
