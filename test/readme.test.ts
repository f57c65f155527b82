/** The README shows what is true: its sample is a file, its report is what the sample prints. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runSample } from "../scripts/readme.js";
import { root } from "./harness/sources.js";

const readme = readFileSync(join(root, "README.md"), "utf8");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? "";

/** Numbers, times and hashes differ from run to run, and with them the line breaks. */
const shape = (text: string) =>
  text
    .replace(/0x[0-9a-f]{64}/g, "0x…")
    .replace(/\d+(?:[.,:-]\d+)*/g, "#")
    .replace(/\s+/g, " ")
    .trim();

describe("README.md", () => {
  it("shows examples/first.ts as it is", () => {
    expect(block("ts")).toBe(readFileSync(join(root, "examples/first.ts"), "utf8"));
  });

  it("shows what that prints", async () => {
    const { stdout, stderr, status } = await runSample();
    expect([stderr, status]).toEqual(["", 0]);
    expect(shape(block("text"))).toBe(shape(stdout));
  });

  it("links to files that exist", () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path ?? "");
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
