/** What tokens call themselves, and which standard they answer to. */
import { describe, expect, it } from "vitest";
import { read, standards, tokens } from "../../../src/steps/reading/tokens.js";
import { decimals, name, supportsInterface, symbol } from "../../../src/witness/queries.js";
import { unseen } from "../../../src/witness/view.js";
import { alice, answer, answered, bob, hexOf, native, seeing, token, type Row } from "../parts.js";
import { at } from "./arbitrary.js";

const text = (said: string) => answer(`0x${Buffer.from(said).toString("hex").padEnd(64, "0")}`);
const supports = (id: string, says = 1n) => [supportsInterface(token, hexOf(id)), answered(says)] as const;
const erc20 = [decimals(token), answered(6n)] as const;

describe("the standard of a token", () => {
  const of = (...rows: ReadonlyArray<Row>) => standards([token], seeing(...rows)).get(token);
  it("is by ERC-165, else an ERC-20 where it has decimals, else not said", () => {
    expect([of(supports("0x80ac58cd"), erc20), of(supports("0xd9b67a26"), erc20), of(supports("0x9a20483d"))]).toEqual([
      ...["erc721", "erc1155", "erc721"],
    ]);
    expect([of(erc20), of(supports("0x80ac58cd", 0n), erc20), of(supports("0x80ac58cd", 2n), erc20)]).toEqual([
      ...["erc20", "erc20", "erc20"],
    ]);
    expect([of(), of([decimals(token), answered(256n)])]).toEqual([undefined, undefined]);
  });
});

describe("what a token says of itself", () => {
  it("is kept as far as it said it, and left out where it said nothing", () => {
    expect(read([token], seeing(erc20, [symbol(token), text("GLD")]))).toEqual([
      { token, name: null, symbol: "GLD", decimals: 6 },
    ]);
    expect(read([token], unseen)).toEqual([]);
  });
  it("is remembered by name and symbol, its decimals read anew", () => {
    const known = { token, name: "Gold", symbol: "GLD", decimals: 18 };
    expect(read([token], seeing(erc20, [name(token), text("Lead")]), [known])).toEqual([{ ...known, decimals: 6 }]);
    expect(read([token], unseen, [known])).toEqual([{ ...known, decimals: null }]);
    expect(read([token], unseen, [{ ...known, token: at("7") }])).toEqual([]);
  });
});

it("tokens are those that move and those over which rights are given, each once, up to a limit", () => {
  const moved = [native(0, alice, bob, 1n), { token }, { token: at("7") }];
  expect(tokens(moved, [{ token }, { token: at("8") }], 9)).toEqual([token, at("7"), at("8")]);
  expect(tokens(moved, [{ token: at("8") }], 2)).toEqual([token, at("7")]);
});
