/** TypeScript in packages without `"type"`: what it compiles to is CommonJS, or is taken by a bundler for one. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../harness/sources.js";
import { compile } from "./consumer.js";
import { installPacked, type Installed } from "./packed.js";

let installed: Installed;
beforeAll(() => {
  installed = installPacked();
  mkdirSync(join(installed.folder, "app"));
  copyFileSync(join(root, "test/doors/consumers/commonjs.cts"), join(installed.folder, "app/uses.ts"));
});
afterAll(() => installed.remove());

const node16 = { module: "node16", moduleResolution: "node16" };
const ways = [
  node16,
  { module: "node18", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
  { module: "preserve", moduleResolution: "bundler" },
];
/** The oldest and the newest compiler by every way, those between by the strictest. */
const compilations = [
  ...["typescript-5-8", "typescript-7"].flatMap((compiler) => ways.map((way) => ({ compiler, ...way }))),
  ...["typescript-5-9", "typescript"].map((compiler) => ({ compiler, ...node16 })),
];

/** Compiles the module strictly, with every declaration that it leads to, and its own declarations written. */
const complaintsOf = (compiler: string, way: (typeof ways)[number]): ReadonlyArray<string> => {
  rmSync(join(installed.folder, "out"), { recursive: true, force: true });
  const compilerOptions = {
    ...way,
    strict: true,
    // why: what one way makes of every declaration, the others do as well, and it takes most of the time
    skipLibCheck: way.module !== "node16",
    target: "es2022",
    lib: ["es2022", "dom"],
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    declaration: true,
    rootDir: ".",
    outDir: "out",
  };
  writeFileSync(join(installed.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["app"] }));
  return compile(installed, compiler);
};

const run = (): unknown =>
  JSON.parse(execFileSync(process.execPath, ["out/app/uses.js"], { cwd: installed.folder, encoding: "utf8" }));

describe("CommonJS TypeScript", () => {
  it.each(compilations)(
    "compiles by $compiler under $module and $moduleResolution, and runs with one copy of everything",
    ({ compiler, ...way }) => {
      expect(complaintsOf(compiler, way)).toEqual([]);
      const code = readFileSync(join(installed.folder, "out/app/uses.js"), "utf8");
      expect(code.includes('require("evm-preflight/promise")')).toBe(way.moduleResolution !== "bundler");
      expect(run()).toEqual(["unknown", null, true, true, "NotProven", "eth_sign", "unknown", "unknown", true]);
    },
    180_000,
  );

  it("is refused under node10, as the guide says, because Effect has no types there", () => {
    const way = { module: "commonjs", moduleResolution: "node10" };
    expect(complaintsOf("typescript-5-9", way).join("\n")).toContain(
      "TS2307: Cannot find module 'evm-preflight/promise'",
    );
  });
});
