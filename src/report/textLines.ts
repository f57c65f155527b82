/** Sentences and tables in lines of a width, words kept whole. Pure. */
import type { Cell, Column } from "./document.js";
import type { Paint } from "./paint.js";

/** A word in pieces of at most `width`: only one that is longer than a line has several. */
const pieces = (word: string, width: number): ReadonlyArray<string> =>
  word.length <= width
    ? [word]
    : Array.from({ length: Math.ceil(word.length / width) }, (_, at) => word.slice(at * width, (at + 1) * width));

/** `text` in lines of at most `width`. */
const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  let line = "";
  for (const word of text.split(" ").flatMap((one) => pieces(one, width))) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
};

/** `text` behind `first`, further lines behind as many spaces, or `hang` of them. */
export const indented = (
  text: string,
  first: string,
  width: number,
  paint: (line: string) => string,
  hang: number = first.length,
): ReadonlyArray<string> => {
  const rest = " ".repeat(hang);
  const [head = "", ...tail] = wrapped(text, Math.max(20, width - first.length));
  const more = tail.length === 0 ? [] : wrapped(tail.join(" "), Math.max(20, width - hang));
  return [first + paint(head), ...more.map((line) => rest + paint(line))];
};

const gap = 2;
const sum = (widths: ReadonlyArray<number>): number => widths.reduce((all, width) => all + width + gap, 0);
const longestWord = (text: string): number => Math.max(...text.split(" ").map((word) => word.length));

/** The widths of columns that fit `width` together, the widest narrowed as far as their words allow; null where they do not fit. */
const fitted = (
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  count: number,
  width: number,
): ReadonlyArray<number> | null => {
  const most = (measure: (text: string) => number) =>
    Array.from({ length: count }, (_, at) => rows.reduce((all, row) => Math.max(all, measure(row[at]?.text ?? "")), 0));
  const widths = [...most((text) => text.length)];
  const least = most(longestWord);
  if (sum(least) > width) return null;
  while (sum(widths) > width) {
    const free = widths.map((each, at) => (each > (least[at] ?? each) ? each : 0));
    const widest = free.indexOf(Math.max(...free));
    widths[widest] = Math.max(least[widest] ?? 0, (widths[widest] ?? 0) - (sum(widths) - width));
  }
  return widths;
};

const alignedRow = (
  columns: ReadonlyArray<Column>,
  row: ReadonlyArray<Cell>,
  widths: ReadonlyArray<number>,
  paint: Paint,
): ReadonlyArray<string> => {
  const cells = columns.map((_, at) => wrapped(row[at]?.text ?? "", widths[at] ?? 0));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    `  ${columns
      .map((column, at) => {
        const text = cells[at]?.[line] ?? "";
        const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - text.length));
        const painted = paint(text, row[at]?.tone ?? "plain");
        return column.align === "right" ? space + painted : painted + space;
      })
      .join(" ".repeat(gap))}`.trimEnd(),
  );
};

/** A row as a list: the name of a column, its cell. */
const listedRow = (
  columns: ReadonlyArray<Column>,
  row: ReadonlyArray<Cell>,
  width: number,
  paint: Paint,
): ReadonlyArray<string> =>
  columns.flatMap(({ title }, at) => {
    const { text, tone } = row[at] ?? { text: "" };
    if (text === "" || title === "") return [];
    const name = columns[at - 1]?.title === "" ? (row[at - 1]?.text ?? title) : title;
    const first = `  ${at === 0 ? "-" : " "} ${name}: `;
    const isTight = longestWord(text) > width - first.length;
    const toned = (line: string) => paint(line, tone ?? "plain");
    return isTight
      ? [first.trimEnd(), ...indented(text, "      ", width, toned)]
      : indented(text, first, width, toned, 6);
  });

/** Aligned columns, their cells wrapped where that makes them fit; else each row as a list. */
export const tableLines = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  width: number,
  paint: Paint,
): ReadonlyArray<string> => {
  const widths = fitted(rows, columns.length, width);
  return rows.flatMap((row) =>
    widths === null ? listedRow(columns, row, width, paint) : alignedRow(columns, row, widths, paint),
  );
};
