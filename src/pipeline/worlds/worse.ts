/** What moves, as the worse of two worlds has it for those concerned: nobody knows which one is mined. Pure. */
import * as Arr from "effect/Array";
import type { BalanceChange, Transfer } from "../../report/parts.js";
import { isSameBalance } from "../../steps/reading/byBalance.js";
import { isSameFlow } from "../../steps/reading/compare.js";

/** What moves in one world. */
interface Moved {
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * `here`, with the least that reaches each of `whose` in either world, and the most that leaves them. Only where both
 * worlds have the same movements in the same order: parts of two outcomes would be none that can happen.
 */
export const worseOf = <M extends Moved>(here: M, there: Moved, whose: ReadonlySet<string>): M => {
  const pairs = Arr.zip(here.transfers, there.transfers);
  const isAlike =
    here.transfers.length === there.transfers.length && pairs.every(([one, other]) => isSameFlow(one, other));
  if (!isAlike) return here;
  const worse = (one: Transfer, { amount }: Transfer): Transfer =>
    whose.has(one.from) === whose.has(one.to)
      ? one
      : { ...one, amount: (whose.has(one.to) ? least : most)(one.amount, amount) };
  const transfers = pairs.map(([one, other]) => worse(one, other));
  const balanceChanges = here.balanceChanges.map((one): BalanceChange => {
    const other = whose.has(one.account) ? there.balanceChanges.find((its) => isSameBalance(one, its)) : undefined;
    const isWorse = other?.evidence === "measured" && one.evidence === "measured" && other.delta < one.delta;
    return isWorse ? other : one;
  });
  return { ...here, transfers, balanceChanges };
};
