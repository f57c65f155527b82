/** Numbers that two runs of the same shape said otherwise, in their return values and events. Pure. */
import * as Arr from "effect/Array";
import { eventOf } from "../../abi/events.js";
import type { Hex } from "../../primitives/hex.js";
import type { Outcome, OutcomeLog } from "../../report/parts.js";
import { tellsOfControl } from "./controlLogs.js";
import { within } from "./differences.js";
import { tellsOfRight } from "./grants.js";
import { placesOf } from "./places.js";
import { tellsOfMovement } from "./transferLogs.js";

/** Differences that are told. */
const mostTold = 16;

/** Above this a word is no number that anybody counts to, but a hash, a signature or an address. */
const mostCounted = 1n << 128n;

const wordsOf = (data: Hex): ReadonlyArray<string> => data.slice(2).match(/.{64}/g) ?? [];

/** The indexed words and the others of an event. */
const saidBy = ({ topics, data }: OutcomeLog): Hex =>
  `0x${[...topics.slice(1), data].map((part) => part.slice(2)).join("")}`;

const isOther = (one: string, other: string, tolerance: number): boolean => {
  if (one === other) return false;
  const [a, b] = [BigInt(`0x${one}`), BigInt(`0x${other}`)];
  return a < mostCounted && b < mostCounted && !within(a, b, tolerance);
};

/** Deposit(address,uint256) and Withdrawal(address,uint256): movements of wrapped currency, of a vault's none. */
const ambiguous: ReadonlySet<string> = new Set(["0xe1fffcc4923d04b5", "0x7fcf532c15f0a6db"]);

/** Aave's Mint and Burn(address,address,uint256,uint256,uint256): what their token's `Transfer` beside them moves, and interest. */
const doubling: ReadonlySet<string> = new Set(["0x458f5fa412d0f69b", "0x4cf25bc1d991c175"]);

/** Whether an event is compared by what it moves, grants or hands over, or another of its contract beside it is. */
const isKnown = (log: OutcomeLog, { logs }: Outcome): boolean => {
  const kind = eventOf(log) ?? "";
  const moves = (event: string): boolean => tellsOfMovement(event) && !ambiguous.has(event);
  if (doubling.has(kind)) return logs.some((one) => one.address === log.address && moves(eventOf(one) ?? ""));
  return moves(kind) || tellsOfRight(kind) || tellsOfControl(kind);
};

/**
 * A line for each event that names one of `concerned` and says another number, as one that books what nobody moves;
 * what `isClock` takes for the block's own time or number is none.
 */
export const movedNumbers = (
  one: ReadonlyArray<Outcome>,
  other: ReadonlyArray<Outcome>,
  concerned: ReadonlySet<string>,
  tolerance: number,
  isClock: (a: bigint, b: bigint) => boolean,
): ReadonlyArray<string> => {
  const placesIn = placesOf(concerned);
  return Arr.zip(one, other)
    .flatMap(([a, b], index) =>
      Arr.zip(a.logs, b.logs).flatMap(([mine, theirs], place): ReadonlyArray<string> => {
        if (a.status !== "success" || b.status !== "success" || isKnown(mine, a)) return [];
        const [here, there] = [saidBy(mine), saidBy(theirs)];
        if (here === there || placesIn(here.slice(2).toLowerCase()).size === 0) return [];
        const pair = Arr.zip(wordsOf(here), wordsOf(there)).find(
          ([x, y]) => isOther(x, y, tolerance) && !isClock(BigInt(`0x${x}`), BigInt(`0x${y}`)),
        );
        return pair === undefined
          ? []
          : [`transaction ${index + 1}, event ${place + 1}: ${BigInt(`0x${pair[0]}`)} and ${BigInt(`0x${pair[1]}`)}`];
      }),
    )
    .slice(0, mostTold);
};

/** A line for each return value and event in which a number differs by more than the share `tolerance`. */
export const movedValues = (
  one: ReadonlyArray<Outcome>,
  other: ReadonlyArray<Outcome>,
  tolerance: number,
): ReadonlyArray<string> => {
  const compare = (at: string, mine: Hex, theirs: Hex): ReadonlyArray<string> => {
    if (mine === theirs) return [];
    const pairs = Arr.zip(wordsOf(mine), wordsOf(theirs));
    return mine.length !== theirs.length || pairs.some(([a, b]) => isOther(a, b, tolerance))
      ? [`${at}: another value`]
      : [];
  };
  return Arr.zip(one, other)
    .flatMap(([a, b], index): ReadonlyArray<string> => {
      if (a.status !== "success" || b.status !== "success" || a.logs.length !== b.logs.length) return [];
      return [
        ...compare(`transaction ${index + 1}, return value`, a.returnData ?? "0x", b.returnData ?? "0x"),
        ...Arr.zip(a.logs, b.logs).flatMap(([mine, theirs], place) =>
          compare(`transaction ${index + 1}, event ${place + 1}`, saidBy(mine), saidBy(theirs)),
        ),
      ];
    })
    .slice(0, mostTold);
};
