/** A page that vite builds of the Promise door, in a real browser: what it asks for until the first report, and what becomes of a part that does not come. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { findChromiumOrWarn, startChromium, type Chromium } from "../harness/chromium.js";
import { root } from "../harness/sources.js";

const [, alice, bob] = accounts;
const chromium = findChromiumOrWarn("a page that vite builds, in a browser");
const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

describe.skipIf(chromium === null)("a page of evm-preflight/promise", () => {
  const folder = mkdtempSync(join(tmpdir(), "evm-preflight-page-"));
  const built = join(folder, "built");
  const textOf = (path: string) => readFileSync(join(built, path === "/" ? "index.html" : path));
  let asked: Array<string> = [];
  let later: "comes" | "fails" | "hangs" = "comes";
  let node: Node;
  let server: Server;
  let browser: Chromium;

  beforeAll(async () => {
    writeFileSync(
      join(folder, "index.html"),
      `<link rel="icon" href="data:,"><script type="module" src="/page.js"></script>`,
    );
    writeFileSync(
      join(folder, "page.js"),
      `import { createPreflight } from ${JSON.stringify(join(root, "dist/promise.js"))};
      window.run = (url, input, steps = []) =>
        createPreflight({ url, steps }).preflight(input).then(({ verdict }) => verdict);`,
    );
    await build({ root: folder, configFile: false, logLevel: "error", build: { outDir: built } });
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      asked.push(pathname);
      if (later === "hangs") return;
      response.writeHead(later === "comes" ? 200 : 404, {
        "content-type": types[extname(pathname) || ".html"] ?? "text/plain",
      });
      response.end(later === "comes" ? textOf(pathname) : "");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    node = await startAnvil({ noMining: true });
    await mineAnvil(node.url);
    browser = startChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.stop();
    server.close();
    server.closeAllConnections();
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async () => {
    [asked, later] = [[], "comes"];
    // a page has six connections at a time, and what hung has them still
    server.closeAllConnections();
    const tab = await browser.open();
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await tab.until(`typeof window.run === "function"`);
    return tab;
  };
  const transfer = `{ from: "${alice.address}", to: "${bob.address}", value: 1n }`;
  const own = `[{ name: "page/own", check: () => [] }]`;

  it("loads few files and bytes until the first report", async () => {
    const tab = await open();
    expect(await tab.evaluate(`run("${node.url}", ${transfer})`)).toBe("ready");
    expect(tab.complaints).toEqual([]);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBeLessThanOrEqual(29);
    const bytes = asked.map((path) => gzipSync(textOf(path), { level: 9 }).length).reduce((sum, each) => sum + each);
    expect(bytes / 1000).toBeLessThanOrEqual(280);
  });

  it("loads more where it has a step of its own", async () => {
    const tab = await open();
    expect(await tab.evaluate(`run("${node.url}", ${transfer})`)).toBe("ready");
    const before = asked.length;
    expect(await tab.evaluate(`run("${node.url}", ${transfer}, ${own})`)).toBe("ready");
    expect(asked.length).toBeGreaterThan(before);
  });

  it.each([
    ["the pipeline", "fails", "[]", /dynamically imported module/],
    ["the pipeline", "hangs", "[]", /Timeout/],
    ["what asks steps of one's own", "fails", own, /dynamically imported module/],
  ] as const)("rejects in time, and gives no report, where %s %s", async (_, way, steps, words) => {
    const tab = await open();
    // what asks steps of one's own is missed by who has the pipeline
    if (steps === own) await tab.evaluate(`run("${node.url}", ${transfer})`);
    later = way;
    const failed = `run("${node.url}", ${transfer}, ${steps}).then(String, (error) => "rejected: " + error)`;
    const said = await tab.evaluate(failed);
    expect(said).toMatch(/^rejected: /);
    expect(said).toMatch(words);
  });
});
