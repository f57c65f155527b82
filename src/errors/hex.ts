/**
 * The wire's own shapes, as branded schemas: an address, a 32-byte hash, bytes.
 * They live on the lowest floor because the evidence of every error is written in them.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";

const prefixed = Schema.TemplateLiteral(["0x", Schema.String]);

/** Any even-length hex string with `0x`; `0x` is empty. Assignable to viem's `Hex`. */
export const Hex = prefixed.pipe(Schema.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})*$/)), Schema.brand("Hex"));
export type Hex = typeof Hex.Type;

/** 20 bytes of hex, checksummed or not. Assignable to viem's `Address`. */
export const Address = prefixed.pipe(Schema.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/)), Schema.brand("Address"));
export type Address = typeof Address.Type;

/** 32 bytes of hex. */
export const Hash = prefixed.pipe(Schema.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/)), Schema.brand("Hash"));
export type Hash = typeof Hash.Type;

/** A field that may be missing when constructed and is `null` then: JSON-safe, never `undefined`. */
export const nullable = <S extends Schema.Constraint>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withConstructorDefault(Effect.succeed(null)));
