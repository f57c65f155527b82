/**
 * Whose address stands where in what two runs said: in their events and return values. A contract that credits
 * another party in another block need not move anything else to rob its user. Pure.
 */
import * as Arr from "effect/Array";
import { hasDecodable } from "../../abi/decodable.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { Outcome, OutcomeLog } from "../../report/parts.js";
import { signers, type Case } from "./bundle.js";
import { eventOf } from "./transferLogs.js";

/** What one run said, and who produced its block. */
export interface Said {
  readonly outcomes: ReadonlyArray<Outcome>;
  /** The block's fee recipient, one party under as many addresses as there are runs; null = not known. */
  readonly producer: Address | null;
}

/** What two runs said otherwise, a line each. */
export interface Moved {
  /** A party that matters stands elsewhere. */
  readonly decisive: ReadonlyArray<string>;
  /** Another address stands where one stood. */
  readonly chance: ReadonlyArray<string>;
}

/** Parties of one bundle that are looked for; calldata may hold any number. */
const mostConcerned = 64;
/** Differences that are told. */
const mostTold = 16;

/** A word that can only be an address: 20 bytes, and no number that anybody counts to. */
const isAddressWord = (word: string): boolean => /^0{24}(?!0{8})[0-9a-f]{40}$/.test(word);

/** Every address in ABI-encoded data, at any alignment, for calls within calls are shifted by their selectors. */
const addressesIn = (data: Hex): ReadonlyArray<string> =>
  [...data.matchAll(/0{24}(?=(?!0{8})([0-9a-f]{40}))/gi)].flatMap(({ index, 1: found }) =>
    index % 2 === 0 && found !== undefined ? [found.toLowerCase()] : [],
  );

/** Whose place decides: the senders, whom they pay, whom the calldata names, and `others`, such as those that a policy speaks of. */
export const concernedIn = (
  bundle: Arr.NonEmptyReadonlyArray<Case>,
  others: ReadonlyArray<Address>,
): ReadonlySet<string> => {
  const named = bundle.flatMap(({ input }) => addressesIn(input.data));
  const own = [...signers(bundle), ...others].map((account) => account.slice(2).toLowerCase());
  // why: who is paid by name may produce the next block, and is no less who was meant
  const paid = bundle.flatMap(({ input: { to, data } }) =>
    to === null || data.length > 2 ? [] : [to.slice(2).toLowerCase()],
  );
  return new Set([...own, ...named, ...paid].slice(0, mostConcerned));
};

const producerName = "0".repeat(39) + "p";

/** The bytes without `0x`, in which the block's producer has one name, unless its own place decides. */
const textOf = (data: Hex | null, { producer }: Said, concerned: ReadonlySet<string>): string => {
  const text = (data ?? "0x").slice(2).toLowerCase();
  const named = producer?.slice(2).toLowerCase() ?? null;
  // why: nodes without a producer name zero, which stands in every padding
  return named === null || named.startsWith("00000000") || concerned.has(named)
    ? text
    : text.replaceAll(named, producerName);
};

const placesOf = (text: string, account: string): string => {
  const found: Array<number> = [];
  for (let at = text.indexOf(account); at >= 0; at = text.indexOf(account, at + 1)) found.push(at);
  return found.join();
};

const wordsOf = (text: string): ReadonlyArray<string> => text.match(/.{64}/g) ?? [];

/** Events whose data are numbers, some as long as an address: Swap of Uniswap v3, of Uniswap v4, of PancakeSwap v3. */
const numbered: ReadonlySet<string> = new Set(["0xc42079f94a6350d7", "0x40e9cecb9f5f1f1c", "0x19b47279256b2a23"]);

/** Whether the topics, and the data, of an event may hold an address, by its ABI or where it is a known one. */
const mayName = (log: OutcomeLog): { readonly topics: boolean; readonly data: boolean } => {
  const item = log.decoded?.item;
  if (!hasDecodable(item, "inputs")) return { topics: true, data: !numbered.has(eventOf(log) ?? "") };
  const inputs = item.inputs.filter(({ type }) => !/^(u?int\d*|bool)[[\]\d]*$/.test(type));
  return {
    topics: inputs.some(({ indexed }) => indexed === true),
    data: inputs.some(({ indexed }) => indexed !== true),
  };
};

interface Text {
  readonly at: string;
  readonly one: string;
  readonly other: string;
  /** Of its words those that may be an address. */
  readonly naming: readonly [from: number, to: number];
}

const textsOf = (one: Said, other: Said, concerned: ReadonlySet<string>): ReadonlyArray<Text> =>
  Arr.zip(one.outcomes, other.outcomes).flatMap(([a, b], index): ReadonlyArray<Text> => {
    if (a.status !== "success" || b.status !== "success" || a.logs.length !== b.logs.length) return [];
    const returned = {
      at: `transaction ${index + 1}, return value`,
      one: textOf(a.returnData, one, concerned),
      other: textOf(b.returnData, other, concerned),
      naming: [0, Number.POSITIVE_INFINITY] as const,
    };
    const logs = Arr.zip(a.logs, b.logs).map(([mine, theirs], place): Text => {
      const whole = (log: OutcomeLog, said: Said) =>
        textOf(`0x${[...log.topics.slice(1), log.data].map((part) => part.slice(2)).join("")}`, said, concerned);
      const { topics, data } = mayName(mine);
      const indexed = mine.topics.length - 1;
      return {
        at: `transaction ${index + 1}, event ${place + 1}`,
        one: whole(mine, one),
        other: whole(theirs, other),
        naming: [topics ? 0 : indexed, data ? Number.POSITIVE_INFINITY : indexed],
      };
    });
    return [returned, ...logs].filter((text) => text.one !== text.other);
  });

/** Compares what two runs of the same shape said. */
export const movedPlaces = (one: Said, other: Said, concerned: ReadonlySet<string>): Moved => {
  const texts = textsOf(one, other, concerned);
  const decisive = texts.flatMap((text) =>
    [...concerned]
      .filter((account) => placesOf(text.one, account) !== placesOf(text.other, account))
      .map((account) => `${text.at}: the place of 0x${account}`),
  );
  const chance = texts.flatMap((text) => {
    const [words, others] = [wordsOf(text.one).slice(...text.naming), wordsOf(text.other).slice(...text.naming)];
    const isNamed = (word: string | undefined) => word !== undefined && isAddressWord(word);
    return words.some((word, place) => word !== others[place] && isNamed(word) && isNamed(others[place]))
      ? [`${text.at}: another address`]
      : [];
  });
  return { decisive: decisive.slice(0, mostTold), chance: chance.slice(0, mostTold) };
};
