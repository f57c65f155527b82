import * as Effect from "effect/Effect";
import { describe, expect, it, vi } from "vitest";
import { layerMemory, NonceStore, type Store } from "../../src/NonceStore.js";
import { memoryOfProcess } from "../rooms/nonces.js";
import { layerNonces } from "../../src/testing.js";
import { at, freshLane, keepAll } from "./lanes.js";
import { contract } from "./suite.js";
import { runs } from "../harness/parts.js";

describe("the memory store", () => {
  contract((use) => Effect.runPromise(Effect.flatMap(NonceStore, use).pipe(Effect.provide(layerMemory))), runs(1_000));

  it("is one for the whole process, however often it is provided; the one for tests is not", async () => {
    const lane = freshLane();
    const begin = Effect.flatMap(NonceStore, (store) => store.bootstrap(lane, at(5n), keepAll));
    const layers = [layerMemory, layerMemory, layerNonces, layerNonces];
    const isNew = layers.map((layer) => Effect.runPromise(Effect.provide(begin, layer, { local: true })));
    expect(await Promise.all(isNew)).toEqual([true, false, true, true]);
  });
  it("is shared with a second copy of the package, or the same one loaded again", async () => {
    // A module of its own, as a bundler or a hot reload makes it
    vi.resetModules();
    const copy = await import("../rooms/nonces.js");
    const lane = freshLane();
    const begin = (store: Store) => store.bootstrap(lane, at(5n), keepAll);
    expect(copy.memoryOfProcess).not.toBe(memoryOfProcess);
    expect(await Effect.runPromise(Effect.flatMap(memoryOfProcess, begin))).toBe(true);
    expect(await Effect.runPromise(Effect.flatMap(copy.memoryOfProcess, begin))).toBe(false);
  });
});
