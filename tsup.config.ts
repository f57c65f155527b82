import ts from "typescript";
import { defineConfig, type Options } from "tsup";

const shared: Options = {
  target: "es2022",
  format: ["esm"],
  outDir: "dist",
  minify: false,
  silent: true,
};

/** Whether a node is a function of its own, whose calls happen later if at all. */
const isLater = (node: ts.Node): boolean => ts.isFunctionLike(node) || ts.isClassStaticBlockDeclaration(node);

/** Where the calls of an expression begin that are made while the module loads. */
const callsIn = (node: ts.Node): ReadonlyArray<number> => {
  if (isLater(node)) return [];
  const own = ts.isCallExpression(node) || ts.isNewExpression(node) ? [node.getStart()] : [];
  const inner: Array<number> = [];
  ts.forEachChild(node, (child) => void inner.push(...callsIn(child)));
  return [...own, ...inner];
};

/** What a statement computes for the names that it declares. Other statements keep their calls: they are there for their effect. */
const computedBy = (statement: ts.Statement): ReadonlyArray<ts.Node> => {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations;
  return ts.isClassDeclaration(statement) ? [...(statement.heritageClauses ?? []), ...statement.members] : [];
};

/**
 * Marks the calls that define a module's constants and classes, so that a bundler may leave out the ones
 * nobody uses: without the mark, `const A = Schema.Struct(…)` might do something, and stays.
 */
const markPure = (code: string): string => {
  const source = ts.createSourceFile("module.js", code, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const places = new Set(source.statements.flatMap(computedBy).flatMap(callsIn));
  return [...places]
    .sort((left, right) => right - left)
    .reduce((text, place) => `${text.slice(0, place)}/* @__PURE__ */ ${text.slice(place)}`, code);
};

export default defineConfig([
  {
    // One file for each module, as in src. Bundled with shared chunks, `import * as Rpc` becomes an object with
    // every export of Rpc on it, and one chunk holds many modules: bundlers then keep 20 KiB for
    // `Report.fromJson` where they need 7. The types are written by the compiler, beside the code.
    ...shared,
    platform: "neutral",
    sourcemap: true,
    bundle: false,
    entry: ["src/**/*.ts", "!src/cli.ts", "!src/cli/**"],
    // the sources are in the package, so the maps only point there
    esbuildOptions: (options) => void (options.sourcesContent = false),
    plugins: [{ name: "mark-pure", renderChunk: (code) => ({ code: markPure(code) }) }],
  },
  {
    // The CLI is self-contained: no cold import of effect and viem (0.16 s instead of 0.6 s), no dependency
    // on @effect/platform-node, and the unstable modules of effect cannot move under it.
    ...shared,
    platform: "node",
    target: "node20",
    entry: { "bin/evm-preflight": "src/cli.ts" },
    splitting: false,
    sourcemap: false,
    // every command parses the whole file, also the ones that it does not run
    esbuildOptions: (options) => void (options.minifyWhitespace = true),
    noExternal: [/.*/],
    external: ["redis"],
    banner: {
      js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  },
]);
