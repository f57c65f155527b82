/**
 * The crash harness, for long: `npm run crash -- [seconds] [workers]`. Redis with a pool that counts
 * (and one that does not), Postgres, and the control that ignores the fence and must be caught.
 */
import { sign } from "../test/nonces/chain.js";
import { crash, type CrashOptions } from "../test/nonces/crash/harness.js";
import { findPostgres, findRedis } from "../test/nonces/servers.js";

const seconds = Number(process.argv[2] ?? 60);
const workers = Number(process.argv[3] ?? 6);
const redis = findRedis("the harness on Redis");
const postgres = findPostgres("the harness on Postgres");

const runs: Array<CrashOptions & { readonly name: string }> = [];
const lies = { stale: 10, lost: 2 };
if (redis !== null) {
  const base = { kind: "redis", bin: redis, seconds, workers } as const;
  runs.push({ ...base, name: "Redis, pending blind to the mempool", lies: { ...lies, blind: true } });
  runs.push({ ...base, name: "Redis, pending counts the mempool", lies });
  runs.push({
    ...base,
    name: "Redis, fence ignored (must be caught)",
    lies: { ...lies, blind: true },
    ignoreFence: true,
  });
}
if (postgres !== null) {
  const base = { kind: "postgres", bin: postgres, seconds, workers } as const;
  runs.push({ ...base, name: "Postgres", lies: { ...lies, blind: true } });
  runs.push({
    ...base,
    name: "Postgres, fence ignored (must be caught)",
    lies: { ...lies, blind: true },
    ignoreFence: true,
  });
}

let failed = false;
for (const { name, ...options } of runs) {
  const result = await crash(options, sign);
  const sound =
    result.duplicates.length === 0 &&
    result.lost.length === 0 &&
    result.drained &&
    result.violations.length === 0 &&
    result.broken === 0;
  const caught = result.duplicates.length > 0;
  const right = options.ignoreFence === true ? caught : sound;
  failed ||= !right;
  console.log(`${right ? "ok  " : "FAIL"} ${name}\n     ${JSON.stringify(result)}`);
}
process.exit(failed ? 1 : 0);
