/** What findings amount to. Pure. */
import type { Finding } from "./finding.js";
import type { VerdictName } from "./schema.js";

/** `blocked` > `unknown` > `caution` > `ready`: the first that applies. */
export const verdictOf = (findings: ReadonlyArray<Finding>): VerdictName =>
  findings.some(({ severity }) => severity === "blocker")
    ? "blocked"
    : findings.some(({ severity }) => severity === "unavailable")
      ? "unknown"
      : findings.some(({ severity }) => severity === "warning")
        ? "caution"
        : "ready";
