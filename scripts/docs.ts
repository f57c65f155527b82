/** Writes docs/api and llms.txt from the doc comments of the sources, and the entries of docs/errors.md from the catalogue. `npm run docs` */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withCodes } from "./errorPage.js";
import { readReference, type Entry, type Page } from "./reference.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Text in a cell of a table: one line, and nothing that ends the cell. */
const cell = (text: string): string => text.replace(/\s+/g, " ").replace(/\|/g, "\\|").trim();

/** Code in a line, also where it holds backticks itself. */
const inline = (text: string): string => (text.includes("`") ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``);

const code = (text: string): string => ["```ts", text, "```"].join("\n");

const entryText = ({ name, signature, doc, examples, fields }: Entry): string => {
  const rows = fields.map(
    (field) => `| \`${field.name}${field.optional ? "?" : ""}\` | ${inline(field.type)} | ${cell(field.doc)} |`,
  );
  return [
    `## ${name}`,
    code(signature),
    doc,
    ...examples.map(code),
    ...(rows.length === 0 ? [] : [["| field | type | what |", "| --- | --- | --- |", ...rows].join("\n")]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
};

const pageText = ({ name, from, doc, entries }: Page): string =>
  [`# ${name}`, code(`${from};`), doc, ...entries.map(entryText), ""]
    .join("\n\n")
    .replace(/\n{3,}/g, "\n\n")
    .trimEnd() + "\n";

const firstSentence = (text: string): string => cell(/^[^]*?\.(?=\s|$)/.exec(text)?.[0] ?? text);

const nameOf = (page: Page): string => (/^[A-Z]/.test(page.name) ? page.name : `evm-preflight/${page.name}`);

const indexOf = (pages: ReadonlyArray<Page>): string =>
  [
    "# API",
    "Every exported name, with its fields, their units, the errors and the JSON-RPC methods that are asked. Written from the doc comments by `npm run docs`.",
    pages.map((page) => `- [${nameOf(page)}](${page.name}.md): ${firstSentence(page.doc)}`).join("\n"),
    "",
  ].join("\n\n");

/** What most programs need, in the order in which they need it. */
const needed: Readonly<Record<string, ReadonlyArray<string>>> = {
  promise: ["createPreflight", "PreflightClient", "Connection"],
  viem: ["preflightActions"],
  Preflight: ["preflight", "scan", "prove", "reserving", "maxSendable", "make", "Options"],
  Report: ["Report", "ready", "matches", "diff", "toText", "toHtml", "toMarkdown", "toJson", "fromJson", "Finding"],
  Policy: [
    "maxSpent",
    "minReceived",
    "noUnlimitedApprovals",
    "noNewApprovals",
    "noInnerFailures",
    "maxFee",
    "fromJson",
    "make",
  ],
  Step: ["make", "blocker", "warning", "info", "staticCall", "balanceOf", "account"],
  Errors: ["isVerdict", "classify", "decodeRevert", "InvalidTransaction", "NotProven", "InsufficientFunds"],
  Rpc: ["layerHttp", "layerClient", "layerTransport", "layerProvider"],
  Nonces: ["withNonce", "reserve", "commit", "keep", "bootstrap"],
  testing: ["layerScripted", "layerRecorder", "layerReplay"],
};

const llmsText = (pages: ReadonlyArray<Page>): string => {
  const { description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { description: string };
  const names = Object.entries(needed).map(([name, wanted]) => {
    const page = pages.find((one) => one.name === name);
    const lines = wanted.map((each) => {
      const entry = page?.entries.find((one) => one.name === each);
      if (entry === undefined) throw new Error(`${name} exports no ${each}`);
      return `- \`${each}\`: ${firstSentence(entry.doc)}`;
    });
    return `### ${page === undefined ? name : nameOf(page)}\n\n${lines.join("\n")}`;
  });
  return [
    "# evm-preflight",
    `> ${description}`,
    "An ES module library for TypeScript on Effect 4 and viem. Node ≥ 20.19, Bun, Deno, browsers. It asks a node and signs nothing.",
    "Install: `npm install evm-preflight effect viem`",
    code(readFileSync(join(root, "examples/first.ts"), "utf8").trim()),
    "A report's `verdict` is `ready`, `caution`, `unknown` or `blocked`; only `ready` and `caution` give a clearance, and only the requests of that clearance may be signed. `run`, `scan` and `preflight` fail with `InvalidTransaction` alone; everything else is a finding of the report. Amounts are bigints in wei, prices in wei per gas, gas limits in gas, times in ms unless the field says seconds.",
    "## Documents",
    [
      "- [README](README.md): what it is, the first report, verdicts, signing",
      "- [Guides](docs/README.md): report, policies, steps, nonces, watching, settling, quorum, nodes, limits",
      "- [Errors and findings](docs/errors.md): every code, with an example and what to do",
      "- [API](docs/api/README.md): every exported name and field",
      "- [Changelog](CHANGELOG.md): what changed between versions",
      "- [Examples](examples/first.ts): `dry-run.ts`, `bot.ts`, `wallet-backend.ts`, `policies.ts`, `fee-model.ts`, `own-step.ts`, `agent.ts`, `wagmi/`, `page/` in the same folder",
    ].join("\n"),
    "## Entries",
    pages.map((page) => `- [${nameOf(page)}](docs/api/${page.name}.md): ${firstSentence(page.doc)}`).join("\n"),
    "## Names that most programs need",
    ...names,
    "",
  ].join("\n\n");
};

/** Every file of the documentation, by its path from the root. */
export const documents = (pages: ReadonlyArray<Page>): ReadonlyMap<string, string> =>
  new Map([
    ["llms.txt", llmsText(pages)],
    ["docs/errors.md", withCodes(readFileSync(join(root, "docs/errors.md"), "utf8"))],
    ["docs/api/README.md", indexOf(pages)],
    ...pages.map((page) => [`docs/api/${page.name}.md`, pageText(page)] as const),
  ]);

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  rmSync(join(root, "docs/api"), { recursive: true, force: true });
  for (const [path, text] of documents(readReference())) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
