import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bytesToHex,
  concat,
  formatUnits as formatByViem,
  getAddress,
  hexToBytes,
  isAddress,
  keccak256,
  numberToHex,
  type Hex,
} from "viem";
import { classify } from "../rooms/errors.js";
import { Bytes, checksummed, escapeText, formatUnits, isChecksummed } from "../rooms/primitives.js";

/** The result, or null where it throws. */
const orNull = <A>(run: () => A): A | null => {
  try {
    return run();
  } catch {
    return null;
  }
};

const hostile: ReadonlyArray<readonly [string, string, string]> = [
  ["an ANSI colour", "\u001b[31mred", "\\u{1b}[31mred"],
  ["a terminal title", "\u001b]0;owned\u0007", "\\u{1b}]0;owned\\u{7}"],
  ["the one-byte CSI", "\u009b2J", "\\u{9b}2J"],
  ["a carriage return", "safe\rno", "safe\\u{d}no"],
  ["a new line", "a\nb", "a\\u{a}b"],
  ["right-to-left override", "\u202egpj.exe", "\\u{202e}gpj.exe"],
  ["isolates", "\u2066a\u2069", "\\u{2066}a\\u{2069}"],
  ["zero width", "ad\u200bmin\ufeff", "ad\\u{200b}min\\u{feff}"],
  ["tag characters", "a\u{e0041}\u{e007f}", "a\\u{e0041}\\u{e007f}"],
  ["variation selectors", "a\ufe0f\u{e0100}", "a\\u{fe0f}\\u{e0100}"],
  ["line separators", "a\u2028b\u2029", "a\\u{2028}b\\u{2029}"],
  ["marks that stand before a number", "a\u0890\u{110bd}", "a\\u{890}\\u{110bd}"],
  ["a lone surrogate", "a\ud800", "a\\u{d800}"],
];

describe("escaped text", () => {
  for (const [name, text, shown] of hostile) it(`escapes ${name}`, () => expect(escapeText(text)).toBe(shown));

  it("keeps ordinary text of people", () => {
    for (const text of ["héllo wörld", "余额不足", "🚀 to the moon", "a\\b 'c' \"d\""])
      expect(escapeText(text)).toBe(text);
  });

  it("is bounded in length, and says that it was cut", () => {
    expect(escapeText("x".repeat(300))).toBe(`${"x".repeat(256)}… (+44 characters)`);
    expect(escapeText("\u0000".repeat(1_000_000)).length).toBeLessThan(2048);
  });

  it("has nothing invisible, for any text, and is the same when escaped twice", () => {
    const unit = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...hostile.map(([, text]) => text))).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(unit, (text) => {
        const shown = escapeText(text, 4096);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(escapeText(shown, 100_000)).toBe(shown);
      }),
      { numRuns: 2000 },
    );
  });

  it("stands in every message, while the raw answer keeps its characters", () => {
    for (const [, text] of hostile) {
      const errors = [
        { code: 3, message: `execution reverted: ${text}` },
        { code: -32000, message: `rate limit ${text}` },
        { code: -32000, message: `EVM error: ${text}` },
      ];
      for (const error of errors) {
        const answer = classify({ method: "eth_call", error });
        expect(answer.message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(JSON.stringify(answer._tag === "RpcError" ? answer.reason.raw : "raw" in answer && answer.raw)).toBe(
          JSON.stringify(error),
        );
      }
    }
  });
});

describe("primitives that must equal viem's", () => {
  const weth = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
  const addressText = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
  /** Right by their checksum, in one case, with letters turned, and what is no address at all. */
  const written = fc.oneof(
    fc
      .tuple(addressText, fc.nat(3), fc.nat(39))
      .map(([text, how, at]) =>
        how === 0
          ? text
          : how === 1
            ? getAddress(text)
            : how === 2
              ? text.toUpperCase().replace("0X", "0x")
              : turned(getAddress(text), at + 2),
      ),
    fc.string(),
    fc.constantFrom(weth, weth.toUpperCase(), weth.slice(0, -1), `${weth}0`, ` ${weth}`, "0x", ""),
  );
  const turned = (text: string, at: number): string => {
    const letter = text[at] ?? "";
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    return `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
  };

  it("give addresses the same checksum, and accept the same by it", () =>
    fc.assert(
      fc.property(written, (text) => {
        expect([text, isChecksummed(text)]).toEqual([text, isAddress(text)]);
        expect(checksummed(text)).toBe(isAddress(text, { strict: false }) ? getAddress(text) : escapeText(text, 64));
      }),
    ));

  it("write amounts the same", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }), fc.nat(255), (amount, decimals) => {
        expect(formatUnits(amount, decimals)).toBe(formatByViem(amount, decimals));
      }),
    ));

  it("hash, read and write bytes the same", () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (bytes, number) => {
        const hex = bytesToHex(bytes);
        expect(Bytes.bytesToHex(bytes)).toBe(hex);
        expect(Bytes.hexToBytes(hex)).toEqual(bytes);
        expect(Bytes.keccak256(hex)).toBe(keccak256(hex));
        expect(Bytes.keccak256(hex.toUpperCase().replace("0X", "0x") as Hex)).toBe(keccak256(hex));
        expect([Bytes.numberToHex(number), Bytes.numberToHex(number, { size: 32 })]).toEqual([
          numberToHex(number),
          numberToHex(number, { size: 32 }),
        ]);
        expect(Bytes.concat(hex, "0x", hex)).toBe(concat([hex, "0x", hex]));
      }),
    ));

  it("refuse or read malformed hex alike", () => {
    for (const text of ["0x123", "0x1", "0xzz", "0x12zz", "zz", "", "0x", "0X12", "0x+1", "0x 1", "0x１２"])
      expect([text, orNull(() => Bytes.hexToBytes(text as Hex))]).toEqual([
        text,
        orNull(() => hexToBytes(text as Hex)),
      ]);
    for (const number of [-1, -1n, 1.5, 2 ** 60, Number.NaN, "5", "x", 2n ** 256n])
      for (const size of [undefined, 32])
        expect([number, orNull(() => Bytes.numberToHex(number as never, { size } as never))]).toEqual([
          number,
          orNull(() => numberToHex(number as never, { size } as never)),
        ]);
  });
});
