/** What two runs say otherwise in return values and events: numbers by more than the tolerance. */
import { describe, expect, it } from "vitest";
import { differenceText } from "../../rooms/primitives.js";
import { compareEffects, type Terms } from "../../rooms/steps.js";
import type { Outcome } from "../../rooms/report.js";
import { alice, bob, log, outcome, token, word as wordOf } from "../parts.js";

const word = (value: bigint) => value.toString(16).padStart(64, "0");
const returning = (...values: ReadonlyArray<bigint>): Outcome =>
  outcome({ returnData: `0x${values.map(word).join("")}` });
const emitting = (indexed: bigint, value: bigint): Outcome =>
  outcome({ logs: [log(token, ["11".repeat(32), word(indexed)], [word(value)])] });

const linesOf = (
  kind: "value" | "number",
  one: ReadonlyArray<Outcome>,
  other: ReadonlyArray<Outcome>,
  by: Pick<Terms, "tolerance" | "numbers"> & Partial<Terms>,
) => {
  const nothing = { transfers: [], balanceChanges: [], approvals: [], producer: null };
  const measure = { whose: new Set<string>(), concerned: new Set<string>(), ...by };
  return compareEffects({ ...nothing, outcomes: one }, { ...nothing, outcomes: other }, measure)
    .filter((found) => found.kind === kind)
    .map((found) => differenceText(found));
};
const movedValues = (one: ReadonlyArray<Outcome>, other: ReadonlyArray<Outcome>, tolerance: number) =>
  linesOf("value", one, other, { tolerance, numbers: "all" });

describe("a returned number", () => {
  it.each([
    ["the same", [5n], [5n], 0],
    ["by more than the tolerance otherwise", [5n], [9n], 1],
    ["within the tolerance", [1_790_000_000n], [1_790_000_013n], 0],
    ["in one of them only", [5n], [5n, 6n], 1],
    ["that is a hash", [1n << 200n], [1n << 201n], 0],
    ["twice", [5n, 5n], [9n, 9n], 1],
  ] as const)("is compared: %s", (_, one, other, told) => {
    expect(movedValues([returning(...one)], [returning(...other)], 0.005)).toHaveLength(told);
  });
  it("is compared in events, too, indexed or not", () => {
    expect(movedValues([emitting(1n, 5n)], [emitting(1n, 9n)], 0.005)).toEqual([
      "transaction 1, event 1: another value",
    ]);
    expect(movedValues([emitting(1n, 5n)], [emitting(2n, 5n)], 0.005)).toHaveLength(1);
    expect(movedValues([emitting(1n, 5n)], [emitting(1n, 5n)], 0)).toEqual([]);
  });
  it("has its transaction and event counted from one, as in the report's findings", () => {
    const same = emitting(1n, 5n);
    expect(movedValues([same, emitting(1n, 5n)], [same, emitting(1n, 9n)], 0)).toEqual([
      "transaction 2, event 1: another value",
    ]);
  });
  it("is ignored where one of them failed, which has its own finding", () => {
    expect(movedValues([returning(5n)], [outcome({ status: "reverted" })], 0)).toEqual([]);
  });
});

describe("a number that an event gives somebody", () => {
  const said = (value: bigint, of: string = alice, kind = "11".repeat(32)): ReadonlyArray<Outcome> => [
    outcome({ logs: [log(token, [kind, wordOf(of as never)], [word(value)])] }),
  ];
  const [deposit, transfer] = ["e1fffcc4923d04b5", "ddf252ad1be2c89b"].map((kind) => kind.padEnd(64, "0"));
  const moved = (one: ReadonlyArray<Outcome>, other: ReadonlyArray<Outcome>) =>
    linesOf("number", one, other, {
      ...{ tolerance: 0.005, concerned: new Set([alice.slice(2)]) },
      numbers: (a, b) => a - b === 13n,
    });
  it.each([
    ["of one who matters", said(1_000n), said(0n), ["transaction 1, event 1: 1000 and 0"]],
    ["within the tolerance", said(1_000n), said(1_004n), []],
    ["as the clock does", said(33n), said(20n), []],
    ["of a stranger", said(1_000n, bob), said(0n, bob), []],
    ["that is a hash", said(1n << 200n), said(1n << 201n), []],
    ["of a vault's deposit", said(9n, alice, deposit), said(5n, alice, deposit), ["transaction 1, event 1: 9 and 5"]],
    ["of a movement, which is compared as one", said(9n, alice, transfer), said(5n, alice, transfer), []],
  ])("is compared: %s", (_, one, other, lines) => expect(moved(one, other)).toEqual(lines));
});
