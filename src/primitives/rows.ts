/** Tables whose rows carry schemas, and what is worked out from them. */
import * as Rows from "effect/Record";
import type * as Schema from "effect/Schema";

/** A row that says, by its type alone, what callers may write. */
export interface Gives<Given> {
  /** Never there: it carries the type. */
  readonly given?: Given;
}

/** What callers may write in a row. */
export type GivenIn<Row> = Row extends Gives<infer Given> ? Exclude<Given, undefined> : never;

/** Rows as callers write them, each of which may be left out. */
export type GivenRows<Rows> = { readonly [K in keyof Rows]?: GivenIn<Rows[K]> };

/** The schemas of rows, each under its row's name. */
export const schemasOf = <Table extends Readonly<Record<string, { readonly schema: Schema.Constraint }>>>(
  rows: Table,
) => Rows.map(rows, ({ schema }) => schema) as { readonly [K in keyof Table]: Table[K]["schema"] };
