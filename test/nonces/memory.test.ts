import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { layerMemory, NonceStore } from "../../src/NonceStore.js";
import { layerNonces } from "../../src/testing.js";
import { at, freshLane, keepAll } from "./lanes.js";
import { contract } from "./suite.js";

describe("the memory store", () => {
  contract((use) => Effect.runPromise(Effect.flatMap(NonceStore, use).pipe(Effect.provide(layerMemory))), 1_000);

  it("is one for the whole process, however often it is provided; one for tests is not", async () => {
    const lane = freshLane();
    const begin = Effect.flatMap(NonceStore, (store) => store.bootstrap(lane, at(5n), keepAll));
    const layers = [layerMemory, layerMemory, layerNonces, layerNonces];
    const isNew = layers.map((layer) => Effect.runPromise(Effect.provide(begin, layer, { local: true })));
    expect(await Promise.all(isNew)).toEqual([true, false, true, true]);
  });
});
