import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Address, Hash, Hex } from "../../src/primitives/hex.js";
import {
  between,
  choose,
  hasSameShape,
  isExhausted,
  isSame,
  settle,
  type Run,
} from "../../src/steps/reading/sameOutcome.js";
import { token } from "./parts.js";

const hash = (digit: string): Hash => Hash.make(`0x${digit.repeat(64)}`);

interface Told {
  readonly status?: "success" | "failure";
  readonly returns?: string;
  readonly emits?: ReadonlyArray<readonly [topic: string, data: string]>;
  readonly number?: bigint;
}

const run = ({ status = "success", returns = "0x", emits = [], number = 1n }: Told = {}): Run => ({
  block: { number, parentHash: hash("a"), timestamp: number },
  calls: [
    {
      status,
      returnData: Hex.make(returns as `0x${string}`),
      logs: emits.map(([topic, data]) => ({
        address: Address.make(token),
        topics: [hash(topic)],
        data: Hex.make(data as `0x${string}`),
      })),
    },
  ],
});

describe("two runs", () => {
  it("are the same in status, return data and every log", () => {
    expect(isSame(run({ returns: "0xAB" }), run({ returns: "0xab" }))).toBe(true);
    expect(isSame(run({ returns: "0xab" }), run({ returns: "0xac" }))).toBe(false);
    expect(isSame(run(), run({ status: "failure" }))).toBe(false);
    expect(isSame(run({ emits: [["1", "0x01"]] }), run({ emits: [["1", "0x02"]] }))).toBe(false);
    expect(isSame({ ...run(), calls: [] }, run())).toBe(false);
  });
  it("have the same shape where only values differ", () => {
    expect(hasSameShape(run({ emits: [["1", "0x01"]] }), run({ emits: [["1", "0x02"]] }))).toBe(true);
    expect(hasSameShape(run({ returns: "0x01" }), run({ returns: "0x02" }))).toBe(true);
    expect(hasSameShape(run({ returns: "0x01" }), run({ returns: "0x" }))).toBe(false);
    expect(hasSameShape(run({ emits: [["1", "0x01"]] }), run({ emits: [["2", "0x01"]] }))).toBe(false);
    expect(hasSameShape(run({ emits: [["1", "0x01"]] }), run())).toBe(false);
  });
});

it("a call is exhausted when it failed with all its gas", () => {
  const call = (status: "success" | "failure", gasUsed: bigint) => [{ status, gasUsed }];
  expect(isExhausted(call("failure", 100n), [100n])).toBe(true);
  expect(isExhausted(call("failure", 99n), [100n])).toBe(false);
  expect(isExhausted(call("success", 100n), [100n])).toBe(false);
});

describe("the choice", () => {
  const done = run({ returns: "0x01", emits: [["1", "0x"]] });
  const swallowed = run({ returns: "0x00", emits: [] });
  const quiet = (value: string, number = 1n) => run({ returns: value, number });

  it("is the tightest that does what ample gas does", () => {
    expect(choose([done, done], done)).toEqual({ kind: "take", index: 0 });
    expect(choose([swallowed, done], done)).toEqual({ kind: "take", index: 1 });
    expect(choose([run({ status: "failure" }), done], done)).toEqual({ kind: "take", index: 1 });
  });
  it("is wider where none does", () => {
    expect(choose([swallowed, swallowed], done)).toEqual({ kind: "wider" });
    expect(choose([swallowed, null], done)).toEqual({ kind: "wider" });
    expect(choose([swallowed], done)).toEqual({ kind: "wider" });
  });
  it("takes two limits that agree against ample gas for a threshold, not for chance", () =>
    expect(choose([quiet("0x00"), quiet("0x00")], quiet("0x01"))).toEqual({ kind: "wider" }));
  it("says that no limit agrees with another where values follow the gas", () =>
    expect(choose([quiet("0x01"), quiet("0x02")], quiet("0x03"))).toEqual({ kind: "dependent" }));
  it("does not call a moved block a dependence", () =>
    expect(choose([quiet("0x01", 1n), quiet("0x02", 2n)], quiet("0x03", 3n))).toEqual({ kind: "take", index: 0 }));
  it("without ample gas takes the first that works, and without an answer keeps what it has", () => {
    expect(choose([run({ status: "failure" }), done], null)).toEqual({ kind: "take", index: 1 });
    expect(choose([run({ status: "failure" })], null)).toEqual({ kind: "take", index: 0 });
    expect(choose([null, done], done)).toEqual({ kind: "take", index: 0 });
  });
  it("agrees with a revert that ample gas has too", () => {
    const reverted = run({ status: "failure", returns: "0xdead" });
    expect(choose([reverted, reverted], reverted)).toEqual({ kind: "take", index: 0 });
  });

  it("of a search is the first rung that agrees, else ample gas", () => {
    expect(settle([swallowed, null, done, done], done, swallowed)).toBe(2);
    expect(settle([swallowed, swallowed, done], done, swallowed)).toBe(2);
    const valued = (data: string) => run({ returns: "0x01", emits: [["1", data]] });
    expect(settle([swallowed, valued("0x01"), valued("0x02")], valued("0x02"), swallowed)).toBe(1);
  });
});

describe("the limits between two", () => {
  it("rise by a constant factor and end with the last", () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 21_000n, max: 10n ** 7n }),
        fc.bigInt({ min: 1n, max: 10n ** 8n }),
        fc.integer({ min: 1, max: 12 }),
        (from, more, count) => {
          const limits = between(from, from + more, count);
          expect(limits).toHaveLength(count);
          expect(limits[count - 1]).toBe(from + more);
          limits.forEach((limit, index) => expect(limit).toBeGreaterThanOrEqual(limits[index - 1] ?? from));
        },
      ),
    ));
  it("are none where there is no room", () => expect(between(5n, 5n, 3)).toEqual([]));
});
