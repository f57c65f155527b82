/** What findings amount to, and why. Pure. */
import { inOrder, type Finding, type Severity } from "./finding.js";
import type { Report, VerdictName } from "./schema.js";

/** `blocked` > `unknown` > `caution` > `ready`: the first that applies. */
export const verdictOf = (findings: ReadonlyArray<Finding>): VerdictName =>
  findings.some(({ severity }) => severity === "blocker")
    ? "blocked"
    : findings.some(({ severity }) => severity === "unavailable")
      ? "unknown"
      : findings.some(({ severity }) => severity === "warning")
        ? "caution"
        : "ready";

/** The severity that makes each verdict; none makes `ready`. */
export const decidingSeverity: Readonly<Record<VerdictName, Severity | null>> = {
  blocked: "blocker",
  unknown: "unavailable",
  caution: "warning",
  ready: null,
};

/** The one reason for the verdict: the sentence of the first finding that decides it, in pipeline order. */
export const becauseOf = (findings: ReadonlyArray<Finding>, stage: Report["stage"]): string => {
  const deciding = decidingSeverity[verdictOf(findings)];
  const [first] = inOrder(findings.filter(({ severity }) => severity === deciding));
  if (first !== undefined) return first.sentence;
  if (stage !== "proven") return "nothing found against it yet; not proven";
  return findings.some(({ code }) => code === "FreshnessUnknown")
    ? "exactly this request was proven; how new the state is could not be checked"
    : "every check passed, and exactly this request was proven";
};
