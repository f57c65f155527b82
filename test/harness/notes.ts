/** Findings with codes of ours, for tests that show and judge them. */
import { codes, type NoteCode } from "../../src/catalogue.js";
import type { Finding } from "../rooms/report.js";

export { codes, type NoteCode };

/** A finding of any severity, one that its code is not declared with, too. */
export const note = (
  code: NoteCode,
  severity: Finding["severity"],
  where: { readonly transaction?: number | null; readonly evidence: Finding["evidence"] },
  ...numbers: ReadonlyArray<Finding["numbers"][number] | null>
): Finding => {
  const declared = codes[code];
  return { ...declared[declared.severities[0] ?? "info"](where, ...numbers), severity };
};
