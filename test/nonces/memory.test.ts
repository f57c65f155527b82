import * as Effect from "effect/Effect";
import { describe } from "vitest";
import { layerMemory, NonceStore } from "../../src/NonceStore.js";
import { contract } from "./suite.js";

describe("the memory store", () => {
  contract((use) => Effect.runPromise(Effect.flatMap(NonceStore, use).pipe(Effect.provide(layerMemory))), 1_000);
});
