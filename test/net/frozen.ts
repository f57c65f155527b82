/** The frozen lines: one report each, its keys sorted, so that a diff shows which report changed and how. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { canonical } from "../harness/replay.js";
import type { Plain } from "./project.js";

/** Whether this run writes the lines instead of comparing with them (`npm run net:freeze`). */
export const isFreezing: boolean = process.env["NET_FREEZE"] === "1";

const pathOf = (node: string): string => fileURLToPath(new URL(`frozen.${node}.jsonl`, import.meta.url));

/** The lines of a node by the names of their cases; empty where nothing was frozen yet. */
export const readFrozen = (node: string): ReadonlyMap<string, Plain> =>
  new Map(
    (existsSync(pathOf(node)) ? readFileSync(pathOf(node), "utf8") : "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { readonly case: string; readonly report: Plain })
      .map((line) => [line.case, line.report]),
  );

/** Writes all lines of a node, in the order of the cases. */
export const writeFrozen = (node: string, lines: ReadonlyArray<readonly [name: string, report: Plain]>): void =>
  writeFileSync(pathOf(node), lines.map(([name, report]) => `${canonical({ case: name, report })}\n`).join(""));
