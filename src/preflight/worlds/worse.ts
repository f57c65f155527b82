/** What moves, as the worse of two worlds has it for those concerned: nobody knows which one is mined. Pure. */
import type { BalanceChange, Transfer } from "../../report/parts.js";

/** What moves in one world. */
interface Moved {
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
}

const isSameHolding = (one: BalanceChange, other: BalanceChange): boolean =>
  one.account === other.account && one.token === other.token && one.tokenId === other.tokenId;

const isSameMovement = (one: Transfer, other: Transfer | undefined): boolean =>
  one.token === other?.token && one.tokenId === other.tokenId && one.from === other.from && one.to === other.to;

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * `here`, with the least that reaches each of `whose` in either world, and the most that leaves them. Movements are
 * compared where both worlds have the same ones in the same order.
 */
export const worseOf = <M extends Moved>(here: M, there: Moved, whose: ReadonlySet<string>): M => {
  const isAlike =
    here.transfers.length === there.transfers.length &&
    here.transfers.every((one, index) => isSameMovement(one, there.transfers[index]));
  const transfers = here.transfers.map((one, index): Transfer => {
    const other = isAlike ? there.transfers[index] : undefined;
    if (other === undefined || whose.has(one.from) === whose.has(one.to)) return one;
    return { ...one, amount: (whose.has(one.to) ? least : most)(one.amount, other.amount) };
  });
  const balanceChanges = here.balanceChanges.map((one): BalanceChange => {
    const other = whose.has(one.account) ? there.balanceChanges.find((its) => isSameHolding(one, its)) : undefined;
    const isWorse = other?.evidence === "measured" && one.evidence === "measured" && other.delta < one.delta;
    return isWorse ? other : one;
  });
  return { ...here, transfers, balanceChanges };
};
