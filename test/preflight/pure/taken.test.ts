/** What a run without some part of a simulation is worth. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { sent } from "../../rooms/eth.js";
import { InvalidParams, NodeSyncing, RpcError, SimBlockOrder } from "../../../src/Errors.js";
import { ExecutionReverted, IntrinsicGasTooLow } from "../../../src/Errors.js";
import * as Rpc from "../../../src/Rpc.js";
import { layerScripted, rpcError, type Answer } from "../../../src/testing.js";
import { indexAbis } from "../../rooms/abi.js";
import { adapt, askPlan, checkUnsupported, leftOutOf, learn, simulate } from "../../rooms/pipeline.js";
import type { SimulationPart } from "../../rooms/primitives.js";
import type { Transaction } from "../../../src/Transaction.js";
import { alice, caseOf, codes, filled, hexOf, parties, transaction } from "../../steps/parts.js";
import { gwei } from "../../steps/reading/facts.js";
import { answersTo, did, holding, named, plan, rich, roundOf, run } from "./world.js";
import { bundle } from "../../steps/parts.js";

const left = (...parts: ReadonlyArray<SimulationPart>) => ({ plan: plan({ without: new Set(parts) }) });
const plain = [filled(caseOf())];
const called = (changed: Partial<Transaction>, kind: "contract" | "delegated" | "nobody") => [
  filled(caseOf(changed), { code: parties(transaction(changed), kind) }),
];

describe("the parts that were left out", () => {
  it("are shown in the order of the parts, with those ignored", () => {
    expect(leftOutOf(null)).toEqual([]);
    expect(leftOutOf(run([did()]))).toEqual([]);
    expect(leftOutOf(run([did()], { traced: false }))).toEqual(["traceTransfers"]);
    expect(leftOutOf(run([did()], left("blockOverrides", "validation")))).toEqual(["validation", "blockOverrides"]);
  });

  it.each([
    ["nothing", plain, run([did()]), []],
    ["validation", plain, run([did()], left("validation")), ["NotValidated/warning"]],
    ["block overrides", plain, run([did()], left("blockOverrides")), ["BlockNotPretended/unavailable"]],
    ["tracing, where nothing is executed", plain, run([did()], { traced: false }), ["NativeMovesUnseen/info"]],
    [
      "tracing, where a contract is called",
      called({ data: hexOf("0x12345678") }, "contract"),
      run([did()], { traced: false }),
      ["NativeMovesUnseen/warning"],
    ],
    [
      "tracing, where a contract is paid",
      called({ value: 1n }, "contract"),
      run([did()], { traced: false }),
      ["NativeMovesUnseen/warning"],
    ],
    ["tracing, though other events told", plain, run([did()], left("traceTransfers")), []],
  ])("are named: without %s", (_, cases, seen, found) => {
    expect(codes(checkUnsupported(cases, seen))).toEqual(found);
  });
});

describe("the base fee without validation", () => {
  const cases = bundle({});
  const without = { without: new Set<SimulationPart>(["validation"]) };
  const free = holding(rich, { baseFeePerGas: 0n });
  const round = (changed: Parameters<typeof roundOf>[1] = {}) =>
    roundOf(cases, {
      run: Result.succeed(run([did()], { plan: plan(without), before: free })),
      reader: Result.succeed(named("readerOnly", [], { plan: plan({ name: "readerOnly", ...without }), before: free })),
      ...changed,
    });
  it("is the header's, never that of the simulated block", () => {
    const { simulatedBaseFee, quote, balanceOf } = answersTo(round());
    expect([simulatedBaseFee, quote.baseFeePerGas !== null && quote.baseFeePerGas > 0n]).toEqual([null, true]);
    expect(balanceOf(alice)).toBe(rich);
  });
  it("is the validated one, where there is some", () => {
    const reader = Result.succeed(named("readerOnly", []));
    const seen = Result.succeed(run([did()]));
    expect(answersTo(round({ run: seen, reader })).simulatedBaseFee).toBe(gwei);
  });
});

const whole = plan({
  ...{
    blockOverrides: { time: 7n, beaconRoot: `0x${"be".repeat(32)}` as const },
    ahead: [{ time: 5n, beaconRoot: `0x${"be".repeat(32)}` as const }],
    lens: [`0x${"11".repeat(20)}`],
  },
});

const rootless = { ...whole, blockOverrides: { time: 7n } };

describe("the parts that an endpoint lacks", () => {
  it.each([
    ["nothing", [], {}],
    ["a part", ["validation"], { without: new Set(["validation"]) }],
    ["the block, and what stands in front", ["blockOverrides"], { without: new Set(["blockOverrides"]), ahead: [] }],
    ["the entry of the lens", ["entries"], { lens: [] }],
    [
      "the root of a beacon block, and of those in front",
      ["beaconRoot"],
      { blockOverrides: { time: 7n }, ahead: [{ time: 5n }] },
    ],
    ["what no plan goes without", ["deployment"], {}],
  ] as const)("leave out %s", (_, lacks, expected) =>
    expect(adapt(whole, new Set(lacks))).toEqual({ ...whole, ...expected }),
  );

  const invalid = (detail: string) => new RpcError({ method: "m", reason: new InvalidParams({ detail }) });
  const order = new RpcError({ method: "m", reason: new SimBlockOrder({ detail: "" }) });
  const syncing = new RpcError({ method: "m", reason: new NodeSyncing({ detail: "" }) });
  const lens = { part: "entries", isNamed: false };
  it.each([
    [
      "a part by its name",
      whole,
      invalid("unknown field `validation`"),
      { part: "validation", isNamed: true, isLasting: true },
    ],
    [
      "the same words again",
      { ...rootless, without: new Set(["validation"] as const) },
      invalid("unknown field `validation`"),
      { ...lens, isLasting: true },
    ],
    [
      "a root by its name, before anything else that may be to blame",
      { ...whole, second: [{ account: "0x1", token: "0x2" }] as never },
      invalid("unknown field `beaconRoot`, expected one of `number`, `time`"),
      { part: "beaconRoot", isNamed: true, isLasting: true },
    ],
    [
      "a root that is only one of those that are known",
      whole,
      invalid("unknown field `x`, expected one of `number`, `beaconRoot`"),
      { ...lens, isLasting: true },
    ],
    [
      "a form that may be the root's",
      { ...whole, lens: [] },
      invalid("nonsense"),
      { ...lens, part: "beaconRoot", isLasting: true },
    ],
    [
      "a block hash that is not taken, which is no root's",
      whole,
      invalid("block hash not supported"),
      { ...lens, isLasting: true },
    ],
    ["a form that may be the lens's", rootless, invalid("nonsense"), { ...lens, isLasting: true }],
    [
      "gas that the lens may have taken",
      whole,
      new IntrinsicGasTooLow({ have: 1n, want: 2n, raw: null }),
      { ...lens, isLasting: false },
    ],
    ["an order of blocks", { ...whole, blockOverrides: null }, order, { ...lens, isLasting: true }],
    ["a number that we have set", { ...whole, blockOverrides: { number: 7n } }, order, null],
    ["a form, without a lens", { ...rootless, lens: [] }, invalid("nonsense"), null],
    ["a node in trouble", whole, syncing, null],
    ["what the call does", whole, new ExecutionReverted({}), null],
  ] as const)("are learned from %s", (_, given, failure, expected) => expect(learn(given, failure)).toEqual(expected));
});

describe("a run with a root or lens that may be to blame", () => {
  const asked = (answers: (asked: number) => Answer, of: typeof whole = rootless) =>
    Effect.gen(function* () {
      const heard = yield* sent(simulate({ ...of, ahead: [] }, indexAbis([])));
      const { memory } = yield* Rpc.Rpc;
      const lacks = memory.recall("lacks");
      return [Result.isSuccess(heard), lacks?.has("entries") ?? false, lacks?.has("beaconRoot") ?? false];
    }).pipe(Effect.provide(layerScripted({ eth_simulateV1: (_, before) => answers(before) })), Effect.runPromise);
  const refusal = rpcError({ code: -32602, message: "nonsense" });
  const block = { number: "0x1", hash: `0x${"01".repeat(32)}`, timestamp: "0x1", gasLimit: "0x1", gasUsed: "0x0" };
  const ran = [{ ...block, parentHash: `0x${"02".repeat(32)}`, calls: [] }];
  it("is asked without it, and that is remembered where it helped", async () =>
    expect(await asked((before) => (before === 0 ? refusal : ran))).toEqual([true, true, false]));
  it("leaves no mark on the endpoint where that did not help", async () =>
    expect(await asked(() => refusal)).toEqual([false, false, false]));
  it("is remembered beside a part named in between, and has no slots without its lens", async () => {
    const named = rpcError({ code: -32602, message: "unknown field `validation`" });
    const answers = [refusal, named, ran];
    const made = Effect.gen(function* () {
      const { slots } = yield* Effect.fromResult(yield* sent(simulate({ ...rootless, ahead: [] }, indexAbis([]))));
      const { memory } = yield* Rpc.Rpc;
      return { slots, lacks: [...(memory.recall("lacks")?.keys() ?? [])] };
    });
    const layer = layerScripted({ eth_simulateV1: (_, before) => answers[before] ?? ran });
    expect(await Effect.runPromise(made.pipe(Effect.provide(layer)))).toEqual({
      slots: null,
      lacks: ["validation", "entries"],
    });
  });
  it("is asked without its root where the lens is not to blame, or leaving that out did not help", async () => {
    expect(await asked((before) => (before === 0 ? refusal : ran), { ...whole, lens: [] })).toEqual([
      true,
      false,
      true,
    ]);
    expect(await asked((before) => (before < 2 ? refusal : ran), whole)).toEqual([true, false, true]);
    expect(await asked(() => refusal, whole)).toEqual([false, false, false]);
  });
});

it("a run is not sent to an endpoint that refused simulations, and fails by that refusal", async () => {
  let simulations = 0;
  const asked = Effect.gen(function* () {
    const { memory } = yield* Rpc.Rpc;
    const refusal = new RpcError({ method: "eth_simulateV1", reason: new InvalidParams({ detail: "", code: -32602 }) });
    memory.learn("lacks", new Map([["any", refusal]]));
    const runs = yield* sent(askPlan({ options: { abis: [] } as never }, plan({ ahead: [] })));
    const result = runs.get("ample");
    return result !== undefined && Result.isFailure(result) && result.failure === refusal;
  });
  const layer = layerScripted({ eth_simulateV1: () => (simulations++, []) });
  expect([await Effect.runPromise(asked.pipe(Effect.provide(layer))), simulations]).toEqual([true, 0]);
});
