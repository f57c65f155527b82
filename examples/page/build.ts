/**
 * Builds the page into files that any static server can serve.
 *
 *     npx tsx examples/page/build.ts FOLDER
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { layerScripted } from "evm-preflight/testing";
import { build, defaultClientConditions } from "vite";

const here = dirname(fileURLToPath(import.meta.url));

/** The sources of styles that the report allows itself: a frame inherits the page's policy, and needs them there too. */
const reportStyles = async (): Promise<string> => {
  await using preflight = createPreflight({ layer: layerScripted({}) });
  const account = "0x00000000000000000000000000000000000000a1";
  const report = await preflight.scan({ from: account, to: account });
  return /style-src ([^;]*);/.exec(Report.toHtml(report))?.[1] ?? "";
};

/** The conditions under which this program itself reads its packages. */
const own = process.execArgv.flatMap((arg) => /^--conditions=(.+)$/.exec(arg)?.slice(1) ?? []);

/** Every file of the page, by its path. */
export const buildPage = async (conditions: ReadonlyArray<string> = own): Promise<ReadonlyMap<string, string>> => {
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
  const built = await build({
    root: here,
    configFile: false,
    logLevel: "error",
    // why: it may lie in any folder of a server
    base: "./",
    resolve: { conditions: [...conditions, ...defaultClientConditions] },
    build: { write: false, target: "es2022", modulePreload: false },
    plugins: [{ name: "policy", transformIndexHtml: (html) => html.replace("{{policy}}", policy) }],
  });
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) => ("output" in one ? one.output : []));
  return new Map(
    outputs.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : String(file.source)] as const),
  );
};

const main = async (folder: string) => {
  for (const [path, text] of await buildPage()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  void main(process.argv[2] ?? "page");
