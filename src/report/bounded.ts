/** The findings of one report, bounded: the worst of too many. */
import { count } from "../primitives/statement.js";
import { code, type Finding, Severity } from "./finding.js";

/**
 * A report holds 256 findings.
 * @figures count("left out", 38)
 */
export const FindingsCut = code("assets", ["warning"], "FindingsCut", [
  "the report is full; the least severe findings were left out",
  "sign only if you know why there are so many findings",
]);

/** The most findings of one report, without the one that says how many more there were. */
export const mostFindings = 256;

/**
 * As many findings as a report holds, the worst of them, in their order; `FindingsCut` counts the rest. Of one
 * severity the first of every code comes before the second of any: a flood of one code hides no other.
 */
export const bounded = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  if (findings.length <= mostFindings) return findings;
  const met = new Map<string, number>();
  const ranked = findings.map((finding, place) => {
    const kind = `${finding.severity}/${finding.code}`;
    const nth = met.get(kind) ?? 0;
    met.set(kind, nth + 1);
    // why: what users' steps find, however much, hides nothing of ours
    const isOwn = Number(finding.code.includes("/"));
    return { finding, place, severity: Severity.literals.indexOf(finding.severity), isOwn, nth };
  });
  const kept = ranked
    .sort((a, b) => a.severity - b.severity || a.isOwn - b.isOwn || a.nth - b.nth || a.place - b.place)
    .slice(0, mostFindings)
    .sort((a, b) => a.place - b.place)
    .map(({ finding }) => finding);
  return [...kept, FindingsCut.warning({ evidence: "measured" }, count("left out", findings.length - kept.length))];
};
