/** The suites that `npm run test:rest` leaves out, because `npm test` has run them as they are. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { alike, beside } from "./harness/alike.js";

describe("the suites that npm run test:rest leaves out", () => {
  const left = new Set(alike());

  it("are many, and all there", () => {
    expect(left.size).toBeGreaterThan(150);
    expect([...left].filter((file) => !existsSync(file))).toEqual([]);
  });

  it.each([
    "test/net/net.test.ts",
    "test/accounts/operations.test.ts",
    "test/preflight/movedHeads.test.ts",
    "test/x402.test.ts",
    "test/page.test.ts",
    "test/nonces/anvil.test.ts",
    "test/guard/guard.test.ts",
  ])("keep %s, which does more beside the other nodes or for long", (file) => {
    expect(existsSync(file)).toBe(true);
    expect(left.has(file)).toBe(false);
  });

  it("are none of those that npm test leaves out", () => {
    expect(beside.filter((file) => !existsSync(file) || left.has(file))).toEqual([]);
    expect(beside.length).toBeGreaterThan(4);
  });

  it("ask for no program that may be left out, and read no long form of a proof", () => {
    const longer = [...left].filter((file) => /harness\/parts|TEST_ALL|OrWarn\(/.test(readFileSync(file, "utf8")));
    expect(longer).toEqual([]);
  });
});
