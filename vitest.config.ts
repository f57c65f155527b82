import { defineConfig } from "vitest/config";

/** The package by its own name means the sources, so that examples run before anything is built. */
const conditions = ["@evm-preflight/source"];

export default defineConfig({
  test: {
    // Nodes run beside the tests: more workers than this only wait for each other.
    maxWorkers: 2,
    coverage: {
      provider: "v8",
      include: ["src/**"],
      exclude: ["src/cli.ts", "src/witness/Witness.yul"],
      reporter: ["text-summary"],
      reportOnFailure: true,
    },
    projects: [
      {
        ssr: { resolve: { conditions: [...conditions, "module", "node", "development|production"] } },
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/doors/**"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          pool: "forks",
        },
      },
      {
        test: {
          name: "doors",
          include: ["test/doors/**/*.test.ts"],
          globalSetup: ["test/doors/build.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          pool: "forks",
        },
      },
      {
        test: {
          name: "types",
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ["test/types/**/*.test-d.ts"],
            tsconfig: "./tsconfig.json",
          },
        },
      },
    ],
  },
});
