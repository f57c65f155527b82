/**
 * How often the report is right: real transactions preflighted, signed exactly as handed out, sent and
 * mined on anvil, and on geth where it is installed.
 *
 *     npm run accuracy         (ACCURACY_COUNT=n transactions per node, default 300; ACCURACY_SEED=n)
 */
import { findGeth } from "../test/harness/geth.js";
import { anvilBench, gethBench, runOn, type Sample } from "../test/harness/accuracy/run.js";
import { summarise, tableOf, type Summary } from "../test/harness/accuracy/table.js";

const count = Number(process.env["ACCURACY_COUNT"] ?? 300);
const seed = Number(process.env["ACCURACY_SEED"] ?? 1);

const geth = findGeth();
if (geth === null) console.warn("geth is not installed: anvil only");
const benches = [anvilBench, ...(geth === null ? [] : [() => gethBench(geth)])];

const isWrong = ({ mined }: Sample): boolean =>
  mined !== null &&
  !(
    mined.status &&
    mined.logs &&
    mined.returnData !== false &&
    mined.sufficed &&
    mined.isCovered &&
    (mined.deviation ?? 0) <= 0.001
  );

const columns: Array<readonly [string, Summary]> = [];
for (const start of benches) {
  const bench = await start();
  const samples = await runOn(bench, count, seed);
  await bench.stop();
  const summary = summarise(samples);
  columns.push([bench.name, summary]);
  for (const sample of samples.filter(isWrong))
    console.log(
      bench.name,
      sample.kind,
      JSON.stringify(sample, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    );
  const unsent = new Map<string, number>();
  for (const { kind, against } of summary.notSent) {
    const why = `${kind}: ${against.join(", ")}`;
    unsent.set(why, (unsent.get(why) ?? 0) + 1);
  }
  for (const [why, times] of unsent) console.log(`${bench.name}: not sent ${times} × ${why}`);
}
console.log(`\n${tableOf(columns)}`);
