/**
 * A report laid out for people, before it is text, Markdown or HTML: what stands where is decided
 * once, how it looks is each renderer's. Every string in it is bounded and free of control
 * characters already; a renderer escapes what is special in its own format.
 */
import type { Evidence } from "./finding.js";

/** How a line should stand out. */
export type Tone = "plain" | "good" | "warn" | "bad" | "dim";

/** A name and what is known, e.g. `nonce` and `5`. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  readonly tone?: Tone | undefined;
  readonly evidence?: Evidence | undefined;
}

export interface Column {
  /** Empty where its cells say what the next column holds, e.g. `to` and `from`. */
  readonly title: string;
  readonly align: "left" | "right";
}

export interface Cell {
  readonly text: string;
  readonly tone?: Tone | undefined;
  /** True if it is one whole address, which is not to be broken. */
  readonly isAddress?: boolean | undefined;
}

export type Block =
  | { readonly kind: "facts"; readonly facts: ReadonlyArray<Fact> }
  | {
      readonly kind: "table";
      readonly columns: ReadonlyArray<Column>;
      readonly rows: ReadonlyArray<ReadonlyArray<Cell>>;
      /** How many rows were left out, in a sentence; empty where none were. */
      readonly rest: string;
    }
  | {
      readonly kind: "items";
      readonly tone: Tone;
      /** Problems: what each is (empty where the headline says it), where and by how much, what to do. */
      readonly items: ReadonlyArray<{
        readonly code: string;
        readonly what: string;
        readonly details: ReadonlyArray<string>;
        readonly remedy: string;
        /** Link to the code's explanation; absent where it is a user's own. */
        readonly docs?: string;
      }>;
    };

export interface Section {
  readonly title: string;
  readonly tone?: Tone | undefined;
  readonly blocks: ReadonlyArray<Block>;
}

/** More rows than anyone reads; the JSON form has them all. */
const maxRows = 200;

/** A column, and what it holds of an item. */
export type Shown<A> = readonly [column: Column, cell: (item: A) => Cell | string];

/** A table of at most `most` rows, one for each item; nothing at all when there are none. */
export const table = <A>(
  items: ReadonlyArray<A>,
  columns: ReadonlyArray<Shown<A>>,
  limit: number = maxRows,
): ReadonlyArray<Block> => {
  if (items.length === 0) return [];
  const cellOf = (cell: Cell | string): Cell => (typeof cell === "string" ? { text: cell } : cell);
  const rows = items.slice(0, limit).map((item) => columns.map(([, cell]) => cellOf(cell(item))));
  const rest = items.length > limit ? `… and ${items.length - limit} more, all of them in the JSON` : "";
  return [{ kind: "table", columns: columns.map(([column]) => column), rows, rest }];
};

/** One named fact, with how it is known and how it stands out; none where it is not known. */
export const fact = (label: string, text: string | null, { tone, evidence }: Pick<Fact, "tone" | "evidence"> = {}) =>
  text === null ? null : { label, text, tone, evidence };

/** The facts that are known; nothing at all when there are none. */
export const facts = (...rows: ReadonlyArray<Fact | null>): ReadonlyArray<Block> => {
  const known = rows.filter((row) => row !== null);
  return known.length === 0 ? [] : [{ kind: "facts", facts: known }];
};

/** A section, or none when it would be empty. */
export const section = (title: string, blocks: ReadonlyArray<Block>, tone?: Tone): ReadonlyArray<Section> =>
  blocks.length === 0 ? [] : [{ title, tone, blocks }];

/** A section of one table, and one of facts. */
export const tableSection = <A>(title: string, ...of: Parameters<typeof table<A>>): ReadonlyArray<Section> =>
  section(title, table(...of));
export const factsSection = (title: string, ...rows: ReadonlyArray<Fact | null>): ReadonlyArray<Section> =>
  section(title, facts(...rows));

/** The parts that there are, with a dot between. */
export const joined = (...parts: ReadonlyArray<string | null>): string =>
  parts.filter((part) => part !== null && part !== "").join(" · ");

/** Puts a known value into words; null where it is not known. */
export const known = <A>(value: A | null, text: (value: A) => string | null): string | null =>
  value === null ? null : text(value);

/** `1 round`, `2 rounds`. */
export const counted = (amount: number, name: string): string => `${amount} ${name}${amount === 1 ? "" : "s"}`;

/** Makes a cell that stands back behind the rest of its row. */
export const dim = (text: string): Cell => ({ text, tone: "dim" });

export const left = (title: string): Column => ({ title, align: "left" });
export const right = (title: string): Column => ({ title, align: "right" });
