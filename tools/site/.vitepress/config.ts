/** The site: README, guides and reference as they stand in the repository, their links as they are written there. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const pages = join(root, "tools/site/pages");
// why: Vue is found beside the pages only where they lie within this package
rmSync(pages, { recursive: true, force: true });
for (const path of ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md", "docs"])
  cpSync(join(root, path), join(pages, path), { recursive: true });
// the page that checks a transaction, as `npm run page` serves it
const page = ["--import", "tsx", "--conditions=@evm-preflight/source", "examples/page/build.ts"];
execFileSync(process.execPath, [...page, join(pages, "public/check")], { cwd: root, stdio: "inherit" });

const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

const { description, repository } = JSON.parse(textOf("package.json")) as { description: string; repository?: string };
/** The repository on the web; undefined until somebody publishes. */
const sources = repository?.replace(/^github:/, "https://github.com/");

/** The pages that a page links to from its lists and tables, in its order. */
const linksOf = (path: string) =>
  [...textOf(path).matchAll(/^(?:\||-) ?.*$/gm)].flatMap(([line]) =>
    [...line.matchAll(/\[([^\]]+)\]\(([\w./-]+\.md)\)/g)].map(([, text = "", to = ""]) => ({
      text,
      link: `/${join(dirname(path), to).replace("README", "index")}`,
    })),
  );

/** A heading's anchor as GitHub makes it, so that one link serves both. */
const slugify = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

export default defineConfig({
  title: "evm-preflight",
  description,
  lang: "en",
  head: [["link", { rel: "icon", href: "data:," }]],
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "node_modules/.cache",
  rewrites: { "README.md": "index.md", "docs/README.md": "docs/index.md", "docs/api/README.md": "docs/api/index.md" },
  // why: static pages are served from wherever they lie, also without a server that adds `.html`
  cleanUrls: false,
  markdown: {
    anchor: { slugify },
    config: (md) => {
      md.core.ruler.push("files", ({ tokens, env }) => {
        const { realPath, path } = env as { readonly realPath?: string; readonly path: string };
        const folder = join(root, relative(pages, dirname(realPath ?? path)));
        for (const [at, token, all] of tokens.flatMap(({ children }) =>
          (children ?? []).map((token, at, all) => [at, token, all] as const),
        )) {
          const to = token.type === "link_open" ? (token.attrGet("href") ?? "") : "";
          if (to === "" || /^[a-z]+:|^#/.test(to)) continue;
          const file = join(folder, to);
          const isFile = !/\.md(#|$)/.test(to) && existsSync(file);
          // why: what is no page is read in the repository, and until there is one it is named alone
          if (isFile && sources === undefined) {
            const end = all.find(({ type }, place) => place > at && type === "link_close");
            for (const part of [token, ...(end === undefined ? [] : [end])]) part.tag = "span";
            token.attrs = null;
          } else if (isFile) token.attrSet("href", `${sources}/blob/main/${relative(root, file)}`);
          // why: a rewritten page is linked by its new name
          else token.attrSet("href", to.replace(/README\.md(?=#|$)/, "index.md"));
        }
      });
    },
  },
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath.startsWith("docs/api/") ? { frontmatter: { ...frontmatter, pageClass: "api" } } : undefined,
  themeConfig: {
    search: { provider: "local" },
    socialLinks: sources === undefined ? [] : [{ icon: "github", link: sources }],
    nav: [
      { text: "Guides", link: "/docs/getting-started" },
      // why: it is no page of the site's own, which loads pages without leaving
      { text: "Check a transaction", link: "/check/index.html", target: "_self" },
      { text: "Errors", link: "/docs/errors" },
      { text: "API", link: "/docs/api/" },
      { text: "Changelog", link: "/CHANGELOG" },
    ],
    sidebar: [
      { text: "Guides", items: linksOf("docs/README.md") },
      { text: "API reference", items: linksOf("docs/api/README.md"), collapsed: true },
      {
        text: "Project",
        items: ["CHANGELOG", "CONTRIBUTING", "SECURITY", "AGENTS"].map((page) => ({
          text: `${page[0]}${page.slice(1).toLowerCase()}`,
          link: `/${page}`,
        })),
      },
    ],
    outline: [2, 3],
  },
});
