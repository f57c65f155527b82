/** The package as users get it: packed, beside its peers, by import and by require. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, walkFiles } from "../harness/sources.js";
import { installPacked, manifestIn, type Installed } from "./packed.js";

const run = (args: ReadonlyArray<string>, cwd = root) =>
  execFileSync(process.execPath, [...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

let installed: Installed;
beforeAll(() => {
  installed = installPacked();
});
afterAll(() => installed.remove());

/** Runs a program in the app that installed the package, and gives its words. */
const runThere = (name: string, text: string): string => {
  writeFileSync(join(installed.folder, name), text);
  return run([name], installed.folder).trim();
};

/** The built modules, and what each takes from elsewhere; comments left out. */
const built = () => walkFiles("dist").filter((file) => /\.(?:js|d\.ts)$/.test(file) && !file.startsWith("dist/bin/"));
const takenBy = (file: string): ReadonlyArray<string> => {
  const code = readFileSync(join(root, file), "utf8").replace(/\/\*[^]*?\*\//g, "");
  return [...code.matchAll(/(?:from |import\(|import )"([^"]+)"/g)].map(([, specifier = ""]) => specifier);
};

/** `a/b` of `a/b/c` for scoped packages, `a` of `a/b` for others. */
const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

/** The folders of every copy of a package below node_modules. */
const copiesOf = (name: string, folder = join(root, "node_modules")): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory() || entry.name.startsWith(".")) return [];
    if (entry.name.startsWith("@")) return copiesOf(name.replace(`${entry.name}/`, ""), path);
    const own = entry.name === name && existsSync(join(path, "package.json")) ? [path] : [];
    const nested = join(path, "node_modules");
    return [...own, ...(existsSync(nested) ? copiesOf(name, nested) : [])];
  });

/** The names of the entries' files. */
const entryNames = (): ReadonlyArray<string> =>
  Object.keys(manifestIn(root).exports)
    .filter((entry) => entry !== "./package.json")
    .map((entry) => (entry === "." ? "index" : entry.slice(2)));

/** Whether a module awaits outside of its functions. */
const awaitsAtTop = (code: string): boolean => {
  const visit = (node: ts.Node): boolean => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)) return true;
    return ts.forEachChild(node, (child) => visit(child) || undefined) === true;
  };
  return visit(ts.createSourceFile("module.mjs", code, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS));
};

describe("the built package", () => {
  it("loads every entry by import and by require as the same objects", () => {
    run(["scripts/smoke.mjs"]);
  });

  it("works in a CommonJS program, with one class for each error whichever entry it came through", () => {
    const program = `
      const { Errors } = require("evm-preflight");
      const { InvalidTransaction } = require("evm-preflight/Errors");
      const { createPreflight } = require("evm-preflight/promise");
      const { layerScripted } = require("evm-preflight/testing");
      const { preflightActions } = require("evm-preflight/viem");
      const told = (error) => [error instanceof Errors.InvalidTransaction, error instanceof InvalidTransaction];
      const client = { request: () => Promise.reject(new Error("unused")) };
      Promise.all([
        createPreflight({ layer: layerScripted({}) }).run({ from: "0x12" }).catch(told),
        preflightActions()(client).scan({ from: "0x12" }).catch(told),
        import("evm-preflight").then((loaded) => loaded.Errors === Errors),
      ]).then((all) => { console.log(JSON.stringify(all)); process.exit(0); });`;
    expect(runThere("app.cjs", program)).toBe("[[true,true],[true,true],true]");
  });

  it("runs the README's sample as it is pasted into a CommonJS package, by tsx and compiled, and names its line", () => {
    const { folder } = installed;
    writeFileSync(join(folder, "first.ts"), readFileSync(join(root, "examples/first.ts"), "utf8"));
    const typeRoots = join(root, "node_modules/@types");
    const flags = ["--module", "nodenext", "--target", "es2022", "--strict", "--skipLibCheck", "--types", "node"];
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    run([tsc, ...flags, "--typeRoots", typeRoots, "--ignoreConfig", "first.ts"], folder);
    expect(readFileSync(join(folder, "first.js"), "utf8")).toContain("require(");
    const env = { ...process.env, ETH_RPC_URL: "http://127.0.0.1:1" };
    for (const args of [[join(root, "node_modules/tsx/dist/cli.mjs"), "first.ts"], ["first.js"]]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
      expect(stdout, stderr).toMatch(/^UNKNOWN · eth_chainId: the endpoint could not be reached/);
      expect([status, stderr]).toEqual([1, expect.stringMatching(/NotProven[^]*first\.[jt]s:\d+:\d+/)]);
    }
  }, 120_000);

  it("explains a built-in error, which a scan loads with the first revert that needs it", () => {
    const program = `
      import { createPreflight } from "evm-preflight/promise";
      import { layerScripted, rpcError } from "evm-preflight/testing";
      const [from, to, data] = ["0x" + "11".repeat(20), "0x" + "22".repeat(20), "0x96c6fd1e" + "0".repeat(64)];
      const reverted = rpcError({ code: 3, message: "execution reverted", data });
      const report = await createPreflight({ layer: layerScripted({ eth_call: reverted }) }).scan({ from, to });
      console.log(report.transactions[0].outcome.revert.layers[0].layer.signature);
      process.exit(0);`;
    expect(runThere("app.mjs", program)).toBe("ERC20InvalidSender(address)");
  });

  it("classifies a node's refusal by dialects that the first error loads", () => {
    const program = `
      import { createPreflight } from "evm-preflight/promise";
      const [from, to] = ["0x" + "11".repeat(20), "0x" + "22".repeat(20)];
      const refused = { code: 3, message: "execution reverted: no", data: "0x" };
      const request = ({ method }) => Promise.reject(method === "eth_call" ? refused : { code: -32601, message: "" });
      const report = await createPreflight({ provider: { request } }).scan({ from, to });
      console.log(report.transactions[0].outcome.failure._tag);
      process.exit(0);`;
    expect(runThere("app.mjs", program)).toBe("ExecutionReverted");
  });

  it("names types and code for every entry, sources only under our own condition, and contains what it names", () => {
    const { exports } = manifestIn(installed.package);
    for (const [door, target] of Object.entries(exports)) {
      if (door === "./package.json") continue;
      const name = door === "." ? "index" : door.slice(2);
      expect(Object.entries(target)).toEqual([
        ["@evm-preflight/source", `./src/${name}.ts`],
        ["require", { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` }],
        ["types", `./dist/${name}.d.ts`],
        ["default", `./dist/${name}.js`],
      ]);
      for (const file of ["d.ts", "js", "d.cts", "cjs"].map((ending) => `dist/${name}.${ending}`))
        expect(existsSync(join(installed.package, file)), file).toBe(true);
      expect(existsSync(join(root, `src/${name}.ts`)), door).toBe(true);
    }
    const main = runThere("names.mjs", `console.log(JSON.stringify(Object.keys(await import("evm-preflight"))))`);
    expect(Object.keys(exports).filter((door) => /^\.\/[A-Z]/.test(door))).toEqual(
      (JSON.parse(main) as ReadonlyArray<string>).map((name) => `./${name}`),
    );
  });

  it("contains no example that asks for the sources, which are not in it", () => {
    const examples = walkFiles("examples").map((file) => readFileSync(join(installed.package, file), "utf8"));
    expect(examples.length).toBeGreaterThan(20);
    expect(examples.filter((text) => text.includes("@evm-preflight/source"))).toEqual([]);
  });

  it("contains one ES module for each source with declarations, and one CommonJS line for each entry", () => {
    const files = walkFiles("dist").filter((file) => !file.endsWith(".map") && !file.startsWith("dist/bin/"));
    const modules = walkFiles("src")
      .filter((file) => file.endsWith(".ts") && !/^src\/cli[./]/.test(file))
      .map((file) => file.replace(/^src\/(.*)\.ts$/, "dist/$1"));
    const entries = modules.filter((file) => entryNames().includes(file.replace("dist/", "")));
    const expected = [
      ...modules.flatMap((file) => [`${file}.d.ts`, `${file}.js`]),
      ...entries.flatMap((file) => [`${file}.d.cts`, `${file}.cjs`]),
    ];
    expect([...files].sort()).toEqual(expected.sort());
    expect(entries).toHaveLength(entryNames().length);
    for (const file of entries) {
      const text = readFileSync(join(root, `${file}.cjs`), "utf8");
      expect(text).toBe(`module.exports = require("./${file.replace("dist/", "")}.js");\n`);
    }
  });

  it("has no top-level await, which `require` would refuse", () => {
    const awaiting = built()
      .filter((file) => file.endsWith(".js"))
      .filter((file) => awaitsAtTop(readFileSync(join(root, file), "utf8")));
    expect(awaiting).toEqual([]);
    expect(awaitsAtTop("const a = () => async () => await b;\nif (a) await a();")).toBe(true);
    expect(awaitsAtTop("const a = async () => await b; class C { async d() { for await (const e of f); } }")).toBe(
      false,
    );
  });

  it("names no type of Effect in the declarations of its entries for CommonJS", () => {
    for (const name of entryNames()) {
      const text = readFileSync(join(root, `dist/${name}.d.cts`), "utf8").replace(/\/\*\*[^]*?\*\//g, "");
      const sources = [...text.matchAll(/(?:from|import\() ?"([^"]+)"/g)].map(([, source = ""]) => source);
      expect(
        sources.filter((source) => !source.startsWith("./")),
        name,
      ).toEqual([]);
      expect(text, name).not.toMatch(/\b(?:Effect|Layer|Schema)\./);
    }
  });

  it("depends only on its dependencies and required peers", () => {
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestIn(installed.package);
    const required = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    const taken = built().flatMap((file) => takenBy(file).filter((specifier) => !specifier.startsWith(".")));
    const packages = new Set(taken.filter((specifier) => !specifier.startsWith("node:")).map(packageOf));
    expect([...packages].sort()).toEqual([...Object.keys(dependencies), ...required].sort());
  });

  it("pins the versions that viem pins, where both depend on the same package", () => {
    const { dependencies = {} } = manifestIn(root);
    const { dependencies: ofViem = {} } = manifestIn(join(root, "node_modules/viem"));
    for (const [name, version] of Object.entries(dependencies)) {
      expect(version, name).toBe(ofViem[name] ?? version);
      expect(copiesOf(name), name).toHaveLength(1);
    }
  });

  it("type-checks in users' ES modules under Node16 too, mistakes included", () => {
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--target", "ES2022", "--module", "Node16"];
    run(["node_modules/typescript/bin/tsc", ...flags, "--ignoreConfig", "test/doors/consumers/esm.mts"]);
  }, 120_000);

  it("has a self-contained command with a shebang", () => {
    const bin = readFileSync(join(root, "dist/bin/evm-preflight.js"), "utf8");
    expect(bin.startsWith("#!/usr/bin/env node\n")).toBe(true);
    expect(bin).not.toMatch(/^import .* from "(effect|viem|@effect)\b/m);
  });
});
