/** What of two reports on the same requests matters to whoever signs them: all but prices of the moment. Pure. */
import { diff, type Difference } from "../report/diff.js";
import type { Report } from "../report/schema.js";
import { verdictOf } from "../report/ready.js";

/** Prices of the moment, what follows from them, and what an account must hold while they do. */
const ofTheMoment: ReadonlySet<string | null> = new Set([
  ...["observed base fee per gas", "fee base fee per gas", "funds expected", "funds required"],
]);

const isInformation = (severity: Difference["before"]): boolean => severity === null || severity === "info";

/** Without the word that the world moved since an earlier report, which the next proof no longer says. */
const without = (report: Report): Report => {
  const findings = report.findings.filter(({ code }) => code !== "OutcomeChanged");
  return { ...report, findings, verdict: verdictOf(findings) };
};

/** What a proof changed of what was said; empty where nobody who signs need look again. */
export const essentialDiff = (before: Report, after: Report): ReadonlyArray<Difference> =>
  diff(without(before), without(after)).filter(
    (one) =>
      !ofTheMoment.has(one.what) && !(one.kind === "finding" && isInformation(one.before) && isInformation(one.after)),
  );
