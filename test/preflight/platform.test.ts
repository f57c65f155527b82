/** Platforms that lack what browsers and Node have: the doors can be imported there. */
import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const doors: ReadonlyArray<() => Promise<unknown>> = [
  () => import("../../src/promise.js"),
  () => import("../../src/viem.js"),
  () => import("../../src/index.js"),
  () => import("../rooms/pipeline.js"),
  () => import("../rooms/rpc.js"),
];

it.each(["DOMException", "TextDecoder", "Headers"])("the entries load without %s", async (name) => {
  // why: viem and effect are not ours, and load as they do
  await Promise.all([import("viem"), import("effect")]);
  vi.resetModules();
  vi.stubGlobal(name, undefined);
  for (const door of doors) await door();
});

it("a run aborts its requests at its end without DOMException, too", async () => {
  vi.resetModules();
  vi.stubGlobal("DOMException", undefined);
  const { withRun } = await import("../rooms/pipeline.js");
  const { CurrentRun } = await import("../rooms/rpc.js");
  const Effect = await import("effect/Effect");
  const signal = await Effect.runPromise(
    withRun(1_000, () => Effect.map(Effect.service(CurrentRun), (run) => run.signal)),
  );
  expect([signal?.aborted, (signal?.reason as Error | undefined)?.name]).toEqual([true, "AbortError"]);
});
