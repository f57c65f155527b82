/** What settlements leave behind for calibration. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import { describe, expect, it } from "vitest";
import type { MinedSettlement, Settled } from "../../src/Report.js";
import { settled } from "../rooms/settle.js";
import { report } from "../report/fixtures.js";

const sample: MinedSettlement["sample"] = {
  ...{ chainId: 1, selector: "0xa9059cbb", class: "ordering", isFlip: true, gasRatio: 0.85, gasOfSaid: 1 },
  ...{ ageBlocks: 4, priceRatio: 0.5 },
};
const nothing = { compared: 0, differences: [], uncompared: [] };
const hash = `0x${"01".repeat(32)}` as const;
const result: Settled = {
  ...{ class: "ordering", balances: nothing, balancesUntold: null, ledger: report().ledger },
  transactions: [
    {
      ...{ ...nothing, state: "mined", transaction: 0, hash, blockHash: hash, blockNumber: 1n, class: "ordering" },
      ...{ status: "failure", gasUsed: 1n, effectiveGasPrice: null, cost: null, l1Fee: null, operatorFee: null },
      ...{ created: null, sample },
    },
    { state: "dropped", transaction: 1, hash, class: "unknown" },
  ],
};

describe("the metrics of settlements", () => {
  it("count by class, with gas ratio and flips by age", async () => {
    const snapshot = await Effect.runPromise(
      settled(Effect.succeed(result)).pipe(
        Effect.andThen(Metric.snapshot),
        Effect.provideService(Metric.MetricRegistry, new Map()),
      ),
    );
    const told = snapshot
      .map(({ id, attributes, state }) => ({
        id,
        of: Object.values(attributes ?? {})[0],
        n: "count" in state ? Number(state.count) : 0,
      }))
      .filter(({ n }) => n > 0);
    expect(told).toEqual(
      expect.arrayContaining([
        { id: "evm_preflight_settlements_total", of: "ordering", n: 1 },
        { id: "evm_preflight_settlements_total", of: "unknown", n: 1 },
        { id: "evm_preflight_settlement_gas_ratio", of: undefined, n: 1 },
        { id: "evm_preflight_settlement_age_blocks", of: "true", n: 1 },
      ]),
    );
    expect(told).toHaveLength(4);
  });
});
