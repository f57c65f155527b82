/** What a run measures can be limited by the caller, and what was cut is said. */
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import { Token } from "../contracts/artifacts.js";
import { calldata, codesOf, layerOf, other, owner, startAnvilScene, type Scene } from "./scene.js";

let scene: Scene;
beforeAll(async () => {
  scene = await startAnvilScene();
});
afterAll(() => scene.stop());

it("measures no more than the caller's limits, and names the cut", async () => {
  const token = await scene.deploy(Token, ["Gold", "GLD", 18]);
  await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 10n]) });
  const run = Preflight.preflight({
    from: owner.address,
    to: token,
    data: calldata(Token, "transfer", [other.address, 4n]),
  });
  const [whole, cut] = await Effect.runPromise(
    Effect.all([run, Effect.provideService(run, Preflight.MeasureLimits, { holdings: 1, rights: 1, tokens: 1 })]).pipe(
      Effect.provide(layerOf(scene.url)),
    ),
  );
  expect(codesOf(whole)).not.toContain("PartiesCut/warning");
  expect(
    whole.balanceChanges.filter(({ token: of }) => of === token).every(({ evidence }) => evidence === "measured"),
  ).toBe(true);
  expect(codesOf(cut)).toContain("PartiesCut/warning");
  expect(cut.verdict).toBe("caution");
});
