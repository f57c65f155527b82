/** Every link leads somewhere, to a heading too: in the pages as they are written, and in the site that is built of them. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromiumOrWarn, startChromium, type Chromium } from "./harness/chromium.js";
import { isWhole, skip } from "./harness/parts.js";
import { startServer, type Server } from "./harness/server.js";
import { root, walkFiles } from "./harness/sources.js";

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>();
  return new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
      const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
      const slug = plain.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
      const before = seen.get(slug) ?? 0;
      seen.set(slug, before + 1);
      return before === 0 ? slug : `${slug}-${before}`;
    }),
  );
};

/** What is no code of a page. */
const proseOf = (text: string): string => text.replace(/^ *```[^]*?^ *```$/gm, "");

/** The links of pages that lead nowhere: to no file, or to no heading. */
const brokenOf = (pages: ReadonlyMap<string, string>, has: (path: string) => boolean): ReadonlyArray<string> =>
  [...pages].flatMap(([path, text]) =>
    [...proseOf(text).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, to = "", anchor]) => {
      const target = to === "" ? path : join(dirname(path), to);
      const page = pages.get(target);
      if (page === undefined) return has(target) && anchor === undefined ? [] : [`${path}: ${to}#${anchor ?? ""}`];
      return anchor === undefined || anchorsOf(proseOf(page)).has(anchor) ? [] : [`${path}: ${to}#${anchor}`];
    }),
  );

const markdown = [
  ...["README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "AGENTS"].map((name) => `${name}.md`),
  ...walkFiles("docs").filter((path) => path.endsWith(".md")),
  "llms.txt",
];
const written = new Map(markdown.map((path) => [path, readFileSync(join(root, path), "utf8")]));

describe("the links of the pages", () => {
  it("are more than a few", () => {
    const count = [...written.values()].flatMap((text) => text.match(/\]\(/g) ?? []).length;
    expect(count).toBeGreaterThan(400);
    expect(written.size).toBeGreaterThan(35);
  });

  it("lead to files and headings that exist", () => {
    expect(brokenOf(written, (path) => existsSync(join(root, path)))).toEqual([]);
  });

  it("are reported when they are broken", () => {
    const other = "# A\n\n## `b` of [c](d.md): 1\n\n## A\n";
    const links = "[](../other.md#a-1) [](../other.md#b-of-c-1) [](#page) [](https://a.b/c) [](none.md) [](x.ts)";
    const wrong = "[](../other.md#c) [](#none) [](x.ts#l)";
    const pages = new Map([
      ["other.md", other.replace("[c](d.md)", "[c](docs/page.md)")],
      ["docs/page.md", `# Page\n\n${links} ${wrong}\n\n\`\`\`md\n[](nowhere.md)\n\`\`\`\n`],
    ]);
    expect(brokenOf(pages, (path) => path === "docs/x.ts")).toEqual([
      "docs/page.md: none.md#",
      "docs/page.md: ../other.md#c",
      "docs/page.md: #none",
      "docs/page.md: x.ts#l",
    ]);
  });
});

const tool = join(root, "tools/site/node_modules/vitepress/bin/vitepress.js");
const canBuild =
  isWhole && (existsSync(tool) || skip("the site", "VitePress is not installed (npm ci --prefix tools/site)") !== null);
const chromium = canBuild ? findChromiumOrWarn("the site in a browser") : null;

describe.skipIf(!canBuild)("the site of the pages", () => {
  let folder: string;
  const files = new Set<string>();
  const textOf = (file: string) => readFileSync(join(folder, file), "utf8");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "site-"));
    execFileSync(process.execPath, [tool, "build", "--outDir", folder], {
      cwd: join(root, "tools/site"),
      stdio: "pipe",
    });
    for (const file of readdirSync(folder, { recursive: true })) files.add(String(file));
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has every page, and an index to search in", () => {
    const others = ["404.html", join("check", "index.html")];
    const html = [...files].filter((file) => file.endsWith(".html") && !others.includes(file));
    expect(html).toHaveLength(written.size - 1);
    const [index = ""] = [...files].filter((file) => file.includes("localSearchIndex"));
    expect(textOf(index)).toContain("ApprovalUnlimited");
  });

  it("links to pages, headings and files that exist", () => {
    const pages = [...files].filter((file) => file.endsWith(".html")).map((file) => ({ file, text: textOf(file) }));
    const ids = new Map(
      pages.map(({ file, text }) => [file, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    );
    const links = pages.flatMap(({ file, text }) =>
      [...text.matchAll(/ (?:href|src)="(?![a-z]+:)([^"#]*)(?:#([^"]*))?"/g)].map(([, to = "", anchor]) => {
        const path = to === "" ? file : join(to.startsWith("/") ? "." : dirname(file), to);
        const target = [path, `${path}.html`, join(path, "index.html")].find((one) => files.has(one));
        return { file, to: `${to}#${anchor ?? ""}`, target, anchor };
      }),
    );
    expect(links.length).toBeGreaterThan(2_000);
    const broken = links.filter(
      ({ target, anchor }) =>
        target === undefined || (anchor !== undefined && ids.get(target)?.has(decodeURIComponent(anchor)) !== true),
    );
    expect(broken.map(({ file, to }) => `${file}: ${to}`)).toEqual([]);
  });

  describe.skipIf(chromium === null)("in Chromium", () => {
    let server: Server;
    let browser: Chromium;
    const types: Readonly<Record<string, string>> = {
      ...{ ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml" },
    };
    beforeAll(async () => {
      server = await startServer((_body, request, response) => {
        const path = new URL(request.url ?? "/", "http://localhost").pathname.slice(1);
        const file = path === "" ? "index.html" : path;
        response.writeHead(files.has(file) ? 200 : 404, { "content-type": types[extname(file)] ?? "text/plain" });
        response.end(files.has(file) ? readFileSync(join(folder, file)) : "");
      });
      browser = startChromium(chromium ?? "");
    });
    afterAll(async () => {
      await browser.stop();
      await server.stop();
    });

    it.each(["", "docs/nonces.html", "docs/performance.html", "docs/errors.html", "docs/api/Errors.html"])(
      "fits a phone and a screen: /%s",
      async (page) => {
        const tab = await browser.open();
        for (const width of [390, 1280]) {
          await tab.resize(width, 844);
          await tab.goto(`${server.url}/${page}`);
          await tab.until(`document.querySelector("main h1") !== null`);
          expect(await tab.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
          // why: what is wider than its page scrolls by itself
          const beyond = `[...document.querySelectorAll("main *")].filter((one) => !one.closest("pre, table") && one.getBoundingClientRect().right > ${width} + 1).map((one) => one.outerHTML.slice(0, 100))`;
          expect(await tab.evaluate(beyond)).toEqual([]);
        }
        expect(tab.complaints).toEqual([]);
      },
    );

    it("leads to the page that checks a transaction", async () => {
      const tab = await browser.open();
      await tab.resize(1280, 844);
      await tab.goto(`${server.url}/docs/nonces.html`);
      const link = `[...document.querySelectorAll(".VPNavBar a")].find((one) => one.textContent === "Check a transaction")`;
      await tab.until(`${link} !== undefined`);
      await tab.evaluate(`${link}.click()`);
      await tab.until(`document.querySelector("#tries button") !== null`);
      await tab.evaluate(`document.forms[0].elements.from.value = "0x12"; document.getElementById("ask").click()`);
      await tab.until(`document.getElementById("problem").textContent === "from: must be 20 bytes of hex with 0x"`);
      expect(tab.complaints).toEqual([]);
    });

    it("finds a finding's code", async () => {
      const tab = await browser.open();
      await tab.resize(1280, 844);
      await tab.goto(`${server.url}/`);
      await tab.until(`document.querySelector(".VPNavBarSearch button") !== null`);
      await tab.evaluate(`document.querySelector(".VPNavBarSearch button").click()`);
      await tab.until(`document.querySelector("#localsearch-input") !== null`);
      await tab.evaluate(`(() => {
        const input = document.querySelector("#localsearch-input");
        input.value = "DependsOnPending";
        input.dispatchEvent(new Event("input", { bubbles: true }));
      })()`);
      await tab.until(
        `[...document.querySelectorAll(".VPLocalSearchBox a")].some(({ href }) => href.endsWith("docs/errors.html#dependsonpending"))`,
      );
    });
  });
});
