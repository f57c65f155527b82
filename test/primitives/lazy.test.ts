/** A part that may as well be missing. */
import { expect, it, vi } from "vitest";
import { lazyOr } from "../rooms/primitives.js";

it("a lazy import is loaded once for all who wait, and again after it failed", async () => {
  const load = vi.fn<() => Promise<string>>();
  load.mockRejectedValueOnce(new Error("Failed to fetch dynamically imported module")).mockResolvedValue("the part");
  const part = lazyOr(load, "what stands in");
  expect([part.now(), load.mock.calls.length]).toEqual([null, 0]);
  expect(await Promise.all([part.wait(), part.wait()])).toEqual(["what stands in", "what stands in"]);
  expect([part.now(), load.mock.calls.length]).toEqual([null, 1]);
  expect(await Promise.all([part.wait(), part.wait()])).toEqual(["the part", "the part"]);
  expect([part.now(), await part.wait(), load.mock.calls.length]).toEqual(["the part", "the part", 2]);
});
