/** A short accuracy run; `npm run accuracy` is the long one. */
import { describe, expect, it } from "vitest";
import { anvilBench, gethBench, runOn, type Bench } from "../harness/accuracy/run.js";
import { kinds } from "../harness/accuracy/cases.js";
import { summarise } from "../harness/accuracy/table.js";
import { findGethOrWarn } from "../harness/geth.js";

const geth = findGethOrWarn("the accuracy of gas and cost on geth");
const benches: ReadonlyArray<readonly [string, () => Promise<Bench>]> = [
  ["anvil", anvilBench],
  ...(geth === null ? [] : [["geth", () => gethBench(geth)] as const]),
];

describe.each(benches)("on %s", (name, start) => {
  it("what is said is what comes to pass", { timeout: 60_000 }, async () => {
    const bench = await start();
    const summary = summarise(await runOn(bench, 2 * Object.keys(kinds).length, 20));
    await bench.stop();
    expect(summary.notSent).toEqual([]);
    expect(summary.sent).toBe(2 * Object.keys(kinds).length);
    expect([summary.status, summary.logs, summary.returnData, summary.sufficed, summary.covered]).toEqual([
      1, 1, 1, 1, 1,
    ]);
    expect(summary.median).toBeLessThanOrEqual(1.2);
    expect(summary.deviation).toBeLessThanOrEqual(0.001);
  });
});
