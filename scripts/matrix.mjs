// Runs the smoke test of dist/ under every runtime of tools/runtimes (npm ci --prefix tools/runtimes),
// the tests of the sources under every Node, and those of the entries in browsers, bundlers, Hermes and compilers.
// `--smoke` leaves the tests out.
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
const run = (runtime, args, env = {}) => {
  const { status, stdout, stderr } = spawnSync(runtime[0], [...runtime.slice(1), ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
    timeout: 1_200_000,
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
if (!process.argv.includes("--smoke")) {
  const files = ["page", "static", "commonjs", "types", "platform"].map((name) => `test/doors/${name}.test.ts`);
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "doors", ...files];
  const done = run([process.execPath], args, { TEST_ALL: "1" });
  console.log(`Chromium's page and service worker, Vite, esbuild, Hermes, TypeScript 5.8 to 7: ${done}`);
}
process.exitCode = failed > 0 ? 1 : 0;
