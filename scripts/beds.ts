/**
 * The product on other people's nodes: what it says of ten transactions and two signatures, and what becomes of them.
 *
 *     npm run beds               every node; writes the tables of docs/nodes-and-chains.md
 *     npm run beds -- hardhat    one, or several; writes nothing (-- --texts also prints the reports)
 *
 * Beside what the tests use: `npm ci --prefix tools/nodes --ignore-scripts`, `sh scripts/install-geth.sh v1.16.9` and
 * `sh scripts/install-bsc.sh`. A node that is not there has a row that says so.
 */
import { rows } from "./beds/nodes.js";
import { seenOn, type Seen } from "./beds/run.js";

const named = process.argv.slice(2).filter((word) => !word.startsWith("--"));
for (const { key, name, start } of rows) {
  if (named.length > 0 && !named.includes(key)) continue;
  const bed = await start();
  try {
    const seen: Seen = await seenOn(bed);
    console.log(`== ${name}`, seen.client, seen.diagnosis.level, seen.errors);
    for (const { id, status, detail } of seen.diagnosis.findings) if (status !== "yes") console.log("  ", status, id, detail);
    for (const [what, { verdict, code, fate, why, ms, text }] of Object.entries(seen.said)) {
      console.log(`${what}: ${verdict} ${code ?? ""} · ${fate} ${why.slice(0, 200)} · ${Math.round(ms)} ms`);
      if (process.argv.includes("--texts")) console.log(text);
    }
  } finally {
    await bed.stop();
  }
}
