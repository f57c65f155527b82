/**
 * Every goal for speed, as `scan` and `preflight` of the built package reach it: requests, wall time and
 * client CPU as multiples of `h` (four raw JSON-RPC calls at once), and what large questions cost. Beside
 * them viem's ways. All that is compared is asked in turns, in one process.
 *
 *     npm run bench                 (BENCH_TURNS=n for other than 30 turns at 50 ms; four times as many at 0 ms)
 *     npm run bench -- --docs     (and for memory, into docs/performance.md; `npm run format` after it)
 *
 * Below the tables there somebody says why a goal is missed, a line `- **goal**: reason` each. These lines
 * stay until the goal is met.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { goalsTable, medianAtMost, shown, tableOf, type Goal } from "./goals.js";
import { growthGoals } from "./growth.js";
import { allocated, interleaved, relative, type Measured, type Way } from "./measure.js";
import { memoryGoals } from "./memoryGoals.js";
import { withMeasured } from "./readme.js";
import { requestGoals } from "./requests.js";
import { startDelay, startScene } from "./scene.js";
import { bundleGoal } from "./size.js";
import { baseline, modes, waysOf } from "./ways.js";

const turns = Number(process.env["BENCH_TURNS"] ?? 30);

/** What was measured, by the name of the way. */
type Results = ReadonlyMap<string, Measured>;

const measure = async (ways: ReadonlyArray<Way>, count: number): Promise<Results> =>
  new Map((await interleaved(ways, count)).map((measured) => [measured.way.name, measured]));

const taken = (results: Results, name: string): Measured => {
  const measured = results.get(name);
  if (measured === undefined) throw new Error(`${name} was not measured`);
  return measured;
};

/** As multiples of what `h` took in the same turns. */
const timesH = (results: Results, name: string, what: "wall" | "cpu") =>
  relative(taken(results, name)[what], taken(results, baseline)[what]);

/** The ways that this node can answer at all, and the names of the others; prints why not. */
const tried = async (ways: ReadonlyArray<Way>) => {
  const able: Array<Way> = [];
  const refused: Array<string> = [];
  for (const way of ways) {
    const refusal = await way.ask().then(
      () => null,
      (error: Error & { readonly details?: string }) => error.details ?? error.message,
    );
    if (refusal === null) able.push(way);
    else {
      refused.push(way.name);
      console.log(`anvil cannot answer ${way.name}: ${refusal}`);
    }
  }
  return { able, refused };
};

interface Measurements {
  /** At 0 ms from a node whose latest block is empty, and from one whose latest block is full. */
  readonly near: Results;
  readonly full: Results;
  /** At 50 ms. */
  readonly far: Results;
}

const timeGoals = ({ near, full, far }: Measurements): ReadonlyArray<Goal> =>
  modes.flatMap(({ suffix }) =>
    [
      { question: `\`scan\`${suffix}`, at50: 1.06, at0: 2, cpu: suffix === "" ? 4 : 2.5 },
      { question: `\`preflight\`${suffix}`, at50: 2.12, at0: 3, cpu: suffix === "" ? 8 : 5 },
    ].flatMap(({ question, at50, at0, cpu }) => [
      medianAtMost(`wall time of ${question} at 50 ms`, at50, " × h", timesH(far, question, "wall")),
      medianAtMost(`wall time of ${question} at 0 ms`, at0, " × h", timesH(near, question, "wall")),
      medianAtMost(`CPU of ${question}`, cpu, " × h", timesH(near, question, "cpu")),
      medianAtMost(`CPU of ${question}, full block`, cpu, " × h", timesH(full, question, "cpu")),
    ]),
  );

/** Every way in a row; on a full block as multiples of what `h` took there. */
const waysTable = ({ near, full, far }: Measurements, kib: ReadonlyMap<string, number>): string => {
  const none = "–";
  const onEmpty = [...near.keys()].map((name) => {
    const distant = timesH(far, name, "wall");
    return [
      name,
      shown(distant),
      shown(timesH(near, name, "wall")),
      shown(timesH(near, name, "cpu")),
      taken(near, name).told ?? String(Math.max(1, Math.round(distant.median))),
      kib.get(name)?.toFixed(0) ?? none,
    ];
  });
  const onFull = [...full.keys()].map((name) => [
    `${name}, full block`,
    none,
    shown(timesH(full, name, "wall")),
    shown(timesH(full, name, "cpu")),
    taken(full, name).told ?? none,
    none,
  ]);
  const head = [
    "way",
    "wall at 50 ms, × h",
    "wall at 0 ms, × h",
    "client CPU, × h",
    "rounds, verdict",
    "allocated, KiB",
  ];
  return tableOf(head, [...onEmpty, ...onFull]);
};

const empty = await startScene("empty");
const requests = await requestGoals(empty.url, [
  ["ETH transfer", empty.ethTransfer],
  ["ERC-20 transfer", empty.tokenTransfer],
]);

const here = await waysOf(empty.url, empty.ethTransfer);
const { able, refused } = await tried(here.others);
const ways = [...here.raw, ...able, ...here.ours];
const near = await measure(ways, turns * 4);
const kib = new Map<string, number>();
for (const way of ways) kib.set(way.name, await allocated(way));
await here.close();

const crowded = await startScene("full");
const there = await waysOf(crowded.url, crowded.ethTransfer);
const full = await measure([...there.raw, ...there.ours], turns * 2);
await there.close();
await crowded.stop();

const proxy = await startDelay(empty.url, 50);
const away = await waysOf(proxy.url, empty.ethTransfer);
const far = await measure([...away.raw, ...away.others.filter(({ name }) => near.has(name)), ...away.ours], turns);
await away.close();
await proxy.stop();

const growth = await growthGoals(empty);
await empty.stop();

const isForReadme = process.argv.includes("--docs");
const elsewhere: ReadonlyArray<Goal> = isForReadme
  ? memoryGoals()
  : ["memory of 10,000 preflights in flight", "growth of the heap over 50,000 scans"].map((name) => ({
      ...{ name, limit: "", value: "`npm run bench:memory`", met: null },
    }));
const measurements = { near, full, far };
const h = taken(near, baseline);
const goals = [...requests, ...timeGoals(measurements), ...growth, bundleGoal(), ...elsewhere];

const tables = [
  waysTable(measurements, kib),
  `\`h\` took ${shown(taken(far, baseline).wall)} ms at 50 ms, ${shown(h.wall)} ms at 0 ms and ${shown(h.cpu)} ms of client CPU; Node ${process.version}, ${availableParallelism()} cores. In brackets: quartiles. Allocated: what one ask leaves on the heap.`,
  ...(refused.length === 0 ? [] : [`anvil cannot answer ${refused.join("; ")}.`]),
  goalsTable(goals),
].join("\n\n");
console.log(tables);
if (isForReadme) {
  const path = fileURLToPath(new URL("../docs/performance.md", import.meta.url));
  const { readme, unexplained } = withMeasured(readFileSync(path, "utf8"), tables, goals);
  writeFileSync(path, readme);
  for (const name of unexplained) console.log(`docs/performance.md does not say why this is missed: ${name}`);
}
