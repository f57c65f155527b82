/** The policy over calls that fail inside a transaction that succeeds. */
import type { AllowedCall, PolicyResult } from "../report/policy.js";
import type { Report } from "../report/schema.js";
import { isAllowed, isGranted } from "../steps/reading/inner.js";
import { every, fail, pass, unknown } from "./results.js";
import { unseen } from "./spending.js";

/** No call inside fails in any world, but for those that may; permits that are there all the same count as passed. */
export const judgeInner =
  (mayFail: ReadonlyArray<AllowedCall>) =>
  (report: Report): PolicyResult => {
    const hidden = unseen(report);
    if (hidden !== null) return unknown(hidden);
    return every(
      report.transactions.map(({ outcome: { inner } }, index) => {
        const failed = (inner?.failed ?? []).filter(
          (one) => !isAllowed(one, mayFail) && !isGranted(one, report.approvals),
        );
        const calls = failed.map(({ to, call }) => `${call ?? "a call"} to ${to ?? "an account that is not known"}`);
        if (calls.length > 0) return fail(`inside transaction ${index + 1} fails ${calls.slice(0, 8).join("; ")}`);
        const isElsewhere = report.findings.some(
          ({ code, severity, transaction }) =>
            code === "InnerCallFailed" && severity === "warning" && transaction === index,
        );
        if (isElsewhere) return fail(`a call inside transaction ${index + 1} fails in another block`);
        const count = inner?.unseen ?? 0;
        return count === 0
          ? pass
          : unknown(`whether calls inside transaction ${index + 1} fail was not seen (${count} of them)`);
      }),
    );
  };
