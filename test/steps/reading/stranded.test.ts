/** Tokens that a call sends to their own contract. */
import { encodeFunctionData, erc20Abi } from "viem";
import { describe, expect, it } from "vitest";
import type { Address } from "../../rooms/primitives.js";
import type { Transfer } from "../../rooms/report.js";
import { burns, checkStranded } from "../../rooms/steps.js";
import { alice, bob, bundle, codes, filled, hexOf, outcome, token } from "../parts.js";
import { at } from "./arbitrary.js";

const moved = (from: Address, to: Address, amount = 5n): Transfer => ({
  ...{ standard: "erc20", token, from, to, amount, tokenId: null, transaction: 0, evidence: "logged" },
});
const sending = (to: Address) => hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, 5n] }));
const pulling = (to: Address) =>
  hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [bob, to, 5n] }));
const check = (data: ReturnType<typeof sending>, transfers: ReadonlyArray<Transfer>, to: Address = token) =>
  codes(
    checkStranded(
      bundle({ to, data }).map((one) => filled(one, { outcome: outcome() })),
      transfers,
    ),
  );

const word = (value: Address) => value.slice(2).padStart(64, "0");
const dead: Address = `0x${"dead".padStart(40, "0")}`;

describe("tokens sent to their own contract", () => {
  it("give one warning where the calldata asks for it", () => {
    expect(check(sending(token), [moved(alice, token)])).toEqual(["TokensStranded/warning"]);
    expect(check(sending(token), [moved(alice, token), moved(token, at("0"), 4n)])).toEqual(["TokensStranded/warning"]);
    expect(check(pulling(token), [moved(bob, token), moved(bob, token)])).toEqual(["TokensStranded/warning"]);
  });
  it("give none where the token takes a fee or a stake of its own, passes them on, or another contract is called", () => {
    expect(check(sending(bob), [moved(alice, bob), moved(alice, token, 1n)])).toEqual([]);
    expect(check(sending(token), [moved(alice, token), moved(token, at("0"))])).toEqual([]);
    expect(check(sending(at("5")), [moved(alice, token)], at("5"))).toEqual([]);
    expect(check("0x1234", [moved(alice, token)])).toEqual([]);
    // a batch of no ids names its receiver all the same
    expect(check(hexOf(`0x2eb2c2d6${word(alice)}${word(bob)}`), [moved(alice, token)])).toEqual([]);
    expect(check(hexOf(`0x2eb2c2d6${word(alice)}${word(token)}`), [moved(alice, token)])).toEqual([
      "TokensStranded/warning",
    ]);
  });
  it("give a warning at an address that nobody controls, by a batch without ids, too", () => {
    const data = hexOf(`0x2eb2c2d6${word(alice)}${word(dead)}`);
    const [one] = bundle({ to: token, data });
    const ran = { ...filled(one, { outcome: outcome() }), transfers: [moved(alice, dead)] };
    expect(codes(burns(ran))).toEqual(["ValueBurned/warning"]);
  });
});
