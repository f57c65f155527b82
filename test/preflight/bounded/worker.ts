/** One preflight in a process of its own: says what came of it, what work it took, and what memory beside the program. */
import { readFileSync } from "node:fs";
import * as Effect from "effect/Effect";
import * as Preflight from "../../../src/Preflight.js";
import * as Report from "../../../src/Report.js";
import * as Rpc from "../../../src/Rpc.js";

/** What the worker is asked for, as a JSON file. */
export interface Task {
  readonly url: string;
  readonly input: unknown;
  readonly deadlineMs: number;
  readonly batch: boolean;
  /** An ABI of so many events and functions is given along. */
  readonly abiItems: number;
}

/** What it answers. */
export interface Done {
  readonly verdict: string;
  readonly codes: ReadonlyArray<string>;
  /** Of all its threads, on a processor. */
  readonly cpuMs: number;
  /** MiB of resident memory above what the loaded program had. */
  readonly grownMiB: number;
  /** Characters of the report as text. */
  readonly textSize: number;
}

const task = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Task;
const before = process.memoryUsage().rss;
let peak = before;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 5);
const item = (index: number) => {
  const inputs = Array.from({ length: 4 }, (_, at) => ({ name: `a${at}`, type: "uint256", indexed: false }));
  return index % 2 === 0
    ? { type: "function", name: `f${index}`, inputs, outputs: inputs, stateMutability: "view" }
    : { type: "event", name: `E${index}`, inputs, anonymous: false };
};
const abis = task.abiItems === 0 ? {} : { abis: [Array.from({ length: task.abiItems }, (_, index) => item(index))] };
const used = process.cpuUsage();
const report = await Effect.runPromise(
  Effect.provide(
    Preflight.preflight(task.input as never, { deadline: task.deadlineMs, ...abis } as never),
    Rpc.layerHttp(task.url, { batch: task.batch } as Rpc.HttpOptions),
  ),
);
const { user, system } = process.cpuUsage(used);
const textSize = Report.toText(report).length;
clearInterval(watch);
// why: kibibytes, over the whole life of the process
peak = Math.max(peak, process.resourceUsage().maxRSS * 1024);
const done: Done = {
  verdict: report.verdict,
  codes: [...new Set(report.findings.map(({ code, severity }) => `${code}/${severity}`))],
  cpuMs: (user + system) / 1_000,
  grownMiB: (peak - before) / 1_048_576,
  textSize,
};
process.stdout.write(JSON.stringify(done));
process.exit(0);
