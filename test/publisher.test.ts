/** Who publishes the package: nobody is named until somebody does, and `scripts/publisher.ts` then names them everywhere. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, walkFiles } from "./harness/sources.js";

/** The files that a package or the site shows. */
const shown = (folder: string): ReadonlyArray<string> => {
  const { files } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { files: ReadonlyArray<string> };
  const paths = [...files.filter((file) => file !== "dist"), "src", "package.json", "tools/site/.vitepress/config.ts"];
  return paths.flatMap((path) => (statSync(join(root, path)).isDirectory() ? walkFiles(path) : [path]));
};
const textIn = (folder: string, path: string) => readFileSync(join(folder, path), "utf8");

describe("the publisher's name", () => {
  const copy = mkdtempSync(join(tmpdir(), "evm-preflight-publisher-"));
  const run = (...args: ReadonlyArray<string>) =>
    spawnSync(process.execPath, ["--import", "tsx", ...args], { cwd: copy, encoding: "utf8" });
  beforeAll(() => {
    const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
    for (const path of tracked.split("\n").filter((line) => /^(?:src|scripts|docs|examples|[^/]+$)/.test(line))) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      cpSync(join(root, path), join(copy, path));
    }
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "junction");
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it("is a placeholder nowhere", () => {
    const files = shown(root);
    expect(files.length).toBeGreaterThan(400);
    expect(files.filter((path) => /\bOWNER\b/.test(textIn(root, path)))).toEqual([]);
  });

  it("is refused where it is malformed, and nothing is written", () => {
    for (const name of ["", "acme", "acme/a b", "https://github.com/acme/fork"]) {
      const { status, stderr } = run("scripts/publisher.ts", name);
      expect([status, stderr]).toEqual([64, expect.stringMatching(/^Writes who .*\n$/)]);
    }
    expect(textIn(copy, "package.json")).toBe(textIn(root, "package.json"));
  });

  it("is written into the manifest, the changelog and the links of reports", { timeout: 240_000 }, () => {
    // why: a publisher has to replace an earlier one
    const before = JSON.parse(textIn(copy, "package.json")) as object;
    const earlier = { homepage: "https://first/one", ...before, bugs: "first/one", repository: "github:first/one" };
    writeFileSync(join(copy, "package.json"), JSON.stringify(earlier));
    const constant = textIn(copy, "src/primitives/publisher.ts").replace("= null", `= "https://first/one/"`);
    writeFileSync(join(copy, "src/primitives/publisher.ts"), constant);
    expect(constant).toContain("first/one");
    expect(run("scripts/publisher.ts", "acme/fork").stderr).toBe("");
    const manifest = textIn(copy, "package.json");
    expect(JSON.parse(manifest)).toMatchObject({
      homepage: "https://github.com/acme/fork#readme",
      bugs: "https://github.com/acme/fork/issues",
      repository: "github:acme/fork",
    });
    const lines = (text: string) => text.split("\n").filter((line) => !/"(?:homepage|bugs|repository)": /.test(line));
    expect(lines(manifest)).toEqual(lines(textIn(root, "package.json")));
    expect(textIn(copy, "CHANGELOG.md")).toMatch(
      /^\[0\.3\.0\]: https:\/\/github\.com\/acme\/fork\/compare\/v\d[^]*releases\/tag\/v\d/m,
    );
    writeFileSync(
      join(copy, "report.ts"),
      `import { Report } from "./src/index.js";
      import { createPreflight } from "./src/promise.js";
      import { layerScripted } from "./src/testing.js";
      const account = "0x00000000000000000000000000000000000000a1";
      void createPreflight({ layer: layerScripted({}) })
        .scan({ from: account, to: account })
        .then((report) => console.log(Report.toHtml(report)));`,
    );
    buildSync({
      ...{
        absWorkingDir: copy,
        entryPoints: ["report.ts"],
        outfile: "report.mjs",
        allowOverwrite: true,
        logLevel: "error",
      },
      ...{ bundle: true, packages: "external", platform: "node", target: "node20", format: "esm" },
    });
    const html = spawnSync(process.execPath, ["report.mjs"], { cwd: copy, encoding: "utf8" }).stdout;
    expect(html).toMatch(
      /<a href="https:\/\/github\.com\/acme\/fork\/blob\/main\/docs\/errors\.md#\w+" rel="noreferrer" target="_blank">/,
    );
    for (const path of shown(root).filter((path) => !path.startsWith("tools/")))
      expect(textIn(copy, path).includes("first/one"), path).toBe(false);
  });
});
