import fc from "fast-check";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { fromJson, left, painter, right, tableLines, toText, type Cell, type Column } from "../rooms/report.js";
import { reportJson } from "./arbitrary.js";
import { blocked, report, tokens, unknown } from "./fixtures.js";
import { swap, thirty } from "./scenes.js";

const address = `0x${"a".repeat(40)}`;
const cells = (...texts: ReadonlyArray<string>): ReadonlyArray<Cell> => texts.map((text) => ({ text }));
const lines = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<ReadonlyArray<Cell>>, width: number) =>
  tableLines(columns, rows, width, painter(false));

describe("a table in the text", () => {
  const columns = [right("amount"), left("what"), left(""), left("party")];
  const rows = [cells("-1", "USDC (0xA0b8…eB48)", "to", address), cells("+22.5", "ETH", "from", address)];

  it("is aligned where it fits", () => {
    expect(lines(columns, rows, 100)).toEqual([
      `     -1  USDC (0xA0b8…eB48)  to    ${address}`,
      `  +22.5  ETH                 from  ${address}`,
    ]);
  });
  it("has its cells wrapped between words where that makes it fit", () => {
    expect(lines(columns, rows, 72)).toEqual([
      `     -1  USDC           to    ${address}`,
      "         (0xA0b8…eB48)",
      `  +22.5  ETH            from  ${address}`,
    ]);
  });
  it("becomes a list where it does not fit, named by its columns", () => {
    expect(lines(columns, rows, 50)).toEqual([
      "  - amount: -1",
      "    what: USDC (0xA0b8…eB48)",
      `    to: ${address}`,
      "  - amount: +22.5",
      "    what: ETH",
      "    from:",
      `      ${address}`,
    ]);
  });
});

describe.each([
  ["a plain transfer", report()],
  ["a blocked call", blocked()],
  ["a node that cannot simulate", unknown()],
  ["tokens", tokens()],
  ["a swap", swap()],
  ["a bundle of thirty", thirty()],
])("the text of %s", (_, made) => {
  it.each([50, 80])("fits %i columns, short and full, and breaks neither address nor amount", (width) => {
    for (const full of [false, true]) {
      const text = toText(made, { width, full });
      expect(text.split("\n").filter((line) => line.length > width)).toEqual([]);
      const addresses = (of: string) => new Set(of.match(/0x[0-9a-f]{40}(?![0-9a-f])/gi));
      expect(addresses(text)).toEqual(addresses(toText(made, { width: 100_000, full })));
      expect(text).not.toMatch(/\d[,.]?\n\s+[,.]?\d+(?:[.,]\d+)* (?:ETH|USDC)/);
    }
  });
});

it("every text fits any width from 40 columns on", () => {
  fc.assert(
    fc.property(reportJson, fc.integer({ min: 40, max: 120 }), (json, width) => {
      const text = toText(Effect.runSync(fromJson(json)), { width, full: true });
      expect(text.split("\n").filter((line) => line.length > width)).toEqual([]);
    }),
    { numRuns: 40 },
  );
}, 60_000);
