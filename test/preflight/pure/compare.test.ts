/** The runs of a proof beside each other, and beside the earlier report. */
import { describe, expect, it } from "vitest";
import { checkChange, checkContrast, checkNewcomers, contrast, isSameBase } from "../../../src/preflight/compare.js";
import type { Measure } from "../../../src/preflight/limits.js";
import { storyOf, type Told } from "../../../src/preflight/movements.js";
import { Address, Hash } from "../../../src/primitives/hex.js";
import type { Report } from "../../../src/report/schema.js";
import { holding as holdingOf } from "../../../src/steps/reading/holdings.js";
import { rights } from "../../../src/steps/reading/rights.js";
import type { Run } from "../../../src/steps/simulate.js";
import { unseen } from "../../../src/witness/view.js";
import { alice, bob, codes, environment, log, native, token, word } from "../../steps/parts.js";
import { topics } from "../../steps/reading/arbitrary.js";
import { did, holding, named, nothing, rich, scanned } from "./world.js";

const on = (changed: Parameters<typeof environment>[0] = {}): Run =>
  named("exact", [did()], { before: holding(rich, changed) });
const blind: Run = named("exact", [did()], { before: unseen, after: unseen, witnessed: false });
const moved = on({ parentHash: Hash.make(`0x${"cd".repeat(32)}`) });

const { report, filled } = scanned();
const quiet: Told = storyOf(filled, on(), nothing);
const paying = (amount: bigint): Told => ({ ...quiet, transfers: [native(0, alice, bob, amount)] });
const emitting: Told = {
  ...quiet,
  outcomes: [did({ logs: [log(token, [topics.transfer, word(alice), word(bob)], [word(5n)])] }).outcome],
};

it("two runs stood on the same block where number and parent say so, and nobody can tell without a witness", () => {
  expect(isSameBase(on(), on({ timestamp: 1n, baseFeePerGas: 0n }))).toBe(true);
  expect(isSameBase(on(), moved)).toBe(false);
  expect(isSameBase(on(), on({ number: 102n }))).toBe(false);
  expect([isSameBase(on(), blind), isSameBase(blind, on())]).toEqual([null, null]);
});

describe("the contrast of two runs", () => {
  it("is close where only amounts differ, and by no more than the base fee does", () => {
    expect(contrast(paying(1_000n), paying(1_000n), 0.005)).toEqual({ found: [], isClose: false });
    expect(contrast(paying(1_000n), paying(1_060n), 0.005)).toMatchObject({ isClose: true });
    expect(contrast(paying(1_000n), paying(1_100n), 0.005)).toMatchObject({ isClose: false });
    expect(contrast(quiet, emitting, 0.005)).toMatchObject({ isClose: false });
    expect(contrast(paying(1_000n), paying(1_060n), 0.005).found).toHaveLength(1);
  });
  it("that is within what the caller tolerates is none", () =>
    expect(contrast(paying(1_000n), paying(1_060n), 0.1)).toEqual({ found: [], isClose: false }));
});

describe("the other context", () => {
  const differing = contrast(quiet, emitting, 0);
  const same = contrast(quiet, quiet, 0);
  const found = (exact: Run, next: Run, compared = same, followsPrice = false) =>
    checkContrast(exact, next, compared, followsPrice);
  it("that did the same says nothing, and that did something else blocks, with the differences", () => {
    expect(found(on(), on())).toEqual([]);
    const [finding] = found(on(), on(), differing);
    expect(finding).toMatchObject({ code: "SimulationDiverged", severity: "blocker", evidence: "measured" });
    expect(finding?.error).toMatchObject({ differences: differing.found });
  });
  it("that stood elsewhere, or whose witness was silent, is not comparable, whatever it did", () => {
    for (const next of [moved, blind])
      expect(codes(found(on(), next, differing, true))).toEqual(["BaseNotComparable/unavailable"]);
    expect(found(on(), blind)[0]?.sentence).not.toBe(found(on(), moved)[0]?.sentence);
  });
  it("whose amounts follow the price is warned of", () =>
    expect(codes(found(on(), on(), contrast(paying(1_000n), paying(1_060n), 0), true))).toEqual([
      "PriceDependent/warning",
    ]));
});

describe("what differs from the earlier report", () => {
  const found = (
    exact: Run,
    story: Told,
    {
      followsPrice = false,
      assumed = false,
      of = report,
    }: {
      readonly followsPrice?: boolean;
      readonly assumed?: boolean;
      readonly of?: Report;
    } = {},
  ) => codes(checkChange(of, exact, story, { followsPrice, assumed }));
  it("is nothing where nothing does", () => expect(found(on(), quiet)).toEqual([]));
  it("on the same block is the contract's doing: a blocker", () =>
    expect(found(on(), emitting)).toEqual(["SimulationDiverged/blocker"]));
  it("on another block, under pretended nonces, or since it was proven, is the world's: a warning", () => {
    expect(found(moved, emitting)).toEqual(["OutcomeChanged/warning"]);
    expect(found(blind, emitting)).toEqual(["OutcomeChanged/warning"]);
    expect(found(on(), emitting, { assumed: true })).toEqual(["OutcomeChanged/warning"]);
    expect(found(on(), emitting, { of: { ...report, stage: "proven" } })).toEqual(["OutcomeChanged/warning"]);
  });
  it("in amounts that follow the price is no change since a scan, which has no price", () => {
    expect(found(on(), paying(9n), { followsPrice: true })).toEqual([]);
    expect(found(on(), emitting, { followsPrice: true })).toEqual(["SimulationDiverged/blocker"]);
    expect(found(on(), paying(9n), { followsPrice: true, of: { ...report, stage: "proven" } })).toEqual([
      "OutcomeChanged/warning",
    ]);
  });
  it("cannot be told of a report that learned no outcome", () => {
    for (const tier of ["call", "none"] as const)
      expect(found(on(), quiet, { of: { ...report, observed: { ...report.observed, tier } } })).toEqual([
        "OutcomeNotCompared/warning",
      ]);
  });
});

describe("parties that no earlier run knew", () => {
  const asked = (changed: Partial<Measure>): Measure => ({ ...nothing, ...changed });
  const known = asked({ holdings: [holdingOf(alice, null), holdingOf(bob, null)] });
  it("are named, those known are not, and nobody is nobody", () => {
    const found = checkNewcomers(filled, paying(1n), asked({ holdings: [holdingOf(alice, null)] }));
    expect(codes(found)).toEqual(["FirstSeenInProof/warning"]);
    expect(found[0]?.numbers).toEqual([{ name: "", unit: "address", value: bob }]);
    expect(checkNewcomers(filled, paying(1n), known)).toEqual([]);
    const nobody = Address.make(`0x${"00".repeat(20)}`);
    expect(checkNewcomers(filled, { ...quiet, transfers: [native(0, alice, nobody, 1n)] }, known)).toEqual([]);
  });
  it("are new in a token though known by their native balance", () => {
    const inToken = { ...native(0, alice, bob, 1n), standard: "erc20", token } as const;
    const [finding] = checkNewcomers(filled, { ...quiet, transfers: [inToken] }, known);
    expect(finding?.numbers.map(({ value }) => value)).toEqual([alice, bob]);
  });
  it("are those who got rights, too", () => {
    const granting = filled.map((one) => ({
      ...one,
      ...did({ logs: [log(token, [topics.approval, word(alice), word(bob)], [word(5n)])] }),
    }));
    const spenders = (measure: Measure) =>
      checkNewcomers(granting, quiet, measure).flatMap(({ numbers }) => numbers.map(({ value }) => value));
    expect(spenders(known)).toEqual([bob]);
    expect(spenders({ ...known, rights: rights(granting, 9).kept })).toEqual([]);
  });
  it("are not named where more moves than is measured anyway, and at most eight are", () => {
    const crowd = Array.from({ length: 20 }, (_, index) =>
      native(0, alice, Address.make(`0x${"99".repeat(19)}${(index + 10).toString(16).padStart(2, "0")}`), 1n),
    );
    const story = { ...quiet, transfers: crowd };
    expect(checkNewcomers(filled, story, { ...known, cut: 1 })).toEqual([]);
    expect(checkNewcomers(filled, story, known)[0]?.numbers).toHaveLength(8);
  });
});
