/** What contracts keep and answer before and behind a bundle, word by word. Pure. */
import { addressOf, wordsFrom } from "../../abi/words.js";
import type { Address, Hash, Hex } from "../../primitives/hex.js";
import type { Evidence } from "../../report/finding.js";
import type { StateChange } from "../../report/beside.js";
import { readAddress } from "../../witness/answers.js";
import { slotsOf, wordIn } from "../../witness/placement.js";
import { unseen, type View } from "../../witness/view.js";
import { facets, views } from "./proxies.js";

/** What a word is. */
export type Holds = NonNullable<StateChange["holds"]>;

/** What was seen of one world. */
export interface Sight {
  /** The slots behind the calls; null where they were not seen. */
  readonly slots: View | null;
  /** What the witness read before and after the calls. */
  readonly before: View;
  readonly after: View;
}

/** What was seen of the contracts. */
export interface Seen {
  /** The slots without the calls; null where they were not seen. */
  readonly before: View | null;
  /** In every world, the one that the figures are from first. */
  readonly worlds: ReadonlyArray<Sight>;
  /** Contracts whose slots may hold something before. */
  readonly suspects: ReadonlyArray<Address>;
  /** The code of an account; null where it was not asked for. */
  readonly codeOf: (account: Address) => Hex | null;
  readonly evidence: Evidence;
  /** What a tracer told of the transactions; absent = none did. */
  readonly traced?: Traced;
}

/** Words of one contract before and after. */
export interface Change extends Pick<StateChange, "slot" | "seen"> {
  readonly contract: Address;
  readonly holds: Holds | null;
  readonly was: bigint;
  readonly word: bigint;
  /** Whether it is of the world that the figures are from. */
  readonly isShown: boolean;
}

export const low = (word: bigint): bigint => BigInt.asUintN(160, word);
export const party = (word: bigint): Address | null => (low(word) === 0n ? null : addressOf(word));
export const wordHex = (word: bigint): Hash => `0x${word.toString(16).padStart(64, "0")}`;
/** A number of less than 12 bytes is no account, and nobody searches for an address so short. */
export const isAccount = (word: bigint): boolean => low(word) >> 96n !== 0n;

/** What contracts themselves answer otherwise behind the calls; null among them for what they no longer answer. */
export const answersOf = (
  contract: Address,
  { before, after }: Sight,
  isShown: boolean,
): ReadonlyArray<Change | null> => {
  const of = { contract, slot: null, seen: "view", isShown } as const;
  const asked = views.flatMap((view): ReadonlyArray<Change | null> => {
    const { holds, query } = view(contract);
    const [was, word] = [readAddress(before.call(query)), readAddress(after.call(query))];
    // why: what was answered before, and is not behind the calls, may have changed
    if (was !== null && word === null) return [null];
    return was === null || word === null || was === word
      ? []
      : [{ ...of, holds, was: BigInt(was), word: BigInt(word) }];
  });
  const listIn = (view: View): ReadonlyArray<bigint> | null => {
    const answer = view.call(facets(contract));
    return answer?.success === true ? wordsFrom(answer.data).slice(2) : null;
  };
  const [had, has] = [listIn(before), listIn(after)];
  const isNew = (word: bigint) => isAccount(word) && had?.includes(word) === false;
  if (had !== null && had.length > 0 && has === null) return [...asked, null];
  return [...asked, ...(has ?? []).filter(isNew).map((word): Change => ({ ...of, holds: "facet", was: 0n, word }))];
};

/** What a tracer saw change, by account: what was and what is, a slot that is missing in one of them zero there. */
export type Traced = ReadonlyArray<
  Readonly<
    Record<
      "pre" | "post",
      ReadonlyMap<Address, { readonly nonce: number | null; readonly storage: ReadonlyMap<Hash, Hash> }>
    >
  >
>;

/** The words that a bundle changes in all, as a tracer tells it, of contracts that were there before. */
export const tracedWords = (traced: Traced, isSafe: (contract: Address) => boolean): ReadonlyArray<Change> => {
  const net = new Map<string, Change>();
  const created = new Set<Address>();
  for (const { pre, post } of traced)
    for (const account of new Set([...pre.keys(), ...post.keys()])) {
      const contract = account.toLowerCase() as Address;
      const [had, has] = [pre.get(account), post.get(account)];
      // why: a contract begins with one, and nobody had anything in what is new
      if (!had?.nonce && has?.nonce != null) created.add(contract);
      if (created.has(contract)) continue;
      const watched = slotsOf(isSafe(contract));
      for (const slot of new Set([...(had?.storage.keys() ?? []), ...(has?.storage.keys() ?? [])])) {
        const key = `${contract} ${slot}`;
        const holds = watched.find((one) => one.slot === slot)?.holds ?? null;
        const was = net.get(key)?.was ?? BigInt(had?.storage.get(slot) ?? 0);
        const word = BigInt(has?.storage.get(slot) ?? 0);
        net.set(key, { contract, slot, holds, was, word, seen: "trace", isShown: true });
      }
    }
  return [...net.values()].filter(({ was, word }) => was !== word);
};

/** The slots of a contract that change; null among them where one was not seen. */
export const wordsOf = (
  contract: Address,
  isSafe: boolean,
  { before, suspects }: Seen,
  { slots }: Sight,
  isShown: boolean,
): ReadonlyArray<Change | null> =>
  slotsOf(isSafe).flatMap(({ slot, holds }): ReadonlyArray<Change | null> => {
    const isSuspect = suspects.includes(contract);
    const was = wordIn(before ?? unseen, contract, slot) ?? (isSuspect ? null : 0n);
    const word = wordIn(slots ?? unseen, contract, slot);
    if (was === null || word === null) return [null];
    // why: what a first slot held before is not known of a contract in which it names nobody
    const isUnknown = holds === null && before === null;
    return was === word || isUnknown ? [] : [{ contract, slot, holds, was, word, seen: "lens", isShown }];
  });
