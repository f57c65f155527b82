/**
 * The leaves of every answer. Each is one linear check, so that neither a huge nor a hostile string
 * costs more than reading it once.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SchemaTransformation from "effect/SchemaTransformation";
import type { Address, Hash, Hex } from "../primitives/hex.js";

const isHex = (value: unknown): value is string =>
  typeof value === "string" && value.startsWith("0x") && !/[^0-9a-fA-F]/.test(value.slice(2));

export const isBytes = (value: unknown): value is Hex => isHex(value) && value.length % 2 === 0;

/** Bytes of any length. */
export const Bytes = Schema.declare<Hex>(isBytes);
/** 32 bytes. */
export const Word = Schema.declare<Hash>((value): value is Hash => isHex(value) && value.length === 66);
/** 20 bytes. */
export const Account = Schema.declare<Address>((value): value is Address => isHex(value) && value.length === 42);

const quantity = /^0x[0-9a-fA-F]{1,64}$/;
const QuantityText = Schema.declare<`0x${string}`>(
  (value): value is `0x${string}` => typeof value === "string" && quantity.test(value),
);
const BigInteger = Schema.declare<bigint>((value): value is bigint => typeof value === "bigint");
const SafeInteger = Schema.declare<number>((value): value is number => Number.isSafeInteger(value));

/** A quantity of at most 256 bits; leading zeros are tolerated. */
export const Quantity = QuantityText.pipe(
  Schema.decodeTo(
    BigInteger,
    SchemaTransformation.transform({
      decode: (text: `0x${string}`) => BigInt(text),
      encode: (value) => `0x${value.toString(16)}` as const,
    }),
  ),
);

/** A quantity that fits a number: an index or a count. */
export const Index = QuantityText.pipe(
  Schema.decodeTo(
    SafeInteger,
    SchemaTransformation.transform({
      decode: (text: `0x${string}`) => Number(text),
      encode: (value) => `0x${value.toString(16)}` as const,
    }),
  ),
);

/** A field that some nodes leave out or give as null: null then. */
export const orNull = <S extends Schema.Constraint>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)));

/** An EIP-2718 type byte, written the one way: `0x2`, `0x7e`. */
export const TypeByte = QuantityText.pipe(
  Schema.decodeTo(
    Schema.declare<`0x${string}`>((value): value is `0x${string}` => typeof value === "string"),
    SchemaTransformation.transform({
      decode: (text: `0x${string}`) => `0x${BigInt(text).toString(16)}` as const,
      encode: (text) => text,
    }),
  ),
);

/** `0x1` and `0x0` as words. */
export const Status = Schema.Literals(["0x1", "0x0"]).pipe(
  Schema.decodeTo(
    Schema.Literals(["success", "failure"]),
    SchemaTransformation.transform({
      decode: (status: "0x1" | "0x0") => (status === "0x1" ? "success" : "failure"),
      encode: (word: "success" | "failure") => (word === "success" ? "0x1" : "0x0"),
    }),
  ),
);
