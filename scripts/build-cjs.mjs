// Writes the CommonJS twin of every ES module in dist/ (.cjs) and of its types (.d.cts).
// Not through tsup: for shared chunks it uses sucrase, which breaks `a ?? (yield* b)`; and without shared
// chunks each door would have its own error classes, so that `instanceof` fails between doors.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { transformSync } from "esbuild";

const dist = new URL("../dist/", import.meta.url);
const read = (name) => readFileSync(new URL(name, dist), "utf8");
const write = (name, text) => writeFileSync(new URL(name, dist), text);
const names = readdirSync(dist);

for (const name of names.filter((each) => each.endsWith(".js"))) {
  const { code } = transformSync(read(name), { format: "cjs", target: "node20", loader: "js" });
  write(name.replace(/\.js$/, ".cjs"), code.replace(/(require\("\.\/[^"]+)\.js"\)/g, '$1.cjs")'));
}
for (const name of names.filter((each) => each.endsWith(".d.ts"))) {
  const types = read(name).replace(/((?:from|import\() ?["']\.\/[^"']+)\.js(["'])/g, "$1.cjs$2");
  write(name.replace(/\.d\.ts$/, ".d.cts"), types);
}
