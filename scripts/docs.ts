/** Writes docs/api and llms.txt from the doc comments of the sources, the entries of docs/errors.md from the catalogue, and the links of CHANGELOG.md. `npm run docs` */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withCodes } from "./errorPage.js";
import { needed, readReference, type Entry, type Page } from "./reference.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Text in a cell of a table: one line, and nothing that ends the cell. */
const cell = (text: string): string => text.replace(/\s+/g, " ").replace(/\|/g, "\\|").trim();

/** Code in a line, also where it holds backticks itself. */
const inline = (text: string): string => (text.includes("`") ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``);

const code = (text: string): string => ["```ts", text, "```"].join("\n");

/** Finds the address of an entry, `Preflight.Options` or one of the page itself, from a page. */
type Links = (page: string, name: string) => string | null;

const linksOf = (pages: ReadonlyArray<Page>): Links => {
  const anchors = new Map<string, string>(
    pages.flatMap(({ name, entries }) =>
      entries.map((entry, at) => {
        const slug = entry.name.toLowerCase();
        const before = entries.slice(0, at).filter((one) => one.name.toLowerCase() === slug).length;
        return [`${name}.${entry.name}`, `${name}.md#${slug}${before === 0 ? "" : `-${before}`}`] as const;
      }),
    ),
  );
  return (page, name) => (anchors.get(name) ?? anchors.get(`${page}.${name}`))?.replace(`${page}.md#`, "#") ?? null;
};

const entryText = ({ name: page }: Page, { name, signature, sameAs, doc, examples, fields }: Entry, links: Links) => {
  const link = (other: string) => (other === name || other === `${page}.${name}` ? null : links(page, other));
  const told = (text: string) =>
    text.replace(/(?<![`[])`(\w+(?:\.\w+)?)`(?!`)/g, (code, other: string) => {
      const target = link(other);
      return target === null || (/^[a-z]+$/.test(other) && target.startsWith("#")) ? code : `[${code}](${target})`;
    });
  const withOf = (of: string) => `[\`${of.replace(`${page}.`, "")}\`](${link(of) ?? ""})`;
  if (sameAs !== null) return [`## ${name}`, firstSentence(doc), `The same as ${withOf(sameAs)}.`].join("\n\n");
  const rows = fields
    .filter(({ of }) => of === null)
    .map((field) => {
      const [target, ...others] = new Set(field.names.flatMap((one) => link(one) ?? []));
      const type =
        target === undefined || others.length > 0 ? inline(field.type) : `[${inline(field.type)}](${target})`;
      return `| \`${field.name}${field.optional ? "?" : ""}\` | ${type} | ${told(cell(field.doc))} |`;
    });
  const shared = [...new Set(fields.flatMap(({ of }) => of ?? []))].map((of) => {
    const some = fields.filter((field) => field.of === of).map((field) => `\`${field.name}\``);
    return `${withOf(of)} (${some.join(", ")})`;
  });
  return [
    `## ${name}`,
    code(signature),
    told(doc),
    ...examples.map(code),
    ...(rows.length === 0 ? [] : [["| field | type | what |", "| --- | --- | --- |", ...rows].join("\n")]),
    ...(shared.length === 0 ? [] : [`Also the fields of ${shared.join("; of ")}.`]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
};

const pageText = (page: Page, links: Links): string =>
  [`# ${nameOf(page)}`, code(`${page.from};`), page.doc, ...page.entries.map((one) => entryText(page, one, links)), ""]
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

const manifest = () =>
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { description: string; repository?: string };

const llmsText = (pages: ReadonlyArray<Page>): string => {
  const { description } = manifest();
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

/** The changelog with a link for each version, to what changed since the one before; without any until somebody publishes. */
const withVersions = (text: string): string => {
  const { repository } = manifest();
  const sources = repository?.replace(/^github:/, "https://github.com/");
  const headings = sources === undefined ? [] : [...text.matchAll(/^## \[([^\]]+)\] - (.*)$/gm)];
  const versions = headings.map(([, version = "", date]) => ({
    version,
    tag: date === "Unreleased" ? "HEAD" : `v${version}`,
  }));
  const links = versions.map(({ version, tag }, at) => {
    const before = versions[at + 1]?.tag;
    return `[${version}]: ${sources}/${before === undefined ? `releases/tag/${tag}` : `compare/${before}...${tag}`}`;
  });
  const end = links.length === 0 ? "\n" : `\n\n${links.join("\n")}\n`;
  return `${text.replace(/\n+(?:\[[^\]]+\]: \S+\n)*$/, "")}${end}`;
};

/** Every file of the documentation, by its path from the root. */
export const documents = (pages: ReadonlyArray<Page>): ReadonlyMap<string, string> => {
  const links = linksOf(pages);
  return new Map([
    ["llms.txt", llmsText(pages)],
    ["CHANGELOG.md", withVersions(readFileSync(join(root, "CHANGELOG.md"), "utf8"))],
    ["docs/errors.md", withCodes(readFileSync(join(root, "docs/errors.md"), "utf8"))],
    ["docs/api/README.md", indexOf(pages)],
    ...pages.map((page) => [`docs/api/${page.name}.md`, pageText(page, links)] as const),
  ]);
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  rmSync(join(root, "docs/api"), { recursive: true, force: true });
  for (const [path, text] of documents(readReference())) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
