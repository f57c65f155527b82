/** Reads the JSON of an older report as that of this version. Pure; it keeps the older `version`. */
import type { RunName } from "../primitives/names.js";
import { isRecord } from "../primitives/record.js";

/** The names of runs in reports of version 4, and their names now. */
const renamedRuns: ReadonlyMap<unknown, RunName> = new Map([
  ["bare", "ample"],
  ["alone", "readerOnly"],
  ["swap", "exactOnLatest"],
  ["priced", "atNextFee"],
  ["order", "reordered"],
  ["apart", "oneBlockEach"],
]);

/** `part`, the runs in its list `name` by their names now. */
const withRuns = (part: unknown, name: string): unknown => {
  if (!isRecord(part) || !Array.isArray(part[name])) return part;
  const rows = part[name].map((row: unknown) =>
    isRecord(row) && renamedRuns.has(row["run"]) ? { ...row, run: renamedRuns.get(row["run"]) } : row,
  );
  return { ...part, [name]: rows };
};

/**
 * The JSON of a report of version 4 in the shape of version 5. Its fields that came later have their defaults on
 * decoding. Its `version` stays 4, so that it is not taken for one of ours, and so does its digest.
 */
export const upgrade = (json: unknown): unknown =>
  isRecord(json)
    ? { ...json, observed: withRuns(json["observed"], "worlds"), ledger: withRuns(json["ledger"], "requests") }
    : json;
