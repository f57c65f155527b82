/**
 * The product on other people's nodes: what it says of ten transactions and two signatures, and what becomes of them.
 *
 *     npm run beds               every node; writes the tables of docs/nodes-and-chains.md
 *     npm run beds -- hardhat    one, or several; writes nothing
 *     npm run beds -- hardhat --texts    with the reports
 *
 * Beside what the tests use: `npm ci --prefix tools/nodes --ignore-scripts`, `sh scripts/install-geth.sh v1.16.9` and
 * `sh scripts/install-bsc.sh`. A node that is not there has a row that says so.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rows } from "./beds/nodes.js";
import { seenOn } from "./beds/run.js";
import { tablesOf, wrongOf, type Column } from "./beds/table.js";

const words = process.argv.slice(2);
const named = words.filter((word) => !word.startsWith("--"));
const path = fileURLToPath(new URL("../docs/nodes-and-chains.md", import.meta.url));
const [open, close] = ["<!-- beds -->", "<!-- /beds -->"];

const columns: Array<Column> = [];
for (const row of rows) {
  if (named.length > 0 && !named.includes(row.key)) continue;
  const began = performance.now();
  const seen = await seenOn(row).catch((failure: unknown) => String(failure).split("\n")[0] ?? "");
  const seconds = Math.round((performance.now() - began) / 1_000);
  columns.push({ row, seen });
  console.log(`== ${row.name}: ${typeof seen === "string" ? seen : (seen.client ?? "")}, ${seconds} s`);
  if (typeof seen === "string") continue;
  for (const [what, { verdict, code, fate, why, ms, text }] of Object.entries(seen.said)) {
    console.log(`${what}: ${verdict} ${code ?? ""}, ${fate} ${why.slice(0, 160)} · ${Math.round(ms)} ms`);
    if (words.includes("--texts")) console.log(text);
  }
}
const tables = tablesOf(columns);
console.log(`\n${tables}`);
const wrong = wrongOf(columns);
for (const line of wrong) console.log(`WRONG: ${line}`);
if (named.length === 0) {
  const text = readFileSync(path, "utf8");
  const [start, end] = [text.indexOf(open), text.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`docs/nodes-and-chains.md has no ${open} … ${close}`);
  writeFileSync(path, `${text.slice(0, start)}${open}\n\n${tables}\n\n${text.slice(end)}`);
}
process.exit(wrong.length === 0 ? 0 : 1);
