import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeErrorResult, parseAbi, type Abi, type AbiParameter } from "viem";
import { decodeRevert, describeRevert, signatureOf } from "../rooms/abi.js";

const abi = parseAbi([
  "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
]);
const first = (bytes: string, abis: ReadonlyArray<Abi>) => decodeRevert(bytes, abis).layers[0].layer;

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
  ["string", fc.string()],
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

const call = fc
  .array(typed(2), { maxLength: 4 })
  .chain((fields) =>
    fc.tuple(
      fc.constant(fields.map(({ parameter }, index) => ({ ...parameter, name: `p${index}` }))),
      fc.tuple(...fields.map(({ value }) => value)),
    ),
  );

describe("random error ABIs", () => {
  it("decode ∘ encode is the identity", () => {
    fc.assert(
      fc.property(call, ([inputs, args]) => {
        const errors: Abi = [{ type: "error", name: "Random", inputs }];
        const data = encodeErrorResult({ abi: errors, errorName: "Random", args });
        const layer = first(data, [errors]);
        expect(layer).toMatchObject({ _tag: "Custom", signature: signatureOf("Random", inputs), data });
        if (layer._tag !== "Custom") return;
        expect(encodeErrorResult({ abi: errors, errorName: "Random", args: layer.args })).toBe(data);
        expect(describeRevert(decodeRevert(data, [errors])).length).toBeLessThan(8000);
      }),
      { numRuns: 300 },
    );
  });

  it("a flipped byte is either another value that re-encodes, or unknown", () => {
    fc.assert(
      fc.property(call, fc.nat(), fc.integer({ min: 1, max: 255 }), ([inputs, args], at, flip) => {
        const errors: Abi = [{ type: "error", name: "Random", inputs }];
        const bytes = Buffer.from(encodeErrorResult({ abi: errors, errorName: "Random", args }).slice(2), "hex");
        if (bytes.length === 4) return;
        const index = 4 + (at % (bytes.length - 4));
        bytes[index] = (bytes[index] ?? 0) ^ flip;
        const data = `0x${bytes.toString("hex")}`;
        const layer = first(data, [errors]);
        const hasText = JSON.stringify(inputs).includes('"string');
        if (layer._tag === "Custom" && !hasText)
          expect(encodeErrorResult({ abi: errors, errorName: "Random", args: layer.args })).toBe(data);
        else if (layer._tag !== "Custom") expect(layer._tag).toBe("Unknown");
      }),
      { numRuns: 300 },
    );
  });

  it("any bytes at all give at least one layer, and one line to show", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("", "08c379a0", "4e487b71", "65c8fd4d", "e450d38c"),
        fc.uint8Array({ maxLength: 400 }),
        (selector, bytes) => {
          const revert = decodeRevert(`0x${selector}${Buffer.from(bytes).toString("hex")}`, [abi]);
          expect(revert.layers.length).toBeGreaterThan(0);
          expect(describeRevert(revert)).not.toMatch(/\p{Cc}/u);
        },
      ),
      { numRuns: 500 },
    );
  });
});
