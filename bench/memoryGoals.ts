/** The goals for memory: what `bench/memory.ts` says of itself, run in a process of its own. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atMost, type Goal } from "./goals.js";

/** The last line of `bench/memory.ts`, all in MiB; a growth within `noise` is none. */
export interface Remembered {
  readonly peak: number;
  readonly growth: number;
  readonly noise: number;
}

const script = fileURLToPath(new URL("memory.ts", import.meta.url));
const run = (crowd: number, scans: number): Remembered => {
  const flags = ["--import", "tsx", "--expose-gc"];
  const { stdout } = spawnSync(process.execPath, [...flags, script, String(crowd), String(scans)], {
    encoding: "utf8",
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Remembered;
};

/** Runs for about five minutes. */
export const memoryGoals = (): ReadonlyArray<Goal> => {
  const [{ peak }, { growth, noise }] = [run(10_000, 0), run(0, 50_000)];
  return [
    atMost("memory of 10,000 preflights in flight", 512, " MiB", peak, `${peak.toFixed(0)} MiB`),
    atMost("growth of the heap over 50,000 scans", noise, " MiB", growth, `${growth.toFixed(1)} MiB`),
  ];
};
