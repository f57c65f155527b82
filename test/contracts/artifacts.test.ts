import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("contract artifacts are what the sources compile to", () => {
  const script = fileURLToPath(new URL("../../scripts/build-contracts.mjs", import.meta.url));
  expect(() => execFileSync(process.execPath, [script, "--check"], { stdio: "pipe" })).not.toThrow();
}, 120_000);
