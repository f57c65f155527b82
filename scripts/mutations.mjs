// Breaks each guard in a copy of the last commit, one at a time, and runs the tests that must then fail.
// `node scripts/mutations.mjs [part of a name]`; the exit code is 1 where a broken guard is not noticed.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What is guarded, where, what stands there, what is put in its place, and the tests that must notice. */
const guards = [
  [
    "a bundle in several blocks",
    "preflight/worlds/contexts.ts",
    "      signed.length > 1 &&\n",
    "      signed.length > 99 &&\n",
    "test/preflight/combined",
  ],
  [
    "a bundle in several blocks on sealed state",
    "preflight/worlds/placed.ts",
    "if (!isTogether(claim) || apart?.agrees === true) return [];",
    "if (apart === undefined || apart.agrees === true || claim.bundle.length > 0) return [];",
    "test/preflight/combined",
  ],
  [
    "the next block's veto",
    "preflight/worlds/contrast.ts",
    "const seen = isAlike ? null : contrast(exact, story, next, other);",
    "const seen = isAlike || true ? null : contrast(exact, story, next, other);",
    "test/preflight/zoo",
  ],
  [
    "what is booked in events",
    "preflight/worlds/contrast.ts",
    "movedNumbers(mine.outcomes, theirs.outcomes, concerned, share, isClockOf(one, other));",
    "movedNumbers(mine.outcomes, theirs.outcomes, new Set(), share, isClockOf(one, other));",
    "test/preflight/combined",
  ],
  [
    "places of those concerned",
    "steps/reading/places.ts",
    "return { decisive: decisive.slice(0, mostTold),",
    "return { decisive: [],",
    "test/preflight/places",
  ],
  [
    "accounts that a policy names",
    "preflight/limits.ts",
    "const accounts = [...new Set([...judged, ...delegates",
    "const accounts = [...new Set([...delegates",
    "test/preflight/combined",
  ],
  [
    "own transactions in flight that the state lacks",
    "preflight/checks.ts",
    "if (!isAhead(claim, proof))",
    "if (isAhead(claim, proof) || true)",
    "test/preflight/pending test/preflight/pool",
  ],
  [
    "a node that does not validate, with some in flight",
    "preflight/checks.ts",
    '(inFlightOf(claim) > 0 && successOf(round.run)?.plan.without?.has("validation") === true) ||',
    "",
    "test/preflight/tiers",
  ],
  [
    "no validation is told",
    "preflight/endpoint/taken.ts",
    'left.includes("validation") ? [note("NotValidated"',
    'left.includes("validation") && false ? [note("NotValidated"',
    "test/preflight/tiers",
  ],
  [
    "native movements unseen",
    "steps/simulate.ts",
    ": moved.every(([, { logs }])",
    ": true || moved.every(([, { logs }])",
    "test/preflight/tiers",
  ],
  [
    "an answer's weight in memory",
    "rpc/receive.ts",
    "return Math.max(body.length, leastValue * values);",
    "return body.length;",
    "test/rpc/room",
  ],
  [
    "a remembered chain is checked",
    "preflight/endpoint/known.ts",
    "(environment !== null && environment.chainId !== BigInt(chainId)) ||",
    "",
    "test/preflight/known",
  ],
  ["another branch answers", "preflight/endpoint/known.ts", "    isForeign(round) ||\n", "", "test/preflight/known"],
  [
    "a fork ahead",
    "preflight/observe.ts",
    'note("ForkAhead", "warning"',
    'note("ForkAhead", "info"',
    "test/preflight/forks",
  ],
  [
    "gas in a block that is a little smaller",
    "preflight/proofPlans.ts",
    "const isCramped = BigInt(context?.gasLimit ?? room ?? taken) < taken;",
    "const isCramped = false;",
    "test/preflight/pure/gas",
  ],
  [
    "requests are those of the inputs",
    "preflight/checks.ts",
    "bundle.every(({ input, request }) => isRequestOf(input, request))",
    "bundle.length > 0",
    "test/preflight/reprove",
  ],
  [
    "what found no room to be read",
    "preflight/checks.ts",
    "return missing === 0 ?",
    "return missing >= 0 ?",
    "test/preflight/measureLimits",
  ],
  [
    "bounds of a policy",
    "preflight/worlds/bounded.ts",
    "return isMeasured && differing.length > 0 && differing.every(holds);",
    "return true;",
    "test/preflight/pure/compare",
  ],
  [
    "the run with free gas",
    "preflight/worlds/contrast.ts",
    "...(watched !== null && watched.length > 0",
    "...(watched !== null && watched.length > 99",
    "test/preflight/clearances test/preflight/zoo test/preflight/priced test/preflight/reprove test/preflight/prove test/preflight/choices test/net/net",
  ],
];

const wanted = process.argv[2] ?? "";
const root = execFileSync("git", ["rev-parse", "--show-toplevel"], { encoding: "utf8" }).trim();
const copy = join(mkdtempSync(join(tmpdir(), "mutations-")), "copy");
execFileSync("git", ["worktree", "add", "--quiet", "--detach", copy, "HEAD"], { cwd: root });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

let unnoticed = 0;
try {
  for (const [name, file, from, to, test] of guards) {
    if (!name.includes(wanted)) continue;
    const path = join(copy, "src", file);
    const source = readFileSync(path, "utf8");
    if (source.split(from).length !== 2) {
      console.log(`STALE      ${name}: src/${file} does not say it once`);
      unnoticed++;
      continue;
    }
    writeFileSync(
      path,
      source.replace(from, () => to),
    );
    const run = spawnSync(
      "npx",
      [
        "vitest",
        "run",
        "--project",
        "pure",
        "--project",
        "unit",
        "--coverage.enabled=false",
        "--bail=1",
        ...test.split(" ").map((file) => `${file}.test.ts`),
      ],
      { cwd: copy, encoding: "utf8" },
    );
    writeFileSync(path, source);
    const isCaught = run.status !== 0 && /Tests .*failed/.test(run.stdout);
    if (!isCaught) unnoticed++;
    console.log(`${isCaught ? "noticed   " : "NOT NOTICED"} ${name}`);
  }
} finally {
  execFileSync("git", ["worktree", "remove", "--force", copy], { cwd: root });
  rmSync(join(copy, ".."), { recursive: true, force: true });
}
process.exit(unnoticed === 0 ? 0 : 1);
