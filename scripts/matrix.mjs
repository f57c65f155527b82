// Runs the smoke test of dist/ under every runtime of tools/runtimes (npm ci --prefix tools/runtimes),
// and the tests of the sources under every Node. `--smoke` leaves the tests out.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const runtimes = {
  "node (this)": [process.execPath],
  "node 22": ["tools/runtimes/node_modules/node-22/bin/node"],
  "node 24": ["tools/runtimes/node_modules/node-24/bin/node"],
  "node 26": ["tools/runtimes/node_modules/node-26/bin/node"],
  bun: ["tools/runtimes/node_modules/bun/bin/bun"],
  deno: ["tools/runtimes/node_modules/deno/deno", "run", "-A"],
};

let failed = 0;
const run = (runtime, args) => {
  const { status, stdout, stderr } = spawnSync(runtime[0], [...runtime.slice(1), ...args], {
    encoding: "utf8",
    timeout: 600_000,
  });
  if (status === 0) return "ok";
  failed++;
  return `FAILED\n${stdout.slice(-4000)}${stderr.slice(-4000)}`;
};

for (const [name, runtime] of Object.entries(runtimes)) {
  if (!existsSync(runtime[0])) {
    console.log(`${name}: not installed, skipped`);
    continue;
  }
  const line = [`smoke ${run(runtime, ["scripts/smoke.mjs"])}`];
  if (name.startsWith("node") && !process.argv.includes("--smoke"))
    line.push(
      `tests ${run(runtime, ["node_modules/vitest/vitest.mjs", "run", "--project", "pure", "--project", "unit"])}`,
    );
  console.log(`${name}: ${line.join(", ")}`);
}
process.exitCode = failed > 0 ? 1 : 0;
