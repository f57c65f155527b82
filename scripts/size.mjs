// Bundles what an app imports (esbuild, for browsers) and holds our own code in it to a budget.
// `--report` only tells, and says which modules weigh most and by which imports they got in.
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/**
 * kB (1000 bytes) of our own code, minified and gzipped; peers and dependencies are the app's, unless they are counted,
 * too. With a tenth to spare: a budget to a tenth of a kilobyte says where files have to end, and that is not its business.
 */
const budgets = [
  // why: esbuild keeps a namespace whole, its renderings and what they read calls and their inner calls by; Rollup and Vite leave them out
  ['import { Report } from "evm-preflight"; Report.fromJson', 84],
  ['import { fromJson } from "evm-preflight/Report"; fromJson', 22],
  ['import { Errors } from "evm-preflight"; Errors.classify', 46],
  // why: the proof and the watching are in it, which a page that scans asks for next
  ['import { Preflight } from "evm-preflight"; Preflight.scan', 187],
  ['export * from "evm-preflight/promise"', 106],
  // why: most of it is effect, ox and the connection; the pipeline is loaded as soon as a client is made
  ['import { createPreflight } from "evm-preflight/promise"; createPreflight', 98, "with effect and viem"],
  // why: the pipeline is in it with all that judging comes to; what sends, settles, watches or asks several endpoints is not
  ['import { createPreflight } from "evm-preflight/static"; createPreflight', 265],
  [
    'import { createPreflight, sending, settling, watching } from "evm-preflight/static"; [createPreflight, sending, settling, watching]',
    297,
  ],
  ['export * from "evm-preflight/static"', 342],
  ['export * from "evm-preflight/viem"', 104],
  ['export * from "evm-preflight/testing"', 35],
  ['export * from "evm-preflight/redis"', 15],
  ['export * from "evm-preflight/postgres"', 15],
  // why: an app never loads all of it; this only tells when the whole grows, as with `settle` and readings by selector
  ['export * from "evm-preflight"', 282],
];

const namespaces = [
  "Chains",
  "Errors",
  "Eth",
  "NonceStore",
  "Nonces",
  "Policy",
  "Preflight",
  "Report",
  "Rpc",
  "Step",
  "Transaction",
];

const report = process.argv.includes("--report");
const kb = (bytes) => bytes / 1000;

/** What a page has loaded once it has loaded the app: not what it asks for later, by `import()`. */
const loadedWith = (outputs) => {
  const files = new Set(Object.keys(outputs).filter((file) => outputs[file].entryPoint === "app.js"));
  for (const file of files)
    for (const { path, kind } of outputs[file].imports)
      if (kind === "import-statement" && path in outputs) files.add(path);
  return files;
};

const shared = {
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  write: false,
  outdir: "out",
  metafile: true,
  logLevel: "error",
};

const plugin = (name, onResolve, setup = () => undefined) => ({
  name,
  setup: (to) => {
    to.onResolve({ filter: /.*/ }, onResolve);
    setup(to);
  },
});

/** Every package but our own stays outside, where `isOwn`. */
const packages = (isOwn) =>
  plugin("own-code", ({ path, kind }) =>
    !isOwn || kind === "entry-point" || /^[.]|^evm-preflight(\/|$)/.test(path) ? undefined : { path, external: true },
  );

/** Leaves out what is asked for by `import()`, where `isLeft`. */
const leaving = (isLeft) =>
  plugin("later", ({ path, kind, resolveDir, importer }) => {
    const file = resolve(resolveDir, path);
    const isOurs = kind === "dynamic-import" && path.startsWith(".");
    return isOurs && isLeft(file, importer) ? { path: file, external: true } : undefined;
  });

/** One file of several: into how many a bundler cuts it, and by which names they know each other, is its own business. */
const asOne = async (outputFiles, entry) => {
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const { outputFiles: one } = await build({
    ...shared,
    entryPoints: [entry],
    // why: what only a later part uses of a file is loaded with the file
    treeShaking: false,
    plugins: [
      plugin(
        "chunks",
        ({ path, kind, importer }) => {
          if (kind === "entry-point") return { path, namespace: "chunk" };
          const file = resolve(dirname(importer), path);
          return kind === "dynamic-import" || !texts.has(file)
            ? { path, external: true }
            : { path: file, namespace: "chunk" };
        },
        (to) => to.onLoad({ filter: /.*/, namespace: "chunk" }, ({ path }) => ({ contents: texts.get(path) })),
      ),
    ],
  });
  return one[0].contents;
};

/** What a bundler makes of these lines: bytes gzipped, and what esbuild says of its parts. */
const bundle = async (code, isOwn, options = {}) => {
  // `use` is a name nobody knows, so what is given to it must stay
  const contents = code.startsWith("export") ? code : code.replace(/; (.*)$/, "; use($1);");
  const stdin = { contents, resolveDir: process.cwd(), sourcefile: "app.js" };
  // why: esbuild takes every `import()` for an entry, also one that nobody reaches and that it drops, and moves what
  // such an entry shares with the app into the app; Rollup and webpack do not
  const first = await build({ ...shared, ...options, stdin, plugins: [leaving(() => true), packages(isOwn)] });
  const [whole] = Object.values(first.metafile.outputs);
  const known = new Set(Object.keys(first.metafile.inputs).map((file) => resolve(file)));
  const reached = new Set(whole.imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => path));
  const { outputFiles, metafile } = await build({
    ...shared,
    ...options,
    stdin,
    splitting: true,
    plugins: [leaving((file, importer) => known.has(importer) && !reached.has(file)), packages(isOwn)],
  });
  const [entry] = [...loadedWith(metafile.outputs)].map((file) => resolve(file));
  return { bytes: gzipSync(await asOne(outputFiles, entry), { level: 9 }).length, metafile };
};

const peers = { external: ["@effect/sql-pg", "redis", "ioredis"] };

/** The module that an app's lines begin with: a namespace of the main door, or a door. */
const firstOf = (code) => {
  const [, name] = /"evm-preflight\/(\w+)"/.exec(code) ?? /^import \{ (\w+) \}/.exec(code) ?? [null, "index"];
  return `dist/${name}.js`;
};

/** By which shortest way of imports a module got in. */
const chainOf = (inputs, first, wanted) => {
  const from = new Map([[first, null]]);
  for (const file of from.keys()) {
    for (const { path, external } of inputs[file]?.imports ?? [])
      if (!external && !from.has(path)) from.set(path, file);
  }
  const chain = [];
  for (let at = wanted; at !== null && at !== undefined; at = from.get(at)) chain.unshift(at.replace(/^dist\//, ""));
  return chain.join(" > ");
};

/** The heaviest modules of a bundle, minified but not compressed. */
const explain = (code, { inputs, outputs }, count) => {
  const parts = [...loadedWith(outputs)].flatMap((output) =>
    Object.entries(outputs[output].inputs).map(([file, { bytesInOutput }]) => [file, bytesInOutput]),
  );
  const heaviest = parts.sort((left, right) => right[1] - left[1]).slice(0, count);
  for (const [file, bytes] of heaviest)
    if (bytes > 0) console.log(`  ${kb(bytes).toFixed(1).padStart(6)} kB min  ${chainOf(inputs, firstOf(code), file)}`);
};

if (!existsSync("dist/index.js")) throw new Error("dist/index.js is missing; run npm run build");

let tooLarge = 0;
for (const [code, limit, counted = null] of budgets) {
  const { bytes, metafile } = await (counted === null ? bundle(code, true) : bundle(code, false, peers));
  const over = kb(bytes) > limit;
  if (over) tooLarge++;
  console.log(
    `${kb(bytes).toFixed(1).padStart(6)} kB of ${String(limit).padStart(3)}  ${code}${counted === null ? "" : `, ${counted}`}${over ? "  TOO LARGE" : ""}`,
  );
  if (report) {
    const whole = await bundle(code, false, peers);
    console.log(`  ${kb(whole.bytes).toFixed(1)} kB with effect and viem`);
    explain(code, metafile, 12);
  }
}
/** Whole files, kB: the command as it is, and the package as it is published. */
const [packed] = JSON.parse(
  execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    encoding: "utf8",
    shell: process.platform === "win32",
  }),
);
for (const [what, bytes, limit] of [
  ["dist/bin/evm-preflight.js, as it is", statSync("dist/bin/evm-preflight.js").size, 2_600],
  ["the package, packed", packed.size, 2_400],
]) {
  const over = kb(bytes) > limit;
  if (over) tooLarge++;
  console.log(`${kb(bytes).toFixed(1).padStart(6)} kB of ${limit}  ${what}${over ? "  TOO LARGE" : ""}`);
}
if (report) {
  for (const name of namespaces) {
    const code = `import { ${name} } from "evm-preflight"; ${name}`;
    const { bytes, metafile } = await bundle(code, true);
    console.log(`${kb(bytes).toFixed(1).padStart(6)} kB  all of ${name}`);
    explain(code, metafile, 8);
  }
}
process.exitCode = tooLarge > 0 && !report ? 1 : 0;
