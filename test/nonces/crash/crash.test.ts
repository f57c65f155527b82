/** The crash harness for some hundred nonces; `npm run crash` runs it for long. */
import { describe, expect, it } from "vitest";
import { findPostgres, findRedis, findValkey } from "../servers.js";
import { crash, type CrashOptions } from "./harness.js";
import { isCaught, problemOf } from "./result.js";

const redis = findRedis("the crash harness on Redis");
const valkey = findValkey("the crash harness on Valkey");
const postgres = findPostgres("the crash harness on Postgres");

type Run = Omit<CrashOptions, "bin"> & { readonly name: string; readonly bin: string | null };

const common = {
  workers: 3,
  lanes: 3,
  replicas: 0,
  kept: "log",
  lies: { stale: 10, lost: 2, blind: true },
  nonces: 150,
  seconds: 40,
  every: 12,
  crashEvery: 50,
} as const;
const onRedis = { ...common, kind: "redis" } as const;
const stores: ReadonlyArray<Run> = [
  { name: "Redis that is restarted", ...onRedis, bin: redis },
  { name: "Redis that fails over to its replica", ...onRedis, bin: redis, kept: "replica", replicas: 1 },
  { name: "Valkey that fails over to its replica", ...onRedis, bin: valkey, kept: "replica", replicas: 1 },
  {
    ...{ name: "Valkey that fails over, over ioredis", ...onRedis, bin: valkey },
    ...{ kept: "replica", replicas: 1, client: "ioredis" },
  },
  { name: "Postgres that is restarted", ...common, kind: "postgres", bin: postgres },
];

/** Ended as soon as it is caught, else after its time. */
const controls: ReadonlyArray<Run> = [
  { name: "ignore the fence on Redis", ...onRedis, bin: redis, ignoreFence: true },
  { name: "share a Redis that goes back in time", ...onRedis, bin: redis, kept: "snapshots" },
  { name: "share a Redis that fails over without waiting for its replica", ...onRedis, bin: redis, kept: "replica" },
  { name: "ignore the fence on Postgres", ...common, kind: "postgres", bin: postgres, ignoreFence: true },
];

const run = ({ bin, ...options }: Run) => (bin === null ? null : crash({ ...options, bin }));

describe("processes that share senders", () => {
  it.each(stores)(
    "lose no nonce and use none twice when they are killed and paused, lose replies, and replace, on a $name",
    async (options) => {
      const result = await run(options);
      if (result === null) return expect(options.bin).toBeNull();
      expect(problemOf(result), JSON.stringify(result)).toBeNull();
      // few on a busy machine, but not none
      expect(result.mined).toBeGreaterThan(20);
      expect(result.kills + result.pauses).toBeGreaterThan(0);
      expect(result.probes).toBeGreaterThan(2);
    },
    180_000,
  );
  it.each(controls)(
    "are caught when they $name: the harness sees it, or the library refuses",
    async (options) => {
      // Often, for a busy machine mines a nonce a second
      const often = { every: 40, crashEvery: 20 };
      const result = await run({ ...options, ...often, seconds: 120, nonces: 100_000, untilCaught: true });
      if (result === null) return expect(options.bin).toBeNull();
      expect(isCaught(result), JSON.stringify(result)).toBe(true);
    },
    180_000,
  );
});
