/** The report as Markdown, for pull requests, tickets and chats. */
import type { RenderOptions } from "./amounts.js";
import { compose } from "./compose.js";
import { left, type Block, type Column, type Section, type Tone } from "./document.js";
import type { Report } from "./schema.js";

const signs: Readonly<Record<Tone, string>> = { good: "✅", warn: "⚠️", bad: "⛔", plain: "", dim: "" };

/**
 * Text that reads as itself in GitHub's Markdown: no emphasis, links, images, HTML, tables, maths or
 * bare URLs. Our strings never start a line, so what is only special there needs nothing.
 */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/[\\`*_{}[\]|~!#$@^]/g, "\\$&")
    .replace(/:\/\//g, "\\:\\/\\/")
    .replace(/www\./gi, (text) => `${text.slice(0, 3)}\\.`);

const rowLine = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`;

const tableLines = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<ReadonlyArray<string>>) => [
  rowLine(columns.map(({ title }) => escapeMarkdown(title))),
  rowLine(columns.map(({ align }) => (align === "right" ? "---:" : "---"))),
  ...rows.map(rowLine),
];

const blockLines = (block: Block): ReadonlyArray<string> => {
  if (block.kind === "facts") {
    const rows = block.facts.map(({ label, text, evidence }) => [
      `**${escapeMarkdown(label)}**`,
      `${escapeMarkdown(text)}${evidence === undefined ? "" : ` <sub>${evidence}</sub>`}`,
    ]);
    return tableLines([left(""), left("")], rows);
  }
  if (block.kind === "table") {
    const rows = block.rows.map((row) => row.map(({ text }) => escapeMarkdown(text)));
    return [...tableLines(block.columns, rows), ...(block.rest === "" ? [] : ["", block.rest])];
  }
  return block.items.map(({ code, what, details, remedy }) => {
    const name = escapeMarkdown(code);
    const title = what === "" ? `**${name}**` : `**${escapeMarkdown(what)}** (${name})`;
    const parts = [...details, ...(remedy === "" ? [] : [`→ ${remedy}`])];
    return [`- ${title}`, ...parts.map(escapeMarkdown)].join(" · ");
  });
};

const sectionLines = ({ title, tone, blocks }: Section): ReadonlyArray<string> => [
  "",
  ["##", ...(tone === undefined || signs[tone] === "" ? [] : [signs[tone]]), escapeMarkdown(title)].join(" "),
  ...blocks.flatMap((block) => ["", ...blockLines(block)]),
];

/**
 * The report as GitHub-flavoured Markdown; nothing in it comes through as markup of its own. Verdict, reason and
 * {@link summary} first, then findings, what moves and what it costs, amounts rounded; with `full` everything, exact.
 */
export const toMarkdown = (report: Report, options: RenderOptions = {}): string => {
  const { title, tone, because, summary, findings, stakes, about, next, technical } = compose(report, options);
  return [
    `# ${signs[tone]} ${title}`,
    "",
    `**${escapeMarkdown(because)}**`,
    "",
    ...summary.map((line, at) => `${escapeMarkdown(line)}${at + 1 < summary.length ? "  " : ""}`),
    ...[...findings, ...stakes].flatMap(sectionLines),
    "",
    escapeMarkdown(about),
    "",
    `**Next:** ${escapeMarkdown(next)}`,
    ...(options?.full === true ? technical : []).flatMap(sectionLines),
    "",
  ].join("\n");
};
