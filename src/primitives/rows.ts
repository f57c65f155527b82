/** Tables whose rows carry schemas, and what is worked out from them. */
import type * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";

/**
 * What a lambda makes of each row, under the row's own name and documentation. What is exported says
 * this type, for the compiler writes an inferred one out in full, without the documentation.
 */
export type Mapped<Rows, L extends Struct.Lambda> = { readonly [K in keyof Rows]: Struct.Apply<L, Rows[K]> };

/** A row that says, by its type alone, what callers may write. */
export interface Gives<Given> {
  /** Never there: it carries the type. */
  readonly given?: Given;
}

/** What callers may write in a row. */
export type GivenIn<Row> = Row extends Gives<infer Given> ? Exclude<Given, undefined> : never;

/** The schema of a row. */
export interface SchemaOf extends Struct.Lambda {
  (row: { readonly schema: Schema.Constraint }): Schema.Constraint;
  readonly "~lambda.out": this["~lambda.in"] extends { readonly schema: infer S extends Schema.Constraint } ? S : never;
}
export const schemaOf: SchemaOf = Struct.lambda<SchemaOf>(({ schema }) => schema);
