/** A pipeline that cannot be loaded, as a page meets after a deployment: its own error, and no word against the report. */
import { expect, it, vi } from "vitest";
import { Report } from "../../src/promise.js";
import { report } from "../report/fixtures.js";

vi.mock("../../src/Preflight.js", () => {
  throw new Error("Failed to fetch dynamically imported module");
});

it("is told as that, after what is no report", async () => {
  await expect(Report.ready({} as never)).rejects.toMatchObject({ _tag: "InvalidTransaction" });
  // vitest wraps what a mock throws
  const unloaded = { cause: { message: "Failed to fetch dynamically imported module" } };
  await expect(Report.ready(report())).rejects.toMatchObject(unloaded);
});
