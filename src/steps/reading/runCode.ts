/** The code that ran, as `eth_getCode` told it and the witness saw it. Pure. */
import { keccak256 } from "../../primitives/bytes.js";
import type { Address, Hash, Hex } from "../../primitives/hex.js";
import type { WitnessAnswer } from "../../witness/answers.js";
import { successOf } from "./askResult.js";
import { instructionsIn } from "./blockReads.js";
import type { Facts } from "./answers.js";

/** The views in front of the transactions and behind them. */
export type Sights = Pick<Facts, "before" | "after">;

const nothing = keccak256("0x") as Hash;
/** The hash of code as the witness saw it; whoever does not exist has code of no bytes, too. */
const hashOf = (seen: WitnessAnswer<"account"> | null): Hash | null =>
  seen === null ? null : seen.codeSize === 0n ? nothing : seen.codeHash;

/** True if the code of an account is another behind the transactions than in front of them, or was seen there alone. */
export const isCodeChanged = (account: Address, { before, after }: Sights): boolean =>
  hashOf(before.account(account)) !== hashOf(after.account(account));

/** The hash of an account's code, in front of the transactions and behind them; null = nobody saw it, or it changed. */
export const codeHashIn = (account: Address, sights: Sights): Hash | null =>
  isCodeChanged(account, sights) ? null : hashOf(sights.before.account(account));

/** The code of an account in front of the transactions and behind them; null = it was not read, or it changed. */
export const codeIn = (account: Address, facts: Sights & Pick<Facts, "codes">): Hex | null => {
  const code = successOf(facts.codes.get(account));
  return code !== null && keccak256(code) === codeHashIn(account, facts) ? code : null;
};

/** True if code may run other code in its own place: by DELEGATECALL or CALLCODE, or as a delegated account. */
export const mayBorrow = (code: Hex): boolean => {
  const instructions = instructionsIn(code);
  return code.startsWith("0xef") || instructions.has(0xf4) || instructions.has(0xf2);
};
