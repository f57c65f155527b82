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
    "is reported by %s at the wrong token, through every door, and no right input is refused",
    (compiler) => expect(unexplained(sayings(installed.folder, compiler))).toEqual([]),
    180_000,
  );
});
