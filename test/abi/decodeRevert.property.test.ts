import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeErrorResult, parseAbi, type Abi } from "viem";
import { decodeRevert, describeRevert, signatureOf } from "../rooms/abi.js";
import { call } from "./typed.js";

const abi = parseAbi([
  "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
]);
const first = (bytes: string, abis: ReadonlyArray<Abi>) => decodeRevert(bytes, abis).layers[0].layer;

describe("decodeRevert with random error ABIs", () => {
  it("decodes exactly what was encoded", () => {
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

  it("reads a flipped byte as another value that encodes the same, or as unknown", () => {
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

  it("gives at least one layer and one line for any bytes", () => {
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
