/** The report for a terminal: verdict, reason and summary first, tables that fit the width, what to do next last. */
import { joined, type Block, type Cell, type Column, type Fact, type Section, type Tone } from "./document.js";
import type { RenderOptions } from "./amounts.js";
import { compose } from "./compose.js";
import type { Report } from "./schema.js";

const codes: Readonly<Record<Tone | "strong", string>> = {
  plain: "",
  good: "32",
  warn: "33",
  bad: "31",
  dim: "2",
  strong: "1",
};

/** Colours a text, or leaves it as it is. */
type Paint = (text: string, ...tones: ReadonlyArray<Tone | "strong">) => string;

/** A {@link Paint} that colours only when `color` is true. */
export const painter =
  (color: boolean): Paint =>
  (text, ...tones) => {
    const active = tones.map((tone) => codes[tone]).filter((code) => code !== "");
    return color && active.length > 0 && text !== "" ? `\u001b[${active.join(";")}m${text}\u001b[0m` : text;
  };

/** A word in pieces of at most `width`: only one that is longer than a line has several. */
const pieces = (word: string, width: number): ReadonlyArray<string> =>
  word.length <= width
    ? [word]
    : Array.from({ length: Math.ceil(word.length / width) }, (_, at) => word.slice(at * width, (at + 1) * width));

/** `text` in lines of at most `width`, the first of at most `head`: empty where its first word fits only the second. */
const wrapped = (text: string, width: number, head: number = width): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  let line = "";
  for (const word of text.split(" ").flatMap((long) => pieces(long, width))) {
    const longer = line === "" ? word : `${line} ${word}`;
    const isFull = longer.length > (lines.length === 0 ? head : width);
    if (isFull) lines.push(line);
    line = isFull ? word : longer;
  }
  lines.push(line);
  return lines;
};

/** Leaves a line as it is. */
const asIs = (line: string): string => line;

/** `text` behind `first`, which is `shown`; further lines behind as many spaces, or `hang` of them. */
const indented = (
  text: string,
  first: string,
  width: number,
  paint: (line: string, isLast: boolean) => string = asIs,
  hang: number = first.length,
  shown: string = first,
): ReadonlyArray<string> => {
  const [head = "", ...more] = wrapped(text, Math.max(20, width - hang), Math.max(20, width - first.length));
  return [
    head === "" ? shown.trimEnd() : shown + paint(head, more.length === 0),
    ...more.map((line, at) => " ".repeat(hang) + paint(line, at === more.length - 1)),
  ];
};

const gap = 2;
const sum = (widths: ReadonlyArray<number>): number => widths.reduce((all, width) => all + width + gap, 0);
const longestWord = (text: string): number => Math.max(...text.split(" ").map((word) => word.length));

/** The widths of columns that fit `width` together, the widest narrowed as far as their words allow; null where they do not fit. */
const fitted = (rows: ReadonlyArray<ReadonlyArray<Cell>>, count: number, width: number) => {
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
const listedRow = (columns: ReadonlyArray<Column>, row: ReadonlyArray<Cell>, width: number, paint: Paint) =>
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

/** Paints lines in their tone, but for the tail of the last one, which stands back. */
const withTail =
  (tail: string, tone: Tone, paint: Paint) =>
  (line: string, isLast: boolean): string => {
    const kept = isLast ? Math.max(0, line.length - tail.length) : line.length;
    return `${paint(line.slice(0, kept), tone)}${paint(line.slice(kept), "dim")}`;
  };

const factLines = (rows: ReadonlyArray<Fact>, width: number, paint: Paint): ReadonlyArray<string> => {
  const widest = Math.max(6, ...rows.map(({ label }) => label.length));
  return rows.flatMap(({ label, text: value, tone = "plain", evidence }) => {
    const tag = evidence === undefined ? "" : `[${evidence}]`;
    const toned = withTail(tag, tone, paint);
    const text = tag === "" ? value : `${value} ${tag}`;
    const name = label.padEnd(widest);
    // why: an address beside a long label would not fit a narrow terminal; below it, it does
    return longestWord(text) > width - name.length - 4
      ? [`  ${paint(label, "dim")}`, ...indented(text, "    ", width, toned)]
      : indented(text, `  ${name}  `, width, toned, name.length + 4, `  ${paint(name, "dim")}  `);
  });
};

const blockLines = (block: Block, width: number, paint: Paint, isFull: boolean): ReadonlyArray<string> => {
  const dimmed = (line: string) => paint(line, "dim");
  if (block.kind === "facts") return factLines(block.facts, width, paint);
  if (block.kind === "table") {
    const rest = block.rest === "" ? [] : indented(block.rest, "  ", width);
    return [...tableLines(block.columns, block.rows, width, paint), ...rest];
  }
  return block.items.flatMap(({ code, what, details, remedy, docs }) => [
    ...indented(joined(what, code), "  - ", width, withTail(what === "" ? "" : code, block.tone, paint)),
    ...details.flatMap((detail) => indented(detail, "    ", width, dimmed)),
    ...(remedy === "" ? [] : indented(remedy, "    → ", width)),
    ...(docs === undefined || !isFull ? [] : indented(docs, "    Docs: ", width, dimmed, 4)),
  ]);
};

/**
 * The report as text for a terminal or a log: no control characters but newlines (and colours when asked for). The
 * verdict and its reason, {@link summary}, the findings, what moves and what it costs, amounts rounded; with `full`
 * everything, exact, every fact tagged with how it is known.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Report, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * const [first] = Report.toText(report).split("\n");
 * console.log(first); // READY · every check passed, and exactly this request was proven
 * ```
 */
export const toText = (
  report: Report,
  options: RenderOptions & {
    /** ANSI colours; default false. */
    readonly color?: boolean | undefined;
    /**
     * Columns, at least 40; default 100. Sentences and tables are fitted to it; what is one word, such as an address or
     * an amount, is never broken, but for one that is longer than a line.
     */
    readonly width?: number | undefined;
  } = {},
): string => {
  const paint = painter(options?.color ?? false);
  const width = Math.max(40, options?.width ?? 100);
  const { title, tone, because, summary, findings, stakes, about, next, technical } = compose(report, options);
  const sectionLines = ({ title, tone, blocks }: Section) => [
    "",
    ...indented(title, "", width, (line) => paint(line, tone ?? "plain", "strong")),
    ...blocks.flatMap((block) => blockLines(block, width, paint, options?.full === true)),
  ];
  return [
    ...indented(because, `${title} · `, width, asIs, 0, `${paint(title, tone, "strong")} · `),
    ...summary.flatMap((line) => indented(line, "", width, (part) => paint(part, "strong"))),
    ...[...findings, ...stakes, ...(options?.full === true ? technical : [])].flatMap(sectionLines),
    "",
    ...indented(about, "", width, (line) => paint(line, "dim")),
    ...indented(next, "Next: ", width),
    "",
  ].join("\n");
};
