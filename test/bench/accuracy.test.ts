/** What is written of the accuracy claims no more than its tables hold. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hitRate, type Summary } from "../harness/accuracy/table.js";
import { root } from "../harness/sources.js";

const summaryOf = (sent: number, same: number): Summary => ({ same: { ready: { sent, same } } }) as never as Summary;

describe("the hit rate of `npm run accuracy`", () => {
  it("names the beds that had a ready report, and no other", () => {
    const text = hitRate([
      ["anvil", summaryOf(120, 120)],
      ["across a fork", summaryOf(0, 0)],
      ["geth", summaryOf(80, 79)],
    ]);
    expect(text).toContain("199 of 200 reports");
    expect(text).toContain("settled on anvil; geth (");
    expect(text).not.toContain("fork");
  });

  it("equals the rate in the page's table and in the README", () => {
    const page = readFileSync(join(root, "docs/accuracy.md"), "utf8");
    const cellsOf = (row: string) => (new RegExp(`^\\| ${row}.*$`, "m").exec(page)?.[0] ?? "").split("|").slice(3, -1);
    const beds = cellsOf(" {20,}\\| goal").map((cell) => cell.trim());
    const ready = cellsOf("what was said is what happened").map((cell) => cell.trim());
    const [, total = "", listed = ""] = /(\d+) of \d+ reports, .* settled on (.*) \(\[how\]/.exec(page) ?? [];
    expect(listed.split("; ")).toEqual(beds.filter((_, at) => ready[at] !== ""));
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain(`${total} of ${total} \`ready\` reports`);
  });
});
