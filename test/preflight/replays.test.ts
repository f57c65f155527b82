/** The same answers give the same report, whenever and in whatever order they come: recorded once, replayed many times. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MethodNotSupported, RpcError, Timeout, Transport } from "../../src/Errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { emptyTape, layerRecorder, layerReplay, type Tape } from "../../src/testing.js";
import { Aggregator, GasReader, Gate, Swap, Token } from "../contracts/artifacts.js";
import { nested } from "../harness/accuracy/cases.js";
import { RandomWords } from "../rooms/primitives.js";
import { furnish, transferOf } from "./furnished.js";
import { calldata, layerOf, nobody, other, owner, scenesFor, type AnyInput, type Scene } from "./scene.js";

/** Of each kind; REPLAYS sets how many, 200 in the long proof. */
const replays = Number(process.env["REPLAYS"] ?? 10);

/** A replay whose requests go out late, and whose answers come late, each by a time of its own. */
const delayed = (tape: Tape): Layer.Layer<Rpc.Rpc> => {
  const someTime = Effect.suspend(() => Effect.sleep(Math.random() * 3));
  const replay = layerReplay(structuredClone(tape));
  return Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) =>
      Rpc.Rpc.of({
        ...node,
        request: (method, params) =>
          someTime.pipe(
            Effect.andThen(Effect.result(node.request(method, params))),
            Effect.tap(someTime),
            Effect.flatMap(Effect.fromResult),
          ),
      }),
    ),
  ).pipe(Layer.provideMerge(replay));
};

/** An answer in place of the recorded one: which of its method's, and what. */
interface Spoil {
  readonly method: string;
  readonly nth: number;
  readonly answer: null | string | RpcError["reason"];
}

/** A clock that stands still; sleepers sleep. */
const still: Effect.Effect<Clock.Clock> = Effect.map(Clock.Clock, (clock) => ({
  currentTimeMillisUnsafe: () => 0,
  currentTimeMillis: Effect.succeed(0),
  currentTimeNanosUnsafe: () => 0n,
  currentTimeNanos: Effect.succeed(0n),
  monotonicTimeNanosUnsafe: () => 0n,
  monotonicTimeNanos: Effect.succeed(0n),
  sleep: (duration) => clock.sleep(duration),
}));

/** What a tape holds, by method in turn, but for some answers; to the same request always the same. */
const spoiling = (tape: Tape, spoils: ReadonlyArray<Spoil>): Layer.Layer<Rpc.Rpc> => {
  const given = new Map<string, Effect.Effect<unknown, RpcError>>();
  const asked = new Map<string, number>();
  const next = (method: string): Effect.Effect<unknown, RpcError> => {
    const nth = asked.get(method) ?? 0;
    asked.set(method, nth + 1);
    const recorded = tape.exchanges.filter((exchange) => exchange.method === method);
    const { answer: usual } = recorded[nth % recorded.length] ?? { answer: { result: null } };
    const spoil = spoils.find((one) => one.method === method && one.nth === nth);
    const answer = spoil === undefined ? ("result" in usual ? usual.result : null) : spoil.answer;
    return answer instanceof Timeout || answer instanceof MethodNotSupported || answer instanceof Transport
      ? Effect.fail(new RpcError({ method, reason: answer }))
      : Effect.sync(() => structuredClone(answer));
  };
  const answerTo = (method: string, params: ReadonlyArray<unknown>) => {
    const key = JSON.stringify([method, params]);
    const answer = given.get(key) ?? next(method);
    given.set(key, answer);
    return answer;
  };
  return Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) =>
      Rpc.Rpc.of({ ...node, request: (method, params) => Effect.suspend(() => answerTo(method, params)) }),
    ),
  ).pipe(
    Layer.provideMerge(layerReplay({ ...tape, rolls: [] })),
    // why: what is drawn for one request is no other than what is drawn for the next, whichever comes first
    Layer.provide(Layer.succeed(RandomWords, (bytes) => `0x${"5a".repeat(bytes)}`)),
    Layer.provide(Layer.effect(Clock.Clock, still)),
  );
};

/** A report without what is the clock's, and what is another's for not being the node. */
const told = (report: Report): string =>
  JSON.stringify(
    {
      ...report,
      observed: { ...report.observed, at: 0, until: report.observed.until === null },
      ledger: {
        rounds: report.ledger.rounds,
        requests: report.ledger.requests.map(({ round, method, step, run, tries }) => [
          round,
          method,
          step,
          run,
          tries,
        ]),
      },
    },
    (_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
  );

describe.each(scenesFor("replays"))("recorded preflights that are replayed, on %s", (_, start) => {
  let scene: Scene;
  let inputs: Readonly<Record<string, AnyInput>>;
  beforeAll(async () => {
    const furnished = await furnish(start);
    ({ scene } = furnished);
    const { token, gate } = furnished;
    const gold = await scene.deploy(Token, ["Gold", "GLD", 18]);
    const pool = await scene.deploy(Swap, [token, gold]);
    const [aggregator, gasReader] = [await scene.deploy(Aggregator), await scene.deploy(GasReader)];
    for (const at of [token, gold])
      await scene.send(owner, { to: at, data: calldata(Token, "mint", [pool, 10n ** 24n]) });
    await scene.send(owner, { to: token, data: calldata(Token, "approve", [pool, 10n ** 24n]) });
    await scene.mine();
    const inner = { target: gasReader, callData: calldata(GasReader, "need", [400_007n]) };
    inputs = {
      "a transfer of ether": { from: owner.address, to: nobody, value: 1n },
      "a token transfer": transferOf(token),
      "a swap": { from: owner.address, to: pool, data: calldata(Swap, "swap", [10n ** 18n, 1n, 4_000_000_000n]) },
      "a bundle of two senders": [
        transferOf(token),
        { from: other.address, to: gate, abi: Gate.abi, functionName: "open" },
        { from: owner.address, to: nobody, value: 2n },
      ],
      "a call whose gas is in doubt": {
        from: owner.address,
        to: aggregator,
        data: nested(aggregator, inner, 40, true),
      },
    };
  });
  afterAll(() => scene?.stop());

  it(
    `give the recorded report and request log, ${replays} times each`,
    async () => {
      for (const [name, input] of Object.entries(inputs)) {
        const tape = emptyTape();
        // why: twenty at once on a busy machine take longer than one of them may
        const asked = Preflight.preflight(input as never, { deadline: "5 minutes" });
        const recorded = await Effect.runPromise(Effect.provide(asked, layerRecorder(layerOf(scene.url), tape)));
        expect(recorded.verdict, name).toBe("ready");
        const again = await Effect.runPromise(
          Effect.forEach(Array.from({ length: replays }), () => Effect.provide(asked, delayed(tape)), {
            concurrency: 20,
          }),
        );
        const others = again.map(told).filter((text) => text !== told(recorded));
        expect([name, others.length, others[0]?.slice(0, 2_000)]).toEqual([name, 0, undefined]);
      }
    },
    120_000 + replays * 500,
  );

  // why: of a scan that is proven no report is made unless somebody reads it
  it("give the same report when a step reads the scan, whatever the node answers", async () => {
    const tapes = new Map<string, Tape>();
    for (const [name, input] of Object.entries(inputs)) {
      const tape = emptyTape();
      const asked = Preflight.preflight(input as never);
      await Effect.runPromise(Effect.provide(asked, layerRecorder(layerOf(scene.url), tape)));
      tapes.set(name, tape);
    }
    const methods = [...new Set([...tapes.values()].flatMap(({ exchanges }) => exchanges.map(({ method }) => method)))];
    const reasons = [
      new Timeout({ detail: "", afterMs: 1 }),
      new MethodNotSupported({ detail: "" }),
      new Transport({ detail: "" }),
    ];
    const spoils = fc.array(
      fc.record({
        method: fc.oneof(fc.constant("eth_simulateV1"), fc.constantFrom(...methods)),
        nth: fc.nat(4),
        answer: fc.constantFrom(null, "0x", "0x0", ...reasons),
      }),
      { maxLength: 3 },
    );
    const policies = fc.constantFrom([], [Policy.maxSpent("native", 0n), Policy.noNewApprovals], [Policy.maxFee(1n)]);
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...tapes.keys()), spoils, policies, async (name, answers, demanded) => {
        const tape = tapes.get(name) ?? emptyTape();
        const options = { policies: demanded, deadline: "5 minutes" } as const;
        const reading = Preflight.reserving(() => Effect.succeed([]));
        const node = spoiling(tape, answers);
        const run = (way: typeof Preflight.preflight) =>
          Effect.runPromise(Effect.provide(way(inputs[name] as never, options), Layer.fresh(node)));
        const [unread, read] = [await run(Preflight.preflight), await run(reading as typeof Preflight.preflight)];
        met.add(`${unread.stage} ${unread.verdict}`);
        expect(told(unread)).toBe(told(read));
      }),
      {
        numRuns: 40,
        examples: [["a token transfer", [{ method: "eth_simulateV1", nth: 1, answer: reasons[0] ?? null }], []]],
      },
    );
    expect([...met]).toEqual(expect.arrayContaining(["proven ready", "scanned unknown"]));
  }, 120_000);
});
