import { defineConfig, type Options } from "tsup";

const shared: Options = {
  target: "es2022",
  sourcemap: true,
  splitting: true,
  outDir: "dist",
  minify: false,
};

export default defineConfig([
  {
    ...shared,
    platform: "neutral",
    entry: {
      index: "src/index.ts",
      promise: "src/promise.ts",
      viem: "src/viem.ts",
      redis: "src/redis.ts",
      postgres: "src/postgres.ts",
      testing: "src/testing.ts",
    },
    // CommonJS is made from these by scripts/build-cjs.mjs, which says why.
    format: ["esm"],
    // tsup 8.5.1 passes `baseUrl` to the compiler, which TypeScript 6 rejects without this
    dts: { compilerOptions: { ignoreDeprecations: "6.0" } },
  },
  {
    // The CLI is self-contained: no cold import of effect and viem (0.16 s instead of 0.6 s), no dependency
    // on @effect/platform-node, and the unstable modules of effect cannot move under it.
    ...shared,
    platform: "node",
    target: "node20",
    entry: { "bin/evm-preflight": "src/cli.ts" },
    format: ["esm"],
    splitting: false,
    sourcemap: false,
    noExternal: [/.*/],
    external: ["redis"],
    banner: {
      js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  },
]);
