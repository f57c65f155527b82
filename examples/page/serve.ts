/**
 * Builds the page and serves it on this machine.
 *
 *     npm run page          then open http://127.0.0.1:4173
 */
import { createServer, type Server } from "node:http";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import { buildPage } from "./build.js";

const types: Readonly<Record<string, string>> = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" };

/** The page on this machine alone. Port 0 takes a free one. */
export const servePage = async (port: number, conditions?: ReadonlyArray<string>): Promise<Server> => {
  const files = await buildPage(conditions);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    const file = files.get(path);
    response.writeHead(file === undefined ? 404 : 200, {
      "content-type": `${types[extname(path)] ?? "text/plain"}; charset=utf-8`,
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

const main = async () => {
  const port = process.env["PORT"] ?? "4173";
  await servePage(Number(port));
  console.log(`http://127.0.0.1:${port}`);
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
