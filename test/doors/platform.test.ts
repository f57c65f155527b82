/** Every built door in a process that never had a `DOMException`, as React Native's Hermes has none; alone, and bundled. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../harness/sources.js";

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, unknown>>;
};
const doors = Object.keys(exports).filter((door) => door !== "./package.json");
const folder = mkdtempSync(join(tmpdir(), "evm-preflight-platform-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How many names a module has where the global is gone. */
const namesOf = (module: string): number => {
  const code = `delete globalThis.DOMException;
    if (typeof DOMException !== "undefined") throw new Error("still there");
    console.log(Object.keys(await import(${JSON.stringify(module)})).length)`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root, encoding: "utf8" }));
};

describe("a platform without DOMException", () => {
  it.each(doors)("imports %s", (door) => {
    expect(namesOf(`evm-preflight${door.slice(1)}`)).toBeGreaterThan(0);
  });

  it.each([".", "./promise", "./viem", "./Report"])("imports %s from a bundle", async (door) => {
    const outfile = join(folder, `${door.replaceAll(/\W/g, "")}.mjs`);
    await build({
      stdin: { contents: `export * from "evm-preflight${door.slice(1)}"`, resolveDir: root },
      ...{ outfile, bundle: true, format: "esm", platform: "browser", target: "es2022", logLevel: "error" },
    });
    expect(namesOf(outfile)).toBeGreaterThan(0);
  });
});
