/**
 * Attacks that are honest in what is simulated, hand control over without a word, or come by stale nodes, pools, a switch
 * and tokens that lie, and honest transactions that look alike: of each class so many members, drawn by seed, and how many
 * of the attacks are stopped, how many of the honest ones `ready`. On anvil, geth and op-geth where they are installed, and on chains of
 * 12 s, 2 s and 200 ms.
 *
 *     npm run accuracy:families         (FAMILIES_COUNT=n of each class, default 200; FAMILIES_SEED=n; FAMILIES_BEDS=text
 *                                       and FAMILIES_ONLY=text, a part of the names of beds, and of classes and families)
 *     npm run accuracy:families -- --docs
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { familiesOn } from "../test/harness/families/all.js";
import { beds, tableOf, type Judged } from "../test/harness/families/kit.js";

const count = Number(process.env["FAMILIES_COUNT"] ?? 200);
const seed = Number(process.env["FAMILIES_SEED"] ?? 1);
const [only, where] = [process.env["FAMILIES_ONLY"] ?? "", process.env["FAMILIES_BEDS"] ?? ""];

const judged: Array<Judged> = [];
for (const bed of beds()) {
  if (!bed.name.includes(where)) continue;
  const begun = Date.now();
  const ours = await familiesOn(bed, count, seed, ({ kind, name }) => `${kind}: ${name}`.includes(only));
  for (const family of new Set(ours.map((one) => one.family))) {
    const members = ours.filter((one) => one.family === family);
    const right = members.filter(({ isRight }) => isRight).length;
    const wrong = members.flatMap(({ isRight, verdict, codes }) => (isRight ? [] : [`${verdict} ${codes.join(" ")}`]));
    const why = [...new Set(wrong)].slice(0, 3).join(" / ");
    const what = family.isHonest ? "honest, ready" : "attack, caught";
    console.log(`${bed.name} | ${family.kind} | ${family.name} | ${what} ${right} of ${members.length} ${why}`);
  }
  console.log(`${bed.name}: ${Math.round((Date.now() - begun) / 1_000)} s`);
  judged.push(...ours);
}
const table = tableOf(judged);
console.log(`\n${table}`);
if (process.argv.includes("--docs")) {
  const path = join(fileURLToPath(new URL("..", import.meta.url)), "docs/accuracy.md");
  const page = readFileSync(path, "utf8");
  const [open, close] = ["<!-- families -->", "<!-- /families -->"];
  const [start, end] = [page.indexOf(open), page.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`docs/accuracy.md has no ${open} … ${close}`);
  writeFileSync(path, `${page.slice(0, start)}${open}\n\n${table}\n\n${page.slice(end)}`);
}
