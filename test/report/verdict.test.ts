import { describe, expect, it } from "vitest";
import { lookup } from "../../src/Chains.js";
import { gap, NotProven } from "../../src/errors/verdicts.js";
import { digestOfReport, digestOfSignables, requestsOf } from "../../src/report/digest.js";
import { fromError, note, type Finding, type StepName } from "../../src/report/finding.js";
import { freshnessOf, type FreshnessOptions } from "../../src/report/freshness.js";
import { becauseOf, verdictOf } from "../../src/report/verdict.js";
import { alice, report, transfer } from "./fixtures.js";

const found = (severity: Exclude<Finding["severity"], "blocker">, step: StepName, sentence: string): Finding => ({
  ...note("OutcomeUnknown", severity, { evidence: "assumed" }),
  step,
  sentence,
});
const blocker = (step: StepName): Finding =>
  fromError(new NotProven({ missing: [gap("Stale", "old")] }), "blocker", { step, evidence: "assumed" });

describe("verdictOf and becauseOf", () => {
  it("take the worst severity, and the first of it in pipeline order", () => {
    const info = found("info", "chain", "info");
    const warnings = [found("warning", "funds", "late warning"), found("warning", "nonce", "warning")];
    const unavailable = [found("unavailable", "proof", "late check"), found("unavailable", "chain", "check")];
    const expected = [
      [[], "ready", "nothing found against it yet; not proven"],
      [[info], "ready", "nothing found against it yet; not proven"],
      [[info, ...warnings], "caution", "warning"],
      [[info, ...warnings, ...unavailable], "unknown", "check"],
      [[...unavailable, blocker("funds"), ...warnings], "blocked", "the report proves too little to sign"],
    ] as const;
    for (const [findings, verdict, because] of expected) {
      expect(verdictOf(findings)).toBe(verdict);
      expect(becauseOf(findings, "scanned")).toBe(because);
    }
    expect(becauseOf([info], "proven")).toContain("the exact request was proven");
  });
});

describe("digestOfReport and requestsOf", () => {
  const hole = { ...transfer, request: null };
  it("are those of the requests in order, and nothing while one has a hole", () => {
    const request = transfer.request;
    if (request === null) throw new Error("a hole");
    expect(requestsOf(report())).toEqual([request]);
    expect(digestOfReport(report())).toBe(digestOfSignables(1, [{ from: alice, request }]));
    const other = report({ transactions: [transfer, { ...transfer, request: { ...request, nonce: 8 } }] });
    expect(requestsOf(other)?.map(({ nonce }) => nonce)).toEqual([7, 8]);
    expect(digestOfReport(other)).not.toBe(digestOfReport(report()));
    for (const transactions of [[hole], [hole, transfer], [transfer, hole]] as const) {
      expect(requestsOf({ transactions })).toBeNull();
      expect(digestOfReport({ chainId: 1, transactions })).toBeNull();
    }
    expect(digestOfReport(report({ chainId: null }))).toBeNull();
  });
});

describe("freshnessOf", () => {
  const now = 1_790_000_000_000;
  const seen = (changed: Partial<FreshnessOptions>) =>
    freshnessOf({
      base: 100n,
      latest: 100n,
      timestamp: BigInt(now / 1000),
      now,
      chain: lookup(1),
      chainId: 1,
      ...changed,
    });
  it("is fresh near the latest block, stale behind it, ahead of it or by age, unknown without either", () => {
    expect(seen({})).toBe("fresh");
    expect(seen({ latest: 102n })).toBe("fresh");
    expect(seen({ latest: 103n })).toBe("stale");
    expect(seen({ base: 103n })).toBe("fresh");
    expect(seen({ base: 104n })).toBe("stale");
    expect(seen({ base: null })).toBe("unknown");
    expect(seen({ latest: null })).toBe("unknown");
    expect(seen({ timestamp: null })).toBe("fresh");
    expect(seen({ now: now + 121_000 })).toBe("stale");
    expect(seen({ now: now + 121_000, latest: null })).toBe("stale");
  });
  it("forgives a development chain any age, and an unknown chain an hour", () => {
    const unknown = lookup(31337);
    const hours = now + 7_200_000;
    expect(seen({ chain: unknown, chainId: 31337, now: hours })).toBe("fresh");
    expect(seen({ chain: unknown, chainId: 4242, now: hours })).toBe("stale");
    expect(seen({ chain: unknown, chainId: null, now: now + 3_000_000 })).toBe("fresh");
  });
});
