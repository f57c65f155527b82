/** A round as data: sent together or one by one it says the same, and whatever ends it ends all that is under way. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Metric from "effect/Metric";
import * as Result from "effect/Result";
import * as TestClock from "effect/testing/TestClock";
import { describe, expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import type { LedgerEntry } from "../../src/Rpc.js";
import { layerScripted, rpcError, silence } from "../../src/testing.js";
import { asked, beginning, each, goingOn, known, mapped, one, question, sent, together } from "../rooms/eth.js";
import { CurrentRun, type RunContext } from "../rooms/rpc.js";

const node = (options: Parameters<typeof layerScripted>[2] = {}) =>
  layerScripted(
    {
      eth_chainId: "0x1",
      eth_gasPrice: (_, before) => (before === 0 ? rpcError({ code: -32005, message: "rate limit" }) : "0x5"),
      eth_blockNumber: silence,
      eth_accounts: [],
    },
    undefined,
    { retryTimes: 1, retryBaseMs: 1, ...options },
  );
const raw = (method: string) => one(question(method, () => [], Result.succeed));

const idle: RunContext = { round: 1, deadline: null, record: () => undefined, signal: null };
/** What is done within a run that was let in, and its ledger. */
const inRun = <A>(ask: Parameters<typeof sent<A>>[0], given: Partial<RunContext> = {}) => {
  const ledger: Array<LedgerEntry> = [];
  let turns = 0;
  const run = { ...idle, record: (entry: LedgerEntry) => void ledger.push(entry), turn: () => turns++, ...given };
  const effect = Rpc.Rpc.use(({ admit }) => admit(Effect.provideService(sent(ask), CurrentRun, run)));
  return { effect, ledger };
};
/** The same node without a `send`, as of whoever puts another `request` in its place. */
const oneByOne = (layer: Layer.Layer<Rpc.Rpc>) =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Effect.service(Rpc.Rpc), (rpc) => ({
      ...rpc,
      request: (method: string, params: ReadonlyArray<unknown>) => rpc.request(method, params),
    })),
  ).pipe(Layer.provide(layer));

const round = asked(
  { step: "fee" },
  together({
    chain: raw("eth_chainId"),
    price: raw("eth_gasPrice"),
    refused: raw("eth_nothing"),
    invalid: one(question("eth_chainId", (faults) => (faults.push("block: no block"), []), Result.succeed)),
    list: each(["eth_accounts", "eth_chainId"], raw),
    later: goingOn(raw("eth_accounts"), () =>
      sent(
        mapped(
          raw("eth_chainId"),
          Result.map((id) => [id]),
        ),
      ),
    ),
    nothing: mapped(known(1), (number) => number + 1),
    none: each([], raw),
  }),
);
/** Answers as they are told: a failure by its words. */
const told = (answer: unknown): unknown => {
  if (Result.isResult(answer))
    return Result.isSuccess(answer) ? { success: told(answer.success) } : { failure: String(answer.failure) };
  if (Array.isArray(answer)) return answer.map(told);
  return typeof answer === "object" && answer !== null
    ? Object.fromEntries(Object.entries(answer).map(([name, part]) => [name, told(part)]))
    : answer;
};

describe("a round", () => {
  it("asks and answers the same, sent together or one by one", async () => {
    const heard = await Promise.all(
      [node(), oneByOne(node())].map(async (layer) => {
        const { effect, ledger } = inRun(round);
        const answer = await Effect.runPromise(Effect.provide(effect, layer));
        const lines = ledger.map(({ method, step, tries }) => `${method} ${step} ${tries}`).sort();
        return { answer: told(answer), lines };
      }),
    );
    expect(heard[0]).toEqual(heard[1]);
    expect(heard[0]).toMatchObject({
      answer: {
        chain: { success: "0x1" },
        price: { success: "0x5" },
        invalid: { failure: expect.stringContaining("no block") },
        list: [{ success: [] }, { success: "0x1" }],
        later: { success: ["0x1"] },
        ...{ nothing: 2, none: [] },
      },
      lines: expect.arrayContaining(["eth_gasPrice fee 2", "eth_nothing fee 1"]),
    });
  });

  it.each<readonly [string, (rpc: Rpc.Rpc["Service"], request: Rpc.Rpc["Service"]["request"]) => Rpc.Rpc["Service"]]>([
    ["a spread", (rpc, request) => ({ ...rpc, request })],
    ["an object that inherits", (rpc, request) => Object.assign(Object.create(rpc), { request })],
    [
      "a proxy",
      (rpc, request) => new Proxy(rpc, { get: (of, name) => (name === "request" ? request : Reflect.get(of, name)) }),
    ],
  ])("goes through a caller's own `request`, which sees every request: %s", async (_, wrapped) => {
    const asked: Array<string> = [];
    const watched = Layer.effect(
      Rpc.Rpc,
      Effect.map(Effect.service(Rpc.Rpc), (rpc) =>
        wrapped(rpc, (method, params) => {
          asked.push(method);
          return rpc.request(method, params);
        }),
      ),
    ).pipe(Layer.provide(node()));
    await Effect.runPromise(Effect.provide(inRun(each(["eth_chainId", "eth_accounts"], raw)).effect, watched));
    expect(asked).toEqual(["eth_chainId", "eth_accounts"]);
  });

  it("is sent by the `send` of a layer of one's own, and cancelled with its fiber", async () => {
    const sends: Array<ReadonlyArray<string>> = [];
    let calledOff = 0;
    const own = (isSilent: boolean) =>
      Layer.effect(
        Rpc.Rpc,
        Effect.map(Effect.service(Rpc.Rpc), (rpc) =>
          Rpc.Rpc.of({
            ...rpc,
            send: (requests, hear) => {
              sends.push(requests.map(({ method }) => method));
              // why: an answer that is told twice, or to nobody, counts as nothing
              const places = [1, 1, 2, 0];
              if (!isSilent) for (const place of places) hear(place, Result.succeed(place));
              return () => void calledOff++;
            },
          }),
        ),
      ).pipe(Layer.provide(node()));
    const { effect } = inRun(each(["eth_chainId", "eth_accounts"], raw));
    expect(await Effect.runPromise(Effect.provide(effect, own(false)))).toEqual([Result.succeed(0), Result.succeed(1)]);
    const before = calledOff;
    const fiber = Effect.runFork(Effect.provide(effect, own(true)));
    await Effect.runPromise(Effect.andThen(Effect.sleep(5), Fiber.interrupt(fiber)));
    expect([sends, calledOff - before]).toEqual([
      [
        ["eth_chainId", "eth_accounts"],
        ["eth_chainId", "eth_accounts"],
      ],
      1,
    ]);
  });

  it("ends each request at its deadline by a test clock, and keeps earlier answers", async () => {
    const { effect, ledger } = inRun(each(["eth_chainId", "eth_blockNumber"], raw), { deadline: 250 });
    const answers = await Effect.runPromise(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(effect);
        yield* TestClock.adjust(249);
        expect(ledger.map(({ method }) => method)).toEqual(["eth_chainId"]);
        yield* TestClock.adjust(1);
        return yield* Fiber.join(fiber);
      }).pipe(Effect.provide(Layer.provideMerge(node(), TestClock.layer()))),
    );
    expect(told(answers)).toEqual([
      expect.objectContaining({ success: "0x1" }),
      expect.objectContaining({ failure: expect.stringMatching(/250 ms/) }),
    ]);
    expect(ledger.map(({ method, ms, tries }) => [method, ms, tries])).toEqual([
      ["eth_chainId", 0, 1],
      ["eth_blockNumber", 250, 1],
    ]);
  });

  it.each([
    ["together", node()],
    ["one by one", oneByOne(node())],
  ])("ends with the signal of its run, and tells what was under way: %s", async (_, layer) => {
    const controller = new AbortController();
    const { effect, ledger } = inRun(each(["eth_blockNumber", "eth_chainId"], raw), { signal: controller.signal });
    setTimeout(() => controller.abort("over"), 10);
    const exit = await Effect.runPromiseExit(Effect.provide(effect, layer));
    expect(Exit.hasInterrupts(exit)).toBe(true);
    expect(ledger.map(({ method }) => method).sort()).toEqual(["eth_blockNumber", "eth_chainId"]);
    const late = inRun(raw("eth_chainId"), { signal: controller.signal });
    expect(Exit.hasInterrupts(await Effect.runPromiseExit(Effect.provide(late.effect, layer)))).toBe(true);
  });

  it.each([
    ["together", node()],
    ["one by one", oneByOne(node())],
  ])("dies with the defect of an answer's reader, and leaves nothing open: %s", async (_, layer) => {
    const broken = mapped(raw("eth_chainId"), (): never => {
      throw new Error("broken");
    });
    const { effect, ledger } = inRun(together({ open: raw("eth_blockNumber"), broken }));
    const exit = await Effect.runPromiseExit(Effect.provide(effect, layer));
    expect(Exit.isFailure(exit) && String(exit.cause)).toContain("broken");
    expect(ledger.map(({ method }) => method).sort()).toEqual(["eth_blockNumber", "eth_chainId"]);
  });

  it("is not sent where its run was not let in", async () => {
    const busy = node({ maxInFlight: 1, maxWaitMs: 5 });
    const { effect, ledger } = inRun(raw("eth_chainId"));
    const answers = await Effect.runPromise(
      Effect.gen(function* () {
        const { admit } = yield* Rpc.Rpc;
        const first = yield* Effect.forkChild(admit(Effect.sleep(60)));
        yield* Effect.sleep(1);
        const answer = yield* effect;
        yield* Fiber.join(first);
        return answer;
      }).pipe(Effect.provide(busy)),
    );
    expect(Result.isFailure(answers) && answers.failure).toMatchObject({ reason: { _tag: "AdmissionTimeout" } });
    expect(ledger.map(({ tries }) => tries)).toEqual([0]);
  });

  it("ends each request at a deadline of its own", async () => {
    const by =
      (deadline: number, ask: typeof open): typeof open =>
      (asking, hear) =>
        ask({ ...asking, run: { ...asking.run, deadline } }, hear);
    const open = raw("eth_blockNumber");
    const { effect, ledger } = inRun(together({ first: by(100, open), second: by(250, open) }));
    const answers = await Effect.runPromise(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(effect);
        yield* TestClock.adjust(100);
        expect(ledger.map(({ ms }) => ms)).toEqual([100]);
        yield* TestClock.adjust(150);
        return yield* Fiber.join(fiber);
      }).pipe(Effect.provide(Layer.provideMerge(node(), TestClock.layer()))),
    );
    expect(told(answers)).toEqual({
      first: { failure: expect.stringMatching(/100 ms/) },
      second: { failure: expect.stringMatching(/250 ms/) },
    });
  });

  it("leaves no timer behind, neither of a deadline nor of a cancelled retry", async () => {
    let [timers, tries] = [0, 0];
    const clock = Object.assign(Object.create(Effect.runSync(Effect.service(Clock.Clock))) as Clock.Clock, {
      sleep: () =>
        Effect.callback<void>(() => {
          timers++;
          return Effect.sync(() => void timers--);
        }),
    });
    const busy = layerScripted(
      { eth_chainId: "0x1", eth_gasPrice: () => (tries++, rpcError({ code: -32005, message: "rate limit" })) },
      undefined,
      { retryTimes: 3 },
    ).pipe(Layer.provideMerge(Layer.succeed(Clock.Clock, clock)));
    await Effect.runPromise(Effect.provide(inRun(each(["eth_chainId", "eth_chainId"], raw)).effect, busy));
    // why: what a script answers is there before a timer is
    const later = Rpc.layerProvider({ request: async () => "0x1" }).pipe(
      Layer.provideMerge(Layer.succeed(Clock.Clock, clock)),
    );
    await Effect.runPromise(
      Effect.provide(
        Rpc.Rpc.use(({ request }) => request("eth_chainId", [])),
        later,
      ),
    );
    expect(timers).toBe(0);
    const fiber = Effect.runFork(Effect.provide(inRun(each(["eth_gasPrice"], raw)).effect, busy));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([timers, tries]).toEqual([2, 1]);
    await Effect.runPromise(Fiber.interrupt(fiber));
    expect([timers, tries]).toEqual([0, 1]);
  });

  it("counts each request as it ended, and those that were cancelled", async () => {
    const counts = await Effect.runPromise(
      Effect.gen(function* () {
        yield* inRun(each(["eth_chainId", "eth_nothing"], raw)).effect;
        const fiber = yield* Effect.forkChild(inRun(each(["eth_accounts", "eth_blockNumber"], raw)).effect);
        yield* Effect.sleep(5);
        yield* Fiber.interrupt(fiber);
        return yield* Metric.snapshot;
      }).pipe(Effect.provide(Layer.provideMerge(node(), Layer.succeed(Metric.MetricRegistry, new Map())))),
    );
    const told = counts.flatMap(({ id, attributes, state }) =>
      id === "evm_preflight_requests_total"
        ? [`${attributes?.["rpc.method"]} ${attributes?.["error.type"]} ${"count" in state ? state.count : ""}`]
        : [],
    );
    expect(told.sort()).toEqual([
      "eth_accounts undefined 1",
      "eth_blockNumber Interrupted 1",
      "eth_chainId undefined 1",
      "eth_nothing MethodNotSupported 1",
    ]);
  });

  it("sends nothing when it is empty, and starts nothing when its run is over", async () => {
    expect(await Effect.runPromise(Effect.provide(inRun(together({})).effect, node()))).toEqual({});
    const over = AbortSignal.abort("over");
    let begun = 0;
    const { effect } = inRun(beginning(Effect.sync(() => begun++)), { signal: over });
    expect(Exit.hasInterrupts(await Effect.runPromiseExit(Effect.provide(effect, node())))).toBe(true);
    expect(begun).toBe(0);
  });

  it("dies with the defect of a `send` that throws", async () => {
    const own = Layer.effect(
      Rpc.Rpc,
      Effect.map(Effect.service(Rpc.Rpc), (rpc) =>
        Rpc.Rpc.of({
          ...rpc,
          send: () => {
            throw new Error("broken");
          },
        }),
      ),
    ).pipe(Layer.provide(node()));
    const exit = await Effect.runPromiseExit(Effect.provide(inRun(raw("eth_chainId")).effect, own));
    expect(Exit.isFailure(exit) && String(exit.cause)).toContain("broken");
  });
});
