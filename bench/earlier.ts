/** The build of an earlier commit, on the packages that are installed here, to measure beside this one. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const commit = process.env["BENCH_COMMIT"] ?? "dcb1dc8";

/** Builds the commit's sources in a folder of its own, which whoever asked removes; ends the program where there is no such commit. */
export const buildEarlier = (): string => {
  if (spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root }).status !== 0) {
    console.log(`Commit ${commit} is not in this repository (a shallow clone?): there is nothing to measure beside.`);
    process.exit(1);
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "previous-")));
  execFileSync("sh", ["-c", `git archive ${commit} | tar -x -C "${folder}"`], { cwd: root });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  execFileSync(join(root, "node_modules/.bin/tsup"), { cwd: folder, stdio: "inherit" });
  return folder;
};
