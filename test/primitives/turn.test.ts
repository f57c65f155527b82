/** A turn of the event loop is taken where it was held, and not where it was not: a loop that is free costs nothing. */
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { turn } from "../rooms/primitives.js";

it("long work yields to the event loop, and short work continues at once", async () => {
  const order: Array<string> = [];
  const held = (ms: number) =>
    Effect.gen(function* () {
      yield* turn;
      const began = performance.now();
      while (performance.now() - began < ms);
      globalThis.setImmediate(() => order.push("other"));
      yield* turn;
      order.push(ms === 0 ? "short" : "long");
    });
  await Effect.runPromise(held(20));
  await new Promise((resolve) => setTimeout(resolve, 0));
  await Effect.runPromise(held(0));
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(order).toEqual(["other", "long", "short", "other"]);
});
