/** What a round says of the world, whichever request said it. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { InsufficientFunds, RpcError } from "../../rooms/errors.js";
import { Hash } from "../../rooms/primitives.js";
import type { Run } from "../../rooms/steps.js";
import { balanceOf, unseen } from "../../rooms/witness.js";
import { alice, answered, bundle, chain, seeing, token, unanswered } from "../../steps/parts.js";
import { gwei } from "../../steps/reading/facts.js";
import { answersTo, did, holding, named, options, plan, rich, roundOf, run } from "./world.js";

const cases = bundle({});
const failed = Result.fail(unanswered("eth_simulateV1"));
const nobodySaw = { before: unseen, after: unseen, witnessed: false } as const;

describe("the chain id of a report", () => {
  const of = (changed: Parameters<typeof roundOf>[1], given: Parameters<typeof answersTo>[1] = {}) =>
    answersTo(roundOf(cases, changed), given);
  it("is the simulation's, else the node's, else none", () => {
    expect(of({ namedChainId: Result.succeed(5) }).chainId).toBe(1);
    expect(of({ run: null, reader: null, namedChainId: Result.succeed(5) }).chainId).toBe(5);
    expect(of({ run: null, reader: null, namedChainId: failed }).chainId).toBeNull();
  });
  it("is never a number that a double cannot hold exactly", () => {
    for (const chainId of [0n, 2n ** 53n, 2n ** 255n]) {
      const seen = Result.succeed(run([did()], { before: holding(rich, { chainId }) }));
      expect(of({ run: seen, reader: null, namedChainId: null }).chainId).toBeNull();
    }
  });
  it("has its own description, and the input's where no answer names one", () => {
    const asked: Array<number | null> = [];
    const chains = (id: number | null) => {
      asked.push(id);
      return chain();
    };
    of({}, { chains, named: 10 });
    of({ run: null, reader: null, namedChainId: null }, { chains, named: 10 });
    of({ run: null, reader: null, namedChainId: null }, { chains });
    expect(asked).toEqual([1, 10, null]);
  });
});

describe("the base fee and the block's gas", () => {
  const pretended = holding(rich, { baseFeePerGas: 0n, gasLimit: 10n ** 12n });
  const free = (name: "ample" | "funded") => Result.succeed(named(name, [did()], { before: pretended }));
  it("are never those of a run that overrides them", () => {
    for (const name of ["ample", "funded"] as const) {
      const beside = answersTo(roundOf(cases, { run: free(name) }));
      expect([beside.simulatedBaseFee, beside.blockGasLimit]).toEqual([gwei, 30_000_000n]);
      const lone = answersTo(roundOf(cases, { run: free(name), reader: null }));
      expect([lone.simulatedBaseFee, lone.blockGasLimit]).toEqual([null, 30_000_000n]);
      const dark = answersTo(
        roundOf(cases, { run: free(name), reader: null, history: null, receipts: null, header: null }),
      );
      expect([dark.simulatedBaseFee, dark.blockGasLimit, dark.quote.baseFeePerGas]).toEqual([null, null, null]);
    }
  });
  it("are those of a run that pays, where the witness-only run gave none", () => {
    const exact = Result.succeed(named("exact", [did()], { before: holding(rich, { baseFeePerGas: 7n }) }));
    expect(answersTo(roundOf(cases, { run: exact, reader: null })).simulatedBaseFee).toBe(7n);
  });
  it("are those of the witness-only run's block, where its witness was silent", () => {
    const reader = named("readerOnly", [], {
      ...nobodySaw,
      block: { ...named("readerOnly", []).block, baseFeePerGas: 9n },
    });
    const { simulatedBaseFee, before } = answersTo(roundOf(cases, { reader: Result.succeed(reader) }));
    expect([simulatedBaseFee, before.environment?.baseFeePerGas]).toEqual([9n, gwei]);
  });
});

describe("the source of the base fee and its parent", () => {
  const [near, far] = [Hash.make(`0x${"01".repeat(32)}`), Hash.make(`0x${"02".repeat(32)}`)];
  const exact = (without: ReadonlyArray<"validation"> = []) =>
    named("exact", [did()], {
      plan: plan({ name: "exact", without: new Set(without) }),
      before: holding(rich, { baseFeePerGas: 7n, parentHash: far }),
    });
  const ahead = { ...exact().block, number: 101n, baseFeePerGas: 5n, parentHash: near };
  const lone = named("readerOnly", [], { before: holding(rich, { baseFeePerGas: 9n, parentHash: near }) });
  const next = (number: bigint) =>
    named("next", [did()], { before: holding(rich, { baseFeePerGas: 6n, number, parentHash: near }) });
  const fixed = { ...options, blockOverrides: { baseFeePerGas: 3n } };
  it.each<[string, Readonly<Partial<Record<"run" | "reader" | "next", Run>>>, typeof options, bigint | null]>([
    ["the witness alone is first", { run: { ...exact(), ahead }, reader: lone }, options, 9n],
    ["the empty block in front is next", { run: { ...exact(), ahead } }, options, 5n],
    [
      "the empty block in front is next where it is the next block",
      { run: { ...exact(), ahead }, next: next(101n) },
      options,
      5n,
    ],
    [
      "an empty block behind the next block does not count",
      { run: { ...exact(), ahead }, next: next(100n) },
      options,
      6n,
    ],
    [
      "the empty block in front does not count where the caller pretends a base fee",
      { run: { ...exact(), ahead } },
      fixed,
      7n,
    ],
    ["the run's own is last", { run: exact() }, options, 7n],
    ["without validation there is none", { run: exact(["validation"]) }, options, null],
    ["without validation there is the one that the caller pretends", { run: exact(["validation"]) }, fixed, 7n],
  ])("%s", (_, { run = null, reader = null, next = null }, by, expected) => {
    const answered = (found: Run | null) => (found === null ? null : Result.succeed(found));
    const round = {
      ...roundOf(cases, { run: answered(run), reader: answered(reader) }),
      ...(next && { next: Result.succeed(next) }),
    };
    expect(answersTo(round, { options: by }).simulatedBaseFee).toBe(expected);
  });
});

describe("a balance before the calls", () => {
  const poor = holding(5n);
  it("is the run's, else the witness-only run's, else that of one of its calls", () => {
    const balance = (changed: Parameters<typeof roundOf>[1]) => answersTo(roundOf(cases, changed)).balanceOf(alice);
    expect(balance({ run: Result.succeed(run([did()], { before: poor })) })).toBe(5n);
    expect(balance({ run: Result.succeed(run([did()], nobodySaw)) })).toBe(rich);
    const called = { first: failed, view: poor };
    expect(balance({ run: failed, reader: failed, called })).toBe(5n);
    expect(balance({ run: failed, reader: failed, called: { first: failed, view: null } })).toBeNull();
  });
  it("is never read from a run that overrides it", () => {
    const funded = named("funded", [did()], { plan: plan({ name: "funded", pretended: true }), before: poor });
    const told = (reader: Parameters<typeof roundOf>[1]) =>
      answersTo(roundOf(cases, { run: Result.succeed(funded), ...reader })).balanceOf(alice);
    expect(told({})).toBe(rich);
    expect(told({ reader: null })).toBeNull();
  });
});

describe("a refused request", () => {
  it("stands beside the answered ones, by itself", () => {
    const poor = new InsufficientFunds({});
    const answers = answersTo(roundOf(cases, { run: Result.fail(poor), reader: failed }));
    expect([answers.run, answers.refused, answers.reader]).toEqual([null, poor, null]);
    expect(answers.readerRefused).toBeInstanceOf(RpcError);
    const asked = answersTo(roundOf(cases));
    expect([asked.refused, asked.readerRefused]).toEqual([null, null]);
    const unasked = answersTo(roundOf(cases, { run: null, reader: null }));
    expect([unasked.run, unasked.refused, unasked.readerRefused]).toEqual([null, null, null]);
  });
});

it("oracles are read by the witness-only run, before in the first that looked, after in the run only", () => {
  const query = balanceOf(token, alice);
  const [inRun, reader] = [seeing([query, answered(1n)]), seeing([query, answered(2n)])];
  const answers = answersTo(
    roundOf(cases, {
      run: Result.succeed(run([did()], { before: inRun, after: unseen })),
      reader: Result.succeed(named("readerOnly", [], { before: reader })),
    }),
  );
  const read = (view: typeof inRun) => view.call(query)?.data.slice(-1);
  expect([read(answers.before), read(answers.oracles), read(answers.after)]).toEqual(["1", "2", undefined]);
});

it("the fee quote has the level and the horizon of the options", () => {
  const quoteAt = (changed: Partial<typeof options>) => {
    const { quote, horizonSeconds } = answersTo(roundOf(cases), { options: { ...options, ...changed } });
    return [quote.tip, quote.horizonSeconds, horizonSeconds];
  };
  const chains = chain({ minTip: 0n });
  const { quote } = answersTo(roundOf(cases), { chains: () => chains, options: { ...options, feeLevel: "fast" } });
  expect(quote.tip).toBe(3n);
  expect(quoteAt({ feeHorizonSeconds: 24 }).slice(1)).toEqual([24, 24]);
});
