/** The runs of a proof beside each other, and beside the earlier report. */
import { describe, expect, it } from "vitest";
import { checkChange, checkContrast, checkNewcomers, isClose, isSameBase } from "../../../src/preflight/compare.js";
import type { Measure } from "../../../src/preflight/limits.js";
import { storyOf, type Told } from "../../../src/preflight/movements.js";
import { Address, Hash } from "../../../src/primitives/hex.js";
import type { Report } from "../../../src/report/schema.js";
import { differences } from "../../../src/steps/reading/differences.js";
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
  const close = (one: Told, other: Told, tolerance = 0.005) => isClose(one, other, tolerance);
  it("is close where only amounts differ, and by no more than the base fee does", () => {
    expect(close(paying(1_000n), paying(1_060n))).toBe(true);
    expect(close(paying(1_000n), paying(1_100n))).toBe(false);
    expect(close(quiet, emitting)).toBe(false);
    expect(differences(paying(1_000n), paying(1_060n), 0.005)).toHaveLength(1);
  });
  it("is as close as the caller tolerates, where that is more", () => {
    expect(close(paying(1_000n), paying(1_100n), 0.1)).toBe(true);
    expect(differences(paying(1_000n), paying(1_060n), 0.1)).toEqual([]);
  });
});

describe("the other context", () => {
  const later = on({ timestamp: environment().timestamp + 13n });
  const same: Parameters<typeof checkContrast>[2] = {
    ...{ found: [], chance: [], followsPrice: false, isTrueToState: true, isTimePretended: false },
  };
  const differing = { ...same, found: differences(quiet, emitting, 0) };
  it("that did the same says nothing, and that did something else blocks, with the differences", () => {
    expect(checkContrast(on(), later, same)).toEqual([]);
    const [finding] = checkContrast(on(), later, differing);
    expect(finding).toMatchObject({ code: "SimulationDiverged", severity: "blocker", evidence: "measured" });
    expect(differing.found).toHaveLength(1);
    expect(finding?.error).toMatchObject({ differences: differing.found });
  });
  it("that stood elsewhere, or whose witness was silent, is not comparable, whatever it did", () => {
    for (const next of [moved, blind])
      expect(codes(checkContrast(on(), next, { ...differing, followsPrice: true }))).toEqual([
        "BaseNotComparable/unavailable",
      ]);
    expect(checkContrast(on(), blind, same)[0]?.numbers).not.toEqual(checkContrast(on(), moved, same)[0]?.numbers);
  });
  it("in which a balance was pretended that nobody has is not comparable either", () =>
    expect(codes(checkContrast(on(), later, { ...differing, isTrueToState: false }))).toEqual([
      "BaseNotComparable/unavailable",
    ]));
  it("at the very time of the first one shows nothing, unless the caller pretends that time", () => {
    expect(codes(checkContrast(on(), on(), same))).toEqual(["BaseNotComparable/unavailable"]);
    expect(checkContrast(on(), on(), { ...same, isTimePretended: true })).toEqual([]);
  });
  it("at the same time that did something else blocks all the same", () => {
    for (const isTimePretended of [true, false])
      expect(codes(checkContrast(on(), on(), { ...differing, isTimePretended }))).toEqual([
        "SimulationDiverged/blocker",
      ]);
  });
  it("in which another address stands by chance is warned of, and where", () => {
    const [finding] = checkContrast(on(), later, { ...same, chance: ["transaction 0, event 2: another address"] });
    expect([finding?.code, finding?.severity]).toEqual(["ChanceDependent", "warning"]);
    expect(finding?.numbers).toMatchObject([{ value: "transaction 0, event 2: another address" }]);
    expect(codes(checkContrast(on(), later, { ...differing, chance: ["x"] }))).toEqual(["SimulationDiverged/blocker"]);
  });
  it.each([
    ["time", { time: 1n }],
    ["base fee", { baseFeePerGas: 123n }],
    ["gas limit", { gasLimit: 5n }],
    ["fee recipient", { feeRecipient: "0x00000000000000000000000000000000deadbeef" }],
    ["randomness", { prevRandao: `0x${"99".repeat(32)}` }],
    ["number", { number: 3n }],
  ] as const)("that was not given its own %s shows nothing", (name, blockOverrides) => {
    const ignoring: Run = { ...later, plan: { ...later.plan, blockOverrides } };
    const [finding] = checkContrast(on(), ignoring, same);
    expect([finding?.code, finding?.severity]).toEqual(["BaseNotComparable", "unavailable"]);
    expect(JSON.stringify(finding?.numbers)).toContain(name);
  });
  it("whose amounts follow the price is warned of", () =>
    expect(codes(checkContrast(on(), later, { ...differing, followsPrice: true }))).toEqual([
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
      isOwnScan = true,
      of = report,
    }: {
      readonly followsPrice?: boolean;
      readonly assumed?: boolean;
      readonly isOwnScan?: boolean;
      readonly of?: Report;
    } = {},
  ) => codes(checkChange(of, exact, story, { followsPrice, assumed, isOwnScan, concerned: new Set() }));
  it("is nothing where nothing does", () => expect(found(on(), quiet)).toEqual([]));
  it("on the same block is the contract's doing: a blocker", () =>
    expect(found(on(), emitting)).toEqual(["SimulationDiverged/blocker"]));
  it("on another block, under pretended nonces, or for a report from outside, is the world's: a warning", () => {
    expect(found(moved, emitting)).toEqual(["OutcomeChanged/warning"]);
    expect(found(blind, emitting)).toEqual(["OutcomeChanged/warning"]);
    expect(found(on(), emitting, { assumed: true })).toEqual(["OutcomeChanged/warning"]);
    expect(found(on(), emitting, { isOwnScan: false })).toEqual(["OutcomeChanged/warning"]);
  });
  it("in amounts that follow the price is no change since a scan, which has no price", () => {
    expect(found(on(), paying(9n), { followsPrice: true })).toEqual([]);
    expect(found(on(), emitting, { followsPrice: true })).toEqual(["SimulationDiverged/blocker"]);
    expect(
      found(on(), paying(9n), { followsPrice: true, isOwnScan: false, of: { ...report, stage: "proven" } }),
    ).toEqual(["OutcomeChanged/warning"]);
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
