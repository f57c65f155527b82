/** A settlement asked of a node of another chain, which knows nothing of it and has used the nonces otherwise. */
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import { cleared, layerOf, nobody, owner, preflight, signAll, startAnvilScene, tampered } from "../preflight/scene.js";

it("is refused", async () => {
  const scene = await startAnvilScene();
  const report = await preflight(scene.url, { from: owner.address, to: nobody, value: 1n });
  const [raw = "0x"] = await signAll(await cleared(report));
  const hash = await scene.broadcast(raw);
  await scene.mine();
  const settled = Effect.result(Preflight.settle(report, [hash]));
  const elsewhere = tampered(scene.url, ({ method }) => (method === "eth_chainId" ? () => "0x7" : null));
  expect(await Effect.runPromise(Effect.provide(settled, layerOf(scene.url)))).toMatchObject({
    success: { class: "same" },
  });
  expect(await Effect.runPromise(Effect.provide(settled, elsewhere))).toMatchObject({
    failure: { _tag: "ChainIdMismatch", expected: 31337n, actual: 7n },
  });
  await scene.stop();
});
