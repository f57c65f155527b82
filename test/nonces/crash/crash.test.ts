/** The crash harness for a few seconds; `npm run crash` runs it for long. */
import { describe, expect, it } from "vitest";
import { sign } from "../chain.js";
import { findPostgres, findRedis } from "../servers.js";
import { crash, type CrashResult } from "./harness.js";

const stores = [
  { kind: "redis", bin: findRedis("the crash harness on Redis") },
  { kind: "postgres", bin: findPostgres("the crash harness on Postgres") },
] as const;

/** Nothing lost, nothing twice, nothing left over, no bad moment in between. */
const expectSound = (result: CrashResult) => {
  expect(result).toMatchObject({ duplicates: [], lost: [], drained: true, violations: [], broken: 0 });
  expect(result.kills + result.pauses).toBeGreaterThan(3);
  expect(result.probes).toBeGreaterThan(3);
  // few on a busy machine, but not none
  expect(result.mined).toBeGreaterThan(3);
  expect(result.stallMs).toBeLessThan(15_000);
};

describe.each(stores)("processes that share a sender on $kind", ({ kind, bin }) => {
  if (bin === null) {
    it("need a store that is not installed", () => expect(bin).toBeNull());
    return;
  }
  it("are killed and paused, lose replies, and the store is restarted (invariants 1, 2, 6)", async () => {
    const result = await crash({ kind, bin, seconds: 3, workers: 3, lies: { stale: 10, lost: 2, blind: true } }, sign);
    expectSound(result);
    if (kind === "redis") expect(result.restarts).toBeGreaterThan(0);
  }, 60_000);
  it("are caught when they ignore the fence: the harness can see it", async () => {
    const lies = { stale: 10, lost: 2, blind: true };
    const result = await crash({ kind, bin, seconds: 2, workers: 3, lies, ignoreFence: true }, sign);
    expect(result.duplicates.length).toBeGreaterThan(0);
  }, 60_000);
});
