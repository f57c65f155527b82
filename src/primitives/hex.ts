/** The wire's own shapes: an address, a 32-byte hash, bytes. Plain text types, the same that viem and abitype use. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";

const prefixed = Schema.TemplateLiteral(["0x", Schema.String]);

/** Any even-length hex string with `0x`; `0x` is empty. */
export const Hex = prefixed.pipe(Schema.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})*$/)));
export type Hex = `0x${string}`;

/** 20 bytes of hex, checksummed or not. */
export const Address = prefixed.pipe(Schema.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/)));
export type Address = `0x${string}`;

/** 32 bytes of hex. */
export const Hash = prefixed.pipe(Schema.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/)));
export type Hash = `0x${string}`;

const digits = /^0x[0-9a-fA-F]*$/;

/** Hex of any length, with no copy made of it: one linear check, however long and hostile it is. */
export const isHex = (value: unknown): value is Hex => typeof value === "string" && digits.test(value);

/** True if it is hex of whole bytes, however many. */
export const isEven = (value: unknown): value is Hex =>
  typeof value === "string" && value.length % 2 === 0 && digits.test(value);

/** True if it is 32 bytes of hex. */
export const isHash = (value: unknown): value is Hash =>
  typeof value === "string" && value.length === 66 && digits.test(value);

/** True if it is 20 bytes of hex, checksummed or not. */
export const isAddress = (value: unknown): value is Address =>
  typeof value === "string" && value.length === 42 && digits.test(value);

/** A quantity as the wire has it: at most 256 bits; leading zeros are tolerated. */
export const quantityText = /^0x[0-9a-fA-F]{1,64}$/;
export const isQuantity = (value: unknown): value is Hex => typeof value === "string" && quantityText.test(value);

/** A field that may be missing when constructed and is `null` then: JSON-safe, never `undefined`. */
export const nullable = <S extends Schema.Constraint>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withConstructorDefault(Effect.succeed(null)));

/** A field that came later: one that was stored without it decodes as `absent`. */
export const later = <S extends Schema.Constraint>(schema: S, absent: NoInfer<S["Type"]>) =>
  Schema.withDecodingDefaultTypeKey<S>(Effect.succeed(absent))(schema);

/** A whole amount, price or time: of none of these is there less than nothing. */
export const Uint = Schema.BigInt.pipe(
  Schema.check(Schema.isGreaterThanOrEqualToBigInt(0n, { expected: "0 or more" })),
);
/** The same; null where it is not known. */
export const amount = Schema.NullOr(Uint);

/** The most bytes read from one answer; more is as good as hostile. */
export const maxBytes = 4 * 1024 * 1024;

/** Even-length hex with `0x` of at most {@link maxBytes} bytes. */
export const isBytes = (value: unknown): value is Hex =>
  typeof value === "string" && value.length <= 2 + maxBytes * 2 && isEven(value);

/** An address as all of ours are written. */
export const lower = (account: string): Address => account.toLowerCase() as Address;
