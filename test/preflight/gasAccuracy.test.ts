/** A short accuracy run, at most twenty transactions a bed; `npm run accuracy` is the long one. */
import { describe, expect, it } from "vitest";
import { bedsOf, measured } from "../harness/accuracy/beds.js";
import { runOn } from "../harness/accuracy/run.js";
import { summarise } from "../harness/accuracy/table.js";

describe.each(bedsOf(measured).map(([name, start], index) => [name, start, index] as const))(
  "drawn transactions on %s",
  (name, start, index) => {
    it("happen as reported, with no false verdict", { timeout: 180_000 }, async () => {
      // what is blocked is sent too, and a bundle of four may come last; another part of the kinds on each bed
      const samples = await runOn(start, 14, 8 * index);
      const { falseReady, falseBlocked, warned, ...figures } = summarise(samples);
      expect([falseReady, falseBlocked, figures.covered]).toEqual([[], [], 1]);
      expect(figures.same.ready.same).toBe(figures.same.ready.sent);
      if (name === "geth, Osaka to Amsterdam")
        for (const { report, against } of samples)
          expect(against).toContain(report.verdict === "blocked" ? against[0] : "ForkAhead");
      else {
        expect([warned, figures.outcome, figures.sufficed]).toEqual([[], 1, 1]);
        expect(figures.median).toBeLessThanOrEqual(1.2);
        expect(figures.deviation).toBeLessThanOrEqual(0.001);
      }
    });
  },
);
