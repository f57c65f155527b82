/**
 * What a crowd of preflights started at once holds in memory, and what a long life of scans leaves behind,
 * against anvil in a process of its own. Fails when the crowd takes 512 MiB or more, when one of it gets
 * another verdict than is true, or when the heap has grown between a fifth of the scans, 2,000 at least, and all
 * of them. A process that warms up grows too: by 3 MiB in its first 6,000 scans, most of it before 2,000, and not
 * at all in the next 3,000.
 *
 * The crowd's deadline is 5 minutes: the default of 10 s, which counts from the gate, can run out on a busy
 * machine with 256 runs under way, and the verdict is then unknown. That is no question of memory.
 *
 * The peak is that of a heap left alone, which V8 collects when up to four times of what is alive has come
 * together; `NODE_OPTIONS=--max-old-space-size=320` shows what the crowd needs.
 *
 * Each in a process of its own, for a long life leaves a large heap to the crowd:
 *
 *     npm run bench:memory              (or memory.ts PREFLIGHTS_AT_ONCE SCANS, with 0 for none of them)
 */
import { keys, startNode } from "../examples/node.js";
import { createPreflight } from "evm-preflight/promise";
import { privateKeyToAccount } from "viem/accounts";
import type { Remembered } from "./memoryGoals.js";

const [crowd = 0, scans = 0] = process.argv.slice(2).map(Number);
const mebibytes = (bytes: number): number => bytes / 2 ** 20;
/** MiB: what two collected heaps differ by without a leak. */
const noise = 4;
/** Scans under way at once in the long life. */
const lanes = 32;

const collect = (globalThis as { readonly gc?: () => void }).gc;
if (collect === undefined) throw new Error("run it with --expose-gc");
const heap = (): number => {
  collect();
  collect();
  return mebibytes(process.memoryUsage().heapUsed);
};

const rich = privateKeyToAccount(keys[1]).address;
const poor = "0x00000000000000000000000000000000000abcde";
const to = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

const node = await startNode();
const misses: Array<string> = [];

const long = createPreflight({ url: node.url, batch: true });
let done = 0;
const lane = async (until: number): Promise<void> => {
  while (done < until) {
    const value = BigInt(++done);
    await long.scan({ from: rich, to, value });
  }
};
const lived = async (until: number): Promise<number> => {
  await Promise.all(Array.from({ length: lanes }, () => lane(until)));
  return heap();
};
const warm = Math.max(Math.floor(scans / 5), 2_000);
if (scans > 0 && scans <= warm) throw new Error(`a life is longer than ${warm} scans`);
const [early, late] = scans === 0 ? [0, 0] : [await lived(warm), await lived(scans)];
await long.dispose();
if (scans > 0) console.log(`heap after ${warm} scans ${early.toFixed(1)} MiB, after ${scans} ${late.toFixed(1)} MiB`);
if (late - early > noise) misses.push(`the heap grew by ${(late - early).toFixed(1)} MiB`);

const preflight = createPreflight({ url: node.url });
const started = performance.now();
const verdicts = await Promise.all(
  Array.from({ length: crowd }, async (_, index) => {
    const from = index % 2 === 0 ? rich : poor;
    const report = await preflight.run({ from, to, value: BigInt(index + 1) }, { deadline: "5 minutes" });
    return `${from === rich ? "rich" : "poor"} ${report.verdict}`;
  }),
);
const seconds = (performance.now() - started) / 1000;
await preflight.dispose();
node.stop();
const counts = new Map<string, number>();
for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
const peak = process.resourceUsage().maxRSS / 1024;
console.log(
  `${crowd} preflights at once: ${seconds.toFixed(1)} s, peak ${peak.toFixed(0)} MiB`,
  Object.fromEntries(counts),
);
if (peak >= 512) misses.push(`the crowd took ${peak.toFixed(0)} MiB`);
if ([...counts.keys()].some((seen) => seen !== "rich ready" && seen !== "poor blocked"))
  misses.push("not every verdict is true");
for (const miss of misses) console.log(`MISSED: ${miss}`);
console.log(JSON.stringify({ peak, growth: late - early, noise } satisfies Remembered));
process.exit(misses.length);
