/** The API reference: complete, up to date, and its examples run. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { documents } from "../scripts/docs.js";
import { modules, readReference, undocumented } from "../scripts/reference.js";
import { root } from "./harness/sources.js";

const pages = readReference();
const entryOf = (name: string) => {
  const [module, entry] = name.split(".");
  return pages.find((page) => page.name === module)?.entries.find((one) => one.name === entry);
};

describe("the doc comments", () => {
  it("say of every exported name and every field of ours what it is", () => {
    expect(undocumented(pages)).toEqual([]);
  });

  it("are those of the fields where types are worked out from schemas, classes and tables", () => {
    const docOf = (name: string, field: string) => entryOf(name)?.fields.find((one) => one.name === field)?.doc;
    expect(docOf("Report.Report", "digest")).toContain("keccak256");
    expect(docOf("Errors.InsufficientFunds", "shortfall")).not.toBe("");
    expect(docOf("Transaction.RawCall", "maxFeePerGas")).toContain("Wei per gas");
    expect(docOf("Rpc.HttpOptions", "maxInFlight")).not.toBe("");
  });

  it("of a field stand once: where others extend the type, or hand it on, they point there", () => {
    expect(modules[0]).toBe("promise");
    expect(pages[0]?.entries[0]?.name).toBe("createPreflight");
    expect(entryOf("promise.Options")?.sameAs).toBe("Preflight.Options");
    expect(entryOf("Preflight.Options")?.sameAs).toBeNull();
    const fieldOf = (name: string, field: string) => entryOf(name)?.fields.find((one) => one.name === field);
    expect(fieldOf("Rpc.HttpOptions", "maxInFlight")?.of).toBe("Rpc.PostingOptions");
    expect(fieldOf("promise.GuardOptions", "policies")?.of).toBe("promise.Defaults");
    expect(fieldOf("promise.GuardOptions", "send")).toBeUndefined();
    expect(fieldOf("promise.GuardOptions", "node")?.of).toBeNull();
    const page = documents(pages).get("docs/api/promise.md");
    expect(page?.match(/^\| `feeHorizon\?` /gm)).toBeNull();
    expect(
      documents(pages)
        .get("docs/api/Preflight.md")
        ?.match(/^\| `feeHorizon\?` /gm),
    ).toHaveLength(1);
  });

  it("would be missed", () => {
    const field = { name: "gas", type: "bigint", optional: false, doc: "", of: null, names: [] };
    const entry = { name: "Made", signature: "", sameAs: null, doc: "", examples: [], fields: [field] };
    expect(undocumented([{ name: "Page", from: "", doc: "", entries: [entry] }])).toEqual([
      "Page.Made",
      "Page.Made: gas",
    ]);
  });
});

describe("docs/api and llms.txt", () => {
  it("have a page for every entry of the package", () => {
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly exports: object };
    const doors = Object.keys(exports).filter((door) => door !== "." && door !== "./package.json");
    expect([...modules].sort()).toEqual(doors.map((door) => door.slice(2)).sort());
  });

  it("are what the sources say: run `npm run docs`", () => {
    const expected = documents(pages);
    for (const [path, text] of expected) expect(readFileSync(join(root, path), "utf8") === text, path).toBe(true);
    const there = readdirSync(join(root, "docs/api")).map((name) => `docs/api/${name}`);
    expect(["llms.txt", "docs/errors.md", ...there].sort()).toEqual([...expected.keys()].sort());
  });

  it("are in the package, and so is everything that the README links to", () => {
    const { files, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly files: ReadonlyArray<string>;
      readonly version: string;
    };
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = ""]) => path);
    expect(links).toContain("docs/api/README.md");
    expect([...links, ...documents(pages).keys()].filter((path) => !files.includes(path.split("/")[0] ?? ""))).toEqual(
      [],
    );
    const [, released, date] =
      /^## (\S+) \((\d{4}-\d\d-\d\d)\)$/m.exec(readFileSync(join(root, "CHANGELOG.md"), "utf8")) ?? [];
    expect([released, Number.isNaN(Date.parse(date ?? ""))]).toEqual([version, false]);
  });
});
