/** Words that contracts keep and answer, where they change behind transactions, as rows: by reads of the witness and by a trace. Pure. */
import * as Arr from "effect/Array";
import { wordOf, wordsFrom } from "../abi/words.js";
import type { StateDiff } from "../eth/call.js";
import { type Address, lower } from "../primitives/hex.js";
import type { StateChange } from "../report/beside.js";
import { readAddress } from "../witness/answers.js";
import { namedQuery, readWords, slotsOf, wordsIn, type NamedSlots } from "../witness/placement.js";
import { staticCall, type CallQuery } from "../witness/queries.js";
import type { View } from "../witness/view.js";

/** Views of one world: the slots behind the calls, null where they were not seen, and the witness's on both sides. */
export interface Sight {
  readonly slots: View | null;
  readonly before: View;
  readonly after: View;
}

/** A word of one contract before and after. */
export interface Change extends Pick<StateChange, "slot" | "holds" | "seen"> {
  readonly contract: Address;
  readonly was: bigint;
  readonly word: bigint;
  /** True if it is of the world that the figures are from. */
  readonly isShown: boolean;
  /** A sender's place that goes to another, or what another gets where nobody stood (`had` is null then); silent where no event tells of it: what comes in for it says nothing, for a thief can pay a wei. */
  readonly loss?: { readonly had: Address | null; readonly has: Address; readonly isSilent: boolean };
}

/** More than `owner()` takes behind a beacon's proxy. */
const viewGas = 60_000;
/** For a list of up to 62 facets. */
const facetsGas = 300_000;
const facetsBytes = 2_048;

/** owner(), governance(), gov(), governor(), admin(), implementation(). */
const selectors = [
  ["owner", "0x8da5cb5b"],
  ["owner", "0x5aa6e675"],
  ["owner", "0x12d43a51"],
  ["owner", "0x0c340a24"],
  ["owner", "0xf851a440"],
  ["implementation", "0x5c60da1b"],
] as const;

/** Queries to a contract in every run. */
export const views = (contract: Address) =>
  selectors.map(([holds, selector]) => ({ holds, query: staticCall(contract, selector, viewGas) }));

/** facetAddresses() of a diamond (ERC-2535). */
export const facets = (contract: Address): CallQuery => staticCall(contract, "0x52ef6b2c", facetsGas, facetsBytes);

export const low = (word: bigint): bigint => BigInt.asUintN(160, word);
/** A number of less than 12 bytes is no account, and nobody searches for an address so short. */
export const isAccount = (word: bigint): boolean => low(word) >> 96n !== 0n;

/** Changes of contracts' own answers behind the calls; null among them for what they no longer answer. */
export const answersOf = (contract: Address, { before, after }: Sight, isShown: boolean) => {
  const of = { contract, slot: null, seen: "view", isShown } as const;
  const answers = views(contract).flatMap(({ holds, query }): ReadonlyArray<Change | null> => {
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
  if (had !== null && had.length > 0 && has === null) return [...answers, null];
  return [...answers, ...(has ?? []).filter(isNew).map((word): Change => ({ ...of, holds: "facet", was: 0n, word }))];
};

/** The slots that a tracer names, transaction by transaction, of contracts that were there before. */
function* slotsIn(traced: ReadonlyArray<StateDiff>) {
  const created = new Set<Address>();
  for (const { pre, post } of traced)
    for (const account of new Set([...pre.keys(), ...post.keys()])) {
      const contract = lower(account);
      const [had, has] = [pre.get(account), post.get(account)];
      // why: a contract begins with one, and nobody had anything in what is new
      if (!had?.nonce && has?.nonce != null) created.add(contract);
      if (created.has(contract)) continue;
      for (const slot of new Set([had, has].flatMap((state) => [...(state?.storage.keys() ?? [])])))
        yield { contract, slot, was: had?.storage.get(slot) ?? 0, word: has?.storage.get(slot) ?? 0 };
    }
}

/** Slots that are named, as a tracer would tell of them; null where one was not read. A contract begins with a nonce of 1. */
export const namedDiff = (
  named: ReadonlyArray<NamedSlots>,
  before: View | null,
  { slots, before: accounts }: Sight,
): StateDiff | null => {
  const rowIn = (view: View | null, row: NamedSlots, firstNonce: number) => {
    const nonce = accounts.account(row.address)?.codeSize === 0n ? firstNonce : 1;
    const storage = new Map(Arr.zip(row.storageKeys, readWords(view, namedQuery(row)).map(wordOf)));
    return [row.address, { balance: null, nonce, code: null, storage }] as const;
  };
  const [pre, post] = [named.map((row) => rowIn(before, row, 0)), named.map((row) => rowIn(slots, row, 1))];
  const isRead = [pre, post].every((rows) =>
    rows.every(([, { storage }], place) => storage.size === named[place]?.storageKeys.length),
  );
  return isRead ? { pre: new Map(pre), post: new Map(post) } : null;
};

/** The words that a bundle changes in all, as a tracer tells it. */
export const tracedWords = (
  traced: ReadonlyArray<StateDiff>,
  isSafe: (contract: Address) => boolean,
): ReadonlyArray<Change> => {
  const net = new Map<string, Change>();
  for (const { contract, slot, ...last } of slotsIn(traced)) {
    const key = `${contract} ${slot}`;
    const holds = slotsOf(isSafe(contract)).find((row) => row.slot === slot)?.holds ?? null;
    const [was, word] = [net.get(key)?.was ?? BigInt(last.was), BigInt(last.word)];
    net.set(key, { contract, slot, holds, was, word, seen: "trace", isShown: true });
  }
  return [...net.values()].filter(({ was, word }) => was !== word);
};

/** The slots of a contract that change; null among them where one was not seen. */
export const wordsOf = (
  contract: Address,
  isSafe: boolean,
  { before, suspects }: { readonly before: View | null; readonly suspects: ReadonlyArray<Address> },
  { slots }: Sight,
  isShown: boolean,
): ReadonlyArray<Change | null> => {
  const unread = suspects.includes(contract) ? null : 0n;
  const had = wordsIn(before, contract, isSafe);
  return wordsIn(slots, contract, isSafe).flatMap(({ slot, holds, word }, place): ReadonlyArray<Change | null> => {
    const was = had[place]?.word ?? unread;
    if (was === null || word === null) return [null];
    // why: what a first slot held before is of no matter in a contract in which it names nobody
    const isUnknown = holds === null && (before === null || !suspects.includes(contract));
    return was === word || isUnknown ? [] : [{ contract, slot, holds, was, word, seen: "lens", isShown }];
  });
};
