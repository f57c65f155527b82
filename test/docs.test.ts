/** The API reference: complete, up to date, and its examples run. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { documents } from "../scripts/docs.js";
import { modules, readReference, undocumented } from "../scripts/reference.js";
import { root } from "./harness/sources.js";

const pages = readReference();
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly files: ReadonlyArray<string>;
  readonly exports: object;
  readonly repository?: string;
  readonly homepage?: string;
  readonly bugs?: string;
};
const entryOf = (name: string) => {
  const [module, entry] = name.split(".");
  return pages.find((page) => page.name === module)?.entries.find((one) => one.name === entry);
};

describe("the doc comments", () => {
  it("describe every exported name and every field of ours", () => {
    expect(undocumented(pages)).toEqual([]);
  });

  it("are found where types are worked out from schemas, classes and tables", () => {
    const docOf = (name: string, field: string) => entryOf(name)?.fields.find((one) => one.name === field)?.doc;
    expect(docOf("Report.Report", "digest")).toContain("keccak256");
    expect(docOf("Errors.InsufficientFunds", "shortfall")).not.toBe("");
    expect(docOf("Transaction.RawCall", "maxFeePerGas")).toContain("Wei per gas");
    expect(docOf("Rpc.HttpOptions", "maxInFlight")).not.toBe("");
  });

  it("of a field stand once: types that extend or pass it on link there", () => {
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

  it("are reported where they are missing", () => {
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
    const doors = Object.keys(manifest.exports).filter((door) => door !== "." && door !== "./package.json");
    expect([...modules].sort()).toEqual(doors.map((door) => door.slice(2)).sort());
  });

  it("equal what the sources say: run `npm run docs`", () => {
    const expected = documents(pages);
    for (const [path, text] of expected) expect(readFileSync(join(root, path), "utf8") === text, path).toBe(true);
    const there = readdirSync(join(root, "docs/api")).map((name) => `docs/api/${name}`);
    expect(["llms.txt", "CHANGELOG.md", "docs/errors.md", ...there].sort()).toEqual([...expected.keys()].sort());
  });

  it("are in the package, with everything that the README links to", () => {
    const { files } = manifest;
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = ""]) => path);
    expect(links).toContain("docs/api/README.md");
    expect([...links, ...documents(pages).keys()].filter((path) => !files.includes(path.split("/")[0] ?? ""))).toEqual(
      [],
    );
  });
});

/** Words as `wc -w` counts them: a table's lines count, too. */
const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

describe("the pages for people", () => {
  /** The changelog is bounded by the version, below. */
  const written = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md"];
  const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "errors.md");

  it.each([...written, ...guides.map((name) => `docs/${name}`)])("%s has 2,500 words at most", (path) => {
    expect(wordsIn(readFileSync(join(root, path), "utf8"))).toBeLessThanOrEqual(2_500);
  });

  it("show the tables measured on other nodes: run `npm run beds`", () => {
    const text = readFileSync(join(root, "docs/nodes-and-chains.md"), "utf8");
    const [, tables = ""] = /<!-- beds -->([^]*)<!-- \/beds -->/.exec(text) ?? [];
    expect(tables.match(/^\|.*\bready, mined\b.*\|$/gm)?.length ?? 0).toBeGreaterThan(0);
    expect(tables.match(/^\|(?: --- \|| -+ \|)+$/gm)).toHaveLength(3);
  });

  it("has a front page of 1,200 words at most, without its code and pictures", () => {
    const prose = readFileSync(join(root, "README.md"), "utf8").replaceAll(/^```[^]*?^```$/gm, "");
    expect(wordsIn(prose)).toBeLessThanOrEqual(1_200);
  });
});

describe("CHANGELOG.md", () => {
  const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const versions = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);

  it("keeps its form: newest first, each kind of change once a version, in one order", () => {
    const [unreleased, ...released] = versions;
    expect(unreleased).toMatch(/^\[\d+\.\d+\.\d+\] - Unreleased$/);
    expect(released.filter((heading) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(heading))).toEqual([]);
    // the package has the version of the last release, or the one that is about to be
    expect(versions.slice(0, 2).some((heading) => heading.startsWith(`[${manifest.version}]`))).toBe(true);
    const kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    for (const part of text.split(/^## /m).slice(1)) {
      const found = [...part.matchAll(/^### (.*)$/gm)].map(([, kind = ""]) => kind);
      expect(found).toEqual(kinds.filter((kind) => found.includes(kind)));
    }
  });

  it("tells the newest version in 1,200 words at most, ten lines of what breaks first", () => {
    const [, newest = ""] = text.split(/^## /m);
    expect(wordsIn(newest)).toBeLessThanOrEqual(1_200);
    const [breaking = ""] = newest.split(/^### /m);
    expect(breaking.match(/^- /gm)).toHaveLength(10);
  });

  it("links each version to the repository that package.json names as homepage and bugs", () => {
    const sources = manifest.repository?.replace(/^github:/, "https://github.com/");
    if (sources === undefined) {
      expect([manifest.homepage, manifest.bugs, text.match(/^\[[^\]]+\]: /gm)]).toEqual([undefined, undefined, null]);
      return;
    }
    expect([manifest.homepage, manifest.bugs]).toEqual([`${sources}#readme`, `${sources}/issues`]);
    const links = [...text.matchAll(/^\[([^\]]+)\]: (\S+)$/gm)].map(([, version, link]) => [version, link]);
    expect(links).toHaveLength(versions.length);
    expect(links[0]?.[1]).toBe(`${sources}/compare/v${manifest.version}...HEAD`);
    expect(links.at(-1)?.[1]).toMatch(/\/releases\/tag\/v\d/);
  });
});
