/** Honest endpoints that differ, as honest ones do: none is taken for a liar. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acrossClients, atHeights, forkOf, furnished, isFalseAlarm } from "../harness/pairs.js";
import { scenesFor, type Scene } from "../preflight/scene.js";

describe.each(scenesFor("honest pairs"))("on %s", (name, start) => {
  let scene: Scene;
  let at: Awaited<ReturnType<typeof furnished>>;
  beforeAll(async () => {
    scene = await start();
    at = await furnished(scene);
  });
  afterAll(() => scene?.stop());

  it("behind different heights", async () => {
    for (let index = 0; index < 14; index++) {
      const { report, pair } = await atHeights(scene, at, index);
      expect([pair, report.because, isFalseAlarm(report)]).toEqual([pair, report.because, false]);
      // what a client cannot simulate is not confirmed, and nothing else is missing
      if (name === "geth") expect(report.findings.map(({ code }) => code)).not.toContain("QuorumMissing");
    }
  }, 30_000);

  it.skipIf(name !== "geth")(
    "of two clients",
    async () => {
      const fork = await forkOf(scene.url, scene.chainId);
      for (let index = 0; index < 8; index++) {
        const { report, pair } = await acrossClients(scene, fork.url, at, index);
        expect([pair, report.because, isFalseAlarm(report)]).toEqual([pair, report.because, false]);
      }
      await fork.stop();
    },
    30_000,
  );
});
