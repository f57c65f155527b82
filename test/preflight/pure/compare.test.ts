/** The runs of a proof beside each other, and beside the earlier report. */
import { describe, expect, it } from "vitest";
import {
  checkChange,
  checkContrast,
  checkNewcomers,
  effectsOf,
  everyStep,
  isBounded,
  isClose,
  isSamePlace,
  same,
  type WorldDiff,
  type Measure,
  type RunEffects,
} from "../../rooms/pipeline.js";
import { Address, Hash, nothing as about, type BlockRead, type OutcomeDifference } from "../../rooms/primitives.js";
import { messageOf, type Report } from "../../rooms/report.js";
import { compareEffects, holding as holdingOf, rights, type Run } from "../../rooms/steps.js";
import { place as placed, unseen } from "../../rooms/witness.js";
import { alice, bob, codes, environment, log, native, token, word } from "../../steps/parts.js";
import { topics } from "../../steps/reading/arbitrary.js";
import type { Policy } from "../../../src/Policy.js";
import { did, holding, named, nothing, rich, scanned } from "./world.js";

const on = (changed: Parameters<typeof environment>[0] = {}): Run =>
  named("exact", [did()], { before: holding(rich, changed) });
const blind: Run = named("exact", [did()], { before: unseen, after: unseen, witnessed: false });
const moved = on({ parentHash: Hash.make(`0x${"cd".repeat(32)}`) });

const { report, filled } = scanned();
const quiet: RunEffects = effectsOf(filled, on(), nothing);
const paying = (amount: bigint): RunEffects => ({ ...quiet, transfers: [native(0, alice, bob, amount)] });
const emitting: RunEffects = {
  ...quiet,
  outcomes: [did({ logs: [log(token, [topics.transfer, word(alice), word(bob)], [word(5n)])] }).outcome],
};

/** Alice has as much more of the native currency, or less. */
const gaining = (delta: bigint, tokenId: bigint | null = null): RunEffects => ({
  ...quiet,
  balanceChanges: [
    { account: alice, token: null, tokenId, before: 1_000n, after: 1_000n + delta, delta, evidence: "measured" },
  ],
});
const differences = (one: RunEffects, other: RunEffects, tolerance: number, whose: ReadonlySet<string> = new Set()) =>
  compareEffects(one, other, { tolerance, whose, concerned: new Set(), numbers: null });
const received: NonNullable<Policy["balances"]>[number] = { token: null, account: alice, bound: "received" };

it("two runs were in the same block where number and time say so, and without a witness that is unknown", () => {
  expect(isSamePlace(on(), on({ baseFeePerGas: 0n }))).toBe(true);
  expect(isSamePlace(on(), on({ timestamp: 1n }))).toBe(false);
  expect(isSamePlace(on(), on({ number: 102n }))).toBe(false);
  expect([isSamePlace(on(), blind), isSamePlace(blind, on())]).toEqual([false, false]);
});

const newcomersIn = (cases: Parameters<typeof checkNewcomers>[0], effects: RunEffects, measure: Measure) =>
  checkNewcomers(cases, effects, measure, everyStep);

describe("the contrast of two runs", () => {
  const close = (one: RunEffects, other: RunEffects, tolerance = 0.005) => isClose(one, other, tolerance);
  it("is close where only amounts differ, by no more than the base fee does", () => {
    expect(close(paying(1_000n), paying(1_060n))).toBe(true);
    expect(close(paying(1_000n), paying(1_100n))).toBe(false);
    expect(close(quiet, emitting)).toBe(false);
    expect(differences(paying(1_000n), paying(1_060n), 0.005)).toHaveLength(1);
  });
  it("is close up to the caller's tolerance, where that is larger", () => {
    expect(close(paying(1_000n), paying(1_100n), 0.1)).toBe(true);
    expect(differences(paying(1_000n), paying(1_060n), 0.1)).toEqual([]);
  });
});

describe("the comparison with the second simulated block", () => {
  const later = on({ timestamp: environment().timestamp + 13n });
  const fair = {
    isTrueToState: true,
    isTimePretended: false,
    inFlight: 0,
    between: [] as ReadonlyArray<Run>,
    called: null as ReadonlyArray<BlockRead> | null,
  };
  const check = (next: Run, contrast: Partial<WorldDiff> = {}, how: Partial<typeof fair> = {}) =>
    checkContrast(on(), next, { ...same, ...contrast }, { ...fair, ...how });
  const whose = new Set([alice]);
  const failing: RunEffects = { ...quiet, outcomes: [did({ status: "reverted" }).outcome] };
  const found = (one: RunEffects, other: RunEffects) => ({ found: differences(one, other, 0.005, whose) });
  const output = { ...about, transaction: 0, event: 0, a: null, b: null };
  const place: OutcomeDifference = { ...output, kind: "place", account: bob, decides: true };
  const another: OutcomeDifference = { ...output, kind: "address", decides: false };

  it("has no finding where it did the same", () => expect(check(later)).toEqual([]));
  it.each<[string, Partial<WorldDiff>, Record<WorldDiff["cause"], string>]>([
    [
      "more that leaves a sender",
      found(paying(1_000n), paying(2_000n)),
      { context: "SimulationDiverged/blocker", state: "DependsOnPending/warning", price: "PriceDependent/warning" },
    ],
    [
      "what leaves a sender in one of them only",
      found(quiet, paying(2_000n)),
      { context: "SimulationDiverged/blocker", state: "SimulationDiverged/blocker", price: "PriceDependent/warning" },
    ],
    [
      "the place of one who matters",
      { found: [place] },
      { context: "SimulationDiverged/blocker", state: "SimulationDiverged/blocker", price: "PriceDependent/warning" },
    ],
    [
      "the place of another",
      { found: [another] },
      { context: "ChanceDependent/warning", state: "DependsOnPending/warning", price: "PriceDependent/warning" },
    ],
    [
      "whether it succeeds",
      found(quiet, failing),
      { context: "NotYet/unavailable", state: "DependsOnPending/warning", price: "PriceDependent/warning" },
    ],
    [
      "what comes in",
      found({ ...quiet, transfers: [native(0, bob, alice, 5n)] }, { ...quiet, transfers: [native(0, bob, alice, 9n)] }),
      { context: "ChanceDependent/warning", state: "DependsOnPending/warning", price: "PriceDependent/info" },
    ],
    [
      "which events there are",
      found(quiet, emitting),
      { context: "ChanceDependent/warning", state: "DependsOnPending/warning", price: "PriceDependent/warning" },
    ],
  ])("reports a difference in %s by its cause", (_, contrast, expected) => {
    for (const cause of ["context", "state", "price"] as const)
      expect(codes(check(later, { ...contrast, cause }))).toEqual([expected[cause]]);
  });
  it("names transactions of the sender in flight first where the state differs", () => {
    const differing = { ...found(quiet, failing), cause: "state" } as const;
    const [finding] = check(later, differing, { inFlight: 2 });
    expect(codes(finding === undefined ? [] : [finding])).toEqual(["PredecessorsNotSimulated/warning"]);
    expect(finding?.numbers[0]).toMatchObject({ name: "in flight", value: 2n });
  });
  it.each<[string, RunEffects, RunEffects, NonNullable<Policy["balances"]>, boolean, ReadonlySet<string>?]>([
    ["the least that arrives", gaining(90n), gaining(100n), [received], true],
    ["the least that arrives, of every sender", gaining(90n), gaining(100n), [{ ...received, account: null }], true],
    ["the most that leaves", gaining(-90n), gaining(-100n), [{ ...received, bound: "spent" }], true],
    ["no policy", gaining(90n), gaining(100n), [], false],
    ["a policy that only reads it", gaining(90n), gaining(100n), [{ token: null, account: alice }], false],
    ["the other side", gaining(90n), gaining(100n), [{ ...received, bound: "spent" }], false],
    ["another's balance", gaining(90n), gaining(100n), [{ ...received, account: bob }], false],
    [
      "what the senders may spend, of somebody who is none",
      gaining(-90n),
      gaining(-100n),
      [{ token: null, account: null, bound: "spent" }],
      false,
      new Set<string>(),
    ],
    ["another token's", gaining(90n), gaining(100n), [{ ...received, token }], false],
    ["nothing that differs", gaining(100n), gaining(100n), [received], false],
    ["an id, which is no amount", gaining(90n, 7n), gaining(100n, 7n), [received], false],
    ["the least, where one world takes", gaining(-90n), gaining(100n), [received], false],
    [
      "a balance, where another moves that was not measured",
      { ...gaining(90n), transfers: [{ ...native(0, bob, alice, 5n), token }] },
      gaining(100n),
      [received],
      false,
    ],
  ])("is bounded by %s, or not", (_, one, other, bounds, expected, senders = whose) => {
    const bounding = { whose, senders, bounds, tolerance: 0.005 };
    expect(isBounded(differences(one, other, 0.005, whose), one, other, bounding)).toBe(expected);
  });
  it("warns where only numbers differ, or beside a difference that the state explains", () => {
    const number: OutcomeDifference = { ...output, kind: "number", a: 5n, b: 9n, decides: false };
    const [finding] = check(later, { ...same, found: [number] });
    expect(codes(finding === undefined ? [] : [finding])).toEqual(["ChanceDependent/warning"]);
    expect(finding && messageOf(finding)).toContain("transaction 1, event 1: 5 and 9");
    const all = [...found(gaining(90n), gaining(100n)).found, number];
    const bounded = { found: all, cause: "state", isBounded: true } as const;
    expect(codes(check(later, bounded))).toEqual(["DependsOnPending/info", "ChanceDependent/warning"]);
  });
  it("names every difference, with both values", () => {
    const contrast = found(paying(1_000n), paying(2_000n));
    const [finding] = check(later, contrast);
    expect(finding).toMatchObject({
      evidence: "measured",
      error: { differences: contrast.found },
    });
    const [gate] = check(later, found(quiet, failing));
    expect(gate?.numbers[0]).toMatchObject({
      unit: "difference",
      value: { kind: "status", a: "success", b: "reverted" },
    });
    expect(gate && messageOf(gate)).toContain("transaction 1: success and reverted");
    expect(gate?.numbers.filter(({ name }) => name.startsWith("block of"))).toHaveLength(2);
  });
  it("is impossible where a witness was silent, whatever happened", () =>
    expect(codes(check(blind, found(quiet, paying(2_000n))))).toEqual(["BaseNotComparable/unavailable"]));
  it("is impossible where a balance was pretended that nobody has", () =>
    expect(codes(check(later, found(quiet, paying(2_000n)), { isTrueToState: false }))).toEqual([
      "BaseNotComparable/unavailable",
    ]));
  it("proves nothing for code that reads the time, at the time of the first, unless the caller pretends that time", () => {
    const called = ["timestamp"] as const;
    expect(codes(check(on(), {}, { called }))).toEqual(["OverrideIgnored/unavailable"]);
    expect(codes(check(on(), {}, { called: ["number"] }))).toEqual(["OverrideIgnored/info"]);
    expect(check(on())).toEqual([]);
    expect(check(on(), {}, { isTimePretended: true, called })).toEqual([]);
    expect(codes(check(on(), found(quiet, paying(2_000n)), { called }))).toEqual([
      "SimulationDiverged/blocker",
      "OverrideIgnored/unavailable",
    ]);
  });
  it.each([
    ["timestamp", { time: 1n }],
    ["basefee", { baseFeePerGas: 123n }],
    ["gaslimit", { gasLimit: 5n }],
    ["coinbase", { feeRecipient: "0x00000000000000000000000000000000deadbeef" }],
    ["prevrandao", { prevRandao: `0x${"99".repeat(32)}` }],
    ["number", { number: 3n }],
    ["blobbasefee", { blobBaseFee: 7n }],
  ] as const)("proves nothing for code that reads %s, without its own value", (read, blockOverrides) => {
    const [name] = Object.keys(blockOverrides);
    const at = placed(new Uint8Array(40).fill(7));
    const ignoring: Run = { ...later, at, plan: { ...later.plan, block: "pending", blockOverrides } };
    for (const called of [[read], ["others"]] as const) {
      const [finding] = check(ignoring, {}, { called });
      expect([finding?.code, finding?.severity]).toEqual(["OverrideIgnored", "unavailable"]);
      expect(finding?.error).toMatchObject({ reason: { overrides: [name] } });
      expect(check(later, {}, { between: [ignoring], called })).toEqual([finding]);
    }
    expect(codes(check(ignoring, {}, { called: [] }))).toEqual(["OverrideIgnored/info"]);
    expect(check(ignoring)).toEqual([]);
  });
  it("proves nothing by the number of a block on latest state, because nothing shows which block that is", () => {
    const ignoring: Run = { ...later, plan: { ...later.plan, blockOverrides: { number: 3n } } };
    expect(codes(check(ignoring))).toEqual(["OverrideIgnored/unavailable"]);
  });
  it("is at least information where opcode 0x44 is the difficulty, for code that reads it or may", () => {
    const environment_ = {
      timestamp: environment().timestamp + 13n,
      prevRandao: Hash.make(`0x${"2".padStart(64, "0")}`),
    };
    const fixed = on(environment_);
    const run: Run = {
      ...fixed,
      block: { ...fixed.block, difficulty: 2n },
      plan: { ...fixed.plan, blockOverrides: { prevRandao: `0x${"99".repeat(32)}` } },
    };
    expect(check(run)).toEqual([]);
    expect(codes(check(run, {}, { called: ["others"] }))).toEqual(["DifficultyNotVaried/info"]);
    expect(codes(check(run, {}, { called: ["prevrandao"] }))).toEqual(["DifficultyNotVaried/warning"]);
    const other = { ...run, block: { ...run.block, difficulty: 3n } };
    expect(codes(check(other, {}, { called: ["others"] }))).toEqual(["OverrideIgnored/unavailable"]);
  });
});

describe("the comparison with the earlier report", () => {
  const found = (
    exact: Run,
    story: RunEffects,
    {
      followsPrice = false,
      assumed = false,
      isOwnScan = true,
      of = report,
      near = null,
    }: {
      readonly followsPrice?: boolean;
      readonly assumed?: boolean;
      readonly isOwnScan?: boolean;
      readonly of?: Report;
      readonly near?: RunEffects | null;
    } = {},
  ) =>
    codes(
      checkChange(of, exact, story, {
        followsPrice,
        assumed,
        isOwnScan,
        concerned: new Set(),
        whose: new Set([alice]),
        near,
      }),
    );
  it("has no finding where nothing differs", () => expect(found(on(), quiet)).toEqual([]));
  it("blames the contract on the same block: a blocker where a sender loses otherwise, else as the blocks compare", () => {
    expect(found(on(), paying(9n))).toEqual(["SimulationDiverged/blocker"]);
    expect(found(on(), emitting)).toEqual([]);
  });
  it("is that of the nearest block, where only the time makes the difference", () =>
    expect(found(on(), paying(9n), { near: quiet })).toEqual([]));
  it("warns of the changed state on another block, under pretended nonces, or of a report from outside", () => {
    expect(found(moved, emitting)).toEqual(["OutcomeChanged/warning"]);
    expect(found(blind, emitting)).toEqual(["OutcomeChanged/warning"]);
    expect(found(on(), paying(9n), { assumed: true })).toEqual(["OutcomeChanged/warning"]);
    expect(found(on(), emitting, { isOwnScan: false })).toEqual(["OutcomeChanged/warning"]);
  });
  it("ignores amounts that follow the price, because a scan has no price", () => {
    expect(found(on(), paying(9n), { followsPrice: true })).toEqual([]);
    expect(
      found(on(), paying(9n), { followsPrice: true, isOwnScan: false, of: { ...report, stage: "proven" } }),
    ).toEqual(["OutcomeChanged/warning"]);
  });
  it("is impossible for a report without an outcome", () => {
    for (const tier of ["call", "none"] as const)
      expect(found(on(), quiet, { of: { ...report, observed: { ...report.observed, tier } } })).toEqual([
        "OutcomeNotCompared/warning",
      ]);
  });
});

describe("parties that no earlier run had", () => {
  const asked = (changed: Partial<Measure>): Measure => ({ ...nothing, ...changed });
  const known = asked({ holdings: [holdingOf(alice, null), holdingOf(bob, null)] });
  it("are named, known ones are not, and the zero address is none", () => {
    const found = newcomersIn(filled, paying(1n), asked({ holdings: [holdingOf(alice, null)] }));
    expect(codes(found)).toEqual(["FirstSeenInProof/warning"]);
    expect(found[0]?.numbers).toEqual([{ name: "", unit: "address", value: bob }]);
    expect(newcomersIn(filled, paying(1n), known)).toEqual([]);
    const nobody = Address.make(`0x${"00".repeat(20)}`);
    expect(newcomersIn(filled, { ...quiet, transfers: [native(0, alice, nobody, 1n)] }, known)).toEqual([]);
  });
  it("include those new in a token though their native balance is known", () => {
    const inToken = { ...native(0, alice, bob, 1n), standard: "erc20", token } as const;
    const [finding] = newcomersIn(filled, { ...quiet, transfers: [inToken] }, known);
    expect(finding?.numbers.map(({ value }) => value)).toEqual([alice, bob]);
  });
  it("include those who got rights", () => {
    const granting = filled.map((one) => ({
      ...one,
      ...did({ logs: [log(token, [topics.approval, word(alice), word(bob)], [word(5n)])] }),
    }));
    const spenders = (measure: Measure) =>
      newcomersIn(granting, quiet, measure).flatMap(({ numbers }) => numbers.map(({ value }) => value));
    expect(spenders(known)).toEqual([bob]);
    expect(spenders({ ...known, rights: rights(granting, 9).kept })).toEqual([]);
  });
  it("are left out where more moves than is measured, and are at most eight", () => {
    const crowd = Array.from({ length: 20 }, (_, index) =>
      native(0, alice, Address.make(`0x${"99".repeat(19)}${(index + 10).toString(16).padStart(2, "0")}`), 1n),
    );
    const story = { ...quiet, transfers: crowd };
    expect(newcomersIn(filled, story, { ...known, cut: 1 })).toEqual([]);
    expect(newcomersIn(filled, story, known)[0]?.numbers).toHaveLength(8);
  });
});
