/** Numbers that two runs of the same shape said otherwise, in their return values and events. Pure. */
import * as Arr from "effect/Array";
import type { Hex } from "../../primitives/hex.js";
import type { Outcome, OutcomeLog } from "../../report/parts.js";
import { within } from "./differences.js";

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
        ...compare(`transaction ${index}, return value`, a.returnData ?? "0x", b.returnData ?? "0x"),
        ...Arr.zip(a.logs, b.logs).flatMap(([mine, theirs], place) =>
          compare(`transaction ${index}, event ${place}`, saidBy(mine), saidBy(theirs)),
        ),
      ];
    })
    .slice(0, mostTold);
};
