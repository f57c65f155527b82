/** How far a right goes, by what the witness read of it. Pure. */
import type { Address } from "../../primitives/hex.js";
import { readAddress, readBool, readPermit2Allowance, readUint256 } from "../../witness/answers.js";
import type { View } from "../../witness/view.js";
import { queryOf, type Right } from "./rights.js";

/** How far a right goes at one moment. */
export interface Level {
  readonly amount: bigint | null;
  readonly expiration: bigint | null;
  /** Of a single NFT: who may take it. */
  readonly approved: Address | null;
}

const unread: Level = { amount: null, expiration: null, approved: null };
const flag = (value: boolean | null): bigint | null => (value === null ? null : value ? 1n : 0n);

/** What an allowance lets be taken: Permit2 refuses one that has ended (AllowanceExpired), so that renewing it is a new right. */
export const lasting = (amount: bigint, expiration: bigint | null, { environment }: View): bigint =>
  expiration !== null && environment !== null && expiration < environment.timestamp ? 0n : amount;

/** What the witness saw of a right; nothing is known where it did not answer, or nonsense. */
export const levelIn = (view: View, right: Right): Level => {
  const query = queryOf(right);
  const answer = query === null ? null : view.call(query);
  if (right.standard === "permit2") {
    const read = readPermit2Allowance(answer);
    if (read === null) return unread;
    return { ...unread, amount: lasting(read.amount, read.expiration, view), expiration: read.expiration };
  }
  if (right.operator) return { ...unread, amount: flag(readBool(answer)) };
  if (right.tokenId === null || right.standard === "erc6909") return { ...unread, amount: readUint256(answer) };
  const approved = readAddress(answer);
  return { ...unread, approved, amount: flag(approved === null ? null : approved === right.spender) };
};
