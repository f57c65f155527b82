/**
 * `scan` and `preflight` beside four raw JSON-RPC calls at once and beside viem's ways: same node, same
 * run, interleaved. Wall time as a ratio to `h`, rounds, client CPU and bytes allocated per preflight.
 *
 *     npm run bench                 (BENCH_ITERATIONS=n for other than 30)
 *     npm run bench -- --readme     (writes the table into the README as well)
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { keys, startNode } from "../examples/node.js";
import { privateKeyToAccount } from "viem/accounts";
import { waysOf, type Way } from "./ways.js";

const iterations = Number(process.env["BENCH_ITERATIONS"] ?? 30);

const rawCall = async (url: string, method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return ((await response.json()) as { readonly result: unknown }).result;
};

/** The delaying proxy, in a process of its own so that its CPU is not counted. */
const startDelay = async (upstream: string, milliseconds: number) => {
  const script = fileURLToPath(new URL("delay.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, new URL(upstream).port, String(milliseconds)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  if (child.stdout === null) throw new Error("the delaying proxy has no output");
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return { url: `http://127.0.0.1:${String(port).trim()}`, stop: () => child.kill() };
};

const median = (numbers: ReadonlyArray<number>): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

interface Measured {
  readonly wall: number;
  readonly cpu: number;
  readonly rounds: number | null;
}

/** Every way once per turn, the first one rotating, so that drift hits all alike. */
const interleaved = async (ways: ReadonlyArray<Way>, turns: number): Promise<ReadonlyArray<Measured>> => {
  const samples = ways.map(() => ({
    wall: [] as Array<number>,
    cpu: [] as Array<number>,
    rounds: [] as Array<number>,
  }));
  for (let turn = -3; turn < turns; turn++) {
    for (let step = 0; step < ways.length; step++) {
      const index = (step + turn + ways.length) % ways.length;
      const way = ways[index];
      const sample = samples[index];
      if (way === undefined || sample === undefined) continue;
      const cpu = process.cpuUsage();
      const started = performance.now();
      const answer = await way.ask();
      const wall = performance.now() - started;
      const used = process.cpuUsage(cpu);
      if (turn < 0) continue;
      sample.wall.push(wall);
      sample.cpu.push(used.user + used.system);
      if (way.rounds !== undefined) sample.rounds.push(way.rounds(answer));
    }
  }
  return samples.map(({ wall, cpu, rounds }) => ({
    wall: median(wall),
    cpu: median(cpu),
    rounds: rounds.length === 0 ? null : median(rounds),
  }));
};

/** Bytes that one ask leaves on the heap when nothing is collected in between; null where that cannot be forced. */
const allocated = async (way: Way): Promise<number | null> => {
  const collect = (globalThis as { readonly gc?: () => void }).gc;
  if (collect === undefined) return null;
  const samples: Array<number> = [];
  for (let turn = 0; turn < 7; turn++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < 5; count++) await way.ask();
    samples.push((process.memoryUsage().heapUsed - before) / 5);
  }
  return median(samples);
};

/** The ways that this node can answer at all, and why not the others. */
const possible = async (ways: ReadonlyArray<Way>) => {
  const able: Array<Way> = [];
  const unable: Array<string> = [];
  for (const way of ways) {
    const outcome = await way.ask().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    if (outcome === null) able.push(way);
    else unable.push(`${way.name}: ${"details" in outcome ? String(outcome.details) : outcome.message.slice(0, 200)}`);
  }
  return { able, unable };
};

const node = await startNode();
const chainId = Number(await rawCall(node.url, "eth_chainId", []));
await rawCall(node.url, "anvil_mine", ["0x2"]);
console.log(
  `anvil, ETH transfer from ${privateKeyToAccount(keys[1]).address}, ${iterations} interleaved turns, Node ${process.version}\n`,
);

const results: Array<ReadonlyArray<Measured>> = [];
let bytes: ReadonlyArray<number | null> = [];
let names: ReadonlyArray<string> = [];
for (const delay of [0, 50]) {
  const proxy = await startDelay(node.url, delay);
  const { ways: all, close } = waysOf(proxy.url, chainId);
  const { able: ways, unable } = await possible(all);
  if (delay === 0 && unable.length > 0) console.log(`this node cannot answer\n- ${unable.join("\n- ")}\n`);
  names = ways.map(({ name }) => name);
  results.push(await interleaved(ways, delay === 0 ? iterations * 5 : iterations));
  if (delay === 0) {
    const found: Array<number | null> = [];
    for (const way of ways) found.push(await allocated(way));
    bytes = found;
  }
  await close();
  proxy.stop();
}
node.stop();

const [near = [], far = []] = results;
const limit = { near: near[0]?.wall ?? Number.NaN, far: far[0]?.wall ?? Number.NaN };
const row = (name: string, index: number): ReadonlyArray<string> => {
  const [there, here] = [far[index], near[index]];
  if (there === undefined || here === undefined) return [];
  const kib = bytes[index];
  const cells = [
    name,
    (there.wall / limit.far).toFixed(2),
    (here.wall / limit.near).toFixed(2),
    String(there.rounds ?? Math.max(1, Math.round(there.wall / limit.far))),
    String(Math.round(here.cpu)),
    kib === null || kib === undefined ? "–" : String(Math.round(kib / 1024)),
  ];
  return [`| ${cells.join(" | ")} |`];
};
const table = [
  "| way | wall at 50 ms, × h | wall at 0 ms, × h | rounds | client CPU, µs | allocated, KiB |",
  "|---|---|---|---|---|---|",
  ...names.flatMap(row),
  "",
  `\`h\` took ${limit.far.toFixed(1)} ms at 50 ms and ${limit.near.toFixed(2)} ms at 0 ms.`,
].join("\n");
console.log(table);
if (process.argv.includes("--readme")) {
  const path = fileURLToPath(new URL("../README.md", import.meta.url));
  const marked = /(<!-- bench -->\n)[^]*?(\n<!-- \/bench -->)/;
  writeFileSync(
    path,
    readFileSync(path, "utf8").replace(marked, (_, open: string, close: string) => `${open}\n${table}\n${close}`),
  );
}
const goals = [
  ["**`scan`**", 1.05],
  ["**`preflight`**", 2.1],
] as const;
for (const [name, goal] of goals) {
  const ratio = (far[names.indexOf(name)]?.wall ?? Number.NaN) / limit.far;
  console.log(`goal ${name} ≤ ${goal} × h at 50 ms: ${ratio.toFixed(3)} ${ratio <= goal ? "met" : "MISSED"}`);
}
