// Bundles each door with its peers the way an app does (esbuild, browser) and holds it to a budget.
import { existsSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** KiB, minified and gzipped, peers included. */
const budgets = {
  "dist/index.js": 195,
  "dist/promise.js": 195,
  "dist/viem.js": 180,
  "dist/testing.js": 80,
};

const kib = (bytes) => gzipSync(bytes, { level: 9 }).length / 1024;
const bundle = async (entry, options) => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    logLevel: "error",
    ...options,
  });
  return kib(outputFiles[0].contents);
};

let tooLarge = 0;
for (const [entry, limit] of Object.entries(budgets)) {
  if (!existsSync(entry)) throw new Error(`${entry} is missing; run npm run build`);
  const whole = await bundle(entry, {});
  const own = await bundle(entry, { packages: "external" });
  console.log(
    `${entry}: ${whole.toFixed(1)} KiB min+gzip with peers (limit ${limit}), own code ${own.toFixed(1)} KiB${whole > limit ? " TOO LARGE" : ""}`,
  );
  if (whole > limit) tooLarge++;
}
process.exitCode = tooLarge > 0 ? 1 : 0;
