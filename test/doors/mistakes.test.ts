/** The compilers' words on the packed declarations, as users have them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sayings, unexplained, writeMistakes } from "../types/mistakes.js";
import { installPacked, type Installed } from "./packed.js";

let installed: Installed;
beforeAll(() => {
  installed = installPacked();
  writeMistakes(installed.folder, { types: [] });
});
afterAll(() => installed.remove());

describe("a mistake in an input", () => {
  it.each(["typescript-5-9", "typescript", "typescript-7"])(
    "is told by %s at the token that is wrong, through every door, and nothing right is refused",
    (compiler) => expect(unexplained(sayings(installed.folder, compiler))).toEqual([]),
    180_000,
  );
});
