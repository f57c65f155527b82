import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import type { Remembered } from "../../bench/memoryGoals.js";

/** What `bench/memory.ts` measures, in a process of its own; fails with all that it printed where a bound is missed. */
const remembered = (flags: ReadonlyArray<string>, crowd: number, scans: number) =>
  new Promise<Remembered>((resolve, reject) => {
    const program = ["--conditions=@evm-preflight/source", "--import", "tsx", "--expose-gc", "bench/memory.ts"];
    execFile(process.execPath, [...flags, ...program, String(crowd), String(scans)], (error, stdout, stderr) => {
      if (error !== null) return reject(new Error(`${error.message}\n${stdout}${stderr}`));
      resolve(JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Remembered);
    });
  });

it("a thousand preflights at once are all right in a heap of 256 MiB", { timeout: 300_000 }, async () => {
  // why: in a heap without a bound the peak is what V8 has not collected yet, and no need of the crowd's
  expect((await remembered(["--max-old-space-size=256"], 1_000, 0)).peak).toBeLessThan(512);
});

it("a long series of scans leaves nothing in memory", { timeout: 300_000 }, async () => {
  const { growth, noise } = await remembered([], 0, 4_000);
  expect(growth).toBeLessThan(noise / 2);
});
