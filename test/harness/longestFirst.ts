/**
 * Begins with the files that take longest, and ends with the short ones: a long one that begins last leaves a worker
 * without work. Nothing of an earlier run decides, for a fresh clone has none; by size, long proofs would come last.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest of each project first, as `slowest.ts` shows them. */
export const longest: ReadonlyArray<string> = [
  "test/preflight/movedHeads.test.ts",
  "test/preflight/zoo.test.ts",
  "test/preflight/families.test.ts",
  "test/guard/proven.test.ts",
  "test/signing/signatures.test.ts",
  "test/accounts/safes.test.ts",
  "test/accounts/operations.test.ts",
  "test/signing/mutated.test.ts",
  "test/accounts/batches.test.ts",
  "test/watch/storm.test.ts",
  "test/cli/nonces.test.ts",
  "test/doors/commonjs.test.ts",
  "test/doors/examples.test.ts",
  "test/quorum/three.test.ts",
  "test/cli/check.test.ts",
  "test/doors/types.test.ts",
  "test/net/net.test.ts",
  "test/rpc/memory.test.ts",
  "test/bot.test.ts",
  "test/preflight/bounded.test.ts",
  "test/guard/strangers.test.ts",
  "test/preflight/honest.test.ts",
  "test/preflight/faultWalk.test.ts",
  "test/preflight/needs.test.ts",
  "test/cli/mcp.test.ts",
  "test/cli/doctor.test.ts",
  "test/preflight/moving.test.ts",
  "test/guard/held.test.ts",
  "test/watch/many.test.ts",
  "test/preflight/counts.test.ts",
  "test/guard/hostile.test.ts",
  "test/examples.test.ts",
  "test/preflight/rules.test.ts",
];

export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((file) => moduleId.endsWith(file));
      return at === -1 ? longest.length : at;
    };
    const sorted = await super.sort(specifications);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((one) => one.project === project).sort((one, other) => place(one) - place(other)),
    );
  }
}
