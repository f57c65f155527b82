/** What code is said to read of its block, by its instructions. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { blockReads } from "../../rooms/steps.js";
import { bundle, hexOf, token } from "../parts.js";

const readsOf = (code: string) =>
  blockReads(bundle({ to: token, data: hexOf("0x01") }), new Map([[token, Result.succeed(hexOf(code))]]), new Set());

describe("what is read of the block", () => {
  it.each([
    ["BASEFEE", "0x48", ["basefee"]],
    ["the gas price, which follows from it", "0x3a", ["basefee"]],
    ["the balance of whoever pays the gas", "0x3231", ["basefee"]],
    ["the balance of the contract, which does not", "0x47", []],
    ["what is pushed, which is data", "0x603a613131", []],
    ["the time before the base fee, once each", "0x483a4231", ["timestamp", "basefee"]],
    ["other code, as whom it pays for", `0xef0100${"11".repeat(20)}`, ["others"]],
  ] as const)("%s", (_, code, reads) => expect(readsOf(code)).toEqual(reads));

  it("in the init code of a deployment, too, and in nothing of a token that is known", () => {
    expect(blockReads(bundle({ to: null, data: hexOf("0x3a") }), new Map(), new Set())).toEqual(["basefee"]);
    const known = new Map([[token, Result.succeed(hexOf("0x3a"))]]);
    expect(blockReads(bundle({ to: token }), known, new Set([token]))).toEqual([]);
  });
});
