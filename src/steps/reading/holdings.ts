/** Which balances to measure: what somebody asked for, what movements touch, and what may change in silence. Pure. */
import { memoize } from "effect/Function";
import type { PlainCall } from "../../abi/batches.js";
import { addressesFrom, argumentsAt, nobody } from "../../abi/words.js";
import { effectsIn } from "../../effects/effects.js";
import type { Address } from "../../primitives/hex.js";
import type { BalanceChange, Transfer } from "../../report/parts.js";
import { readAddress, readUint256 } from "../../witness/answers.js";
import { balanceOf, balanceOf1155, ownerOf, type Query } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import type { Case } from "./bundle.js";

/** One balance to measure. */
export interface Holding extends Balance {
  /** True for an ERC-721's id: the account owns it or not, as against how many it owns. */
  readonly owned: boolean;
  /** Somebody asked for it: it is shown even where nothing changed. */
  readonly wanted: boolean;
}

/** A balance of an account: of the native currency, of a token, of one ERC-1155 id. */
export const holding = (account: Address, token: Address | null, tokenId: bigint | null = null): Holding => ({
  account,
  token,
  tokenId,
  owned: false,
  wanted: false,
});

/** Holdings in the order in which they came, each once; wanted where it was wanted at all. */
class Gathered {
  readonly all: Array<Holding> = [];
  private readonly counted = new ByBalance<number>();
  private readonly owned = new ByBalance<number>();

  add(holding: Holding): void {
    const places = (holding.owned ? this.owned : this.counted).of(holding);
    const place = places.get(holding.account);
    const known = place === undefined ? undefined : this.all[place];
    if (place === undefined || known === undefined) places.set(holding.account, this.all.push(holding) - 1);
    else if (holding.wanted && !known.wanted) this.all[place] = holding;
  }
}

/** The accounts that calls call, and the addresses among their arguments, at most `limit`. */
export const addressesIn = (calls: ReadonlyArray<PlainCall>, limit: number): ReadonlyArray<Address> => {
  const found = new Set<Address>();
  for (const { to, data } of calls) {
    if (found.size >= limit) break;
    found.add(to);
    for (const account of addressesFrom(data, argumentsAt)) {
      if (found.size >= limit) break;
      found.add(account);
    }
  }
  return [...found];
};

/** How many addresses of one call's arguments are suspected of being tokens or parties. */
const mostArguments = 6;
/** How many suspicions one report follows. */
const mostSuspects = 96;

/**
 * Holdings that may change without any event: of the senders, of the receivers and of the addresses in
 * the arguments, in the native currency, and in the receivers and those addresses, should they be tokens
 * that keep silent.
 */
export const suspects = (bundle: ReadonlyArray<Case>): ReadonlyArray<Holding> => {
  const found = new Gathered();
  const add = (account: Address, token: Address | null) => {
    if (account !== token && found.all.length < mostSuspects) found.add(holding(account, token));
  };
  const calling = bundle.flatMap(({ input: { from, to, data }, calls, accounts = [] }) =>
    to === null || data.length < 10
      ? []
      : [{ own: new Set([from, ...accounts]), to, named: addressesIn(calls.read, mostArguments) }],
  );
  for (const { to, named, own } of calling)
    for (const from of own) for (const token of new Set([to, ...named])) add(from, token);
  // why: not every node traces all native movements (self-destruction)
  for (const { to, named } of calling) for (const account of new Set([to, ...named])) add(account, null);
  for (const { to, named } of calling) for (const account of named) add(account, to);
  for (const { to, named } of calling) for (const token of named) add(to, token);
  return found.all;
};

const touchedBy = ({ standard, token, tokenId, from, to }: Transfer): ReadonlyArray<Holding> =>
  standard === "erc1155" || standard === "erc6909"
    ? [holding(from, token, tokenId), holding(to, token, tokenId)]
    : standard === "erc721"
      ? [from, to].flatMap((account) => [{ ...holding(account, token, tokenId), owned: true }, holding(account, token)])
      : [holding(from, token), holding(to, token)];

/** The holdings that the calls ask to move, by the functions of tokens that are known: a token may move them in silence. */
const asked = (bundle: ReadonlyArray<Case>): ReadonlyArray<Holding> =>
  effectsIn(bundle, "call")
    .flatMap(({ row, moves }) => (row.move === undefined ? [] : moves))
    .flatMap(({ token, tokenId, from, to }) =>
      [from, to].flatMap((account) => (account === null || account === token ? [] : holding(account, token, tokenId))),
    );

/**
 * Every holding to measure, at most `limit`: what somebody asked for and what the senders hold first.
 * An ERC-721 is looked at by its collection and by its id, an ERC-1155 or ERC-6909 by its id. `cut` says how many
 * that the movements touch, or calls of `bundle` ask to move, were left out; `wanted` and `suspected` are measured beside those.
 */
export const holdings = (
  senders: ReadonlyArray<Address>,
  transfers: ReadonlyArray<Transfer>,
  limit: number,
  more: { readonly [K in "wanted" | "suspected"]?: ReadonlyArray<Holding> } & {
    readonly bundle?: ReadonlyArray<Case>;
  } = {},
) => {
  const { wanted = [], suspected = [], bundle = [] } = more;
  const found = new Gathered();
  const add = (candidate: Holding) => {
    if (candidate.account !== nobody) found.add(candidate);
  };
  for (const candidate of wanted) add({ ...candidate, wanted: true });
  for (const account of senders) add(holding(account, null));
  const mine = new Set(senders);
  const touched = union(transfers.flatMap(touchedBy), asked(bundle));
  for (const candidate of touched) if (mine.has(candidate.account)) add(candidate);
  for (const candidate of suspected) if (mine.has(candidate.account)) add(candidate);
  for (const candidate of touched) add(candidate);
  const needed = found.all.length;
  for (const candidate of suspected) add(candidate);
  const kept = found.all.slice(0, Math.max(limit, wanted.length + senders.length));
  return { kept, cut: Math.max(0, needed - kept.length) };
};

/** `more` behind `known`, each holding once. */
export const union = (known: ReadonlyArray<Holding>, more: ReadonlyArray<Holding>): ReadonlyArray<Holding> => {
  const found = new Gathered();
  for (const candidate of known) found.add(candidate);
  for (const candidate of more) found.add(candidate);
  return found.all;
};

/** The witness's query for it, made once for all runs. */
export const balanceQuery = memoize(
  ({ account, token, tokenId, owned }: Holding): Exclude<Query, { kind: "environment" }> => {
    if (token === null) return { kind: "account", address: account };
    if (tokenId === null) return balanceOf(token, account);
    return owned ? ownerOf(token, tokenId) : balanceOf1155(token, account, tokenId);
  },
);

/** The amount by a view, for an ERC-721's id 1 or 0; null where it is not known, or nonsense. */
export const amountIn = (view: View, balance: Holding): bigint | null => {
  const query = balance.token === null ? null : balanceQuery(balance);
  if (query?.kind !== "call") return view.account(balance.account)?.balance ?? null;
  const answer = view.call(query);
  if (!balance.owned) return readUint256(answer);
  const owner = readAddress(answer);
  return owner === null ? null : BigInt(owner === balance.account);
};

/** Queries of the witness, before and after alike. */
export const queries = (all: ReadonlyArray<Holding>): ReadonlyArray<Query> => all.map(balanceQuery);

/** One balance: whose, of which token (null = native currency), of which of its ids (null = of the whole). */
export type Balance = Pick<BalanceChange, "account" | "token" | "tokenId">;

export const isSameBalance = (balance: Balance, other: Balance): boolean =>
  balance.account === other.account && balance.token === other.token && balance.tokenId === other.tokenId;

/** A map by balance. Maps in maps, for texts made of the three would cost more than all else that is read of a log. */
export class ByBalance<A> {
  private readonly tokens = new Map<Address | null, Map<bigint | null, Map<Address, A>>>();

  /** The accounts of a token, or of one of its ids. */
  of({ token, tokenId }: Pick<Balance, "token" | "tokenId">): Map<Address, A> {
    const ids = this.tokens.get(token) ?? new Map<bigint | null, Map<Address, A>>();
    const accounts = ids.get(tokenId) ?? new Map<Address, A>();
    // why: most are asked for where others are already, thousands of times in a run
    if (accounts.size === 0) {
      this.tokens.set(token, ids);
      ids.set(tokenId, accounts);
    }
    return accounts;
  }
}
