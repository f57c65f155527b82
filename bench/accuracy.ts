/**
 * How often the report is right: real transactions preflighted, signed exactly as handed out, sent and mined on every
 * bed whose node is installed; the rules that the tests prove, by fork and client; and how much is unknown where the
 * head moves meanwhile.
 *
 *     npm run accuracy         (ACCURACY_COUNT=n transactions a bed, default 300; ACCURACY_SEED=n)
 *     npm run accuracy -- --docs
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bedsOf, measured } from "../test/harness/accuracy/beds.js";
import { movingTable } from "../test/harness/accuracy/moving.js";
import { runOn, type Sample } from "../test/harness/accuracy/run.js";
import {
  hitRate,
  rulesTableOf,
  summarise,
  tableOf,
  type Summary,
  type Tested,
} from "../test/harness/accuracy/table.js";

const count = Number(process.env["ACCURACY_COUNT"] ?? 300);
const seed = Number(process.env["ACCURACY_SEED"] ?? 1);
const root = fileURLToPath(new URL("..", import.meta.url));

const told = ({ kind, report, against, mined, deviation }: Sample): string =>
  JSON.stringify({ kind, verdict: report.verdict, against, mined, deviation }, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );

const columns: Array<readonly [string, Summary]> = [];
for (const [name, start] of bedsOf(measured)) {
  const summary = summarise(await runOn(start, count, seed));
  columns.push([name, summary]);
  for (const sample of summary.falseReady) console.log(`${name}: false ready: ${told(sample)}`);
  for (const sample of summary.falseBlocked) console.log(`${name}: false blocked: ${told(sample)}`);
  for (const sample of summary.warned) console.log(`${name}: warned: ${told(sample)}`);
}

/** The rules as the tests prove them; those of a node that is not installed are not there. */
const provenRules = (): ReadonlyArray<Tested> => {
  const directory = mkdtempSync(join(tmpdir(), "rules-"));
  const out = join(directory, "rules.json");
  try {
    const args = ["run", "--project", "unit", "test/preflight/rules.test.ts"];
    spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", ...args, "--reporter=json", `--outputFile=${out}`], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, TEST_ALL: "1" },
    });
    const { testResults } = JSON.parse(readFileSync(out, "utf8")) as {
      readonly testResults: ReadonlyArray<{ readonly assertionResults: ReadonlyArray<Tested> }>;
    };
    return testResults.flatMap(({ assertionResults }) => assertionResults);
  } finally {
    rmSync(directory, { recursive: true });
  }
};

const moving = await movingTable(Math.ceil(count / 3), "", (line) => console.log(line));
const rules = provenRules();
const tables = `${tableOf(columns)}\n\n${rulesTableOf(rules)}`;
const written = { "hit rate": hitRate(columns), accuracy: tables };
console.log(`\n${written["hit rate"]}\n\n${tables}\n\n${moving.table}`);
if (process.argv.includes("--docs")) {
  const path = join(root, "docs/accuracy.md");
  const text = Object.entries(written).reduce(
    (before, [mark, after]) => {
      const [open, close] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`];
      const [start, end] = [before.indexOf(open), before.indexOf(close)];
      if (start < 0 || end < start) throw new Error(`docs/accuracy.md has no ${open} … ${close}`);
      return `${before.slice(0, start)}${open}\n\n${after}\n\n${before.slice(end)}`;
    },
    readFileSync(path, "utf8"),
  );
  writeFileSync(path, text);
}
const isFailed = moving.isFailed || rules.some(({ status }) => status === "failed");
if (isFailed || columns.some(([, { falseReady, falseBlocked }]) => falseReady.length + falseBlocked.length > 0))
  process.exitCode = 1;
