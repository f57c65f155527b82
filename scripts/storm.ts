/** Watches reports through thousands of blocks of bad weather; `STORM_BLOCKS` (10,000), `STORM_SEED`, `STORM_EVERY` (10), `STORM_COPIES` (1). */
import { storm } from "../test/watch/storm.js";

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const blocks = number("STORM_BLOCKS", 10_000);
const started = performance.now();
const { lags, judged, wrong, ...rest } = await storm({
  ...{ blocks, seed: number("STORM_SEED", 1), everyBlocks: number("STORM_EVERY", 10) },
  copies: number("STORM_COPIES", 1),
  onBlock: (block) => {
    if ((block + 1) % 500 === 0)
      console.log(`${block + 1} blocks in ${Math.round((performance.now() - started) / 1000)} s`);
  },
});
const shares = (all: ReadonlyArray<number>) => {
  const at = (share: number) => Math.round(all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
};
console.log({ blocks, ...rest, wrong: wrong.length, lagMs: shares(lags), judgedMs: shares(judged) });
for (const line of wrong.slice(0, 20)) console.log(line);
process.exit(wrong.length === 0 ? 0 : 1);
