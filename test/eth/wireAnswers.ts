/** Answers made at random from the shapes themselves, so that a new field is fuzzed as soon as it has a name. */
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
  type Shape,
} from "../rooms/eth.js";

const digits = (minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength, maxLength }).map((hex) => `0x${hex}`);

/** Every leaf that has a name, as a node writes it. */
const leaves = new Map<Shape["read"], fc.Arbitrary<unknown>>([
  [Word.read, digits(64)],
  [Account.read, digits(40)],
  [Bytes.read, fc.nat(40).chain((size) => digits(2 * size))],
  [Quantity.read, digits(1, 64)],
  [Index.read, fc.oneof(fc.maxSafeNat(), fc.nat(9)).map((index) => `0x${index.toString(16)}`)],
  [TypeByte.read, digits(1, 4)],
  [Status.read, fc.constantFrom("0x0", "0x1")],
  [Text.read, fc.string()],
  [Decimal.read, fc.string({ maxLength: 80 })],
  [Finite.read, fc.double({ noNaN: true, noDefaultInfinity: true })],
  [Flag.read, fc.boolean()],
  [Anything.read, fc.jsonValue({ maxDepth: 0 })],
]);

/** The one leaf without a name: what a node says about a call that failed. */
const callError = fc.oneof(
  fc.string(),
  fc.record(
    { code: fc.integer(), message: fc.string(), data: digits(8), more: fc.jsonValue({ maxDepth: 0 }) },
    { requiredKeys: [] },
  ),
);

/** Any answer that is right by this shape. */
export const rightBy = ({ read, parts }: Shape): fc.Arbitrary<unknown> => {
  const leaf = leaves.get(read);
  if (leaf !== undefined) return leaf;
  if (parts === undefined) return read(null, []) === null ? fc.constant(null) : callError;
  const { "*": item, ...fields } = parts;
  if (item !== undefined) return fc.array(rightBy(item), { maxLength: 3 });
  const rows = Object.entries(fields);
  if (rows.every(([key]) => /^\d$/.test(key))) return fc.oneof(...rows.map(([, way]) => rightBy(way)));
  return fc.record(Object.fromEntries(rows.map(([key, field]) => [key, rightBy(field)])), {
    requiredKeys: rows.filter(([, field]) => field.missing === undefined).map(([key]) => key),
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
