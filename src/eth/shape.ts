/**
 * The shapes of answers, each said once and read in two ways. Plain code reads what is right, several
 * times faster; what it does not take, for whatever reason, goes to the schema of the same shape, which
 * alone decides whether it is wrong, and where: `MalformedResponse` with the field's path.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import type * as SchemaIssue from "effect/SchemaIssue";
import type { RpcError } from "../errors/rpc.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { isRecord, schemasOf } from "../primitives/record.js";
import { malformed } from "../rpc/answer.js";

/** One shape; every `read` gives exactly what `schema` decodes to, or undefined, which no answer decodes to. */
export interface Shape<S extends Schema.Constraint = Schema.Constraint> {
  /** The schema of what is read. */
  readonly schema: S;
  /** Reads a value of an answer; undefined where it does not fit. */
  readonly read: (value: unknown) => S["Type"] | undefined;
  /** What a field of this shape is where its key is missing; undefined where the key is required. */
  readonly missing?: S["Type"];
}

/** A value taken as it is, where `is` says so. */
export const leaf = <A>(is: (value: unknown) => value is A): Shape<Schema.declare<A>> => ({
  schema: Schema.declare(is),
  read: (value) => (is(value) ? value : undefined),
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
});

export const nullOr = <S extends Schema.Constraint>({ schema, read }: Shape<S>): Shape<Schema.NullOr<S>> => ({
  schema: Schema.NullOr(schema),
  read: (value) => (value === null ? null : read(value)),
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
    schema: Schema.Struct(schemasOf(fields)),
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
  };
};

/** What fits the shape, as it came, with all that the shape does not name. */
export const whole = <S extends Schema.Constraint>({
  schema,
  read,
}: Shape<S>): Shape<Schema.declare<S["Encoded"]>> => ({
  schema: Schema.declare(Schema.is(Schema.toEncoded(schema))),
  read: (value) => (read(value) === undefined ? undefined : (value as S["Encoded"])),
});

/*
 * The leaves of every answer. Each is one linear check, so that neither a huge nor a hostile string costs more than
 * reading it once.
 */

/** Hex of any length, with no copy made of it. */
export const isHex = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-fA-F]*$/.test(value);

export const isBytes = (value: unknown): value is Hex => isHex(value) && value.length % 2 === 0;

const isText = (value: unknown): value is string => typeof value === "string";

/** Bytes of any length. */
export const Bytes = leaf(isBytes);
/** 32 bytes. */
export const Word = leaf((value): value is Hash => isHex(value) && value.length === 66);
/** 20 bytes. */
export const Account = leaf((value): value is Address => isHex(value) && value.length === 42);
export const Text = leaf(isText);
/** A decimal fraction, as text. */
export const Decimal = leaf((value): value is string => isText(value) && value.length <= 80);
export const Finite = leaf((value): value is number => Number.isFinite(value));
export const Flag = leaf((value): value is boolean => typeof value === "boolean");
export const Anything = leaf((_value): _value is unknown => true);

const QuantityText = leaf(
  (value): value is `0x${string}` => typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value),
);

/** A quantity of at most 256 bits; leading zeros are tolerated. */
export const Quantity = decoded(QuantityText, BigInt, (value): value is bigint => typeof value === "bigint");

/** A quantity that fits a number: an index or a count. */
export const Index = decoded(QuantityText, Number, (value): value is number => Number.isSafeInteger(value));

/** An EIP-2718 type byte, written the one way: `0x2`, `0x7e`. */
export const TypeByte = decoded(
  QuantityText,
  (text) => `0x${BigInt(text).toString(16)}` as const,
  (value): value is `0x${string}` => isText(value),
);

/** `0x1` and `0x0` as words. */
export const Status = decoded(
  leaf((value): value is "0x0" | "0x1" => value === "0x1" || value === "0x0"),
  (status) => (status === "0x1" ? "success" : "failure"),
  (value): value is "success" | "failure" => value === "success" || value === "failure",
);

/** The decoder of one method's `result`. */
export type Decoder<A> = (result: unknown) => Result.Result<A, RpcError>;

const step = (path: string, key: PropertyKey): string =>
  typeof key === "number" ? `${path}[${key}]` : `${path}.${String(key).slice(0, 128)}`;

/** The path of the first thing wrong, e.g. `result[0].calls[1].status`. */
const pathOf = (issue: SchemaIssue.Issue, path: string): string => {
  switch (issue._tag) {
    case "Pointer":
      return pathOf(issue.issue, issue.path.reduce(step, path));
    case "Filter":
    case "Encoding":
      return pathOf(issue.issue, path);
    case "Composite":
      return pathOf(issue.issues[0], path);
    case "AnyOf": {
      const only = issue.issues.find((inner) => inner._tag !== "InvalidType");
      return only === undefined ? path : pathOf(only, path);
    }
    default:
      return path;
  }
};

/** The decoder of a method's `result`: the schema judges what the plain reading does not take. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(
  method: string,
  { schema, read }: Shape<S>,
  root = "result",
): Decoder<S["Type"]> => {
  const judge = Schema.decodeUnknownResult(schema);
  return (result) => {
    const answer = read(result);
    return answer === undefined
      ? Result.mapError(judge(result), ({ issue }) => malformed(method, pathOf(issue, root)))
      : Result.succeed(answer);
  };
};
