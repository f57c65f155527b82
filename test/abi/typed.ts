/** Random parameters, nested up to three deep, with values of them. */
import type { AbiParameter } from "abitype";
import fc from "fast-check";

const elementary: fc.Arbitrary<readonly [string, fc.Arbitrary<unknown>]> = fc.constantFrom<
  ReadonlyArray<readonly [string, fc.Arbitrary<unknown>]>[number]
>(
  ["uint256", fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })],
  ["uint8", fc.integer({ min: 0, max: 255 })],
  ["int256", fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n })],
  ["int16", fc.integer({ min: -32768, max: 32767 })],
  ["bool", fc.boolean()],
  [
    "address",
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`),
  ],
  ["bytes4", fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`)],
  ["bytes", fc.uint8Array({ maxLength: 70 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`)],
  // leading NULs, which a decoder may take for padding, and signs of every length
  [
    "string",
    fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.string().map((text) => `\0\0${text}\0`),
    ),
  ],
);

interface Typed {
  readonly parameter: AbiParameter;
  readonly value: fc.Arbitrary<unknown>;
}

/** A random type with values of it, nested up to three deep. */
const typed = (depth: number): fc.Arbitrary<Typed> => {
  const leaf = elementary.map(([type, value]): Typed => ({ parameter: { type, name: "a" }, value }));
  if (depth === 0) return leaf;
  const list = fc
    .tuple(typed(depth - 1), fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }))
    .map(([{ parameter, value }, size]): Typed => ({
      parameter: { ...parameter, type: `${parameter.type}[${size ?? ""}]` },
      value: fc.array(value, size === null ? { maxLength: 3 } : { minLength: size, maxLength: size }),
    }));
  const tuple = fc.array(typed(depth - 1), { minLength: 1, maxLength: 3 }).map((fields): Typed => ({
    parameter: {
      type: "tuple",
      name: "t",
      components: fields.map(({ parameter }, index) => ({ ...parameter, name: `f${index}` })),
    },
    value: fc.record(Object.fromEntries(fields.map(({ value }, index) => [`f${index}`, value]))),
  }));
  return fc.oneof(leaf, list, tuple);
};

/** Up to four named parameters and their values. */
export const call = fc
  .array(typed(2), { maxLength: 4 })
  .chain((fields) =>
    fc.tuple(
      fc.constant(fields.map(({ parameter }, index) => ({ ...parameter, name: `p${index}` }))),
      fc.tuple(...fields.map(({ value }) => value)),
    ),
  );
