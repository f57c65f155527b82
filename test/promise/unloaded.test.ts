/** A pipeline that cannot be loaded, as a page meets after a deployment: its own error, and no word against the report. */
import { expect, it, vi } from "vitest";
import { createPreflight, Report } from "../../src/promise.js";
import { report } from "../report/fixtures.js";

const asked = vi.hoisted(() => vi.fn<() => void>());

vi.mock("../../src/Preflight.js", () => {
  asked();
  throw new Error("Failed to fetch dynamically imported module");
});

it("the pipeline is loaded as soon as a client is made, and not before", async () => {
  expect(asked).not.toHaveBeenCalled();
  await using _ = createPreflight({ url: "http://127.0.0.1:9" });
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
});

it("a failure to load it is reported as that, behind the refusal of a malformed report", async () => {
  await expect(Report.ready({} as never)).rejects.toMatchObject({ _tag: "InvalidTransaction" });
  // vitest wraps what a mock throws
  const unloaded = { cause: { message: "Failed to fetch dynamically imported module" } };
  await expect(Report.ready(report())).rejects.toMatchObject(unloaded);
});
