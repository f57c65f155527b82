/**
 * Builds the page and serves it on this machine.
 *
 *     npm run page          then open http://127.0.0.1:4173
 */
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { dirname, extname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { layerScripted } from "evm-preflight/testing";

const here = dirname(fileURLToPath(import.meta.url));

/** The sources of styles that the report allows itself: a frame inherits the page's policy, and needs them there too. */
const reportStyles = async (): Promise<string> => {
  await using preflight = createPreflight({ layer: layerScripted({}) });
  const account = "0x00000000000000000000000000000000000000a1";
  const report = await preflight.scan({ from: account, to: account });
  return /style-src ([^;]*);/.exec(Report.toHtml(report))?.[1] ?? "";
};

/** Every file of the page, by its path. */
const buildPage = async (): Promise<ReadonlyMap<string, string>> => {
  const { outputFiles } = await build({
    entryPoints: [join(here, "page.ts")],
    outdir: here,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["@evm-preflight/source"],
    minify: true,
    write: false,
    logLevel: "error",
  });
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${await reportStyles()}`,
    "img-src data:",
    // the person names the node
    "connect-src http: https:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = await readFile(join(here, "index.html"), "utf8");
  return new Map([
    ["/", html.replace("{{policy}}", policy)],
    ["/page.css", await readFile(join(here, "page.css"), "utf8")],
    ...outputFiles.map(({ path, text }) => [`/${relative(here, path)}`, text] as const),
  ]);
};

const types: Readonly<Record<string, string>> = { "": "text/html", ".css": "text/css", ".js": "text/javascript" };

/** The page on this machine alone. Port 0 takes a free one. */
export const servePage = async (port: number): Promise<Server> => {
  const files = await buildPage();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const file = files.get(pathname);
    response.writeHead(file === undefined ? 404 : 200, {
      "content-type": `${types[extname(pathname)] ?? "text/plain"}; charset=utf-8`,
      // what a policy in the page itself cannot say
      "content-security-policy": "frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
    });
    response.end(file);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return server;
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await servePage(Number(process.env["PORT"] ?? 4173));
  console.log(`http://127.0.0.1:${process.env["PORT"] ?? 4173}`);
}
