import { defineConfig, type Options } from "tsup";
import { markPure } from "./scripts/pure.js";

const shared: Options = {
  target: "es2022",
  format: ["esm"],
  outDir: "dist",
  minify: false,
  silent: true,
  // why: the modules read as the sources do, and maps would be a seventh of the package
  sourcemap: false,
};

export default defineConfig([
  {
    // One file for each module, as in src. Bundled with shared chunks, `import * as Rpc` becomes an object with
    // every export of Rpc on it, and one chunk holds many modules: bundlers then keep 20 KiB for
    // `Report.fromJson` where they need 7. The types are written by the compiler, beside the code.
    ...shared,
    platform: "neutral",
    bundle: false,
    // scripts/static.ts makes one file of src/static.ts
    entry: ["src/**/*.ts", "!src/cli.ts", "!src/cli/**", "!src/static.ts"],
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
    // every command parses the whole file, also the parts that it does not run
    minify: true,
    noExternal: [/.*/],
    banner: {
      js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  },
]);
