/** What a browser loads for `fromJson` of the door `./Report`, as `npm run check:size` measures it. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atMost, type Goal } from "./goals.js";

export const bundleGoal = (): Goal => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const { stdout } = spawnSync(process.execPath, ["scripts/size.mjs"], { cwd: root, encoding: "utf8" });
  const kb = Number(/^ *([\d.]+) kB of .*evm-preflight\/Report"; fromJson(?:  TOO LARGE)?$/m.exec(stdout)?.[1]);
  return atMost("own code for `fromJson` of `evm-preflight/Report` in a browser, gzipped", 30, " kB", kb, `${kb} kB`);
};
