/** The bench writes what it measured, and leaves what people wrote beside it. */
import { describe, expect, it } from "vitest";
import { atMost, goalsTable } from "../../bench/goals.js";
import { withMeasured } from "../../bench/readme.js";

const goals = [
  atMost("CPU of `scan`", 2.2, " × h", 2.5, "2.5"),
  atMost("CPU of `preflight`", 4.3, " × h", 4.3, "4.3"),
  atMost("requests", 8, "", 9, "9"),
];
const before = `Speed

<!-- bench -->

an old table

- **CPU of \`scan\`**: the simulated logs are decoded twice.
- **CPU of \`preflight\`**: was missed once.

<!-- /bench -->

Accuracy
`;

describe("withMeasured", () => {
  it("keeps the reasons for what is still missed, and names what has none", () => {
    const { readme, unexplained } = withMeasured(before, "a new table", goals);
    expect(readme).toBe(
      before.replace("an old table", "a new table").replace("- **CPU of `preflight`**: was missed once.\n", ""),
    );
    expect(unexplained).toEqual(["requests"]);
  });

  it("keeps one line for several goals missed for one reason, without those that are met", () => {
    const together = "- **CPU of `scan`**, **CPU of `preflight`**, **requests**: as on an empty block";
    const { readme, unexplained } = withMeasured(`<!-- bench -->\n\n${together}\n\n<!-- /bench -->`, "a table", goals);
    expect(readme).toContain("- **CPU of `scan`**, **requests**: as on an empty block");
    expect(unexplained).toEqual([]);
  });

  it("writes the same when it is run again", () => {
    const { readme } = withMeasured(before, "a new table", goals);
    expect(withMeasured(readme, "a new table", goals).readme).toBe(readme);
  });
});

describe("goalsTable", () => {
  it("says what is met, what is missed, and what is measured elsewhere", () => {
    const elsewhere = { name: "memory", limit: "< 512 MiB", value: "a command", met: null };
    expect(
      goalsTable([...goals, elsewhere])
        .split("\n")
        .slice(2),
    ).toEqual([
      "| CPU of `scan` | ≤ 2.2 × h | 2.5 | MISSED |",
      "| CPU of `preflight` | ≤ 4.3 × h | 4.3 | met |",
      "| requests | ≤ 8 | 9 | MISSED |",
      "| memory | < 512 MiB | a command | by another script |",
    ]);
  });

  it("counts what could not be measured as missed", () => {
    expect(atMost("size", 30, " kB", Number.NaN, "NaN kB").met).toBe(false);
  });
});
