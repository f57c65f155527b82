import { defineConfig } from "vitest/config";
import { alike, beside } from "./test/harness/alike.js";
import LongestFirst from "./test/harness/longestFirst.js";

/** The package by its own name means the sources, so that examples run before anything is built. */
const conditions = ["@evm-preflight/source"];
const ssr = { resolve: { conditions: [...conditions, "module", "node", "development|production"] } };

/** Tests without a node, a process or a state of their own: loading the library costs more than they do, so it is loaded once. */
const pure = [
  "test/{abi,errors,primitives,steps,transaction}/**/*.test.ts",
  "test/report/!(browser).test.ts",
  "test/preflight/pure/**/*.test.ts",
  "test/effects/{rows,tree}.test.ts",
  "test/chains/{baseFee,laterFork,opStack,rules}.test.ts",
  "test/eth/{bloom,decode,encode,heads,strangers,strict,toldLogs}.test.ts",
  "test/quorum/{normal,tables}.test.ts",
  "test/witness/{answers,placement,queries,readers,view}.test.ts",
];

const isWhole = process.env["TEST_ALL"] === "1";

/** Suites that `npm test` has run as they are. */
const again = process.env["TEST_REST"] === "1" ? alike() : [];

/** What replaces modules has a process for itself. */
export const apart = [
  "test/preflight/authorities.test.ts",
  "test/preflight/explained.test.ts",
  "test/effects/reads.test.ts",
  "test/preflight/work.test.ts",
  "test/promise/unloaded.test.ts",
  "test/rpc/judging.test.ts",
];

/** What counts the calls of functions: V8 counts none that its compilers have put into another, so nothing is compiled. */
const counted = ["test/report/work.test.ts"];

export default defineConfig({
  test: {
    // why: tests wait for nodes and deadlines; two workers leave a quarter of two cores without work
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: isWhole ? ["default", "./test/harness/slowest.ts"] : ["default"],
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
          exclude: [...counted, ...again],
          testTimeout: 120_000,
          pool: "threads",
          isolate: false,
          setupFiles: ["test/harness/authorities.ts"],
        },
      },
      {
        ssr,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/doors/**", ...pure, ...apart, ...counted, ...(isWhole ? [] : beside), ...again],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          pool: "forks",
          isolate: false,
          setupFiles: ["test/harness/forget.ts"],
        },
      },
      {
        ssr,
        test: {
          name: "apart",
          include: apart,
          exclude: [...again],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          pool: "forks",
        },
      },
      {
        ssr,
        test: {
          name: "counted",
          include: counted,
          exclude: [...again],
          testTimeout: 120_000,
          pool: "forks",
          execArgv: ["--no-opt", "--no-sparkplug", "--no-flush-bytecode", "--no-lazy-feedback-allocation"],
        },
      },
      {
        test: {
          name: "doors",
          include: ["test/doors/**/*.test.ts"],
          globalSetup: ["test/doors/build.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
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
