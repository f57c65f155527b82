/** The built package as users get it: both module systems, and its types. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../harness/sources.js";

const run = (args: ReadonlyArray<string>) =>
  execFileSync(process.execPath, [...args], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

describe("the package", () => {
  it("loads every door as ESM and as CommonJS, and they work together", () => {
    run(["scripts/smoke.mjs"]);
  });

  it.each(["NodeNext", "Node16"])("type-checks in users' modules under %s, mistakes included", (module) => {
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--target", "ES2022", "--module", module];
    const files = ["test/doors/consumers/esm.mts", "test/doors/consumers/cjs.cts"];
    run(["node_modules/typescript/bin/tsc", ...flags, "--ignoreConfig", ...files]);
  });

  it("has a self-contained command with a shebang", () => {
    const bin = readFileSync(join(root, "dist/bin/evm-preflight.js"), "utf8");
    expect(bin.startsWith("#!/usr/bin/env node\n")).toBe(true);
    expect(bin).not.toMatch(/^import .* from "(effect|viem|@effect)\b/m);
  });
});
