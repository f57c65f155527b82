/** What a run without some part of a simulation is worth. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { checkTaken, leftOutOf } from "../../rooms/preflight.js";
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

describe("what was left out", () => {
  it("is told in the order of the parts, and what was ignored with it", () => {
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
  ])("without %s", (_, cases, seen, found) => {
    expect(codes(checkTaken(cases, seen))).toEqual(found);
  });
});

describe("the base fee without validation", () => {
  const cases = bundle({});
  const without = { without: new Set<SimulationPart>(["validation"]) };
  const free = holding(rich, { baseFeePerGas: 0n });
  const round = (changed: Parameters<typeof roundOf>[1] = {}) =>
    roundOf(cases, {
      run: Result.succeed(run([did()], { plan: plan(without), before: free })),
      alone: Result.succeed(named("alone", [], { plan: plan({ name: "alone", ...without }), before: free })),
      ...changed,
    });
  it("is what the header gives, never that of the simulated block", () => {
    const { simulatedBaseFee, quote, balanceOf } = answersTo(round());
    expect([simulatedBaseFee, quote.baseFeePerGas !== null && quote.baseFeePerGas > 0n]).toEqual([null, true]);
    expect(balanceOf(alice)).toBe(rich);
  });
  it("is what validation shows, where there is some", () => {
    const alone = Result.succeed(named("alone", []));
    const seen = Result.succeed(run([did()]));
    expect(answersTo(round({ run: seen, alone })).simulatedBaseFee).toBe(gwei);
  });
});
