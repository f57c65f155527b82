/** Answers made at random from the shapes themselves, so that a new field is fuzzed as soon as it has a name. */
import type * as Schema from "effect/Schema";
import fc from "fast-check";
import {
  Account,
  Anything,
  Bytes,
  Decimal,
  Finite,
  Flag,
  Index,
  Quantity,
  Status,
  Text,
  TypeByte,
  Word,
} from "../rooms/eth.js";

const digits = (minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength, maxLength }).map((hex) => `0x${hex}`);

/** Every leaf that has a name, as a node writes it. */
const leaves = new Map<Schema.Constraint, fc.Arbitrary<unknown>>([
  [Word.schema, digits(64)],
  [Account.schema, digits(40)],
  [Bytes.schema, fc.nat(40).chain((size) => digits(2 * size))],
  [Quantity.schema, digits(1, 64)],
  [Index.schema, fc.oneof(fc.maxSafeNat(), fc.nat(9)).map((index) => `0x${index.toString(16)}`)],
  [TypeByte.schema, digits(1, 4)],
  [Status.schema, fc.constantFrom("0x0", "0x1")],
  [Text.schema, fc.string()],
  [Decimal.schema, fc.string({ maxLength: 80 })],
  [Finite.schema, fc.double({ noNaN: true, noDefaultInfinity: true })],
  [Flag.schema, fc.boolean()],
  [Anything.schema, fc.jsonValue({ maxDepth: 0 })],
]);

/** The one leaf without a name: what a node says about a call that failed. */
const callError = fc.oneof(
  fc.string(),
  fc.record(
    { code: fc.integer(), message: fc.string(), data: digits(8), more: fc.jsonValue({ maxDepth: 0 }) },
    { requiredKeys: [] },
  ),
);

/** What the schemas of composed shapes say of their parts. */
interface Composed extends Schema.Constraint {
  readonly fields?: Readonly<Record<string, Composed>>;
  readonly members?: ReadonlyArray<Composed>;
  readonly value?: Composed;
  readonly to?: Composed;
}

/** Any answer that is right by this schema. */
export const rightBy = (schema: Composed): fc.Arbitrary<unknown> => {
  const leaf = leaves.get(schema);
  if (leaf !== undefined) return leaf;
  if (schema.ast._tag === "Null") return fc.constant(null);
  if (schema.to !== undefined) return rightBy(schema.to);
  if (schema.members !== undefined) return fc.oneof(...schema.members.map(rightBy));
  if (schema.value !== undefined) return fc.array(rightBy(schema.value), { maxLength: 3 });
  if (schema.ast._tag === "Declaration") return callError;
  if (schema.fields === undefined) throw new Error(`no answers for ${schema.ast._tag}`);
  const fields = Object.entries(schema.fields);
  return fc.record(Object.fromEntries(fields.map(([key, field]) => [key, rightBy(field)])), {
    requiredKeys: fields.filter(([, field]) => leaves.has(field) || field.to === undefined).map(([key]) => key),
    noNullPrototype: true,
  });
};

const word = `0x${"1".repeat(64)}`;

/** What may stand where something else should; all of it can come as JSON. */
export const wrongJson: ReadonlyArray<unknown> = [
  ...[null, true, false, 0, -1, 0.5, 1e300, "", "x", "latest", "1", "x".repeat(80), "x".repeat(81)],
  ...["0x", "0X1", "0x1 ", " 0x1", "0x1\n", "0xzz", "0x0", "0x1", "0x2", "0x01", "0x0000", "0x123", "0xAb"],
  ...["0x1fffffffffffff", "0x20000000000000", `0x${"f".repeat(64)}`, `0x0${"f".repeat(64)}`, `0x${"1".repeat(40)}`],
  ...[word, word.toUpperCase(), `${word}1`, `${word}z`],
  ...[[], [[]], [null], [word], Array(4).fill(word), Array(5).fill(word), {}, { 0: word, length: 1 }, { data: null }],
  JSON.parse('{"__proto__": {"status": "0x1"}, "constructor": 1, "code": "3"}'),
];

/** What only a provider in the same process can hand over. */
export const wrongObjects: ReadonlyArray<unknown> = [
  ...[undefined, Number.NaN, Number.POSITIVE_INFINITY, 5n, Symbol("5"), () => "0x5", { data: undefined }],
  ...[new String("0x5"), new Date(0), new Map(), Array(2), Buffer.from("5"), Object.create(null)],
  Object.create({ status: "0x1", removed: true, blockHash: undefined }),
];

type Place = ReadonlyArray<string>;

/** Where something stands in a value: the value itself, every field, every item. */
export const placesOf = (value: unknown, here: Place = []): ReadonlyArray<Place> =>
  typeof value === "object" && value !== null
    ? [here, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...here, key]))]
    : [here];

/** How a place is spoilt: its key removed, a key more beside it, or another value in it. */
export type Fault = { readonly kind: "missing" | "extra" } | { readonly kind: "wrong"; readonly value: unknown };

/** Every fault there is, with these values. */
export const faultsOf = (values: ReadonlyArray<unknown>): ReadonlyArray<Fault> => [
  { kind: "missing" },
  { kind: "extra" },
  ...values.map((value): Fault => ({ kind: "wrong", value })),
];

const plain = { enumerable: true, configurable: true, writable: true };

/** `value` with the fault at this place. */
export const spoilt = (value: unknown, [key, ...rest]: Place, fault: Fault): unknown => {
  if (key === undefined) return fault.kind === "wrong" ? fault.value : value;
  const copy: object = Array.isArray(value) ? [...(value as ReadonlyArray<unknown>)] : { ...(value as object) };
  const here = rest.length === 0;
  if (here && fault.kind === "missing") Reflect.deleteProperty(copy, key);
  else Object.defineProperty(copy, key, { ...plain, value: spoilt(Reflect.get(copy, key), rest, fault) });
  if (here && fault.kind === "extra") Object.defineProperty(copy, "__proto__", { ...plain, value: { [key]: null } });
  return copy;
};
