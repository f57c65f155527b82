/**
 * The shapes of answers, each said once and read in two ways. Plain code reads what is right, several
 * times faster; what it does not take, for whatever reason, goes to the schema of the same shape, which
 * alone decides whether it is wrong, and where.
 */
import * as Effect from "effect/Effect";
import * as Rows from "effect/Record";
import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { isRecord } from "../primitives/record.js";

/** One shape; every `read` gives exactly what `schema` decodes to, or undefined, which no answer decodes to. */
export interface Shape<S extends Schema.Constraint = Schema.Constraint> {
  /** The schema of what is read. */
  readonly schema: S;
  /** Reads a value of an answer; undefined where it does not fit. */
  readonly read: (value: unknown) => S["Type"] | undefined;
  /** What a field of this shape is where its key is missing; undefined where the key is required. */
  readonly missing: S["Type"] | undefined;
}

/** A value taken as it is, where `is` says so. */
export const leaf = <A>(is: (value: unknown) => value is A): Shape<Schema.declare<A>> => ({
  schema: Schema.declare(is),
  read: (value) => (is(value) ? value : undefined),
  missing: undefined,
});

/** A leaf that stands for another value: what `decode` makes of it, where `is` takes that. */
export const decoded = <I, A>(
  from: Shape<Schema.declare<I>>,
  decode: (value: I) => A,
  is: (value: unknown) => value is A,
): Shape<Schema.decodeTo<Schema.declare<A>, Schema.declare<I>>> => ({
  schema: from.schema.pipe(
    Schema.decodeTo(Schema.declare(is), {
      decode: SchemaGetter.transform(decode),
      encode: SchemaGetter.forbiddenEncoding,
    }),
  ),
  read: (value) => {
    const text = from.read(value);
    if (text === undefined) return undefined;
    const meant = decode(text);
    return is(meant) ? meant : undefined;
  },
  missing: undefined,
});

export const nullOr = <S extends Schema.Constraint>({ schema, read }: Shape<S>): Shape<Schema.NullOr<S>> => ({
  schema: Schema.NullOr(schema),
  read: (value) => (value === null ? null : read(value)),
  missing: undefined,
});

/** A field that may be left out: `value` then. */
export const orElse = <S extends Schema.Constraint>(
  { schema, read }: Shape<S>,
  value: S["Encoded"] & S["Type"],
): Shape<Schema.withDecodingDefaultKey<S>> => ({
  schema: Schema.withDecodingDefaultKey<S>(Effect.succeed(value))(schema),
  read,
  missing: value,
});

/** A field that some nodes leave out or give as null: null then. */
export const orNull = <S extends Schema.Constraint>(
  shape: Shape<S>,
): Shape<Schema.withDecodingDefaultKey<Schema.NullOr<S>>> => orElse(nullOr(shape), null);

/** A list; of at most `most` items, where that is given. */
export const list = <S extends Schema.Constraint>(
  item: Shape<S>,
  most = Number.POSITIVE_INFINITY,
): Shape<Schema.$Array<S>> => {
  const items = Schema.Array(item.schema);
  return {
    schema: most === Number.POSITIVE_INFINITY ? items : items.check(Schema.isMaxLength(most)),
    read: (values) => {
      if (!Array.isArray(values) || values.length > most) return undefined;
      const kept: Array<S["Type"]> = [];
      for (const value of values) {
        const read = item.read(value);
        if (read === undefined) return undefined;
        kept.push(read);
      }
      return kept;
    },
    missing: undefined,
  };
};

/** The first of two shapes that fits. */
export const either = <S extends Schema.Constraint, T extends Schema.Constraint>(
  one: Shape<S>,
  other: Shape<T>,
): Shape<Schema.Union<readonly [S, T]>> => ({
  schema: Schema.Union([one.schema, other.schema]),
  read: (value) => {
    const read = one.read(value);
    return read === undefined ? other.read(value) : read;
  },
  missing: undefined,
});

// why: an interface keeps the fields as they were written, so that their documentation reaches the declarations
/** The shape of an object with these fields. */
export interface ObjectShape<F extends Readonly<Record<string, Shape>>> extends Shape<
  Schema.Struct<{ readonly [K in keyof F]: F[K]["schema"] }>
> {}

/** An object with these fields; what else it has is dropped. */
export const struct = <F extends Readonly<Record<string, Shape>>>(fields: F): ObjectShape<F> => {
  const rows = Object.entries(fields);
  return {
    schema: Schema.Struct(Rows.map(fields, ({ schema }) => schema) as { readonly [K in keyof F]: F[K]["schema"] }),
    read: (value) => {
      if (!isRecord(value)) return undefined;
      const read: Record<string, unknown> = {};
      for (const [key, field] of rows) {
        const given = value[key];
        const kept = given === undefined && !(key in value) ? field.missing : field.read(given);
        if (kept === undefined) return undefined;
        read[key] = kept;
      }
      return read as ObjectShape<F>["schema"]["Type"];
    },
    missing: undefined,
  };
};

/** What fits the shape, as it came, with all that the shape does not name. */
export const whole = <S extends Schema.Constraint>({
  schema,
  read,
}: Shape<S>): Shape<Schema.declare<S["Encoded"]>> => ({
  schema: Schema.declare(Schema.is(Schema.toEncoded(schema))),
  read: (value) => (read(value) === undefined ? undefined : (value as S["Encoded"])),
  missing: undefined,
});
