/** The compiler's words on the sources, where it takes seconds; those of all compilers are in the doors' tests. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../harness/sources.js";
import { sayings, unexplained, writeMistakes } from "./mistakes.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "evm-preflight-mistakes-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/evm-preflight"), "junction");
  for (const peer of ["effect", "viem"])
    symlinkSync(join(root, "node_modules", peer), join(folder, "node_modules", peer), "junction");
  writeMistakes(folder, {
    ...{ customConditions: ["@evm-preflight/source"], exactOptionalPropertyTypes: true },
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    typeRoots: [join(root, "node_modules/@types")],
    types: ["node"],
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a mistake in an input", () => {
  it("is reported at the wrong token, through every entry, and no right input is refused", () => {
    expect(unexplained(sayings(folder, "typescript-7"))).toEqual([]);
  }, 180_000);
});
