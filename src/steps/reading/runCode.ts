/** The code that ran, as `eth_getCode` told it and the witness saw it. Pure. */
import { keccak256 } from "viem";
import type { Address, Hash, Hex } from "../../primitives/hex.js";
import type { Answer } from "../../witness/answers.js";
import { successOf } from "./askResult.js";
import type { Facts } from "./answers.js";

/** The hash of an account's code as an account without code has it, too; null = nobody saw it, or it changed. */
export const codeHashIn = (account: Address, { before, after }: Pick<Facts, "before" | "after">): Hash | null => {
  const hashOf = (seen: Answer<"account"> | null) =>
    seen?.codeSize === 0n ? keccak256("0x") : (seen?.codeHash ?? null);
  const hash = hashOf(before.account(account));
  return hash === hashOf(after.account(account)) ? (hash as Hash | null) : null;
};

/** The code of an account in front of the transactions and behind them; null = it was not read, or it changed. */
export const codeIn = (account: Address, facts: Pick<Facts, "codes" | "before" | "after">): Hex | null => {
  const code = successOf(facts.codes.get(account));
  return code !== null && keccak256(code) === codeHashIn(account, facts) ? code : null;
};
