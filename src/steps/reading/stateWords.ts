/** Words that contracts keep and answer before and behind a bundle, and what a change means for senders. Pure. */
import { party, toldIn, type Control } from "../../effects/told.js";
import { addressOf, argumentsAt, wordOf, wordsFrom } from "../../abi/words.js";
import { type Address, type Hash, type Hex, lower } from "../../primitives/hex.js";
import type { Evidence } from "../../report/finding.js";
import type { StateChange } from "../../report/beside.js";
import { readAddress } from "../../witness/answers.js";
import { slotsOf, wordsIn } from "../../witness/placement.js";
import type { View } from "../../witness/view.js";
import { facets, mayName, views, type SlotRun } from "./proxies.js";
import { isNumber, mayBeParties } from "./addressPositions.js";
import { instructionsIn } from "./blockReads.js";
import type { Case, Ran } from "./bundle.js";
import { calledAsSafes } from "./delegateCalls.js";

/** Views of one world: the slots behind the calls, null where they were not seen, and the witness's on both sides. */
export type Sight = Pick<SlotRun, "slots" | "before" | "after">;

/** Everything that was seen of the contracts. */
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
  /** A tracer's answer for the transactions; absent = none answered. */
  readonly traced?: Traced;
}

/** Words of one contract before and after. */
export interface Change extends Pick<StateChange, "slot" | "holds" | "seen"> {
  readonly contract: Address;
  readonly was: bigint;
  readonly word: bigint;
  /** True if it is of the world that the figures are from. */
  readonly isShown: boolean;
}

const low = (word: bigint): bigint => BigInt.asUintN(160, word);
/** A number of less than 12 bytes is no account, and nobody searches for an address so short. */
export const isAccount = (word: bigint): boolean => low(word) >> 96n !== 0n;

/** Changes of contracts' own answers behind the calls; null among them for what they no longer answer. */
export const answersOf = (
  contract: Address,
  { before, after }: Sight,
  isShown: boolean,
): ReadonlyArray<Change | null> => {
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

/** Changes that a tracer saw, by account, before and after; a slot that is missing in one of them is zero there. */
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
      const contract = lower(account);
      const [had, has] = [pre.get(account), post.get(account)];
      // why: a contract begins with one, and nobody had anything in what is new
      if (!had?.nonce && has?.nonce != null) created.add(contract);
      if (!created.has(contract)) addWords(net, contract, isSafe, had?.storage ?? noWords, has?.storage ?? noWords);
    }
  return [...net.values()].filter(({ was, word }) => was !== word);
};

type Words = ReadonlyMap<Hash, Hash>;
const noWords: Words = new Map<Hash, Hash>();

/** Adds what one transaction changed of a contract to what those before it changed. */
const addWords = (
  net: Map<string, Change>,
  contract: Address,
  isSafe: (contract: Address) => boolean,
  had: Words,
  has: Words,
): void => {
  const rows = slotsOf(isSafe(contract));
  for (const slot of new Set([...had.keys(), ...has.keys()])) {
    const key = `${contract} ${slot}`;
    const holds = rows.find((row) => row.slot === slot)?.holds ?? null;
    const [was, word] = [net.get(key)?.was ?? BigInt(had.get(slot) ?? 0), BigInt(has.get(slot) ?? 0)];
    net.set(key, { contract, slot, holds, was, word, seen: "trace", isShown: true });
  }
};

/** The slots of a contract that change; null among them where one was not seen. */
export const wordsOf = (
  contract: Address,
  isSafe: boolean,
  { before, suspects }: Seen,
  { slots }: Sight,
  isShown: boolean,
): ReadonlyArray<Change | null> => {
  const unread = suspects.includes(contract) ? null : 0n;
  const had = wordsIn(before, contract, isSafe);
  return wordsIn(slots, contract, isSafe).flatMap(({ slot, holds, word }, place): ReadonlyArray<Change | null> => {
    const was = had[place]?.word ?? unread;
    if (was === null || word === null) return [null];
    // why: what a first slot held before is not known of a contract in which it names nobody
    const isUnknown = holds === null && before === null;
    return was === word || isUnknown ? [] : [{ contract, slot, holds, was, word, seen: "lens", isShown }];
  });
};

/** Descriptions of changes in a few words, and the events that tell of each. */
export const changes: Readonly<
  Record<NonNullable<StateChange["holds"]>, readonly [what: string, ...events: ReadonlyArray<Control["what"]>]>
> = {
  implementation: ["new implementation"],
  admin: ["new proxy admin"],
  beacon: ["new beacon"],
  owner: ["new owner", "handed over", "new Safe owner", "Safe owner removed"],
  threshold: ["number of Safe signatures"],
  module: ["new Safe module, which may move all it holds", "Safe module removed"],
  guard: ["new Safe guard"],
  moduleGuard: ["new Safe module guard"],
  fallbackHandler: ["new Safe fallback handler"],
  facet: ["other code behind its functions"],
  key: ["new key of the account"],
  delegate: ["new delegate"],
};

/** True if code may run another's in its own place, by DELEGATECALL. */
const delegates = (code: Hex): boolean => instructionsIn(code).has(0xf4);

/** The 20 bytes of both words, at every place where a packed account may stand. */
function* places({ was, word }: Change): Generator<readonly [had: Address, has: bigint]> {
  for (let shift = 0n; shift <= 96n; shift += 8n) yield [addressOf(was >> shift), low(word >> shift)];
}

/** Words that the calldata names, argument by argument. */
export const namedIn = (bundle: ReadonlyArray<Case>): ReadonlySet<bigint> =>
  new Set(bundle.flatMap(({ calls }) => calls.read.flatMap(({ data }) => wordsFrom(data, argumentsAt))));

/** True if an event that tells of control names both accounts. */
const isAnnounced = (controls: ReadonlyArray<Control>, contract: Address, had: Address, has: bigint): boolean =>
  controls.some(({ contract: over, log }) => {
    if (over !== contract) return false;
    const words = [...log.topics.slice(1).map(BigInt), ...wordsFrom(log.data)];
    return words.includes(BigInt(had)) && words.includes(has);
  });

/**
 * True if the report tells of it by other means: a movement between the two, control that goes from the one or to the
 * other, or the votes that a call gives by name.
 */
const isToldOf = ({ bundle, controls, named }: Judging, contract: Address, had: Address, has: bigint): boolean =>
  controls.some(
    (control) => control.contract === contract && (control.loses === had || control.gains === addressOf(has)),
  ) ||
  bundle.some(
    ({ transfers, outcome, index }) =>
      transfers.some(
        ({ token, from, to, amount }) =>
          token !== null && lower(token) === contract && lower(from) === had && BigInt(to) === has && amount > 0n,
      ) ||
      (named.has(has) &&
        toldIn(outcome.logs, index).events.some(
          ({ log, row, contract: of }) =>
            of === contract &&
            row.isVote === true &&
            [BigInt(had), has].every((party) => log.topics.slice(1).some((topic) => BigInt(topic) === party)),
        )),
  );

/** The facts by which a change is judged, and the senders it is judged for. */
export interface Judging {
  readonly bundle: ReadonlyArray<Ran>;
  readonly seen: Seen;
  readonly controls: ReadonlyArray<Control>;
  readonly senders: ReadonlySet<Address>;
  readonly named: ReadonlySet<bigint>;
}

/** True if an account is a sender's, or one that a sender owns: a Safe that executes, or whose owner or admin it is. */
const isOwn = (contract: Address, { bundle, seen, senders }: Judging): boolean => {
  if (senders.has(contract) || calledAsSafes(bundle).includes(contract)) return true;
  const owners = [
    ...wordsIn(seen.before, contract, false).map(({ holds, word }) => (holds === "admin" ? party(word) : null)),
    ...views(contract).flatMap(({ holds, query }) =>
      holds === "owner" ? seen.worlds.map(({ before }) => readAddress(before.call(query))) : [],
    ),
  ];
  return owners.some((owner) => owner !== null && senders.has(owner));
};

/** A change, read as what it is. */
export interface Read extends Change {
  /** A sender's place that goes to another; silent where no event tells of it: what comes in for it says nothing, for a thief can pay a wei. */
  readonly loss?: { readonly had: Address; readonly has: Address; readonly isSilent: boolean };
}

/** A sender's place that a change gives to another; null = none. */
const lostIn = (change: Change, judging: Judging): Exclude<Read["loss"], undefined> | null => {
  const { contract, seen } = change;
  const { controls, senders } = judging;
  for (const [had, has] of places(change)) {
    if (!senders.has(had) || !isAccount(has) || addressOf(has) === contract || senders.has(addressOf(has))) continue;
    if (seen === "trace" && isNumber(addressOf(has).slice(2))) continue;
    const isTold =
      isAnnounced(controls, contract, had, has) || (seen === "trace" && isToldOf(judging, contract, had, has));
    return { had, has: addressOf(has), isSilent: !isTold };
  }
  return null;
};

/** A change anywhere: a sender's place, or an account that follows another; null = no more than a number. */
export const readAny = (change: Change, judging: Judging): Read | null => {
  const loss = lostIn(change, judging);
  if (loss !== null) return { ...change, holds: "owner", loss };
  return mayBeParties(wordOf(change.was).slice(2), wordOf(change.word).slice(2)) ? change : null;
};

/** A change of a first slot, read as what it is: code that a proxy runs, a keeper of a sender's account, or a sender's place. */
export const readFirst = (change: Change, judging: Judging): Read => {
  const { contract, was, word } = change;
  const { seen, senders } = judging;
  const isOther = isAccount(word) && low(word) !== low(was) && !senders.has(addressOf(word));
  if (senders.has(contract) && isOther && word >> 168n === 0n) return { ...change, holds: "key" };
  const loss = lostIn(change, judging);
  if (loss !== null) return { ...change, holds: "owner", loss };
  const code = seen.codeOf(contract);
  const isCode = isOther && isAccount(was) && mayName(was) && mayName(word) && code !== null && delegates(code);
  return isCode ? { ...change, holds: "implementation" } : change;
};

/** True if an event of the contract tells of it. */
const isTold = ({ contract, holds, was, word }: Change, controls: ReadonlyArray<Control>): boolean => {
  const whats: ReadonlyArray<string> = holds === null ? [] : changes[holds];
  return controls.some(
    (control) =>
      control.contract === contract &&
      whats.includes(control.what) &&
      (holds === "threshold" ||
        holds === "facet" ||
        control.gains === party(word) ||
        (control.gains === null && control.loses === party(was))),
  );
};

/** True if nobody loses anything by a change, or nothing is known to change: data, no finding. */
const isIdle = ({ slot, holds, was, word, loss }: Read, { senders }: Judging): boolean => {
  // why: a Safe that is set up had neither, and what nobody owned is taken from nobody
  if (was === 0n && (holds === "owner" || holds === "threshold")) return true;
  if (holds === "owner" && loss === undefined) return senders.has(addressOf(word)) && !senders.has(addressOf(was));
  // why: in one word of a Safe another contract may count
  return slot !== null && BigInt(slot) === 0n && holds === "implementation" && !isAccount(was);
};

/** True if the calldata names what comes in, or what a sender had is lost, or an owner gives it up. */
const isGiven = ({ holds, word, loss }: Read, { named }: Judging): boolean =>
  loss !== undefined || named.has(word) || named.has(low(word)) || (word === 0n && holds === "owner");

/** How bad a change is; null = data, no finding. */
export const severityOf = (change: Read, judging: Judging): "info" | "warning" | "blocker" | null => {
  const { contract, slot, holds, loss } = change;
  if (holds === null || loss?.isSilent === false || isTold(change, judging.controls)) return null;
  const isNew = judging.seen.worlds[0]?.before.account(contract)?.codeSize === 0n;
  if (isNew) return slot === null ? null : "info";
  if (isIdle(change, judging)) return null;
  return !isGiven(change, judging) && isOwn(contract, judging) ? "blocker" : "warning";
};

export const keyOf = ({ contract, was, word, holds, seen, loss }: Read): string => {
  // why: what is packed is told of by a getter as well
  const [had, has] =
    seen === "trace" && loss !== undefined ? [BigInt(loss.had), BigInt(loss.has)] : [low(was), low(word)];
  return `${contract} ${holds} ${had} ${has}`;
};

/** Ranks what is silent first, then what has a meaning. */
export const rankOf = ({ holds, loss }: Read): number => (loss?.isSilent === true ? 0 : holds === null ? 2 : 1);
