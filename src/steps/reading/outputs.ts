/**
 * Differences of two runs in their events and return values: places of addresses, and numbers. A contract
 * that credits another party in another block need not move anything else to rob its user. Pure.
 */
import * as Arr from "effect/Array";
import { hasDecodable } from "../../abi/layout.js";
import { eventIn, type Event } from "../../effects/events.js";
import { nothing, type OutcomeDifference } from "../../primitives/difference.js";
import type { Address } from "../../primitives/hex.js";
import type { Outcome, OutcomeLog } from "../../report/parts.js";
import { isNumber, mayBeParties, addressPositionsOf } from "./addressPositions.js";
import { isSameLog, within } from "./sameOutcome.js";

/** Differences of one kind that are told. */
const mostTold = 16;

/** The terms by which differences of two runs are ignored, and by which they decide. */
export interface Terms {
  /** Accounts whose losses decide. */
  readonly whose: ReadonlySet<string>;
  /** The share by which amounts may differ. */
  readonly tolerance: number;
  /** Accounts whose place in events and return values decides: hex digits without `0x`. */
  readonly concerned: ReadonlySet<string>;
  /**
   * Which numbers of events and return values are compared as well: all, or those that events book for parties that
   * matter, but for what the clock explains; null = none.
   */
  readonly numbers: "all" | ((a: bigint, b: bigint) => boolean) | null;
}

/** The indexed words and the others of an event. */
const digitsOf = ({ topics, data }: OutcomeLog): string =>
  [...topics.slice(1), data]
    .map((part) => part.slice(2))
    .join("")
    .toLowerCase();

/** The events and return values of which two runs say other bytes; hex digits, in lower case. A return value has no log. */
const outputsOf = (outcomes: ReadonlyArray<Outcome>, other: ReadonlyArray<Outcome>) =>
  Arr.zip(outcomes, other).flatMap(([a, b], transaction) => {
    if (a.status !== "success" || b.status !== "success") return [];
    const of = { transaction, outcome: a, isAligned: a.logs.length === b.logs.length };
    const [mine, theirs] = [a.returnData?.slice(2) ?? "", b.returnData?.slice(2) ?? ""];
    const returned = { ...of, event: null, log: null, first: mine.toLowerCase(), second: theirs.toLowerCase() };
    const logs = Arr.zip(a.logs, b.logs).flatMap(([log, its], event) =>
      isSameLog(log, its) ? [] : [{ ...of, event, log, first: digitsOf(log), second: digitsOf(its) }],
    );
    return [...(returned.first === returned.second ? [] : [returned]), ...logs];
  });
type Output = ReturnType<typeof outputsOf>[number];

const found = (
  { transaction, event }: Output,
  kind: OutcomeDifference["kind"],
  more: Partial<OutcomeDifference> = {},
): OutcomeDifference => ({ ...nothing, transaction, event, kind, a: null, b: null, decides: false, ...more });

const wordsOf = (text: string): ReadonlyArray<string> => text.match(/.{64}/g) ?? [];

/** From and to which word an output may hold an address, by its event's ABI or where it is a known one. */
const mayName = ({ log }: Output): readonly [from: number, to: number] => {
  if (log === null) return [0, Number.POSITIVE_INFINITY];
  const indexed = log.topics.length - 1;
  const item = log.decoded?.item;
  const inputs = hasDecodable(item, "inputs")
    ? item.inputs.filter(({ type }) => !/^(u?int\d*|bool)[[\]\d]*$/.test(type))
    : null;
  const topics = inputs === null || inputs.some((input) => input.indexed === true);
  const data = inputs === null ? eventIn(log).row.isNumbered !== true : inputs.some((input) => input.indexed !== true);
  return [topics ? 0 : indexed, data ? Number.POSITIVE_INFINITY : indexed];
};

const producerName = "0".repeat(39) + "p";

/** A text in which the block's producer has one name, unless its own place decides. */
const producedBy = (producer: Address | null, concerned: ReadonlySet<string>) => {
  const named = producer?.slice(2).toLowerCase() ?? null;
  // why: nodes without a producer name zero, which stands in every padding
  const isKept = named === null || isNumber(named) || concerned.has(named);
  return (text: string): string => (isKept ? text : text.replaceAll(named, producerName));
};

/** Reports places where those concerned stand elsewhere, and where another address stands. */
const comparePlaces = (
  outputs: ReadonlyArray<Output>,
  [mine, theirs]: readonly [one: Address | null, other: Address | null],
  concerned: ReadonlySet<string>,
): ReadonlyArray<OutcomeDifference> => {
  const placesIn = addressPositionsOf(concerned);
  const [byMine, byTheirs] = [producedBy(mine, concerned), producedBy(theirs, concerned)];
  const texts = outputs
    .filter(({ isAligned }) => isAligned)
    .map((output) => ({ output, first: byMine(output.first), second: byTheirs(output.second) }));
  // guard: places of those concerned
  const decisive = texts.flatMap(({ output }) => {
    // why: no producer, least of all a posted report's, takes the place of who is concerned
    const [places, others] = [placesIn(output.first), placesIn(output.second)];
    return [...new Set([...places.keys(), ...others.keys()])]
      .filter((account) => places.get(account)?.join() !== others.get(account)?.join())
      .map((account) => found(output, "place", { account: `0x${account}`, decides: true }));
  });
  const chance = texts.flatMap(({ output, first, second }) => {
    const naming = mayName(output);
    const [words, others] = [wordsOf(first).slice(...naming), wordsOf(second).slice(...naming)];
    const isOther = words.some((word, place) => word !== others[place] && mayBeParties(word, others[place]));
    return isOther ? [found(output, "address")] : [];
  });
  return [...decisive.slice(0, mostTold), ...chance.slice(0, mostTold)];
};

/** Above this a word is no number that anybody counts to, but a hash, a signature or an address. */
const mostCounted = 1n << 128n;

/** The numbers that stand in the same place and differ by more than the share `tolerance`. */
const numbersIn = ({ first, second }: Output, tolerance: number): ReadonlyArray<readonly [a: bigint, b: bigint]> =>
  Arr.zip(wordsOf(first), wordsOf(second)).flatMap(([word, its]) => {
    if (word === its) return [];
    const [a, b] = [BigInt(`0x${word}`), BigInt(`0x${its}`)];
    return a < mostCounted && b < mostCounted && !within(a, b, tolerance) ? [[a, b] as const] : [];
  });

/** True if an event is of a movement. */
const isMovement = ({ row: { movement } }: Event): boolean =>
  // why: of wrapped currency they are movements, of a vault none
  movement !== undefined && movement.wraps !== true;

/** True if an event is compared by what it moves, grants or hands over, or another of its contract beside it is. */
const isKnown = (log: OutcomeLog, { logs }: Outcome): boolean => {
  const event = eventIn(log);
  // why: interest is told beside what the token's `Transfer` moves, and of that again
  if (event.row.sum?.what === "interest")
    return logs.some((other) => other.address === log.address && isMovement(eventIn(other)));
  return isMovement(event) || event.row.right !== undefined || event.row.control !== undefined;
};

/** Events that name one of `concerned` and say another number, as one that books what nobody moves. */
const compareBooked = (
  outputs: ReadonlyArray<Output>,
  concerned: ReadonlySet<string>,
  tolerance: number,
  isClock: (a: bigint, b: bigint) => boolean,
): ReadonlyArray<OutcomeDifference> => {
  const placesIn = addressPositionsOf(concerned);
  return outputs
    .flatMap((output) => {
      const { log, outcome, first } = output;
      if (log === null || isKnown(log, outcome) || placesIn(first).size === 0) return [];
      const [pair] = numbersIn(output, tolerance).filter(([a, b]) => !isClock(a, b));
      return pair === undefined ? [] : [found(output, "number", { a: pair[0], b: pair[1] })];
    })
    .slice(0, mostTold);
};

/** Return values and events of another length, or in which a number differs. */
const compareValues = (outputs: ReadonlyArray<Output>, tolerance: number): ReadonlyArray<OutcomeDifference> => {
  const aligned = outputs.filter(({ isAligned }) => isAligned);
  const other = aligned.filter((its) => its.first.length !== its.second.length || numbersIn(its, tolerance).length > 0);
  return other.slice(0, mostTold).map((output) => found(output, "value"));
};

/** Compares what two runs emitted and returned; the producers of their blocks are one party under two addresses. */
export const compareOutputs = (
  a: { readonly outcomes: ReadonlyArray<Outcome>; readonly producer: Address | null },
  b: typeof a,
  { concerned, tolerance, numbers }: Omit<Terms, "whose">,
): ReadonlyArray<OutcomeDifference> => {
  const outputs = outputsOf(a.outcomes, b.outcomes);
  const places = comparePlaces(outputs, [a.producer, b.producer], concerned);
  if (numbers === null) return places;
  const found =
    numbers === "all" ? compareValues(outputs, tolerance) : compareBooked(outputs, concerned, tolerance, numbers);
  return [...places, ...found];
};
