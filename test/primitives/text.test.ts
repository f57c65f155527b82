import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify } from "../rooms/errors.js";
import { escapeText } from "../rooms/primitives.js";

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

describe("text that is shown", () => {
  for (const [name, text, shown] of hostile) it(`escapes ${name}`, () => expect(escapeText(text)).toBe(shown));

  it("keeps what people write", () => {
    for (const text of ["héllo wörld", "余额不足", "🚀 to the moon", "a\\b 'c' \"d\""])
      expect(escapeText(text)).toBe(text);
  });

  it("bounds the length and says what was cut", () => {
    expect(escapeText("x".repeat(300))).toBe(`${"x".repeat(256)}… (+44 characters)`);
    expect(escapeText("\u0000".repeat(1_000_000)).length).toBeLessThan(2048);
  });

  it("shows nothing invisible, whatever the text, and shows it the same when escaped twice", () => {
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

  it("is escaped in every message, while the raw answer keeps its characters", () => {
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
