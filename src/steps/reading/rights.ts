/** Which rights to look at, as logs and calldata tell of them, and what the witness reads about them. Pure. */
import type { Hex } from "../../primitives/hex.js";
import {
  allowance,
  getApproved,
  isApprovedForAll,
  permit2Allowance,
  totalSupply,
  type Call,
  type Query,
} from "../../witness/queries.js";
import { rightsIn, type Right } from "./approvalLogs.js";
import type { Case, Ran } from "./bundle.js";
import { rightsAsked } from "./calldata.js";

export const keyOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): string =>
  `${standard}/${token}/${keeper}/${owner}/${spender}/${tokenId ?? ""}/${operator}`;

/** Whom and what a right is about, whatever the standard: an event and a call that tell of the same. */
const aboutOf = ({ token, keeper, owner, spender, operator, transaction }: Right): string =>
  `${transaction}/${token}/${keeper}/${owner}/${spender}/${operator}`;

/** The rights that the calldata of one transaction asks for. */
export const askedBy = ({ input: { from, to, data }, index }: Case): ReadonlyArray<Right> =>
  to === null ? [] : rightsAsked({ from, to, data: data.toLowerCase() as Hex }, index);

/** Every right that logs and calldata tell of, the last word of each, at most `limit`; what events tell comes first. */
export const rights = (
  bundle: ReadonlyArray<Ran>,
  limit: number,
): { readonly kept: ReadonlyArray<Right>; readonly cut: number } => {
  const worked = bundle.filter(({ outcome }) => outcome.status === "success");
  const told = worked.flatMap(({ outcome, index }) => rightsIn(outcome.logs, index));
  const known = new Set(told.map(aboutOf));
  const silent = worked.flatMap((one) => askedBy(one).filter((right) => !known.has(aboutOf(right))));
  const all = new Map<string, Right>();
  for (const right of [...told, ...silent]) all.set(keyOf(right), right);
  const kept = [...all.values()].slice(0, limit);
  return { kept, cut: all.size - kept.length };
};

/** `more` behind `known`, each right once. */
export const union = (known: ReadonlyArray<Right>, more: ReadonlyArray<Right>): ReadonlyArray<Right> => {
  // why: the last run has the last word on what is said; the order is that of the first
  const all = new Map(known.map((right) => [keyOf(right), right]));
  for (const right of more) all.set(keyOf(right), right);
  return [...all.values()];
};

/** Rights that are not among `known`. */
export const newIn = (known: ReadonlyArray<Right>, found: ReadonlyArray<Right>): ReadonlyArray<Right> => {
  const keys = new Set(known.map(keyOf));
  return found.filter((right) => !keys.has(keyOf(right)));
};

export const queryOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): Call => {
  if (standard === "permit2") return permit2Allowance(keeper, owner, token, spender);
  if (operator) return isApprovedForAll(token, owner, spender);
  return tokenId === null ? allowance(token, owner, spender) : getApproved(token, tokenId);
};

/** A right whose shape leaves open what it is, is asked about in both ways. */
const readings = (right: Right): ReadonlyArray<Right> =>
  right.open === null
    ? [right]
    : [
        { ...right, standard: "erc20", tokenId: null },
        { ...right, standard: "erc721", tokenId: right.open },
      ];

/** Whether the right is over an amount that a supply can be compared with. */
const isOverAmount = ({ standard, operator, tokenId, open }: Right): boolean =>
  standard === "permit2" || (standard === "erc20" && !operator && tokenId === null) || open !== null;

/** What the witness reads, before and after alike, how much there is of what is granted, and who the spenders are. */
export const queries = (asked: ReadonlyArray<Right>): ReadonlyArray<Query> => [
  ...asked.flatMap(readings).map(queryOf),
  ...[...new Set(asked.filter(isOverAmount).map(({ token }) => token))].map(totalSupply),
  ...[...new Set(asked.map(({ spender }) => spender))].map((address): Query => ({ kind: "account", address })),
];
