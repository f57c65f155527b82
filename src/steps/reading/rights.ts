/** Rights out of logs, and of calldata that a token may be silent about, by `abi/known/rights`. Pure. */
import { taking, everything, grants, rightEvents, type RightRow } from "../../abi/known/rights.js";
import { permit2 } from "../../abi/known/batches.js";
import {
  nobody,
  eventOf,
  valueBy,
  valuesOf,
  addressOf,
  argumentsAt,
  countAt,
  padded,
  placeOf,
  pointedAt,
  wordAt,
  wordDigits,
  wordsFrom,
} from "../../abi/words.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { Transfer, Approval, OutcomeLog } from "../../report/parts.js";
import { ownAccounts, type Case, type Ran } from "./bundle.js";
import { memoizeList } from "../../primitives/record.js";
import type { Call } from "../../abi/batches.js";
import type { Standards } from "./transferLogs.js";

/** One right to look at; `owner`: nobody where the event does not say (CryptoPunks), `expiration`: as said. */
export interface Right extends Pick<
  Approval,
  "standard" | "token" | "owner" | "spender" | "tokenId" | "expiration" | "transaction"
> {
  /** An operator of everything, as against one amount or one NFT. */
  readonly operator: boolean;
  /** The keeper of the right: the token itself, or a Permit2. */
  readonly keeper: Address;
  /** The amount or id, where the shape leaves open which of the two it is. */
  readonly open: bigint | null;
  /** The value in the event or the calldata: an amount, or 1 and 0. */
  readonly claim: bigint;
  /** `call`: only the calldata tells of it. `spent`: nothing does, but it may have been used. */
  readonly source: "event" | "call" | "spent";
  /** True if the call that tells of it is made by a router, which does not say who keeps it. */
  readonly isMeans?: boolean;
}

/**
 * The right that values tell of; null where there are too few. `whose`: who gives and gets it over what where no value
 * says it, and by what it is known.
 */
const rightOf = (
  { standard, values: roles, said }: RightRow,
  values: ReadonlyArray<bigint>,
  whose: Pick<Right, "keeper" | "owner" | "spender" | "source" | "transaction">,
): Right | null => {
  if (values.length < roles.length) return null;
  const valueAs = valueBy(roles, values);
  const partyAs = (role: "owner" | "spender" | "token", otherwise: Address): Address => {
    const value = valueAs(role);
    return value === null ? otherwise : addressOf(value);
  };
  const [flag, open] = [valueAs("flag"), valueAs("open")];
  const set = flag ?? valueAs("all");
  const token = partyAs("token", whose.keeper);
  const { source, transaction } = whose;
  // why: written out, for of thousands the spreading of objects is what takes time
  return {
    standard,
    token,
    owner: partyAs("owner", whose.owner),
    spender: partyAs("spender", whose.spender),
    source,
    transaction,
    keeper: standard === "permit2" ? whose.keeper : token,
    tokenId: valueAs("id"),
    operator: flag !== null || standard === "erc777",
    open,
    claim: open ?? valueAs("amount") ?? (set === null ? said : set === 0n ? 0n : flag === null ? everything : 1n),
    expiration: valueAs("expiration"),
  };
};

/** Settles the open value of Approval(address,address,uint256) by topics: an ERC-20 indexes two, an ERC-721 three. */
const settled = (right: Right | null, { topics }: OutcomeLog): Right | null => {
  if (right === null || right.open === null || topics.length < 3) return right;
  return topics.length === 3 ? { ...right, open: null } : asNft(right, right.open);
};

const asNft = (right: Right, id: bigint): Right => ({
  ...{ ...right, standard: "erc721", tokenId: id, claim: BigInt(right.spender !== nobody) },
});

/** The rights that the logs of a first transaction tell of, in their order; read again by each that compares runs. */
const rightsToldIn = memoizeList((logs: ReadonlyArray<OutcomeLog>): ReadonlyArray<Right> =>
  logs.flatMap((log) => {
    const row = rightEvents[eventOf(log) ?? ""];
    if (row === undefined) return [];
    const keeper = log.address.toLowerCase() as Address;
    const whose = { keeper, owner: nobody, spender: nobody, source: "event", transaction: 0 } as const;
    return settled(rightOf(row, valuesOf(log, row.values.length), whose), log) ?? [];
  }),
);

/** The rights one transaction's logs tell of, in their order. */
export const rightsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Right> =>
  transaction === 0 ? rightsToldIn(logs) : rightsToldIn(logs).map((right) => ({ ...right, transaction }));

/** True if an event of this kind tells of a right. */
export const tellsOfRight = (signature: string): boolean => rightEvents[signature] !== undefined;

/** Digits of one grant of a Permit2 batch. */
const grantDigits = 4 * wordDigits;

/** Finds the values of a Permit2 batch's rights, behind its owner and its list, with the owner and the spender. */
const batchIn = (data: Hex) => {
  const batch = pointedAt(data, placeOf(1), argumentsAt);
  const list = pointedAt(data, batch, batch);
  const [owner, spender] = [wordAt(data, placeOf(0)), wordAt(data, placeOf(1, batch))];
  const first = placeOf(1, list) ?? data.length;
  // why: a list that is longer than the calldata is refused
  const room = Math.max(0, Math.floor((data.length - first) / grantDigits));
  const length = spender === null ? 0 : Math.min(countAt(data, list) ?? 0, room);
  const places = Array.from({ length }, (_, index) => first + index * grantDigits);
  return { places, owner: addressOf(owner ?? 0n), spender: addressOf(spender ?? 0n) };
};

/** Rights that one call says it grants, by its selector. */
const grantsOf = ({ from, to, data, isMeans }: Call, transaction: number): ReadonlyArray<Right> => {
  const row = grants[data.slice(0, argumentsAt)];
  if (row === undefined) return [];
  const own = { places: [argumentsAt], owner: from, spender: row.isTaken === true ? to : nobody };
  const isList = row.isList === true;
  const { places, owner, spender } = isList ? batchIn(data) : own;
  const whole = isList ? data : padded(data, row.values.length);
  return places.flatMap((at) => {
    const values = wordsFrom(whole, at, row.values.length);
    const right = rightOf(row, values, { keeper: to, owner, spender, source: "call", transaction });
    return right === null ? [] : isMeans === true ? { ...right, isMeans } : right;
  });
};

/** True if calldata is a signed permit: anybody may have used it before. */
export const isPermit = (data: Hex): boolean => grants[data.slice(0, argumentsAt).toLowerCase()]?.isPermit === true;

/** The rights that calls ask for, as their calldata says. */
export const calldataRights = (calls: ReadonlyArray<Call>, transaction: number): ReadonlyArray<Right> =>
  calls.flatMap((call) => grantsOf(call, transaction));

/** The right by what its token answers, where the shape leaves it open. */
export const settleRight = (right: Right, standards: Standards): Right => {
  const standard = standards.get(right.token);
  if (standard === undefined || (right.standard !== "erc20" && right.standard !== "erc721")) return right;
  if (right.operator) return standard === "erc1155" ? { ...right, standard: "erc1155" } : right;
  if (right.open === null) return right;
  if (standard === "erc20") return { ...right, standard: "erc20", tokenId: null, claim: right.open };
  return standard === "erc721" ? asNft(right, right.open) : right;
};

export const keyOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): string =>
  `${standard}/${token}/${keeper}/${owner}/${spender}/${tokenId ?? ""}/${operator}`;

/** The parties and the object of a right, whatever the standard: the same by an event and by a call. */
const aboutOf = ({ token, keeper, owner, spender, operator, tokenId, open, transaction }: Right, by: string = keeper) =>
  `${transaction}/${token}/${by}/${owner}/${spender}/${operator}/${open === null ? tokenId : null}`;

/** Stands for the keeper of a means, which nobody knows. */
const anyKeeper = "any";

/** The rights that the calldata of one transaction asks for. */
export const requestedRights = ({ calls, index }: Case): ReadonlyArray<Right> => calldataRights(calls.read, index);

/**
 * Every right that logs and calldata tell of, the last word of each, at most `limit`: over what the senders own first,
 * and what events tell before what only the calldata does.
 */
export const rights = (
  bundle: ReadonlyArray<Ran>,
  limit: number,
): { readonly kept: ReadonlyArray<Right>; readonly cut: number } => {
  const worked = bundle.filter(({ outcome }) => outcome.status === "success");
  const announced = worked.flatMap(({ input, outcome, index }) =>
    rightsIn(outcome.logs, index).map((right) => (right.owner === nobody ? { ...right, owner: input.from } : right)),
  );
  const known = new Set(announced.flatMap((right) => [aboutOf(right), aboutOf(right, anyKeeper)]));
  const isTold = (right: Right) => known.has(right.isMeans === true ? aboutOf(right, anyKeeper) : aboutOf(right));
  const silent = worked.flatMap((entry) => requestedRights(entry).filter((right) => !isTold(right)));
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
  ...{ source: "spent", transaction: 0 },
});

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
  const senders = new Set(ownAccounts(bundle));
  const found = new Map<string, Right>();
  const tokens = new Set<Address>();
  for (const { standard, token, from: owner, to: receiver, transaction } of transfers) {
    const entry = bundle[transaction];
    // why: nothing of it would be kept
    if (found.size >= limit && token !== null && !tokens.has(token)) continue;
    if (standard !== "erc20" || token === null || owner === nobody || entry === undefined || entry.input.to === null)
      continue;
    const { from, to, data } = entry.input;
    const keeper = taking.has(data.slice(0, 10).toLowerCase()) ? to : permit2;
    const callees = [to, ...entry.calls.read.slice(0, mostCallees).map((call) => call.to)];
    const isTaken = to === token || to === keeper;
    const spenders = new Set(senders.has(owner) ? [from, ...callees, receiver] : isTaken ? [from] : []);
    const add = (standard: "erc20" | "permit2", spender: Address) => {
      const right = { ...unsaid(standard, { token, owner, spender }, keeper), transaction };
      found.set(keyOf(right), right);
      tokens.add(token);
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
