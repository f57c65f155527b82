/** The report for a terminal: the verdict first, aligned columns, what to do next last. */
import { compose, type RenderOptions } from "./compose.js";
import { verdictTone, type Block, type Cell, type Column, type Fact } from "./document.js";
import { painter, type Paint } from "./paint.js";
import type { Report } from "./schema.js";

/** How the text should look. */
export interface TextOptions extends RenderOptions {
  /** ANSI colours; default false. */
  readonly color?: boolean | undefined;
  /** Columns to wrap sentences at, at least 40; default 100. Tables are never wrapped. */
  readonly width?: number | undefined;
}

/** `text` in lines of at most `width`, words kept whole. */
const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
};

const indented = (
  text: string,
  first: string,
  width: number,
  paint: (line: string) => string,
): ReadonlyArray<string> => {
  const rest = " ".repeat(first.length);
  return wrapped(text, Math.max(20, width - first.length)).map(
    (line, index) => (index === 0 ? first : rest) + paint(line),
  );
};

const factLines = (rows: ReadonlyArray<Fact>, width: number, paint: Paint): ReadonlyArray<string> => {
  const label = Math.max(9, ...rows.map((row) => row.label.length));
  return rows.flatMap((row) => {
    const tag = row.evidence === undefined ? "" : ` [${row.evidence}]`;
    const name = row.label.padEnd(label);
    const first = `  ${name}  `;
    return indented(`${row.text}${tag}`, first, width, (line) =>
      tag !== "" && line.endsWith(tag.trim())
        ? `${paint(line.slice(0, line.length - tag.trim().length), row.tone ?? "plain")}${paint(tag.trim(), "dim")}`
        : paint(line, row.tone ?? "plain"),
    ).map((line, index) => (index === 0 ? `  ${paint(name, "dim")}  ${line.slice(first.length)}` : line));
  });
};

const tableLines = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  cut: number,
  paint: Paint,
): ReadonlyArray<string> => {
  const widths = columns.map((_, index) => rows.reduce((most, row) => Math.max(most, row[index]?.text.length ?? 0), 0));
  const aligned = rows.map((row) =>
    columns
      .map((column, index) => {
        const cell = row[index] ?? { text: "" };
        const gap = " ".repeat(Math.max(0, (widths[index] ?? 0) - cell.text.length));
        const text = paint(cell.text, cell.tone ?? "plain");
        return column.align === "right" ? gap + text : text + gap;
      })
      .join("  ")
      .trimEnd(),
  );
  return [
    ...aligned.map((line) => `  ${line}`),
    ...(cut === 0 ? [] : [`  … and ${cut} more, all of them in the JSON`]),
  ];
};

const blockLines = (block: Block, width: number, paint: Paint): ReadonlyArray<string> => {
  switch (block.kind) {
    case "facts":
      return factLines(block.facts, width, paint);
    case "table":
      return tableLines(block.columns, block.rows, block.cut, paint);
    case "items":
      return [
        `  ${paint(`${block.title} (${block.items.length})`, block.tone, "strong")}`,
        ...block.items.flatMap(({ head, what, numbers, remedy }) => [
          `  - ${paint(head, block.tone)}`,
          ...indented(what, "    ", width, (line) => line),
          ...(numbers === "" ? [] : indented(numbers, "    ", width, (line) => paint(line, "dim"))),
          ...(remedy === "" ? [] : indented(remedy, "    → ", width, (line) => line)),
        ]),
      ];
  }
};

/**
 * The report as text for a terminal or a log: no control characters but newlines (and colours when
 * asked for), amounts exact, every fact tagged with how it is known.
 */
export const toText = (report: Report, options: TextOptions = {}): string => {
  const paint = painter(options.color ?? false);
  const width = Math.max(40, options.width ?? 100);
  const { verdict, because, summary, sections, next } = compose(report, options);
  const headline = indented(because, `${verdict.toUpperCase()} · `, width, (line) => line);
  return [
    ...headline.map((line, index) =>
      index === 0
        ? `${paint(verdict.toUpperCase(), verdictTone(verdict), "strong")}${line.slice(verdict.length)}`
        : line,
    ),
    ...indented(summary, "", width, (line) => paint(line, "dim")),
    ...sections.flatMap(({ title, blocks }) => [
      "",
      paint(title, "strong"),
      ...blocks.flatMap((block) => blockLines(block, width, paint)),
    ]),
    "",
    ...indented(next, "Next: ", width, (line) => line),
    "",
  ].join("\n");
};
