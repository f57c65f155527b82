/**
 * Code in place of the precompile ECRECOVER (0x01) that answers for signatures nobody has given yet: of a digest that it knows
 * it says who will sign, of any other it asks the true precompile, which the same override has moved. Pure.
 */
import type { Address, Hash, Hex } from "../primitives/hex.js";

/** A signature that is taken for given: whoever asks for `digest` is answered `signer`. */
export interface AssumedSignature {
  readonly digest: Hash;
  readonly signer: Address;
}

/** ECRECOVER. */
export const ecrecover: Address = "0x0000000000000000000000000000000000000001";

const place = (value: number): string => value.toString(16).padStart(4, "0");

// CALLDATACOPY of everything, STATICCALL(gas, moved, 0, CALLDATASIZE, 0, 32), RETURN(0, RETURNDATASIZE)
const passOn = (moved: Address): string => `3660006000376020600036600073${moved.slice(2)}5afa503d6000f3`;
// PUSH32 digest, CALLDATALOAD(0), EQ, PUSH2 of the answer's place, JUMPI
const test = (digest: Hash, at: number): string => `7f${digest.slice(2)}6000351461${place(at)}57`;
// JUMPDEST, KECCAK256 of 305 words, which takes what the precompile would, POP, and the signer returned as a word
const answer = (signer: Address): string => `5b6126206000205073${signer.slice(2)}60005260206000f3`;
const sizes = { test: 41, answer: 37 } as const;

/** The code for these signatures, in which each digest stands once. */
export const shimCode = (assumed: ReadonlyArray<AssumedSignature>, moved: Address): Hex => {
  const pass = passOn(moved);
  const start = assumed.length * sizes.test + pass.length / 2;
  const tests = assumed.map(({ digest }, index) => test(digest, start + index * sizes.answer));
  return `0x${tests.join("")}${pass}${assumed.map(({ signer }) => answer(signer)).join("")}`;
};

/** A signature that somebody gave, of keccak256 of nothing by the key 1: the true precompile finds its signer. */
export const given = {
  digest: "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
  v: 28n,
  r: "0x03925438bf9bdfed9cb8d9d9467f8fc624f389846f0db71f4f5c84b483077da6",
  s: "0x2ca68cb1027ace392bc6a84fe0ba29288aa07942f571f56201dd33c009ee3886",
  signer: "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
} as const;
