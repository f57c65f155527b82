/** Makes `dist/static.js` one file of our own modules, whose every `import()` is resolved at once. Packages stay outside. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { markPure } from "./pure.js";

const source = resolve("src/static.ts");
const file = "dist/static.js";

/** Parts that the entry refuses, or never comes to, before they would be loaded: they stay out of its file. */
const refused = ["./rpc/quorum/layer.js", "./nodeHttp.js"];

/**
 * The way to a URL, and its options, as where there is no Node: sockets that are kept open stay out of the file, and `fetch`
 * asks wherever it runs. What else a module does on Node stays.
 */
const withoutSockets = (code: string): string =>
  code.replace(/^import \{ isNode \} from "\.\/node\.js";$/m, "const isNode = false;");

/** The names that a built module exports. */
const namesOf = (path: string): ReadonlyArray<string> => {
  const code = readFileSync(path, "utf8");
  const lists = [...code.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list = ""]) => list.split(","));
  const all = [...code.matchAll(/^export \* from "(\.[^"]+)";$/gm)].map(([, from = ""]) => from);
  const listed = lists.map((each) => each.split(" as ").at(-1)?.trim() ?? "").filter((name) => name !== "");
  return [...listed, ...all.flatMap((from) => namesOf(resolve(dirname(path), from)))];
};

/** One import of each package for the whole file: esbuild would keep one for each of our modules, each by a name of its own. */
const packaged = "package:";

/**
 * The module with its later parts imported at once, each by its names: a namespace as a whole would keep what it holds
 * in every app. A namespace that it exports is an object of these names, which an app that does not use it leaves out.
 */
const atOnce = (path: string): string => {
  const imports: Array<string> = [];
  const exported = namesOf(path);
  const named = (part: string): string => {
    const names = namesOf(resolve(dirname(path), part)).map((name) => [name, `part${imports.length}_${name}`]);
    imports.push(`import { ${names.map(([name, here]) => `${name} as ${here}`).join(", ")} } from "${part}";`);
    return `{ ${names.map(([name, here]) => `${name}: ${here}`).join(", ")} }`;
  };
  const body = withoutSockets(readFileSync(path, "utf8"))
    .replaceAll(/\bimport\("(\.[^"]+)"\)/g, (_, part: string) =>
      refused.includes(part)
        ? `Promise.reject(new Error("${part} is not in evm-preflight/static"))`
        : `Promise.resolve(${named(part)})`,
    )
    .replaceAll(/^import \* as (\w+) from "(\.[^"]+)";$/gm, (whole, name: string, part: string) =>
      exported.includes(name) ? `const ${name} = Object.freeze(${named(part)});` : whole,
    )
    .replaceAll(
      /^import \* as (\w+) from "([^."][^"]*)";$/gm,
      (_, name: string, from: string) => `import { space as ${name} } from "${packaged}${from}";`,
    );
  return [...imports, body].join("\n");
};

const oneFile: Plugin = {
  name: "one-file",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^package:/ }, ({ path }) => ({
      path: path.slice(packaged.length),
      namespace: packaged,
      sideEffects: false,
    }));
    onLoad({ filter: /./, namespace: packaged }, ({ path }) => ({
      contents: `import * as space from "${path}"; export { space };`,
    }));
    // why: what is left out of a package must not leave its import behind
    onResolve({ filter: /^[^.]/ }, ({ path, kind }) =>
      kind === "entry-point" ? undefined : { path, external: true, sideEffects: false },
    );
    onResolve({ filter: /^[.]/ }, ({ path, importer }) =>
      importer === source ? { path: resolve("dist", path) } : undefined,
    );
    onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: atOnce(path) }));
  },
};

const { outputFiles } = await build({
  entryPoints: [source],
  outfile: file,
  write: false,
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  minify: true,
  logLevel: "error",
  plugins: [oneFile],
});
for (const { text } of outputFiles) writeFileSync(file, markPure(text));
