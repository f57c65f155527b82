/** Reading what somebody else made, which may throw. */
import * as Result from "effect/Result";
import * as Rows from "effect/Record";
import type * as Schema from "effect/Schema";

/** A plain look at an object's fields, a list's among them. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** True if a value is an object with fields: no list, and not null. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True if it is an object as JSON has it, and as wallets throw them: none that a class made. */
export const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // why: those of another window have another `Object`
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** Returns what `read` gives, or `otherwise` where it throws. */
export const safely = <A, B>(read: () => A, otherwise: B): A | B => {
  const tried = Result.try(read);
  return tried._tag === "Success" ? tried.success : otherwise;
};

/** The JSON value in `text`, or undefined where there is none. */
export const jsonIn = (text: string): unknown => safely((): unknown => JSON.parse(text), undefined);

/* Tables whose rows carry schemas, and what is worked out from them. */

/**
 * Rows as callers write them, each of which may be left out: a row says in `given`, which is never there, what it may be.
 * `More` is taken as well: null for what is absent, numbers in place of bigints.
 */
export type GivenRows<Rows extends Readonly<Record<keyof Rows, { readonly given?: unknown }>>, More = never> = {
  readonly [K in keyof Rows]?:
    | Rows[K]["given"]
    | (bigint extends Rows[K]["given"] ? More : Exclude<More, number>)
    | undefined;
};

/** The schemas of rows, each under its row's name. */
export const schemasOf = <Table extends Readonly<Record<string, { readonly schema: Schema.Constraint }>>>(
  rows: Table,
) => Rows.map(rows, ({ schema }) => schema) as { readonly [K in keyof Table]: Table[K]["schema"] };

/** A table in which several keys have the same row. */
export const each = <Row>(row: Row, keys: Iterable<string>): Readonly<Record<string, Row>> =>
  Object.fromEntries([...keys].map((key) => [key, row]));

/** One table of several: a row has the fields of all rows of its key. */
export const merged = <Row extends object>(
  ...tables: ReadonlyArray<Readonly<Record<string, Row>>>
): Readonly<Record<string, Row>> => {
  const all: Record<string, Row> = {};
  for (const table of tables) for (const [key, row] of Object.entries(table)) all[key] = { ...all[key], ...row };
  return all;
};

/**
 * `make`, which works a list out again only when other entries stand in it, or `of` is another. Lists are told apart by
 * identity and forgotten with whoever made them; an entry that is changed in place is not seen.
 */
export const memoizeList = <A, B, Of extends ReadonlyArray<unknown>>(
  make: (list: ReadonlyArray<A>, ...of: Of) => B,
): ((list: ReadonlyArray<A>, ...of: Of) => B) => {
  const isOf = (known: ReadonlyArray<unknown>, list: ReadonlyArray<unknown>, of: ReadonlyArray<unknown>): boolean => {
    if (known.length !== list.length + of.length) return false;
    for (let at = 0; at < known.length; at++)
      if (known[at] !== (at < of.length ? of[at] : list[at - of.length])) return false;
    return true;
  };
  const lists = new WeakMap<ReadonlyArray<A>, { readonly entries: ReadonlyArray<unknown>; readonly result: B }>();
  return (list, ...of) => {
    const known = lists.get(list);
    if (known !== undefined && isOf(known.entries, list, of)) return known.result;
    const result = make(list, ...of);
    lists.set(list, { entries: [...of, ...list], result });
    return result;
  };
};

/** Remembers what was worked out of texts: the newest `most`, none of a text that is longer than `longest`. */
export const remembered = <A>(most: number, longest: number): ((text: string, make: () => A) => A) => {
  const known = new Map<string, A>();
  return (text, make) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const result = make();
    if (text.length > longest) return result;
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= most) known.delete(oldest);
    known.set(text, result);
    return result;
  };
};
