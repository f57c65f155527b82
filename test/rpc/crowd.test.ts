import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startNode } from "../harness/server.js";
import { root } from "../harness/sources.js";
import { kept, stopAll } from "./asking.js";

afterEach(stopAll);

describe("many requests of one run through viem", () => {
  const program = join(root, "node_modules/.cache", `crowd-${process.pid}.mjs`);
  beforeAll(async () => {
    // why: a bundle starts in a tenth of the time
    await build({
      ...{ entryPoints: [join(root, "test/rpc/crowd.ts")], outfile: program, logLevel: "error" },
      ...{ bundle: true, packages: "external", platform: "node", target: "node20", format: "esm" },
    });
  });
  afterAll(() => rmSync(program, { force: true }));
  it.each(["single", "batch"])("cause no warning of Node's: %s", { timeout: 120_000 }, async (batch) => {
    const node = await kept(startNode(() => ({ result: "0x1" })));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, node.url, "1600", batch]);
    expect(stderr).toBe("");
    expect(stdout).toBe("1600 answers\n");
  });
});
