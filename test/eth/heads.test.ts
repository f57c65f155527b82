/** Where a header belongs, seen from what was told. */
import { describe, expect, it } from "vitest";
import { nextHead, placeOf, emptyChain, withHeads, type ChainState, type Header } from "../rooms/eth.js";
import type { Hash } from "../rooms/primitives.js";

const hashOf = (name: string): Hash => `0x${Buffer.from(name).toString("hex").padStart(64, "0")}`;
const block = (name: string, parent: string): Header =>
  ({ number: BigInt(name.slice(1)), hash: hashOf(name), parentHash: hashOf(parent) }) as Header;
const told: ReadonlyArray<Header> = [block("a1", "a0"), block("a2", "a1"), block("a3", "a2")];

describe("the place of a header among those told", () => {
  it.each([
    ["a4", "a3", { is: "next", above: [] }],
    ["b4", "a2", { is: "next", above: [told[2]] }],
    ["b2", "a1", { is: "next", above: [told[1], told[2]] }],
    ["a3", "a2", { is: "known" }],
    ["a2", "a1", { is: "below", above: [told[2]] }],
    ["a1", "a0", { is: "below", above: [told[1], told[2]] }],
    ["a5", "a4", { is: "apart" }],
    ["b1", "b0", { is: "apart" }],
  ])("is right for %s on %s", (name, parent, place) => expect(placeOf(told, block(name, parent))).toEqual(place));

  it("is the first where none was told", () =>
    expect(placeOf([], block("a9", "a8"))).toEqual({ is: "next", above: [] }));
});

const room: Parameters<typeof withHeads>[3] = { heads: 1, fill: 4 };
/** `a1 a2` = blocks of a chain that forks at the same heights as others; the first one's parent is `parent`. */
const chain = (parent: string, ...names: ReadonlyArray<string>): ReadonlyArray<Header> =>
  names.map((name, index) => block(name, names[index - 1] ?? parent));
const put = (
  followed: ChainState,
  blocks: ReadonlyArray<Header>,
  gone: ReadonlyArray<Header> = [],
  within = room,
): ChainState => withHeads(followed, blocks, gone, within);
const nameOf = (hash: string): string => Buffer.from(hash.slice(2), "hex").toString().replaceAll("\0", "");
/** Everything that waits, as `name -replaced +skipped`. */
const taken = (followed: ChainState): { readonly words: ReadonlyArray<string>; readonly followed: ChainState } => {
  const words: Array<string> = [];
  let left = followed;
  for (let one = nextHead(left); one !== null; one = nextHead(left)) {
    left = one.followed;
    if (one.head === null) continue;
    const { header, replaced, skipped } = one.head;
    const gone = replaced.map(({ hash }) => ` -${nameOf(hash)}`).join("");
    words.push(`${nameOf(header.hash)}${gone}${skipped > 0n ? ` +${skipped}` : ""}`);
  }
  return { words, followed: left };
};
const at3 = taken(put(emptyChain, [block("a1", "a0")])).followed;
const [a2, a3, a4, a5, b2, b3] = [
  ...chain("a1", "a2", "a3", "a4", "a5"),
  ...chain("a1", "b2", "b3"),
] as unknown as readonly [Header, Header, Header, Header, Header, Header];

describe("a subscriber of heads", () => {
  it("gets each block that fills a gap, also when it takes them late", () =>
    expect(taken(put(at3, [a2, a3, a4, a5])).words).toEqual(["a2", "a3", "a4", "a5"]));

  it("gets the newest head when it is slow, beside blocks that fill gaps, and how many were left out", () => {
    const slow = [a2, a3, a4, a5].reduce((followed, one) => put(followed, [one]), at3);
    expect(taken(slow).words).toEqual(["a5 +3"]);
    expect(taken(put(put(put(at3, [a2, a3]), [a4]), [a5])).words).toEqual(["a2", "a5 +2"]);
    const patient = [a2, a3, a4, a5].reduce((followed, one) => put(followed, [one], [], { heads: 3, fill: 0 }), at3);
    expect(taken(patient).words).toEqual(["a3 +1", "a4", "a5"]);
  });

  it("gets only as many heads as there is room for, the newest", () => {
    const many = chain("a1", ...Array.from({ length: 9 }, (_, index) => `a${index + 2}`));
    const short = (blocks: ReadonlyArray<Header>) => put(put(at3, blocks.slice(0, 4)), blocks.slice(4));
    expect(taken(short(many)).words).toEqual(["a10 +8"]);
  });

  it("gets replaced blocks only if it was told of them", () => {
    expect(taken(put(put(at3, [a2]), [b2], [a2])).words).toEqual(["b2"]);
    const told = taken(put(at3, [a2])).followed;
    expect(taken(put(put(told, [a3]), [b2, b3], [a2, a3])).words).toEqual(["b2 -a2", "b3"]);
    expect(taken(put(put(told, [a3]), [b3], [a2, a3])).words).toEqual(["b3 -a2 +1"]);
  });

  it("gets nothing of a branch that came and went", () => {
    const told = taken(put(at3, [a2])).followed;
    const back = put(put(told, [b2], [a2]), [a2], [b2]);
    expect(taken(back).words).toEqual([]);
    expect(taken(put(back, [a3])).words).toEqual(["a3"]);
  });

  it("gets the remaining block again when the chain drops those above it", () => {
    const told = taken(put(at3, [a2, a3, a4])).followed;
    const shrunk = taken(put(told, [a2], [a3, a4]));
    expect(shrunk.words).toEqual(["a2 -a4 -a3"]);
    expect(taken(put(shrunk.followed, [a3])).words).toEqual(["a3"]);
  });

  it("is told of replaced blocks, and how many more it does not get, when nothing above is known any more", () => {
    const told = taken(put(at3, [a2, a3])).followed;
    expect(taken(put(told, chain("x", "c9"), [block("a1", "a0"), a2, a3])).words).toEqual(["c9 -a3 -a2 -a1 +8"]);
  });

  it("gets the first head though another came before it took that", () =>
    expect(taken(put(put(emptyChain, [a2]), [a3])).words).toEqual(["a2", "a3"]));

  it("gets no heads of long ago", () => {
    const far = chain("x", "c900");
    const { words, followed: told } = taken(put(taken(put(at3, [a2, a3])).followed, far));
    expect(words).toEqual(["c900 +896"]);
    expect([told.seen, told.told].map((all) => all.map(({ hash }) => nameOf(hash)))).toEqual([["c900"], ["c900"]]);
    expect(taken(put(told, chain("c900", "c901"))).words).toEqual(["c901"]);
  });
});
