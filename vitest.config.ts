import { defineConfig } from "vitest/config";

/** The package by its own name means the sources, so that examples run before anything is built. */
const conditions = ["@evm-preflight/source"];
const ssr = { resolve: { conditions: [...conditions, "module", "node", "development|production"] } };

/** Tests without a node, a process or a state of their own: loading the library costs more than they do, so it is loaded once. */
const pure = [
  "test/{abi,errors,primitives,steps,transaction}/**/*.test.ts",
  "test/report/!(browser).test.ts",
  "test/preflight/pure/**/*.test.ts",
  "test/chains/{baseFee,laterFork,opStack,rules}.test.ts",
  "test/eth/{bloom,decode,encode,heads,strict,toldLogs}.test.ts",
  "test/quorum/{normal,tables}.test.ts",
  "test/witness/{answers,placement,queries,readers,view}.test.ts",
];

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
        ssr,
        test: {
          name: "pure",
          include: pure,
          testTimeout: 30_000,
          pool: "threads",
          isolate: false,
        },
      },
      {
        ssr,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/doors/**", ...pure],
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
