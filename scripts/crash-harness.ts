/**
 * The crash harness, for long: `npm run crash -- [nonces on Redis] [nonces on Postgres] [words] [workers] [lanes]`.
 * A run ends when its nonces are mined, and fails when they are not in time (60 ms each, 100 ms on Postgres,
 * and a minute, all of it times `CRASH_PATIENCE` on a busy machine). Redis and Valkey (`VALKEY_SERVER_BIN`) with a log and with a replica that takes over, each for
 * a half of the nonces, and Postgres; then the controls, which must be caught. \`words\` choose runs by their name.
 */
import { crash, type CrashOptions } from "../test/nonces/crash/harness.js";
import { isCaught, problemOf, type CrashResult } from "../test/nonces/crash/result.js";
import { findPostgres, findRedis, findValkey } from "../test/nonces/servers.js";

const numberAt = (index: number, otherwise: number) => Number(process.argv[index] ?? otherwise);
const [onRedis, onPostgres] = [numberAt(2, 1_000), numberAt(3, 500)];
const words = process.argv[4] ?? "";
const [workers, lanes] = [numberAt(5, 4), numberAt(6, 8)];

interface Run extends CrashOptions {
  readonly name: string;
  readonly judge: (result: CrashResult) => string | null;
}

const caught = (result: CrashResult) => (isCaught(result) ? null : "not caught");
const lies = { stale: 10, lost: 2, blind: true };
const common = { workers, lanes, lies, replicas: 0, kept: "log", judge: problemOf } as const;

const of = (nonces: number, seconds: number) => ({
  ...{ nonces, seconds: seconds * Number(process.env["CRASH_PATIENCE"] ?? 1) },
  ...{ every: Math.max(20, Math.min(150, nonces / 30)), crashEvery: Math.max(100, Math.min(2_000, nonces / 6)) },
});
const control = { nonces: 100_000, seconds: 40, every: 60, crashEvery: 150, untilCaught: true, judge: caught };

const runs: ReadonlyArray<Run> = [
  { name: "Redis", bin: findRedis("the harness on Redis") },
  { name: "Valkey", bin: findValkey("the harness on Valkey") },
].flatMap(({ name, bin }): ReadonlyArray<Run> => {
  if (bin === null) return [];
  const half = of(onRedis / 2, 60 + (onRedis / 2) * 0.06);
  const base = { ...common, kind: "redis", bin } as const;
  return [
    { ...base, ...half, name: `${name}, appendfsync always, restarted` },
    { ...base, ...half, name: `${name}, replicas: 1, failing over`, kept: "replica", replicas: 1 },
    { ...base, ...half, name: `${name}, replicas: 1, over ioredis`, kept: "replica", replicas: 1, client: "ioredis" },
    { ...base, ...control, name: `${name}, control: fence ignored`, ignoreFence: true },
    { ...base, ...control, name: `${name}, control: snapshots, goes back in time`, kept: "snapshots" },
    { ...base, ...control, name: `${name}, control: failing over without replicas`, kept: "replica" },
  ];
});
const postgres = findPostgres("the harness on Postgres");
const onPg = { ...common, kind: "postgres", bin: postgres ?? "" } as const;
const all: ReadonlyArray<Run> = [
  ...runs,
  ...(postgres === null
    ? []
    : [
        { ...onPg, ...of(onPostgres, 60 + onPostgres * 0.1), name: "Postgres, restarted" },
        { ...onPg, ...control, name: "Postgres, control: fence ignored", ignoreFence: true },
      ]),
];

let failed = false;
for (const { name, judge, ...options } of all.filter((each) => each.name.includes(words))) {
  const result = await crash(options);
  const isFew = judge === problemOf && result.mined < options.nonces;
  const problem = judge(result) ?? (isFew ? `only ${result.mined} of ${options.nonces} in time` : null);
  failed ||= problem !== null;
  const told = { ...result, perSecond: Math.round(result.mined / result.seconds), seconds: Math.round(result.seconds) };
  const lists = Object.entries(told).map(([key, value]) => [key, Array.isArray(value) ? value.length : value]);
  console.log(`${problem === null ? "ok  " : "FAIL"} ${name}${problem === null ? "" : `: ${problem}`}`);
  console.log(`     ${JSON.stringify(Object.fromEntries(lists))}`);
  for (const bad of [...result.violations, ...result.doubleUses, ...result.paidTwice, ...result.lost].slice(
    0,
    judge === problemOf ? 20 : 0,
  ))
    console.log(`     ${bad}`);
}
process.exit(failed ? 1 : 0);
