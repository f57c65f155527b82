/** The accounts whose place in events and return values decides, and their positions in a text. Pure. */
import type * as Arr from "effect/Array";
import { hasDecodable, addressesOf } from "../../abi/layout.js";
import type { Address } from "../../primitives/hex.js";
import type { View } from "../../witness/view.js";
import { ownAccounts, type Case } from "./bundle.js";

/**
 * Parties of one bundle that are looked for; calldata may hold any number. As many words as pools take in a transaction:
 * whoever writes the calldata would else push the real ones out with others.
 */
const mostConcerned = 4_096;
/** Those of which the witness is asked whether they live. */
const mostDoubtful = 64;
/** Hex digits of a word, of its zeros in front of an address, and of the address. */
const [wordDigits, zeroDigits, addressDigits] = [64, 24, 40] as const;
const wordZeros = "0".repeat(zeroDigits);

/** Bytes at the ends of 20 that are zero alone, or `ff` alone as in front of a negative number. */
const paddingOf = (account: string): number => {
  const [front = ""] = /^(?:(?:00)+|(?:ff)+)/.exec(account) ?? [];
  const [back = ""] = /(?:(?:00)+|(?:ff)+)$/.exec(account) ?? [];
  return (front.length + back.length) / 2;
};

/**
 * True if 20 bytes are a number, or a piece of one that lies across two words: below 2^96, or with so much padding at
 * both ends that nobody can have made an address of it.
 */
export const isNumber = (account: string): boolean => account.startsWith("0".repeat(16)) || paddingOf(account) >= 12;

/** True if 20 bytes look like an address when nothing else is known of them. Vanity addresses do not. */
const isTelling = (account: string): boolean => paddingOf(account) < 4;

const ranks = () => [new Set<string>(), new Set<string>(), new Set<string>()] as const;

/**
 * The words that may be addresses in calldata that nothing types, 40 hex digits each, and those that may be numbers as
 * well (`doubtful`), of which what lives there tells which: first those where arguments of the call stand. Calls within calls are shifted by
 * their selectors, four bytes each; who stands elsewhere may be part of something else.
 */
const namedIn = ({ input: { to, data } }: Case) => {
  const text = data.slice(2).toLowerCase();
  const arguments_ = to === null ? text.length % wordDigits : 8;
  const [telling, doubtful] = [ranks(), ranks()];
  for (let at = 0; at + wordDigits <= text.length; at += 2) {
    if (!text.startsWith(wordZeros, at)) continue;
    const account = text.slice(at + zeroDigits, at + wordDigits);
    if (isNumber(account)) continue;
    const shift = Math.abs(at - arguments_) % wordDigits;
    const rank = shift === 0 ? 0 : shift % 8 === 0 ? 1 : 2;
    (isTelling(account) && rank < 2 ? telling : doubtful)[rank].add(account);
  }
  return { telling: telling.flatMap((some) => [...some]), doubtful: doubtful.flatMap((some) => [...some]) };
};

/** Accounts in the calldata of a call that look like addresses, first those where arguments of the call stand. */
export const tellingIn = (entry: Case): ReadonlyArray<Address> =>
  namedIn(entry).telling.map((account): Address => `0x${account}`);

/** Addresses that the ABI of the call names, but for zero, where nobody lives. */
const typedIn = ({ input: { item, data } }: Case): ReadonlyArray<string> =>
  hasDecodable(item, "inputs")
    ? addressesOf(item.inputs, data.slice(10)).filter((account) => account !== "0".repeat(addressDigits))
    : [];

/** Accounts of the calldata that may as well be numbers, which the witness is to tell apart. */
export const doubtfulIn = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> =>
  [...new Set(bundle.flatMap((entry) => namedIn(entry).doubtful))]
    .slice(0, mostDoubtful)
    .map((account): Address => `0x${account}`);

/**
 * True if an account has code, a balance or a nonce (EIP-1052) in one of the views; where none of them tells, it may.
 */
export const livesIn =
  (views: ReadonlyArray<View>) =>
  (account: Address): boolean => {
    const accounts = views.flatMap((view) => view.account(account) ?? []);
    return accounts.length === 0 || accounts.some(({ balance, codeHash }) => balance > 0n || BigInt(codeHash) !== 0n);
  };

/**
 * Accounts whose place decides: the senders, those they pay, those the calldata names, and `others`, such as those that
 * a policy names. `doubtful` are those of {@link doubtfulIn}, which count only where `lives` holds.
 */
export const concernedIn = (
  bundle: Arr.NonEmptyReadonlyArray<Case>,
  others: ReadonlyArray<Address>,
  doubtful: ReadonlyArray<Address>,
  lives: (account: Address) => boolean,
): ReadonlySet<string> => {
  // why: who is paid by name may produce the next block, and is no less who was meant
  const recipients = bundle.flatMap(({ input: { to, data } }) => (to === null || data.length > 2 ? [] : [to]));
  const own = [...ownAccounts(bundle), ...others, ...recipients].map((account) => account.slice(2).toLowerCase());
  const typed = bundle.flatMap(typedIn);
  const telling = bundle.flatMap(tellingIn).map((account) => account.slice(2));
  const living = doubtful.filter(lives).map((account) => account.slice(2));
  return new Set([...new Set([...own, ...typed, ...telling, ...living])].slice(0, mostConcerned));
};

/** The digits by which a text is searched first: it may be megabytes, mostly zeros. */
const sampleOf = (digits: string, at: number): number =>
  [0, 13, 26, 39].reduce((sum, place) => (sum << 7) | digits.charCodeAt(at + place), 0);

/**
 * Finds the positions in a text of each of `accounts` that occurs, at any byte; of one that looks like a number only
 * where a whole word names it alone. One pass, however many they are.
 */
export const addressPositionsOf = (accounts: ReadonlySet<string>) => {
  const samples = new Set([...accounts].map((account) => sampleOf(account, 0)));
  return (text: string): ReadonlyMap<string, ReadonlyArray<number>> => {
    const found = new Map<string, Array<number>>();
    for (let at = 0; at + addressDigits <= text.length; at += 2) {
      if (!samples.has(sampleOf(text, at))) continue;
      const account = text.slice(at, at + addressDigits);
      if (!accounts.has(account)) continue;
      const isWhole = at % wordDigits === zeroDigits && text.startsWith(wordZeros, at - zeroDigits);
      if (isNumber(account) && !isWhole) continue;
      const places = found.get(account);
      if (places === undefined) found.set(account, [at]);
      else places.push(at);
    }
    return found;
  };
};

/** True if words in one place may name different parties: all may be addresses, and one looks like nothing else. */
export const mayBeParties = (...words: ReadonlyArray<string | undefined>): boolean => {
  const accounts = words.flatMap((word) => (word?.startsWith(wordZeros) === true ? [word.slice(zeroDigits)] : []));
  return accounts.length === words.length && !accounts.some(isNumber) && accounts.some(isTelling);
};
