/** Builds the package before the door tests, when the sources are newer than what is built. */
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { root, walkFiles } from "../harness/sources.js";

const built = ["dist/index.js", "dist/index.d.ts", "dist/index.d.cts", "dist/static.cjs", "dist/bin/evm-preflight.js"];
const scripts = ["scripts/commonjs.ts", "scripts/pure.ts", "scripts/static.ts"];
const configs = ["package.json", "tsup.config.ts", "tsconfig.json", "tsconfig.build.json"];
const inputs = () => [...walkFiles("src"), ...scripts, ...configs];
const timeOf = (file: string) => statSync(join(root, file)).mtimeMs;

export default function setup(): void {
  const newest = Math.max(...inputs().map(timeOf));
  if (built.every((file) => existsSync(join(root, file)) && timeOf(file) >= newest)) return;
  execFileSync("npm", ["run", "--silent", "build"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
}
