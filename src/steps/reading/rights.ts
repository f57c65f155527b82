/** Which rights to look at, as logs and calldata tell of them, and what the witness reads about them. Pure. */
import { taking } from "../../abi/known/rights.js";
import { permit2 } from "../../abi/known/batches.js";
import { nobody } from "../../abi/words.js";
import type { Address } from "../../primitives/hex.js";
import type { Transfer } from "../../report/parts.js";
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
  type Call,
  type Query,
} from "../../witness/queries.js";
import type { Case, Ran } from "./bundle.js";
import { rightsAsked, rightsIn, type Right } from "./grants.js";

export const keyOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): string =>
  `${standard}/${token}/${keeper}/${owner}/${spender}/${tokenId ?? ""}/${operator}`;

/** Whom and what a right is about, whatever the standard: an event and a call that tell of the same. */
const aboutOf = ({ token, keeper, owner, spender, operator, tokenId, open, transaction }: Right, by: string = keeper) =>
  `${transaction}/${token}/${by}/${owner}/${spender}/${operator}/${open === null ? tokenId : null}`;

/** Of a means nobody knows the keeper. */
const anyKeeper = "any";

/** The rights that the calldata of one transaction asks for. */
export const askedBy = ({ calls, index }: Case): ReadonlyArray<Right> => rightsAsked(calls.read, index);

/**
 * Every right that logs and calldata tell of, the last word of each, at most `limit`: over what the senders own first,
 * and what events tell before what only the calldata does.
 */
export const rights = (
  bundle: ReadonlyArray<Ran>,
  limit: number,
): { readonly kept: ReadonlyArray<Right>; readonly cut: number } => {
  const worked = bundle.filter(({ outcome }) => outcome.status === "success");
  const told = worked.flatMap(({ input, outcome, index }) =>
    rightsIn(outcome.logs, index).map((right) => (right.owner === nobody ? { ...right, owner: input.from } : right)),
  );
  const known = new Set(told.flatMap((right) => [aboutOf(right), aboutOf(right, anyKeeper)]));
  const isTold = (right: Right) => known.has(right.isMeans === true ? aboutOf(right, anyKeeper) : aboutOf(right));
  const silent = worked.flatMap((one) => askedBy(one).filter((right) => !isTold(right)));
  const all = new Map<string, Right>();
  for (const right of [...told, ...silent]) all.set(keyOf(right), right);
  const senders = new Set(bundle.map(({ input }) => input.from));
  const isForeign = ({ owner }: Right) => Number(!senders.has(owner));
  const kept = [...all.values()].sort((a, b) => isForeign(a) - isForeign(b)).slice(0, limit);
  return { kept, cut: all.size - kept.length };
};

/** How many calls of a batch are suspected of spending. */
const mostCallees = 8;

/**
 * Allowances that may have been spent without an event: of what left a sender, to the contracts that were called and to
 * the receiver, both with the token and inside Permit2; of what a sender took itself, to that sender.
 */
export const spent = (
  bundle: ReadonlyArray<Case>,
  transfers: ReadonlyArray<Transfer>,
  limit: number,
): ReadonlyArray<Right> => {
  const senders = new Set(bundle.map(({ input }) => input.from));
  const found = new Map<string, Right>();
  for (const { standard, token, from: owner, to: receiver, transaction } of transfers) {
    const one = bundle[transaction];
    if (standard !== "erc20" || token === null || owner === nobody || one === undefined || one.input.to === null)
      continue;
    const { from, to, data } = one.input;
    const keeper = taking.has(data.slice(0, 10).toLowerCase()) ? to : permit2;
    const callees = [to, ...one.calls.read.slice(0, mostCallees).map((call) => call.to)];
    const isTaken = to === token || to === keeper;
    const spenders = new Set(senders.has(owner) ? [from, ...callees, receiver] : isTaken ? [from] : []);
    const add = (by: "erc20" | "permit2", spender: Address) => {
      const right: Right = {
        ...{ standard: by, token, keeper: by === "permit2" ? keeper : token, owner, spender, tokenId: null },
        ...{ operator: false, open: null, said: 0n, expiration: null, source: "spent", transaction },
      };
      found.set(keyOf(right), right);
    };
    const isDirect = to === token;
    for (const spender of isDirect ? spenders : [...spenders, keeper]) {
      if (spender === owner || spender === token || spender === nobody || spenders.size === 0) continue;
      add("erc20", spender);
      if (spender !== keeper && !isDirect) add("permit2", spender);
    }
  }
  return [...found.values()].slice(0, limit);
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

/** What tells how far the right goes; null where no answer is comparable (an offer has a price). */
export const queryOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): Call | null => {
  switch (standard) {
    case "permit2":
      return permit2Allowance(keeper, owner, token, spender);
    case "erc6909":
      return tokenId === null ? isOperator(token, owner, spender) : allowance6909(token, owner, spender, tokenId);
    case "erc777":
      return isOperatorFor(token, spender, owner);
    case "aaveDebt":
      return borrowAllowance(token, owner, spender);
    case "morpho":
      return isAuthorized(token, owner, spender);
    case "cryptopunks":
      return null;
    default:
      if (operator) return isApprovedForAll(token, owner, spender);
      return tokenId === null ? allowance(token, owner, spender) : getApproved(token, tokenId);
  }
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
  ...asked.flatMap(readings).flatMap((right) => queryOf(right) ?? []),
  ...[...new Set(asked.filter(isOverAmount).map(({ token }) => token))].map(totalSupply),
  ...[...new Set(asked.map(({ spender }) => spender))].map((address): Query => ({ kind: "account", address })),
];
