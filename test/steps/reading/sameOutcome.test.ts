/** Whether runs at different gas limits did the same, and which limit is wide enough. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Hash } from "../../rooms/primitives.js";
import { between, firstThatHolds, settleLimit, type Tried } from "../../rooms/pipeline.js";
import { isSame, type Result } from "../../rooms/steps.js";
import { hexOf, log, token, word } from "../parts.js";

const parentHash = Hash.make(`0x${"a".repeat(64)}`);

interface Told {
  readonly status?: Result["status"];
  readonly returns?: string;
  readonly emits?: ReadonlyArray<readonly [topic: bigint, data: string]>;
  readonly number?: bigint;
}

const run = ({ status = "success", returns = "0x", emits = [], number = 1n }: Told = {}): Tried => ({
  block: { number, parentHash, timestamp: number },
  outcomes: [
    { status, returnData: hexOf(returns), logs: emits.map(([topic, data]) => log(token, [word(topic)], [data])) },
  ],
});
const done = run({ returns: "0x01", emits: [[1n, ""]] });
const swallowed = run({ returns: "0x00" });
const failed = run({ status: "reverted" });
const quiet = (value: string, number = 1n) => run({ returns: value, number });

describe("the outcomes of two runs", () => {
  const same = (one: Told, other: Told) => isSame(run(one).outcomes, run(other).outcomes);
  it("are the same where status, return data and every log are", () => {
    expect(same({ returns: "0xAB" }, { returns: "0xab" })).toBe(true);
    expect(same({ returns: "0xab" }, { returns: "0xac" })).toBe(false);
    expect(same({}, { status: "reverted" })).toBe(false);
    expect(same({ emits: [[1n, "01"]] }, { emits: [[1n, "02"]] })).toBe(false);
    expect(isSame([], run().outcomes)).toBe(false);
  });
  it("differ where one halts and one reverts", () =>
    expect(same({ status: "halted" }, { status: "reverted" })).toBe(false));
  it("have the same shape where only values differ", () => {
    // the tight limit is kept only where its shape is that of ample gas: here the block moved, so values may differ
    const hasSameShape = (one: Told, ample: Told) => {
      const settled = settleLimit([run(one), failed], run({ ...ample, number: 2n }));
      return settled.kind === "take" && settled.index === 0;
    };
    expect(hasSameShape({ emits: [[1n, "01"]] }, { emits: [[1n, "02"]] })).toBe(true);
    expect(hasSameShape({ returns: "0x01" }, { returns: "0x02" })).toBe(true);
    expect(hasSameShape({ returns: "0x01" }, { returns: "0x" })).toBe(false);
    expect(hasSameShape({ emits: [[1n, "01"]] }, { emits: [[2n, "01"]] })).toBe(false);
    expect(hasSameShape({ emits: [[1n, "01"]] }, {})).toBe(false);
  });
});

describe("the choice of a gas limit", () => {
  it("is the tightest that does what ample gas does", () => {
    expect(settleLimit([done, done], done)).toEqual({ kind: "take", index: 0 });
    expect(settleLimit([swallowed, done], done)).toEqual({ kind: "take", index: 1 });
    expect(settleLimit([failed, done], done)).toEqual({ kind: "take", index: 1 });
  });
  it("is wider where no tight one does", () => {
    expect(settleLimit([swallowed, swallowed], done)).toEqual({ kind: "wider" });
    expect(settleLimit([swallowed, null], done)).toEqual({ kind: "wider" });
    expect(settleLimit([swallowed], done)).toEqual({ kind: "wider" });
  });
  it("is between two limits that agree against ample gas, as a threshold", () =>
    expect(settleLimit([quiet("0x00"), quiet("0x00")], quiet("0x01"))).toEqual({ kind: "wider" }));
  it("does not exist where values follow the gas", () =>
    expect(settleLimit([quiet("0x01"), quiet("0x02")], quiet("0x03"))).toEqual({ kind: "dependent" }));
  it("is not changed by a moved block", () =>
    expect(settleLimit([quiet("0x01", 1n), quiet("0x02", 2n)], quiet("0x03", 3n))).toEqual({ kind: "take", index: 0 }));
  it("is never a limit that was refused for its gas, though the next one only resembles ample gas", () => {
    expect(settleLimit([null, done], done)).toEqual({ kind: "take", index: 1 });
    expect(settleLimit([null, quiet("0x00")], quiet("0x01"))).toEqual({ kind: "take", index: 1 });
    expect(settleLimit([null, swallowed], done)).toEqual({ kind: "wider" });
    expect(settleLimit([null, null], done)).toEqual({ kind: "wider" });
    expect(settleLimit([null], done)).toEqual({ kind: "wider" });
  });
  it("agrees with a revert that ample gas has, too", () => {
    const reverted = run({ status: "reverted", returns: "0xdead" });
    expect(settleLimit([reverted, reverted], reverted)).toEqual({ kind: "take", index: 0 });
  });

  it("is the first rung of a search that agrees, else ample gas", () => {
    expect(firstThatHolds([swallowed, null, done, done], done, swallowed)).toBe(2);
    expect(firstThatHolds([swallowed, swallowed, done], done, swallowed)).toBe(2);
    const valued = (data: string) => run({ returns: "0x01", emits: [[1n, data]] });
    expect(firstThatHolds([swallowed, valued("01"), valued("02")], valued("02"), swallowed)).toBe(1);
  });
});

describe("the limits between two others", () => {
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
  it("are none without room", () => expect(between(5n, 5n, 3)).toEqual([]));
});
