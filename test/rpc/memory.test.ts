import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it(
  "stays small with a thousand preflights started at once, and after three thousand scans",
  { timeout: 300_000 },
  async () => {
    const bench = [
      "--conditions=@evm-preflight/source",
      "--import",
      "tsx",
      "--expose-gc",
      "bench/memory.ts",
      "1000",
      "3000",
    ];
    // fails, and shows what it printed, when a bound is missed
    const { stdout } = await promisify(execFile)(process.execPath, bench);
    expect(stdout).toContain("1000 preflights at once");
    expect(stdout).not.toContain("MISSED");
  },
);
