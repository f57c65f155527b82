import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ClassifyInput } from "../rooms/errors.js";
import { checkClassified, checkDecoded } from "./invariants.js";

const folder = new URL("../fixtures/corpus/", import.meta.url);

/** One input that once was a finding, or reaches far into the rules. */
interface Entry {
  readonly classify?: ClassifyInput;
  readonly decode?: string;
  readonly expect: string;
}

describe("the corpus of the error fuzzer", () => {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  it("is in the repository", () => expect(names.length).toBeGreaterThan(3));
  for (const name of names) {
    it(name, () => {
      const entry = JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Entry;
      if (entry.classify !== undefined) expect(checkClassified(entry.classify)).toBe(entry.expect);
      if (entry.decode !== undefined) expect(checkDecoded(entry.decode)).toBe(entry.expect);
    });
  }
});
