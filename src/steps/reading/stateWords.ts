/** Words that contracts keep and answer before and behind a bundle, and what a change means for senders. Pure. */
import { memoize } from "effect/Function";
import { effectsIn } from "../../effects/effects.js";
import type { StateDiff } from "../../eth/call.js";
import { isAccount, low, views, type Change, type Sight } from "../../effects/slots.js";
import { party, type Control } from "../../effects/told.js";
import { addressOf, argumentsAt, nobody, wordOf, wordsFrom } from "../../abi/words.js";
import { keccak256 } from "../../primitives/bytes.js";
import { type Address, type Hex, lower } from "../../primitives/hex.js";
import type { Evidence } from "../../report/finding.js";
import type { StateChange } from "../../report/beside.js";
import { readAddress } from "../../witness/answers.js";
import { wordsIn } from "../../witness/placement.js";
import type { View } from "../../witness/view.js";
import { mayName } from "./proxies.js";
import { isNumber, mayBeParties } from "./addressPositions.js";
import { instructionsIn } from "./blockReads.js";
import { ownAccounts, type Ran } from "./bundle.js";
import { calledAsSafes } from "./delegateCalls.js";

/** Everything that was seen of the contracts. */
export interface ContractsSeen {
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
  readonly traced?: ReadonlyArray<StateDiff>;
  /** Slots that access lists name, as they were read in each world; absent = none were. */
  readonly named?: ReadonlyArray<StateDiff>;
}

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
  pendingOwner: ["an account is named that may take it over", "offered"],
  operator: ["another account gets a right in the sender's entry"],
  delegate: ["new delegate"],
};

/** The 20 bytes of both words, at every place where a packed account may stand. */
function* places({ was, word }: Pick<Change, "was" | "word">): Generator<readonly [had: Address, has: bigint]> {
  for (let shift = 0n; shift <= 96n; shift += 8n) yield [addressOf(was >> shift), low(word >> shift)];
}

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
  controls.some(({ contract: of, loses, gains }) => of === contract && (loses === had || gains === addressOf(has))) ||
  effectsIn(bundle, "movement").some(
    ({ token, from, to, amount }) =>
      token !== null && lower(token) === contract && lower(from) === had && BigInt(to) === has && amount > 0n,
  ) ||
  (named.has(has) &&
    effectsIn(bundle, "event").some(
      ({ log, row, contract: of }) =>
        of === contract &&
        row.isVote === true &&
        [BigInt(had), has].every((party) => log.topics.slice(1).some((topic) => BigInt(topic) === party)),
    ));

/** The facts by which a change is judged: the senders it is judged for, and the words that the calldata names, argument by argument. */
export const judgingOf = (bundle: ReadonlyArray<Ran>, seen: ContractsSeen) => ({
  ...{ bundle, seen, controls: effectsIn(bundle, "control"), senders: new Set<Address>(ownAccounts(bundle)) },
  named: new Set(bundle.flatMap(({ calls }) => calls.read.flatMap(({ data }) => wordsFrom(data, argumentsAt)))),
});
export type Judging = ReturnType<typeof judgingOf>;

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

/** A sender's place that a change gives to another; null = none. */
const lostIn = (change: Change, judging: Judging): NonNullable<Change["loss"]> | null => {
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

/** The most that is tried: places of mappings, and as their keys senders and accounts of the calldata. */
const mostTried = { places: 21, senders: 8, keys: 64 } as const;

/** The slot of a key in the mapping in a place, as Solidity lays it out. */
const entryOf = (key: bigint, place: Hex): Hex => keccak256(`${wordOf(key)}${place.slice(2)}`);

/** Words of the calldata that may be others who act: a number is nobody, and a token that moves is told of. */
const strangersOf = memoize(({ bundle, named, senders }: Judging): ReadonlySet<bigint> => {
  const others = new Set<string | null>([...senders, ...effectsIn(bundle, "movement").map(({ token }) => token)]);
  return new Set([...named].filter((word) => mayBeParties(wordOf(word).slice(2)) && !others.has(addressOf(word))));
});

/** The slots of the senders' entries in mappings; `by` = the account of the calldata that a part of one is for, null = all of it. */
const entriesOf = memoize((judging: Judging) => {
  const slots = new Map<Hex, { readonly had: Address; readonly by: bigint | null }>();
  for (const had of [...judging.senders].slice(0, mostTried.senders))
    for (let place = 0; place < mostTried.places; place++) {
      const entry = entryOf(BigInt(had), wordOf(place));
      slots.set(entry, { had, by: null });
      for (const by of [...strangersOf(judging)].slice(0, mostTried.keys)) slots.set(entryOf(by, entry), { had, by });
    }
  return slots;
});

/** True if neither an event nor a call that is known tells of somebody's gain. */
const isSilent = (contract: Address, had: Address | null, has: bigint, judging: Judging): boolean =>
  !isToldOf(judging, contract, had ?? nobody, has) &&
  ![...effectsIn(judging.bundle, "right"), ...effectsIn(judging.bundle, "request")].some(
    ({ token, spender }) => token === contract && BigInt(spender) === has,
  );

/** The account of the calldata that a word newly names, and who stood there; undefined = there is none. */
const newcomerIn = (change: Change, judging: Judging) => {
  const strangers = strangersOf(judging);
  return [...places(change)].find(([had, has]) => strangers.has(has) && had !== addressOf(has));
};

/** True if nobody stood in a variable: in other places it is what a mapping keeps of somebody. */
const isFirstIn = (slot: Hex | null, had: Address | undefined): boolean =>
  had === nobody && slot !== null && BigInt(slot) >> 64n === 0n;

/** A right in an entry of a sender's, or an account of the calldata in a variable that named none; null = neither. */
const gainIn = (change: Change, judging: Judging): Pick<Change, "holds" | "loss"> | null => {
  const { contract, slot, was, word } = change;
  const [stood, named] = newcomerIn(change, judging) ?? [];
  const isGain = named !== undefined || (was === 0n && word === 1n);
  const entry = isGain ? entriesOf(judging).get(slot ?? "0x") : undefined;
  const has = named ?? entry?.by ?? BigInt(contract);
  if (addressOf(has) === contract || (entry === undefined && !isFirstIn(slot, stood))) return null;
  const had = entry?.had ?? null;
  const loss = { had, has: addressOf(has), isSilent: isSilent(contract, had, has, judging) };
  return { holds: had === null ? "pendingOwner" : "operator", loss };
};

/** True if a contract is a sender's, or keeps one in a variable that was read: whoever is named then may get what is theirs. */
const isOfSender = (contract: Address, judging: Judging): boolean => {
  const { before, named = [] } = judging.seen;
  const first = wordsIn(before, contract, false).map(({ slot, word }) => [slot, wordOf(word ?? 0n)] as const);
  const words = [...first, ...named.flatMap(({ pre }) => [...(pre.get(contract)?.storage ?? [])])];
  const isSender = (word: Hex) => [...judging.senders].some((sender) => word.includes(sender.slice(2)));
  return isOwn(contract, judging) || words.some(([slot, word]) => BigInt(slot) >> 64n === 0n && isSender(word));
};

/** A change anywhere: a sender's place, a new one of another's, or an account that follows another; null = no more than a number. */
export const readAny = (change: Change, judging: Judging): Change | null => {
  const loss = lostIn(change, judging);
  if (loss !== null) return { ...change, holds: "owner", loss };
  const gain = gainIn(change, judging);
  if (gain !== null) return { ...change, ...gain };
  return mayBeParties(wordOf(change.was).slice(2), wordOf(change.word).slice(2)) ? change : null;
};

/** A change of a first slot, read as what it is: code that a proxy runs, a keeper of a sender's account, or a sender's place. */
export const readFirst = (change: Change, judging: Judging): Change => {
  const { contract, was, word } = change;
  const { seen, senders } = judging;
  const isOther = isAccount(word) && low(word) !== low(was) && !senders.has(addressOf(word));
  if (senders.has(contract) && isOther && word >> 168n === 0n) return { ...change, holds: "key" };
  const loss = lostIn(change, judging);
  if (loss !== null) return { ...change, holds: "owner", loss };
  const code = seen.codeOf(contract);
  // why: by DELEGATECALL code runs another's in its own place
  const delegates = code !== null && instructionsIn(code).has(0xf4);
  const isCode = isOther && isAccount(was) && mayName(was) && mayName(word) && delegates;
  return isCode ? { ...change, holds: "implementation" } : { ...change, ...gainIn(change, judging) };
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
const isIdle = ({ slot, holds, was, word, loss }: Change, { senders }: Judging): boolean => {
  // why: a Safe that is set up had neither, and what nobody owned is taken from nobody
  if (was === 0n && (holds === "owner" || holds === "threshold")) return true;
  if (holds === "owner" && loss === undefined) return senders.has(addressOf(word)) && !senders.has(addressOf(was));
  // why: in one word of a Safe another contract may count
  return slot !== null && BigInt(slot) === 0n && holds === "implementation" && !isAccount(was);
};

/** True if the calldata names what comes in, or what a sender had is lost, or an owner gives it up. */
const isGiven = ({ holds, word, loss }: Change, { named }: Judging): boolean =>
  loss !== undefined || named.has(word) || named.has(low(word)) || (word === 0n && holds === "owner");

/**
 * True if a gain is no more than information: nothing shows that the contract is a sender's, an event of any kind names who
 * gains, or he is named with what a sender pays, which is a deal.
 */
const isMild = ({ contract, holds, word, loss }: Change, judging: Judging): boolean => {
  if (loss === undefined || (holds !== "pendingOwner" && holds !== "operator")) return false;
  const { bundle, senders } = judging;
  const isPaid = effectsIn(bundle, "movement").some(({ from, amount }) => senders.has(from) && amount > 0n);
  const isNamed = effectsIn(bundle, "event").some(
    ({ contract: by, log: { topics, data } }) =>
      by === contract && [...topics, data].join().toLowerCase().includes(loss.has.slice(2)),
  );
  return isNamed || (isPaid && word !== 1n) || (holds === "pendingOwner" && !isOfSender(contract, judging));
};

/** How bad a change is; null = data, no finding. */
export const severityOf = (change: Change, judging: Judging): "info" | "warning" | "blocker" | null => {
  const { contract, slot, holds, loss } = change;
  if (holds === null || loss?.isSilent === false || isTold(change, judging.controls)) return null;
  const isNew = judging.seen.worlds[0]?.before.account(contract)?.codeSize === 0n;
  if (isNew) return slot === null ? null : "info";
  if (isIdle(change, judging)) return null;
  if (isMild(change, judging)) return "info";
  return !isGiven(change, judging) && isOwn(contract, judging) ? "blocker" : "warning";
};

export const keyOf = ({ contract, was, word, holds, seen, loss }: Change): string => {
  // why: what is packed is told of by a getter as well
  const [had, has] =
    seen === "trace" && loss !== undefined ? [BigInt(loss.had ?? 0), BigInt(loss.has)] : [low(was), low(word)];
  return `${contract} ${holds} ${had} ${has}`;
};

/** Ranks what is silent first, then what has a meaning. */
export const rankOf = ({ holds, loss }: Change): number => (loss?.isSilent === true ? 0 : holds === null ? 2 : 1);
