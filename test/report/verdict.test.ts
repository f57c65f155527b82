import { concat, keccak256, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { gap, NotProven } from "../rooms/errors.js";
import { note } from "../harness/notes.js";
import {
  becauseOf,
  digestOfReport,
  digestOf,
  fromError,
  reportVersion,
  requestsOf,
  verdictOf,
  type Finding,
  type StepName,
} from "../rooms/report.js";
import { signingHash } from "../rooms/transaction.js";
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
      [[...unavailable, blocker("funds"), ...warnings], "blocked", "the report does not allow signing"],
    ] as const;
    for (const [findings, verdict, because] of expected) {
      expect(verdictOf(findings)).toBe(verdict);
      expect(becauseOf(findings, "scanned")).toBe(because);
    }
    expect(becauseOf([info], "proven")).toContain("every check passed");
    const untold = note("FreshnessUnknown", "info", { evidence: "unavailable" });
    expect(becauseOf([untold], "proven")).toContain("could not be checked");
  });
});

describe("digestOfReport and requestsOf", () => {
  const hole = { ...transfer, request: null };
  it("cover the requests in order, and give nothing while one has a hole", () => {
    const request = transfer.request;
    if (request === null) throw new Error("a hole");
    expect(requestsOf(report())).toEqual([request]);
    expect(digestOfReport(report())).toBe(digestOf(reportVersion, 1, [{ from: alice, request }]));
    // as the page of the design has it, with the number and the kinds of signatures
    const sign = { kind: "message", signer: alice, digest: `0x${"22".repeat(32)}` } as const;
    const uint = (value: number, size = 32) => numberToHex(value, { size });
    const bytes = (signs: ReadonlyArray<`0x${string}`>) =>
      keccak256(
        concat([uint(reportVersion), uint(1), uint(signs.length / 3), ...signs, alice, signingHash(request) ?? "0x"]),
      );
    expect(digestOfReport(report())).toBe(bytes([]));
    const both = digestOf(reportVersion, 1, [{ from: alice, request }], [sign]);
    expect(both).toBe(bytes([uint(2, 1), alice, sign.digest]));
    const other = report({ transactions: [transfer, { ...transfer, request: { ...request, nonce: 8 } }] });
    expect(requestsOf(other)?.map(({ nonce }) => nonce)).toEqual([7, 8]);
    expect(digestOfReport(other)).not.toBe(digestOfReport(report()));
    for (const transactions of [[hole], [hole, transfer], [transfer, hole]] as const) {
      expect(requestsOf({ transactions })).toBeNull();
      expect(digestOfReport({ chainId: 1, transactions, signings: [] })).toBeNull();
    }
    expect(digestOfReport(report({ chainId: null }))).toBeNull();
    // nothing is asked to be signed but by a report that says so, wherever it stands
    const authorizationList = [{ authority: alice, address: alice, chainId: 1, nonce: 0 }];
    const late = report({ transactions: [transfer, { ...transfer, input: { ...transfer.input, authorizationList } }] });
    const twice = [request, request].map((each) => ({ from: alice, request: each }));
    expect(digestOfReport(late)).not.toBe(digestOf(reportVersion, 1, twice));
  });
});
