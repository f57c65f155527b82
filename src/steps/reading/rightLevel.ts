/** How far a right goes: what the witness reads of it, and what that says. Pure. */
import { memoize } from "effect/Function";
import type { Address } from "../../primitives/hex.js";
import { readAddress, readBool, readPermit2Allowance, readUint256 } from "../../witness/answers.js";
import type { View } from "../../witness/view.js";
import {
  allowance,
  allowance6909,
  borrowAllowance,
  getApproved,
  isApprovedForAll,
  isAuthorized,
  isOperator,
  isOperatorFor,
  permit2Allowance,
  totalSupply,
  type CallQuery as Read,
  type Query,
} from "../../witness/queries.js";
import type { Right } from "../../effects/rights.js";

/** The query for how far the right goes, made once for all runs; null: no comparable answer (offers have a price). */
export const queryOf = memoize(({ standard, token, keeper, owner, spender, tokenId, operator }: Right): Read | null => {
  if (standard === "permit2") return permit2Allowance(keeper, owner, token, spender);
  if (standard === "erc777") return isOperatorFor(token, spender, owner);
  if (standard === "aaveDebt") return borrowAllowance(token, owner, spender);
  if (standard === "morpho") return isAuthorized(token, owner, spender);
  if (standard === "cryptopunks") return null;
  if (standard === "erc6909")
    return tokenId === null ? isOperator(token, owner, spender) : allowance6909(token, owner, spender, tokenId);
  if (operator) return isApprovedForAll(token, owner, spender);
  return tokenId === null ? allowance(token, owner, spender) : getApproved(token, tokenId);
});

/** A right whose shape leaves open what it is, is asked about in both ways. */
export const readings = (right: Right): ReadonlyArray<Right> =>
  right.open === null
    ? [right]
    : [
        { ...right, standard: "erc20", tokenId: null },
        { ...right, standard: "erc721", tokenId: right.open, claim: 1n },
      ];

/** True if the right is over an amount that a supply can be compared with. */
const isOverAmount = ({ standard, operator, tokenId, open }: Right): boolean =>
  standard === "permit2" || (standard === "erc20" && !operator && tokenId === null) || open !== null;

/** Queries before and after alike: how far rights go, the supplies of what is granted, and the spenders' accounts. */
export const queries = (rights: ReadonlyArray<Right>): ReadonlyArray<Query> => [
  ...rights.flatMap(readings).flatMap((right) => queryOf(right) ?? []),
  ...[...new Set(rights.filter(isOverAmount).map(({ token }) => token))].map(totalSupply),
  ...[...new Set(rights.map(({ spender }) => spender))].map((address): Query => ({ kind: "account", address })),
];

const unread: ReturnType<typeof levelIn> = { amount: null, expiration: null, approved: null };
const flag = (value: boolean | null): bigint | null => (value === null ? null : value ? 1n : 0n);

/** Amount that an allowance permits: Permit2 refuses an ended one (AllowanceExpired), so that renewing it is new. */
export const lasting = (amount: bigint, expiration: bigint | null, { environment }: View): bigint =>
  expiration !== null && environment !== null && expiration < environment.timestamp ? 0n : amount;

/** How far a right goes at one moment, as the witness saw it; nothing is known where it did not answer, or nonsense. */
export const levelIn = (
  view: View,
  right: Right,
): {
  readonly amount: bigint | null;
  readonly expiration: bigint | null;
  /** The account that may take a single NFT. */
  readonly approved: Address | null;
} => {
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
