import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { longest } from "./longestFirst.js";
import { root } from "./sources.js";

it("longestFirst lists files that exist, each once", () => {
  expect(longest.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(new Set(longest).size).toBe(longest.length);
});
