/**
 * The shapes of values on the wire, each said once: what is read of an answer, and of what does not fit the path of the
 * first thing wrong, for `MalformedResponse`; and how it is written as a parameter.
 */
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import type { RpcError } from "../errors/rpc.js";
import { isAddress, isEven, isHash, isQuantity, quantityText } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { malformed } from "../rpc/judging.js";
import { fields, quantity, type Writer } from "./write.js";

/** One shape of an answer, or of a part of it. */
export interface Shape<A = unknown> {
  /** Never there: it carries the type of what is read. */
  readonly Type: A;
  /** Reads a value of an answer; undefined where it does not fit: the keys that lead there are then put into `at`, the innermost first. */
  readonly read: (value: unknown, at: Array<PropertyKey>) => A | undefined;
  /** Says of a leaf that is taken as it is what fits it. */
  readonly is?: (value: unknown) => value is A;
  /** Says of a text that stands for another value which texts fit, and what each stands for. */
  readonly text?: { readonly fits: RegExp; readonly decode: (text: string) => A | undefined };
  /** The shape of what is not null, where null fits. */
  readonly there?: Shape;
  /** Writes a value of parameters; what it cannot write is put into `faults`, with its path. */
  readonly write: (value: unknown, path: string, faults: Array<string>) => unknown;
  /** The value of a field of this shape where its key is missing; undefined where the key is required. */
  readonly missing?: A;
  /** Its parts, by field; a list has its item under `*`, a choice its ways by number. Absent of a leaf. */
  readonly parts?: Readonly<Record<string, Shape>>;
}

const shape = <A>(read: Shape<A>["read"], more: Partial<Shape<A>> = {}): Shape<A> =>
  // the type is nowhere else
  ({ read, write: (value: unknown) => value, ...more }) as Shape<A>;

/** The same shape, written so. */
export const writtenBy = <A>(write: Writer, inner: Shape<A>): Shape<A> => ({ ...inner, write });

/** A value taken as it is, where `is` says so: `what` it must be, for whoever writes it. */
export const leaf = <A>(is: (value: unknown) => value is A, what = ""): Shape<A> => {
  const write: Writer = (value, path, faults) => (is(value) ? value : void faults.push(`${path}: not ${what}`));
  return shape((value) => (is(value) ? value : undefined), { is, write });
};

/** A leaf whose text stands for another value: what `decode` makes of it, undefined where it cannot be that. */
const decoded = <A>(fits: RegExp, decode: (text: string) => A | undefined): Shape<A> =>
  shape((value) => (typeof value === "string" && fits.test(value) ? decode(value) : undefined), {
    text: { fits, decode },
  });

/** The first of two shapes that fits; where neither does, the path is that of the one that came further. */
export const either = <A, B>(left: Shape<A>, right: Shape<B>): Shape<A | B> =>
  shape<A | B>(
    (value, at) => {
      const path: Array<PropertyKey> = [];
      const first = left.read(value, path);
      if (first !== undefined) return first;
      const second = right.read(value, path.length === 0 ? at : []);
      if (second === undefined) at.push(...path);
      return second;
    },
    { parts: { 0: left, 1: right } },
  );

const Null = leaf((value) => value === null);

export const nullOr = <A>(there: Shape<A>): Shape<A | null> =>
  shape<A | null>((value, at) => (value === null ? null : there.read(value, at)), {
    ...{ there, parts: { 0: there, 1: Null } },
  });

/** A field that may be left out: `value` then. */
export const orElse = <A>(inner: Shape<A>, value: A): Shape<A> => ({ ...inner, missing: value });

/** A field that some nodes leave out or give as null: null then. */
export const orNull = <A>(inner: Shape<A>): Shape<A | null> => orElse(nullOr(inner), null);

/** A list; of at most `most` items, where that is given. */
export const list = <A>(item: Shape<A>, limit = Number.POSITIVE_INFINITY): Shape<ReadonlyArray<A>> =>
  shape(
    (values, at) => {
      if (!Array.isArray(values) || values.length > limit) return undefined;
      const items: Array<A> = [];
      for (const value of values) {
        const read = item.is === undefined ? item.read(value, at) : item.is(value) ? value : undefined;
        if (read === undefined) {
          at.push(items.length);
          return undefined;
        }
        items.push(read);
      }
      return items;
    },
    {
      parts: { "*": item },
      write: (values, path, faults) => {
        if (!Array.isArray(values)) return void faults.push(`${path}: not a list`);
        return values.map((value, index) => item.write(value, `${path}[${index}]`, faults));
      },
    },
  );

// why: an interface keeps the fields as they were written, so that their documentation reaches the declarations
/** The shape of an object with these fields. */
export interface ObjectShape<F extends Readonly<Record<string, Shape>>> extends Shape<{
  readonly [K in keyof F]: F[K]["Type"];
}> {}

/** An object with these fields; what else it has is dropped where it is read. `also`: names that fields have beside their own where it is written. */
export const struct = <F extends Readonly<Record<string, Shape>>>(
  shapes: F,
  also: Readonly<Record<string, Extract<keyof F, string>>> = {},
): ObjectShape<F> => {
  const rows = Object.entries(shapes).map(([key, field]) => ({ key, field, there: field.there ?? field }));
  const writers = Rows.map(shapes, ({ write }) => write);
  const required = Object.keys(Rows.filter(shapes, ({ missing }) => missing === undefined));
  return shape(
    (value, at) => {
      if (!isRecord(value)) return undefined;
      const read: Record<string, unknown> = {};
      for (const { key, field, there } of rows) {
        const input = value[key];
        let content: unknown;
        // why: an answer has thousands of fields, and most are left out, null, or taken as they are
        if (input === undefined && !(key in value)) content = field.missing;
        else if (input === null && field !== there) content = null;
        else if (there.text !== undefined)
          content = typeof input === "string" && there.text.fits.test(input) ? there.text.decode(input) : undefined;
        else if (there.is === undefined) content = there.read(input, at);
        else if (there.is(input)) content = input;
        if (content === undefined) {
          at.push(key);
          return undefined;
        }
        read[key] = content;
      }
      return read as ObjectShape<F>["Type"];
    },
    { parts: shapes, write: fields<Readonly<Record<string, unknown>>>(writers, { required, also }) },
  );
};

/** An object whose keys fit one shape and whose values another, at most `limit` of them. */
export const mapOf = <K, A>(
  key: Shape<K>,
  item: Shape<A>,
  limit = Number.POSITIVE_INFINITY,
): Shape<ReadonlyMap<K, A>> =>
  shape(
    (values, at) => {
      const entries = isRecord(values) ? Object.entries(values) : null;
      if (entries === null || entries.length > limit) return undefined;
      const map = new Map<K, A>();
      for (const [name, value] of entries) {
        const [readKey, read] = [key.read(name, at), item.read(value, at)];
        if (readKey === undefined || read === undefined) {
          at.push(name);
          return undefined;
        }
        map.set(readKey, read);
      }
      return map;
    },
    {
      parts: { "*": item },
      write: (values, path, faults) => {
        if (!isRecord(values)) return void faults.push(`${path}: not an object`);
        return Object.fromEntries(
          Object.entries(values).map(([name, value]) => {
            const at = `${path}[${name.slice(0, 80)}]`;
            return [key.write(name, at, faults), item.write(value, at, faults)];
          }),
        );
      },
    },
  );

/** A value that fits the shape, as it came, with all that the shape does not name. */
export const whole = (inner: Shape): Shape<unknown> =>
  shape((value) => (inner.read(value, []) === undefined ? undefined : value));

/* The leaves of everything on the wire. */

export { isEven as isBytes } from "../primitives/hex.js";

const isText = (value: unknown): value is string => typeof value === "string";

/** Bytes of any length. */
export const Bytes = leaf(isEven, "hex of whole bytes");
/** 32 bytes. */
export const Word = leaf(isHash, "hex of 32 bytes");
/** 20 bytes. */
export const Account = leaf(isAddress, "an address of 20 bytes");
export const Text = leaf(isText);
/** A decimal fraction, as text. */
export const Decimal = leaf((value): value is string => isText(value) && value.length <= 80);
export const Finite = leaf((value): value is number => Number.isFinite(value));
export const Flag = leaf((value): value is boolean => typeof value === "boolean", "a boolean");
/** Anything; what a provider in the same process hands over as undefined is null. */
export const Anything: Shape = shape((value) => value ?? null);

/** A quantity of at most 256 bits; leading zeros are tolerated. */
export const Quantity = writtenBy(quantity, decoded(quantityText, BigInt));

/** The `r` or `s` of a signature, written as the number it is: nodes refuse leading zeros. */
export const Scalar = writtenBy(
  (value, ...where) => (isQuantity(value) ? quantity(BigInt(value), ...where) : Word.write(value, ...where)),
  Quantity,
);

/** The parity of a signature, or the 27 and 28 that libraries write beside it. */
export const Parity = writtenBy(
  (value, ...where) => quantity([27, 28, 27n, 28n].includes(value as bigint) ? Number(value) - 27 : value, ...where),
  Quantity,
);

/** A quantity that fits a number: an index or a count. */
export const Index = decoded(quantityText, (text) => {
  const index = Number(text);
  return Number.isSafeInteger(index) ? index : undefined;
});

/** An EIP-2718 type byte, written the one way: `0x2`, `0x7e`. */
export const TypeByte = decoded(quantityText, (text) => `0x${BigInt(text).toString(16)}` as const);

/** `0x1` and `0x0` as words. */
export const Status = decoded(/^0x[01]$/, (text) => (text === "0x1" ? "success" : "failure"));

/** A path with one key more, e.g. `result[0].calls[1].status`. */
const step = (path: string, key: PropertyKey): string =>
  typeof key === "number" ? `${path}[${key}]` : `${path}.${String(key).slice(0, 128)}`;

/** The decoder of a method's `result`. */
export const decoder =
  <A>(method: string, { read }: Shape<A>, root = "result") =>
  (result: unknown): Result.Result<A, RpcError> => {
    const at: Array<PropertyKey> = [];
    const answer = read(result, at);
    return answer === undefined ? Result.fail(malformed(method, at.reduceRight(step, root))) : Result.succeed(answer);
  };
