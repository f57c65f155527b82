/** Honest endpoints that differ, as honest ones do: none is taken for a liar. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageOf } from "../../src/Report.js";
import { acrossClients, atHeights, forkOf, furnished, isFalseAlarm } from "../harness/pairs.js";
import { scenesFor, type Scene } from "../preflight/scene.js";

describe.each(scenesFor("honest pairs"))("two honest endpoints on %s", (name, start) => {
  let scene: Scene;
  let at: Awaited<ReturnType<typeof furnished>>;
  beforeAll(async () => {
    scene = await start();
    at = await furnished(scene);
  });
  afterAll(() => scene?.stop());

  it("cause no false alarm at different heights", async () => {
    for (let index = 0; index < 14; index++) {
      const { report, pair } = await atHeights(scene, at, index);
      expect([pair, report.because, isFalseAlarm(report)]).toEqual([pair, report.because, false]);
      // what a client cannot simulate is not confirmed, and nothing else is missing
      const missing = report.findings.filter(({ code }) => code === "QuorumMissing").map((one) => messageOf(one));
      if (name === "geth") expect([pair, missing]).toEqual([pair, []]);
    }
  }, 60_000);

  it.skipIf(name !== "geth")(
    "cause no false alarm as two clients",
    async () => {
      const fork = await forkOf(scene.url, scene.chainId);
      for (let index = 0; index < 8; index++) {
        const { report, pair } = await acrossClients(scene, fork.url, at, index);
        expect([pair, report.because, isFalseAlarm(report)]).toEqual([pair, report.because, false]);
      }
      await fork.stop();
    },
    60_000,
  );
});
