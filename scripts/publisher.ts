/**
 * Writes who publishes the package, wherever that shows: homepage, bugs and repository of package.json, the changelog's
 * links, and the links of reports to the pages of their codes. The site reads package.json.
 *
 *     npx tsx scripts/publisher.ts acme/evm-preflight
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The manifest with its publisher, `homepage` and `bugs` before the licence, `repository` behind it. */
const published = (manifest: Record<string, unknown>, name: string) =>
  Object.fromEntries(
    Object.entries(manifest).flatMap((entry) => {
      if (["homepage", "bugs", "repository"].includes(entry[0])) return [];
      return entry[0] === "license"
        ? [
            ["homepage", `https://github.com/${name}#readme`],
            ["bugs", `https://github.com/${name}/issues`],
            entry,
            ["repository", `github:${name}`],
          ]
        : [entry];
    }),
  );

const [name = ""] = process.argv.slice(2);
if (/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/.test(name)) {
  const path = join(root, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  writeFileSync(path, `${JSON.stringify(published(manifest, name), null, 2)}\n`);
  const constant = join(root, "src/primitives/publisher.ts");
  const address = `"https://github.com/${name}/blob/main/"`;
  writeFileSync(constant, readFileSync(constant, "utf8").replace(/(?<== ).*(?=;\n$)/, address));
  execFileSync(process.execPath, ["--import", "tsx", "scripts/docs.ts"], { cwd: root, stdio: "inherit" });
} else {
  console.error("Writes who publishes the package. Usage: npx tsx scripts/publisher.ts ACCOUNT/NAME");
  process.exitCode = 64;
}
