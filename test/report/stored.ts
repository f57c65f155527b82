/** Reports of version 4 as they were stored: made by the last library that wrote that version. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/sources.js";

interface Sample {
  readonly name: string;
  readonly report: Readonly<Record<string, unknown>>;
}

export const samples: ReadonlyArray<Sample> = readFileSync(join(root, "test/fixtures/reports4.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Sample);
