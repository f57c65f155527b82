/** The rights that a run gives or may have used: chosen for measuring among those that it tells of. Pure. */
import { permit2 } from "../../abi/known/batches.js";
import { nobody } from "../../abi/words.js";
import { effectsIn } from "../../effects/effects.js";
import type { Right } from "../../effects/rights.js";
import type { Address } from "../../primitives/hex.js";
import type { Transfer } from "../../report/parts.js";
import { ownAccounts, workedIn, type Case, type Ran } from "./bundle.js";

export const keyOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): string =>
  `${standard}/${token}/${keeper}/${owner}/${spender}/${tokenId ?? ""}/${operator}`;

/** The parties and the object of a right, whatever the standard: the same by an event and by a call. */
const aboutOf = ({ token, keeper, owner, spender, operator, tokenId, open, transaction }: Right, by: string = keeper) =>
  `${transaction}/${token}/${by}/${owner}/${spender}/${operator}/${open === null ? tokenId : null}`;

/** Stands for the keeper of a means, which nobody knows. */
const anyKeeper = "any";

/**
 * Every right that logs and calldata tell of, the last word of each, at most `limit`: over what the senders own first,
 * and what events tell before what only the calldata does.
 */
export const rights = (bundle: ReadonlyArray<Ran>, limit: number) => {
  const worked = workedIn(bundle);
  const announced = worked.flatMap((entry) =>
    effectsIn([entry], "right").map((right) =>
      right.owner === nobody ? { ...right, owner: entry.input.from } : right,
    ),
  );
  const known = new Set(announced.flatMap((right) => [aboutOf(right), aboutOf(right, anyKeeper)]));
  const isTold = (right: Right) => known.has(right.isMeans === true ? aboutOf(right, anyKeeper) : aboutOf(right));
  const silent = effectsIn(worked, "request").filter((right) => !isTold(right));
  const all = new Map<string, Right>();
  for (const right of [...announced, ...silent]) all.set(keyOf(right), right);
  const senders = new Set(ownAccounts(bundle));
  const isForeign = ({ owner }: Right) => Number(!senders.has(owner));
  const kept = [...all.values()].sort((a, b) => isForeign(a) - isForeign(b)).slice(0, limit);
  return { kept, cut: all.size - kept.length };
};

/** A right that nothing tells of, and that may be there; `keeper` = the Permit2 that it may be with. */
export const unsaid = (
  standard: "erc20" | "erc721" | "permit2",
  { token, owner, spender }: Pick<Right, "token" | "owner" | "spender">,
  keeper: Address = permit2,
): Right => ({
  ...{ standard, token, owner, spender, tokenId: null, operator: standard === "erc721" },
  ...{ keeper: standard === "permit2" ? keeper : token, open: null, claim: 0n, expiration: null },
  ...{ seen: "nowhere", transaction: 0 },
});

/** How many calls of a batch are suspected of spending. */
const mostCallees = 8;

/** Allowances by which one movement of a token may have been made. */
const usedFor = (
  entry: Case,
  { token, from: owner, to: receiver }: Transfer & { readonly token: Address },
  senders: ReadonlySet<Address>,
): ReadonlyArray<Right> => {
  const { from, to } = entry.input;
  if (to === null || owner === nobody) return [];
  const keeper = effectsIn([entry], "call")[0]?.row.isTaking === true ? to : permit2;
  const callees = [to, ...entry.calls.read.slice(0, mostCallees).map((call) => call.to)];
  const isTaken = to === token || to === keeper;
  const spenders = senders.has(owner) ? [from, ...callees, receiver] : isTaken ? [from] : [];
  if (spenders.length === 0) return [];
  const isDirect = to === token;
  const all = new Set(isDirect ? spenders : [...spenders, keeper]);
  return [...all]
    .filter((spender) => spender !== owner && spender !== token && spender !== nobody)
    .flatMap((spender) => {
      const standards = spender !== keeper && !isDirect ? (["erc20", "permit2"] as const) : (["erc20"] as const);
      return standards.map((each) => ({
        ...unsaid(each, { token, owner, spender }, keeper),
        transaction: entry.index,
      }));
    });
};

/**
 * Allowances that may have been spent without an event: of what left a sender, to the contracts that were called and to
 * the receiver, both with the token and inside Permit2; of what a sender took itself, to that sender.
 */
export const spent = (bundle: ReadonlyArray<Case>, transfers: ReadonlyArray<Transfer>, limit: number) => {
  const senders = new Set(ownAccounts(bundle));
  const found = new Map<string, Right>();
  const tokens = new Set<Address>();
  for (const transfer of transfers) {
    const { standard, token, transaction } = transfer;
    const entry = bundle[transaction];
    if (standard !== "erc20" || token === null || entry === undefined) continue;
    // why: nothing of it would be kept
    if (found.size >= limit && !tokens.has(token)) continue;
    for (const right of usedFor(entry, { ...transfer, token }, senders)) {
      found.set(keyOf(right), right);
      tokens.add(token);
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
