/** Where a header belongs, seen from what was told. */
import { describe, expect, it } from "vitest";
import { merged, placeOf, withHead, type Head, type Header, type Told } from "../../src/eth/heads.js";
import type { Hash } from "../../src/primitives/hex.js";

const hashOf = (name: string): Hash => `0x${Buffer.from(name).toString("hex").padStart(64, "0")}`;
const block = (name: string, parent: string): Header =>
  ({ number: BigInt(name.slice(1)), hash: hashOf(name), parentHash: hashOf(parent) }) as Header;
const head = (header: Header, replaced: ReadonlyArray<Header> = [], skipped = 0n): Head => ({
  ...{ header, skipped },
  replaced: replaced.map(({ number, hash }) => ({ number, hash })),
});
const told: Told = [block("a1", "a0"), block("a2", "a1"), block("a3", "a2")];

describe("a header", () => {
  it.each([
    ["a4", "a3", { is: "next", above: [] }],
    ["b4", "a2", { is: "next", above: [told[2]] }],
    ["b2", "a1", { is: "next", above: [told[1], told[2]] }],
    ["a3", "a2", { is: "known" }],
    ["a2", "a1", { is: "below", above: [told[2]] }],
    ["a1", "a0", { is: "below", above: [told[1], told[2]] }],
    ["a5", "a4", { is: "apart" }],
    ["b1", "b0", { is: "apart" }],
  ])("%s on %s", (name, parent, place) => expect(placeOf(told, block(name, parent))).toEqual(place));

  it("is the first where nothing was told", () =>
    expect(placeOf([], block("a9", "a8"))).toEqual({ is: "next", above: [] }));
});

describe("what was told", () => {
  it("forgets what is replaced and what is long ago, and holds nothing twice", () => {
    const next = withHead(told, head(block("b3", "a2"), [block("a3", "a2")]));
    expect(next.map(({ hash }) => hash)).toEqual([hashOf("a1"), hashOf("a2"), hashOf("b3")]);
    const shrunk = withHead(told, head(block("a2", "a1"), [block("a3", "a2")]));
    expect(shrunk.map(({ hash }) => hash)).toEqual([hashOf("a1"), hashOf("a2")]);
    let many: Told = [];
    for (let number = 1; number < 500; number++) many = withHead(many, head(block(`a${number}`, `a${number - 1}`)));
    expect(many.length).toBeLessThan(200);
  });
});

describe("two heads in one", () => {
  it("counts the one that nobody took", () =>
    expect(merged(head(block("a4", "a3"), [], 2n), head(block("a5", "a4")))).toEqual(head(block("a5", "a4"), [], 3n)));
  it("names what both replaced, but not what was never told", () => {
    const one = head(block("b3", "a2"), [block("a3", "a2")]);
    const two = head(block("c3", "a2"), [block("b3", "a2")]);
    expect(merged(one, two)).toEqual(head(block("c3", "a2"), [block("a3", "a2")]));
  });
});
