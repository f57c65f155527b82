/** The declarations in the packed package: everything in them can be named, and users' compilers accept them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, writeConsumers } from "./consumer.js";
import { doorsOf, readExported, type Exported } from "./exported.js";
import { installPacked, manifestIn, type Installed } from "./packed.js";

/** The most names that the namespaces of the main door may have. It only goes down: lower it with the names. */
const mostNames = 357;

let installed: Installed;
let exported: Exported;
beforeAll(() => {
  installed = installPacked();
  exported = readExported(installed, doorsOf(manifestIn(installed.package)));
  writeConsumers(installed, exported.exports);
});
afterAll(() => installed.remove());

describe("the packed declarations", () => {
  it("export something from every entry, types among it", () => {
    for (const door of doorsOf(manifestIn(installed.package)))
      expect(exported.exports.filter((each) => each.door === door).length, door).toBeGreaterThan(0);
    expect(exported.exports.filter(({ type }) => type !== null).length).toBeGreaterThan(100);
    expect(exported.exports.map(({ name }) => name)).toContain("Report.Finding");
  });

  it("name no more in the main entry than they are allowed", () => {
    const names = exported.exports.filter(({ door, name }) => door === "evm-preflight" && name.includes("."));
    expect(names.length).toBeGreaterThan(200);
    expect(names.length).toBeLessThanOrEqual(mostNames);
  });

  it("use only types of ours that some entry exports by name", () => {
    expect(exported.unnameable.map(({ file, name, by }) => `${file}: ${name}, met in ${by}`)).toEqual([]);
  });

  it.each(["typescript-5-8", "typescript-5-9", "typescript", "typescript-7"])(
    "compile for %s: strict, with skipLibCheck off, and every exported name written out again",
    (compiler) => {
      expect(compile(installed, compiler)).toEqual([]);
    },
    180_000,
  );
});
