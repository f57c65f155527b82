/** The report as Markdown, for pull requests, tickets and chats. */
import { compose, type RenderOptions } from "./compose.js";
import { verdictTone, type Block, type Tone } from "./document.js";
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

const blockLines = (block: Block): ReadonlyArray<string> => {
  switch (block.kind) {
    case "facts":
      return [
        rowLine(["", ""]),
        rowLine(["---", "---"]),
        ...block.facts.map(({ label, text, evidence }) =>
          rowLine([
            `**${escapeMarkdown(label)}**`,
            `${escapeMarkdown(text)}${evidence === undefined ? "" : ` <sub>${evidence}</sub>`}`,
          ]),
        ),
      ];
    case "table":
      return [
        rowLine(block.columns.map(({ title }) => escapeMarkdown(title))),
        rowLine(block.columns.map(({ align }) => (align === "right" ? "---:" : "---"))),
        ...block.rows.map((row) => rowLine(row.map(({ text }) => escapeMarkdown(text)))),
        ...(block.cut === 0 ? [] : ["", `… and ${block.cut} more, all of them in the JSON`]),
      ];
    case "items":
      return [
        `### ${signs[block.tone]} ${block.title} (${block.items.length})`.replace(/ {2,}/g, " "),
        "",
        ...block.items.map(
          ({ head, what, numbers, remedy }) =>
            `- **${escapeMarkdown(head)}**: ${[what, numbers, remedy === "" ? "" : `→ ${remedy}`]
              .filter((part) => part !== "")
              .map(escapeMarkdown)
              .join(" · ")}`,
        ),
      ];
  }
};

/** The report as GitHub-flavoured Markdown; nothing in it comes through as markup of its own. */
export const toMarkdown = (report: Report, options: RenderOptions = {}): string => {
  const { verdict, because, summary, sections, next } = compose(report, options);
  return [
    `# ${signs[verdictTone(verdict)]} ${verdict.toUpperCase()}`,
    "",
    `**${escapeMarkdown(because)}**`,
    "",
    escapeMarkdown(summary),
    ...sections.flatMap(({ title, blocks }) => [
      "",
      `## ${escapeMarkdown(title)}`,
      ...blocks.flatMap((block) => ["", ...blockLines(block)]),
    ]),
    "",
    `**Next:** ${escapeMarkdown(next)}`,
    "",
  ].join("\n");
};
