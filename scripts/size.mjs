// Bundles what an app imports (esbuild, for browsers) and holds our own code in it to a budget.
// `--report` only tells, and says which modules weigh most and by which imports they got in.
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** kB (1000 bytes) of our own code, minified and gzipped; peers and dependencies are the app's. */
const budgets = [
  // 30 KiB
  ['import { Report } from "evm-preflight"; Report.fromJson', 30.7],
  // why: the sentence of every finding is in it, and proofs have come to say more
  ['import { fromJson } from "evm-preflight/Report"; fromJson', 16],
  ['import { Errors } from "evm-preflight"; Errors.classify', 35],
  ['import { Preflight } from "evm-preflight"; Preflight.scan', 90],
  // 90 KiB
  ['export * from "evm-preflight/promise"', 92.1],
  ['export * from "evm-preflight/viem"', 90],
  ['export * from "evm-preflight/testing"', 30],
  ['export * from "evm-preflight/redis"', 30],
  ['export * from "evm-preflight/postgres"', 20],
  // why: an app never loads all of it; this only tells when the whole grows
  ['export * from "evm-preflight"', 140],
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

/** What a bundler makes of these lines: bytes gzipped, and what esbuild says of its parts. */
const bundle = async (code, options) => {
  // `use` is a name nobody knows, so what is given to it must stay
  const contents = code.startsWith("export") ? code : code.replace(/; (.*)$/, "; use($1);");
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: process.cwd(), sourcefile: "app.js" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    outdir: "out",
    splitting: true,
    metafile: true,
    logLevel: "error",
    ...options,
  });
  const files = loadedWith(metafile.outputs);
  const loaded = outputFiles.filter(({ path }) => files.has(relative(process.cwd(), path)));
  // as one file: into how many a bundler cuts it is its own business
  const whole = Buffer.concat(loaded.map((file) => file.contents));
  return { bytes: gzipSync(whole, { level: 9 }).length, metafile };
};

/** Every package but our own stays outside. */
const ownCode = {
  plugins: [
    {
      name: "own-code",
      setup: (plugin) => {
        plugin.onResolve({ filter: /^[^.]/ }, ({ path, kind }) =>
          kind === "entry-point" || /^evm-preflight(\/|$)/.test(path) ? undefined : { path, external: true },
        );
      },
    },
  ],
};

const own = (code) => bundle(code, ownCode);

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
for (const [code, limit] of budgets) {
  const { bytes, metafile } = await own(code);
  const over = kb(bytes) > limit;
  if (over) tooLarge++;
  console.log(
    `${kb(bytes).toFixed(1).padStart(6)} kB of ${String(limit).padStart(3)}  ${code}${over ? "  TOO LARGE" : ""}`,
  );
  if (report) {
    const whole = await bundle(code, { external: ["@effect/sql-pg", "redis", "ioredis"] });
    console.log(`  ${kb(whole.bytes).toFixed(1)} kB with effect and viem`);
    explain(code, metafile, 12);
  }
}
if (report) {
  for (const name of namespaces) {
    const code = `import { ${name} } from "evm-preflight"; ${name}`;
    const { bytes, metafile } = await own(code);
    console.log(`${kb(bytes).toFixed(1).padStart(6)} kB  all of ${name}`);
    explain(code, metafile, 8);
  }
}
process.exitCode = tooLarge > 0 && !report ? 1 : 0;
