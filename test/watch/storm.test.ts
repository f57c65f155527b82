/** Nothing is `Fresh` of which a proof says otherwise, whatever the weather; the long run is `npm run storm`. */
import { expect, it } from "vitest";
import { storm } from "./storm.js";

it.each(["http", "socket", "mixed"] as const)(
  "a watched report is never `Fresh` when a proof would differ, over %s",
  { timeout: 600_000 },
  async (over) => {
    const { wrong, told, proofsHeldAgainst, reorganisations, cuts } = await storm({
      ...{ over, blocks: 60, everyBlocks: 1, seed: 7 },
    });
    expect(wrong).toEqual([]);
    expect(proofsHeldAgainst).toBeGreaterThan(60);
    for (const count of [told.fresh, told.moved, told.lost, reorganisations, cuts]) expect(count).toBeGreaterThan(0);
  },
);
