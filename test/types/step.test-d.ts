/** A step's types are found out from what it asks, and what it needs the verbs of its pipeline need. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { expectTypeOf, test } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import { Rpc } from "../../src/Rpc.js";
import * as Step from "../../src/Step.js";
import { createPreflight, type PlainStep } from "../../src/promise.js";
import { preflightActions } from "../../src/viem.js";

class Lists extends Context.Service<Lists, { readonly all: ReadonlyArray<string> }>()("Lists") {}
class Prices extends Context.Service<Prices, { readonly price: bigint }>()("Prices") {}

const lists = Step.make({
  name: "acme/lists",
  ask: (bundle, context) => {
    expectTypeOf(bundle[0].value).toEqualTypeOf<bigint>();
    expectTypeOf(context.chainId).toEqualTypeOf<number | null>();
    return Effect.flatMap(Rpc, () => Effect.map(Lists, ({ all }) => all));
  },
  check: (report, { answer, before }) => {
    expectTypeOf(report).toEqualTypeOf<Report.Report>();
    expectTypeOf(answer).toEqualTypeOf<ReadonlyArray<string>>();
    expectTypeOf(before).toEqualTypeOf<Step.View>();
    return [];
  },
});
const prices = Step.make({
  name: "acme/prices",
  ask: () => Effect.map(Prices, ({ price }) => price),
  check: (_, { answer }) => (answer > 0n ? [] : [Step.warning("acme/Free", "no price")]),
});

test("a step needs the services of its requests", () => {
  expectTypeOf(lists).toEqualTypeOf<Step.Step<ReadonlyArray<string>, never, Rpc | Lists>>();
  const pipeline = Preflight.make({ steps: [lists, prices] });
  expectTypeOf(pipeline).toEqualTypeOf<Preflight.Pipeline<Lists | Prices>>();
  const report = null as unknown as Report.Report;
  expectTypeOf(pipeline.prove(report)).toEqualTypeOf<Effect.Effect<Report.Report, never, Rpc | Lists | Prices>>();
});

test("a step without requests needs none, wherever it is made", () => {
  const made = Preflight.make({
    steps: [
      Step.make({
        name: "acme/looks",
        check: (_, { answer }) => {
          expectTypeOf(answer).toEqualTypeOf<undefined>();
          return [];
        },
      }),
      { name: "acme/plain", check: () => [] },
    ],
  });
  expectTypeOf(made).toEqualTypeOf<Preflight.Pipeline>();
});

test("a name and a code have a slash", () => {
  expectTypeOf<"sanctions">().not.toExtend<Step.Step["name"]>();
  expectTypeOf(Step.blocker).parameter(0).toEqualTypeOf<`${string}/${string}`>();
  expectTypeOf<`${string}/${string}`>().toExtend<Report.FindingCode>();
  expectTypeOf<`${string}/${string}`>().toExtend<Report.StepName>();
});

test("the answer of a plain step has the type of its promise", () => {
  const client = createPreflight({
    url: "http://127.0.0.1:8545",
    steps: [
      {
        name: "acme/sanctions",
        ask: async (bundle, { request, stage }) => {
          expectTypeOf(bundle[0].to).toEqualTypeOf<`0x${string}` | null>();
          expectTypeOf(stage).toEqualTypeOf<"scan" | "proof">();
          return { listed: (await request({ method: "eth_call", params: [] })) === "0x01" };
        },
        check: (report, { answer }) => {
          expectTypeOf(report).toEqualTypeOf<Report.Report>();
          expectTypeOf(answer).toEqualTypeOf<{ listed: boolean }>();
          return answer.listed ? [{ code: "acme/Listed", severity: "blocker", sentence: "on a list" }] : [];
        },
      },
      { name: "acme/never", ask: async () => 7n, check: (_, { answer }) => (answer > 7n ? [] : []) },
      { name: "acme/plain", check: () => [] },
    ],
  });
  const listed: ReadonlyArray<PlainStep<bigint>> = [];
  createPreflight({ url: "http://127.0.0.1:8545", steps: listed });
  // @ts-expect-error a finding needs a sentence
  createPreflight({ url: "", steps: [{ name: "acme/a", check: () => [{ code: "acme/A", severity: "info" }] }] });
  // @ts-expect-error a name has a slash
  createPreflight({ url: "", steps: [{ name: "acme", check: () => [] }] });
  expectTypeOf(client.ready).returns.resolves.toEqualTypeOf<Report.Clearance>();
  preflightActions({
    steps: [{ name: "acme/a", ask: () => 1n, check: (_, { answer }) => (answer === 1n ? [] : []) }],
  });
});
