/** What tokens call themselves, and which standard they answer to. */
import { describe, expect, it } from "vitest";
import { Address } from "../../rooms/primitives.js";
import { read, standards, tokens } from "../../rooms/steps.js";
import { decimals, name, supportsInterface, symbol, unseen } from "../../rooms/witness.js";
import { alice, answer, answered, bob, hexOf, native, seeing, token, type Row } from "../parts.js";
import { at } from "./arbitrary.js";

const text = (said: string) => answer(`0x${Buffer.from(said).toString("hex").padEnd(64, "0")}`);
const supports = (id: string, says = 1n) => [supportsInterface(token, hexOf(id)), answered(says)] as const;
const erc20 = [decimals(token), answered(6n)] as const;

describe("the standard of a token", () => {
  const of = (...rows: ReadonlyArray<Row>) => standards([token], seeing(...rows)).get(token);
  it("is by ERC-165, else an ERC-20 where it has decimals, else unknown", () => {
    expect([of(supports("0x80ac58cd"), erc20), of(supports("0xd9b67a26"), erc20), of(supports("0x9a20483d"))]).toEqual([
      ...["erc721", "erc1155", "erc721"],
    ]);
    expect([of(erc20), of(supports("0x80ac58cd", 0n), erc20), of(supports("0x80ac58cd", 2n), erc20)]).toEqual([
      ...["erc20", "erc20", "erc20"],
    ]);
    expect([of(), of([decimals(token), answered(256n)])]).toEqual([undefined, undefined]);
  });
});

describe("a token's own name, symbol and decimals", () => {
  it("are kept as far as it gives them", () => {
    expect(read([token], seeing(erc20, [symbol(token), text("GLD")]))).toEqual([
      { token, name: null, symbol: "GLD", decimals: 6 },
    ]);
    expect(read([token], unseen)).toEqual([]);
  });
  it("are remembered for name and symbol, with decimals read again", () => {
    const known = { token, name: "Gold", symbol: "GLD", decimals: 18 };
    expect(read([token], seeing(erc20, [name(token), text("Lead")]), [known])).toEqual([{ ...known, decimals: 6 }]);
    expect(read([token], unseen, [known])).toEqual([{ ...known, decimals: null }]);
    expect(read([token], unseen, [{ ...known, token: at("7") }])).toEqual([]);
  });
});

describe("the tokens whose names are read", () => {
  const [stranger, seventh, eighth] = [at("3"), at("7"), at("8")];
  const moving = (of: Address, from: Address, to: Address) => ({ token: of, from, to });
  const granting = (of: Address, owner: Address) => ({ token: of, owner });
  it("are those asked for, moved, and given rights over, each once, up to a limit", () => {
    const moved = [native(0, alice, bob, 1n), moving(token, stranger, bob), moving(seventh, stranger, bob)];
    const read = (limit: number) =>
      tokens([alice], [{ token: eighth }], moved, [granting(token, stranger), granting(at("9"), stranger)], limit);
    expect(read(9)).toEqual({ kept: [eighth, token, seventh, at("9")], cut: 0 });
    expect(read(2)).toEqual({ kept: [eighth, token], cut: 2 });
  });
  it("are first those that leave the senders, then those they grant, then those that reach them", () => {
    const dummies = Array.from({ length: 48 }, (_, index) =>
      moving(Address.make(`0x${"99".repeat(19)}${index + 10}`), stranger, bob),
    );
    const moved = [...dummies, moving(eighth, stranger, alice), moving(token, alice, stranger)];
    const { kept, cut } = tokens([alice], [], moved, [granting(seventh, alice)], 48);
    expect(kept.slice(0, 4)).toEqual([token, seventh, eighth, dummies[0]?.token]);
    expect([kept.length, cut]).toEqual([48, 3]);
  });
});
