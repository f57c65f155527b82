/** Why a transaction did something else than was said, by what replays of it did. Pure. */
import * as Arr from "effect/Array";
import type { Evidence } from "../report/finding.js";
import { everyLog, isSameHead, isSameLog } from "../steps/reading/sameOutcome.js";
import type { Happened, Replay, SettlementClass } from "./settlement.js";

/** A class that a difference may have, and how it is known. */
export interface Cause {
  readonly class: Exclude<SettlementClass, "same">;
  readonly evidence: Evidence;
}

/** Whether both did the same, but for the gas it took. */
const didSame = (a: Happened, b: Happened): boolean => a.status === b.status && everyLog(a, b, isSameLog);

export const isSameRun = (a: Happened, b: Happened): boolean => a.gasUsed === b.gasUsed && didSame(a, b);

/** Above this a word is no amount that anybody counts to, but a hash, a signature or an address. */
const mostCounted = 1n << 128n;

const wordsOf = (hex: string): ReadonlyArray<string> => hex.slice(2).match(/.{1,64}/g) ?? [];

const isAmount = (word: string): boolean => BigInt(`0x${word}`) < mostCounted;

/** Whether the words are the same, or amounts in both. */
const isCountedOnly = (a: string, b: string): boolean =>
  a.length === b.length &&
  Arr.zip(wordsOf(a.toLowerCase()), wordsOf(b.toLowerCase())).every(
    ([one, other]) => one === other || (isAmount(one) && isAmount(other)),
  );

/** Whether the same contracts tell of the same events, and only the amounts in them differ. */
export const isAmountOnly = (a: Happened, b: Happened): boolean =>
  a.status === "success" &&
  b.status === "success" &&
  !didSame(a, b) &&
  // why: what is indexed names something, such as a collectible by its number, and counts nothing
  everyLog(a, b, (one, other) => isSameHead(one, other) && isCountedOnly(one.data, other.data));

const measured = (name: Cause["class"]): Cause => ({ class: name, evidence: "measured" });

export const unknownCause: Cause = { class: "unknown", evidence: "unavailable" };

/**
 * Why `happened` is not what was `said`. First whether the node's simulator gives what the chain gave, with those
 * before it in its block or without them; then whether
 * those before it in its block made the difference; then whether it is the state since the report, or the values of
 * the block. `wasSealed` = the report's outcome was the same on the sealed block that `earlier` stands on, so that the
 * state of pending transactions does not explain it. Where one that is needed was not answered: `unknown`.
 */
export const causeOf = (
  said: Happened,
  happened: Happened,
  { behind, alone, earlier, rehashed, elsewhere }: Replay,
  wasSealed: boolean,
): Cause => {
  if (behind === null) return unknownCause;
  const isSameBehind = isSameRun(behind, happened);
  // why: a node may have no gas left behind a full block for what it runs rightly alone
  if (alone === null) return isSameBehind ? unknownCause : measured("simulatorWrong");
  if (!isSameRun(alone, happened)) return measured(isSameBehind ? "ordering" : "simulatorWrong");
  if (earlier === null) return unknownCause;
  // why: the blocks between are none of the chain's, and who reads their hashes is told others
  if (rehashed !== null && !isSameRun(rehashed, earlier)) return measured("contextDependent");
  if (!isSameRun(earlier, happened)) return measured(isAmountOnly(said, happened) ? "priceMoved" : "ordering");
  if (elsewhere === null) return unknownCause;
  if (!isSameRun(elsewhere, earlier)) return measured("contextDependent");
  // why: gas may differ by what pending transactions have warmed, though both did the same
  return measured(wasSealed && !didSame(said, happened) ? "simulatorWrong" : "ordering");
};
