/** The report for a terminal: verdict, reason and summary first, tables that fit the width, what to do next last. */
import { compose, type FullOptions } from "./compose.js";
import { verdictTone, type Block, type Fact, type Section } from "./document.js";
import { painter, type Paint } from "./paint.js";
import type { Report } from "./schema.js";
import { indented, tableLines } from "./textLines.js";

/** How the text should look. */
export interface TextOptions extends FullOptions {
  /** ANSI colours; default false. */
  readonly color?: boolean | undefined;
  /**
   * Columns, at least 40; default 100. Sentences and tables are fitted to it; what is one word, such as an address or
   * an amount, is never broken, but for one that is longer than a line.
   */
  readonly width?: number | undefined;
}

const factLines = (rows: ReadonlyArray<Fact>, width: number, paint: Paint): ReadonlyArray<string> => {
  const label = Math.max(6, ...rows.map((row) => row.label.length));
  return rows.flatMap((row) => {
    const tag = row.evidence === undefined ? "" : ` [${row.evidence}]`;
    const name = row.label.padEnd(label);
    const first = `  ${name}  `;
    const toned = (line: string) =>
      tag !== "" && line.endsWith(tag.trim())
        ? `${paint(line.slice(0, line.length - tag.trim().length), row.tone ?? "plain")}${paint(tag.trim(), "dim")}`
        : paint(line, row.tone ?? "plain");
    const text = `${row.text}${tag}`;
    // why: an address beside a long label would not fit a narrow terminal; below it, it does
    const isTight = text.split(" ").some((word) => word.length > width - first.length);
    if (isTight) return [`  ${paint(row.label, "dim")}`, ...indented(text, "    ", width, toned)];
    return indented(text, first, width, toned).map((line, index) =>
      index === 0 ? `  ${paint(name, "dim")}  ${line.slice(first.length)}` : line,
    );
  });
};

const blockLines = (block: Block, width: number, paint: Paint): ReadonlyArray<string> => {
  switch (block.kind) {
    case "facts":
      return factLines(block.facts, width, paint);
    case "table":
      return [
        ...tableLines(block.columns, block.rows, width, paint),
        ...(block.cut === 0
          ? []
          : indented(`… and ${block.cut} more, all of them in the JSON`, "  ", width, (line) => line)),
      ];
    case "items":
      return block.items.flatMap(({ code, what, details, remedy }) => [
        ...indented(`${what} · ${code}`, "  - ", width, (line) =>
          line.endsWith(code)
            ? `${paint(line.slice(0, line.length - code.length), block.tone)}${paint(code, "dim")}`
            : paint(line, block.tone),
        ),
        ...details.flatMap((detail) => indented(detail, "    ", width, (line) => paint(line, "dim"))),
        ...(remedy === "" ? [] : indented(remedy, "    → ", width, (line) => line)),
      ]);
  }
};

/**
 * The report as text for a terminal or a log: no control characters but newlines (and colours when asked for). The
 * verdict and its reason, {@link summary}, the findings, what moves and what it costs, amounts rounded; with `full`
 * everything, exact, every fact tagged with how it is known.
 */
export const toText = (report: Report, options: TextOptions = {}): string => {
  const paint = painter(options.color ?? false);
  const width = Math.max(40, options.width ?? 100);
  const { verdict, because, summary, findings, stakes, about, next, technical } = compose(report, options);
  const headline = indented(because, `${verdict.toUpperCase()} · `, width, (line) => line, 0);
  const sectionLines = ({ title, tone, blocks }: Section) => [
    "",
    ...indented(title, "", width, (line) => paint(line, tone ?? "plain", "strong")),
    ...blocks.flatMap((block) => blockLines(block, width, paint)),
  ];
  return [
    ...headline.map((line, index) =>
      index === 0
        ? `${paint(verdict.toUpperCase(), verdictTone(verdict), "strong")}${line.slice(verdict.length)}`
        : line,
    ),
    ...summary.flatMap((line) => indented(line, "", width, (part) => paint(part, "strong"))),
    ...[...findings, ...stakes, ...(options.full === true ? technical : [])].flatMap(sectionLines),
    "",
    ...indented(about, "", width, (line) => paint(line, "dim")),
    ...indented(next, "Next: ", width, (line) => line),
    "",
  ].join("\n");
};
