/** Tables whose rows carry schemas, and what is worked out from them. */
import type * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";

/** A row that says, by its type alone, what callers may write. */
export interface Gives<Given> {
  /** Never there: it carries the type. */
  readonly given?: Given;
}

/** What callers may write in a row. */
export type GivenIn<Row> = Row extends Gives<infer Given> ? Exclude<Given, undefined> : never;

/** Rows as callers write them, each of which may be left out. */
export type GivenRows<Rows> = { readonly [K in keyof Rows]?: GivenIn<Rows[K]> };

/** The schema of a row. */
interface SchemaOf extends Struct.Lambda {
  (row: { readonly schema: Schema.Constraint }): Schema.Constraint;
  readonly "~lambda.out": this["~lambda.in"] extends { readonly schema: infer S extends Schema.Constraint } ? S : never;
}
export const schemaOf: SchemaOf = Struct.lambda<SchemaOf>(({ schema }) => schema);
