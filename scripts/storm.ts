/**
 * Watches reports through thousands of blocks of bad weather, over HTTP and over a socket; `STORM_BLOCKS` (10,000, of each),
 * `STORM_SEED`, `STORM_EVERY` (10), `STORM_COPIES` (1), `STORM_OVER` (`http,socket`; also `mixed`: heads alone over a socket).
 */
import { storm, type Over } from "../test/watch/storm.js";

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const blocks = number("STORM_BLOCKS", 10_000);
const transports = (process.env["STORM_OVER"] ?? "http,socket").split(",") as ReadonlyArray<Over>;
const shares = (all: ReadonlyArray<number>) => {
  const at = (share: number) => Math.round(all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
};
let isRight = true;
for (const over of transports) {
  const started = performance.now();
  const { lags, judged, wrong, ...rest } = await storm({
    ...{ over, blocks, seed: number("STORM_SEED", 1), everyBlocks: number("STORM_EVERY", 10) },
    copies: number("STORM_COPIES", 1),
    onBlock: (block) => {
      if ((block + 1) % 500 === 0)
        console.log(`${over}: ${block + 1} blocks in ${Math.round((performance.now() - started) / 1000)} s`);
    },
  });
  console.log({ over, blocks, ...rest, wrong: wrong.length, lagMs: shares(lags), judgedMs: shares(judged) });
  for (const line of wrong.slice(0, 20)) console.log(line);
  isRight &&= wrong.length === 0;
}
process.exit(isRight ? 0 : 1);
