/** How many findings a report holds, and which of too many. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gap, NotProven } from "../rooms/errors.js";
import { note, type NoteCode } from "../harness/notes.js";
import { bounded, fromError, verdictOf, type Finding } from "../rooms/report.js";

const of = (code: NoteCode, severity: "info" | "warning" | "unavailable", times: number): ReadonlyArray<Finding> =>
  Array.from({ length: times }, (_, transaction) => note(code, severity, { transaction, evidence: "logged" }));
const blocker = fromError(new NotProven({ missing: [gap("Stale", "old")] }), "blocker", {
  step: "proof",
  evidence: "measured",
});
const told = (findings: ReadonlyArray<Finding>) => new Set(findings.map(({ code }) => code));

describe("the findings of a report", () => {
  it("are all there while they fit", () => {
    const some = of("ApprovalGranted", "warning", 256);
    expect(bounded(some)).toBe(some);
  });
  it("are else the worst, with a warning that counts the rest", () => {
    const all = [...of("ApprovalGranted", "info", 300), ...of("ApprovalLeftOver", "warning", 40), blocker];
    const kept = bounded(all);
    expect(kept).toHaveLength(257);
    expect(kept).toEqual([...all.slice(0, 215), ...all.slice(300), kept[256]]);
    expect(kept[256]).toMatchObject({ code: "FindingsCut", severity: "warning", numbers: [{ value: 85n }] });
  });
  it("keep every code under a flood of another of the same severity", () => {
    const flood = of("ApprovalGranted", "warning", 5_000);
    const kept = bounded([...flood, ...of("ApprovalUnlimited", "warning", 1), ...of("PartiesCut", "warning", 1)]);
    expect(told(kept)).toEqual(new Set(["ApprovalGranted", "ApprovalUnlimited", "PartiesCut", "FindingsCut"]));
    expect(kept.slice(0, 254)).toEqual(flood.slice(0, 254));
  });
  it("never make a verdict better by being cut", () => {
    const severities = fc.constantFrom("info" as const, "warning" as const, "unavailable" as const);
    const some = fc.tuple(fc.constantFrom<NoteCode>("ApprovalGranted", "PartiesCut"), severities, fc.nat(400));
    fc.assert(
      fc.property(fc.array(some, { maxLength: 6 }), fc.boolean(), (groups, isBlocked) => {
        const all = [...groups.flatMap((one) => of(...one)), ...(isBlocked ? [blocker] : [])];
        const [whole, kept] = [verdictOf(all), verdictOf(bounded(all))];
        expect(kept).toBe(whole === "ready" && all.length > 256 ? "caution" : whole);
      }),
    );
  });
});
