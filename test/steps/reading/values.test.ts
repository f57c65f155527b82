/** Numbers in return values and events, by more than the tolerance. */
import { describe, expect, it } from "vitest";
import { movedValues } from "../../../src/steps/reading/values.js";
import type { Outcome } from "../../../src/report/parts.js";
import { log, outcome, token } from "../parts.js";

const word = (value: bigint) => value.toString(16).padStart(64, "0");
const returning = (...values: ReadonlyArray<bigint>): Outcome =>
  outcome({ returnData: `0x${values.map(word).join("")}` });
const emitting = (indexed: bigint, value: bigint): Outcome =>
  outcome({ logs: [log(token, ["11".repeat(32), word(indexed)], [word(value)])] });

describe("a number that is said", () => {
  it.each([
    ["the same", [5n], [5n], 0],
    ["by more than the tolerance otherwise", [5n], [9n], 1],
    ["within the tolerance", [1_790_000_000n], [1_790_000_013n], 0],
    ["in one of them only", [5n], [5n, 6n], 1],
    ["that is a hash", [1n << 200n], [1n << 201n], 0],
    ["twice", [5n, 5n], [9n, 9n], 1],
  ] as const)("%s", (_, one, other, told) => {
    expect(movedValues([returning(...one)], [returning(...other)], 0.005)).toHaveLength(told);
  });
  it("counts in events, indexed or not", () => {
    expect(movedValues([emitting(1n, 5n)], [emitting(1n, 9n)], 0.005)).toEqual([
      "transaction 0, event 0: another value",
    ]);
    expect(movedValues([emitting(1n, 5n)], [emitting(2n, 5n)], 0.005)).toHaveLength(1);
    expect(movedValues([emitting(1n, 5n)], [emitting(1n, 5n)], 0)).toEqual([]);
  });
  it("is nothing where one of them failed, which is told otherwise", () => {
    expect(movedValues([returning(5n)], [outcome({ status: "reverted" })], 0)).toEqual([]);
  });
});
