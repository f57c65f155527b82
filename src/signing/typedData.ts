/** Typed data (EIP-712) as callers hold it, read strictly: what every signer hashes alike, or what is wrong with it. Pure. */
import * as Result from "effect/Result";
import { fromString } from "ox/Hex";
import { encodeType, hashDomain, hashStruct, type TypedData as TypedDataTypes } from "ox/TypedData";
import { concat, keccak256 } from "../primitives/bytes.js";
import { isHex, type Hash, type Hex } from "../primitives/hex.js";
import { address, each, no, record, type Checked } from "../primitives/problem.js";
import { isRecord, safely } from "../primitives/record.js";

/** Bounds: characters of all of it, structs, fields of one, how deep values lie, and how many there are. */
const most = { text: 262_144, types: 64, fields: 64, depth: 16, values: 8_192 };

/** One field of a struct. */
type Field = {
  readonly name: string;
  readonly type: string;
};
type Types = Readonly<Record<string, ReadonlyArray<Field>>>;

/** A value by its type: numbers are bigints, addresses in lower case. */
export type Value = bigint | string | boolean | ReadonlyArray<Value> | { readonly [name: string]: Value };
export type Struct = Readonly<Record<string, Value>>;

/** JSON of the same: numbers are decimal texts. */
type Json = string | boolean | ReadonlyArray<Json> | { readonly [name: string]: Json };

/** Typed data that was read. */
export interface TypedData {
  readonly primaryType: string;
  /** The type of the message, with those that it refers to, as its hash has it. */
  readonly encodedType: string;
  /** keccak256 of that. */
  readonly typeHash: Hash;
  /** The hash of the message's field of that place, where it is a struct; else null. */
  readonly hashOf: (place: number) => Hash | null;
  readonly types: Types;
  readonly domain: Struct;
  readonly message: Struct;
  /** The hash of the domain, as contracts keep it. */
  readonly domainSeparator: Hash;
  /** keccak256 of what the key signs. */
  readonly digest: Hash;
  /** As `eth_signTypedData_v4` takes it. */
  readonly json: { readonly [name: string]: Json };
}

const domainFields: Types[string] = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
  { name: "salt", type: "bytes32" },
];

const nameOf = (text: string): boolean => text.length > 0 && text.length <= 128 && !/[^\w$:]/.test(text);
const integer = /^(u?)int(\d{1,3})$/;
const fixed = /^bytes(\d{1,2})$/;
const array = /^(.*)\[(\d{0,6})\]$/;
const decimal = /^-?\d{1,80}$/;

/** A whole number of a JSON: a bigint, a number that holds it exactly, or a text of decimals or hex. */
export const wholeOf = (value: unknown): bigint | null => {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (typeof value !== "string") return null;
  return decimal.test(value) || (isHex(value) && value.length > 2 && value.length <= 66) ? BigInt(value) : null;
};

const integerOf = (value: unknown, bits: number, isSigned: boolean, path: string): Checked<bigint> => {
  const read = wholeOf(value);
  if (bits === 0 || bits > 256 || bits % 8 !== 0) return no(path, "has a type that Solidity does not have");
  if (read === null) return no(path, "must be a whole number that is exact: a bigint, or a text");
  const isIn = read === (isSigned ? BigInt.asIntN(bits, read) : BigInt.asUintN(bits, read));
  return isIn ? Result.succeed(read) : no(path, "is outside the range of its type");
};

const hexOf = (value: unknown, path: string, size: number | null): Checked<Hex> => {
  if (!isHex(value) || value.length % 2 !== 0) return no(path, "must be hex bytes");
  if (size !== null && value.length !== 2 + 2 * size) return no(path, `must have ${size} bytes`);
  return Result.succeed(value.toLowerCase() as Hex);
};

interface Reading {
  readonly types: Types;
  count: number;
  size: number;
}

/** A value by its type. */
const valueOf = (reading: Reading, type: string, value: unknown, path: string, depth: number): Checked<Value> => {
  reading.size += typeof value === "string" ? value.length : 0;
  if (++reading.count > most.values || depth > most.depth || reading.size > most.text)
    return no(path, "is larger than any message is");
  const [, inner, length] = array.exec(type) ?? [];
  if (inner !== undefined) {
    if (!Array.isArray(value)) return no(path, "must be an array");
    if (value.length > most.values) return no(path, "is larger than any message is");
    if (length !== undefined && length !== "" && value.length !== Number(length))
      return no(path, `must have ${length} entries`);
    return each(Array.from(value), (entry, index) => valueOf(reading, inner, entry, `${path}[${index}]`, depth + 1));
  }
  if (Object.hasOwn(reading.types, type)) return structOf(reading, type, value, path, depth + 1);
  const [, unsigned, bits] = integer.exec(type) ?? [];
  if (bits !== undefined) return integerOf(value, Number(bits), unsigned === "", path);
  const [, size] = fixed.exec(type) ?? [];
  if (size !== undefined)
    return Number(size) === 0 || Number(size) > 32
      ? no(path, "has a type that Solidity does not have")
      : hexOf(value, path, Number(size));
  if (type === "bytes") return hexOf(value, path, null);
  if (type === "address") return address(value, path);
  if (type === "bool") return typeof value === "boolean" ? Result.succeed(value) : no(path, "must be true or false");
  if (type === "string") return typeof value === "string" ? Result.succeed(value) : no(path, "must be a text");
  return no(path, "has a type that is not declared");
};

/** A struct by its fields. What it has beside them is in no hash, and is left out. */
const structOf = (reading: Reading, type: string, value: unknown, path: string, depth: number): Checked<Struct> =>
  Result.flatMap(record(value, path), (given) =>
    Result.map(
      each(reading.types[type] ?? [], ({ name, type: own }) =>
        given[name] === undefined || given[name] === null
          ? no(`${path}.${name}`, "is missing")
          : Result.map(valueOf(reading, own, given[name], `${path}.${name}`, depth), (read) => [name, read] as const),
      ),
      (entries): Struct => Object.fromEntries(entries),
    ),
  );

const fieldsOf = (input: unknown, path: string): Checked<ReadonlyArray<Field>> => {
  if (!Array.isArray(input) || input.length > most.fields) return no(path, `must be a list of at most ${most.fields}`);
  return Result.flatMap(
    each(Array.from(input), (entry: unknown, index): Checked<Field> => {
      const { name, type } = isRecord(entry) ? entry : {};
      return typeof name === "string" && nameOf(name) && typeof type === "string" && type.length <= 160
        ? Result.succeed({ name, type })
        : no(`${path}[${index}]`, "must be { name, type }");
    }),
    (fields) => {
      const twice = fields.findIndex(({ name }, at) => fields.findIndex((other) => other.name === name) < at);
      return twice < 0 ? Result.succeed(fields) : no(`${path}[${twice}].name`, "stands there twice");
    },
  );
};

/** Names that are types of Solidity, and no struct may have. */
const isTaken = (name: string): boolean =>
  ["address", "bool", "string", "bytes", "int", "uint"].includes(name) || integer.test(name) || fixed.test(name);

const typesOf = (input: unknown, path: string): Checked<Types> =>
  Result.gen(function* () {
    const given = Object.entries(yield* record(input, path));
    if (given.length > most.types) return yield* no(path, `has more than ${most.types} types`);
    const types: Record<string, ReadonlyArray<Field>> = {};
    for (const [name, fields] of given) {
      if (!nameOf(name) || isTaken(name))
        return yield* no(`${path}.${name.slice(0, 80)}`, "is not the name of a struct");
      types[name] = yield* fieldsOf(fields, `${path}.${name}`);
    }
    return types;
  });

const jsonOf = (value: Value): Json => {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object") return value;
  return isList(value)
    ? value.map(jsonOf)
    : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, jsonOf(each)]));
};
const isList = (value: Value): value is ReadonlyArray<Value> => Array.isArray(value);

/** The object that typed data is: a text of JSON is parsed. */
const parsed = (input: unknown, path: string): Checked<Readonly<Record<string, unknown>>> => {
  if (typeof input !== "string") return record(input, path);
  if (input.length > most.text) return no(path, `is longer than ${most.text} characters`);
  return record(
    safely((): unknown => JSON.parse(input), null),
    path,
  );
};

/** The types in the words of the hashing library, whose index knows no struct by name. */
const hashed = (types: Types): TypedDataTypes => types as TypedDataTypes;

/** Typed data, as viem or `eth_signTypedData_v4` has it: an object or a text of JSON. */
export const typedDataIn = (input: unknown, path: string): Checked<TypedData> =>
  Result.gen(function* () {
    const given = yield* parsed(input, path);
    const at = (name: string) => `${path}.${name}`;
    const { primaryType, domain = {} } = given;
    const own = yield* typesOf(given["types"], at("types"));
    const said = yield* record(domain, at("domain"));
    const present = domainFields.filter(({ name }) => said[name] !== undefined && said[name] !== null);
    // why: of a domain that is not declared each library works the type out by what stands in it
    const types: Types = Object.hasOwn(own, "EIP712Domain") ? own : { ...own, EIP712Domain: present };
    if (typeof primaryType !== "string" || !Object.hasOwn(types, primaryType))
      return yield* no(at("primaryType"), "is not one of types");
    const unbound = present.find(({ name }) => !types["EIP712Domain"]?.some((field) => field.name === name));
    // guard: a domain that says more than is signed
    if (unbound !== undefined)
      return yield* no(
        at(`domain.${unbound.name}`),
        "is not in types.EIP712Domain, so that the signature does not bind it",
      );
    const reading: Reading = { types, count: 0, size: 0 };
    const read = {
      domain: yield* structOf(reading, "EIP712Domain", said, at("domain"), 0),
      message: yield* structOf(reading, primaryType, given["message"] ?? {}, at("message"), 0),
    };
    const hashOf = (place: number): Hash | null => {
      const { name = "", type = "" } = types[primaryType]?.[place] ?? {};
      const value = read.message[name];
      return !Object.hasOwn(types, type) || typeof value !== "object" || isList(value)
        ? null
        : hashStruct({ data: value, primaryType: type, types: hashed(types) });
    };
    const hashes = safely(() => {
      const encodedType = encodeType({ primaryType, types: hashed(types) });
      const typeHash = keccak256(fromString(encodedType));
      const domainSeparator = hashDomain({ domain: read.domain, types: hashed(types) });
      const isDomain = primaryType === "EIP712Domain";
      const parts = isDomain ? [] : [hashStruct({ data: read.message, primaryType, types: hashed(types) })];
      return {
        encodedType,
        typeHash,
        hashOf,
        domainSeparator,
        digest: keccak256(concat("0x1901", domainSeparator, ...parts)),
      };
    }, null);
    if (hashes === null) return yield* no(path, "cannot be hashed");
    const json = {
      types,
      primaryType,
      domain: jsonOf(read.domain),
      message: jsonOf(read.message),
    };
    return { primaryType, types, ...read, ...hashes, json };
  });
