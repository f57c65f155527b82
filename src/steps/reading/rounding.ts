/**
 * Why events and balances may differ in an everyday call: shares are rounded, interest is booked when somebody comes by,
 * stakes are booked without an event, and not every node traces all native movements. Pure.
 *
 * Whatever is told here as explained is bounded: by a wei or two for each movement, by what the contract's own event
 * names, by a share that no fee is as small as, or by what the same account moved the other way.
 */
import * as BigInts from "effect/BigInt";
import type { Rows } from "../../effects/effects.js";
import type { Address } from "../../primitives/hex.js";
import type { BalanceChange, Transfer } from "../../report/parts.js";

/** Units that one movement may be rounded by: once for who gives, once for who gets. */
const unitsPerMove = 2n;
/** Movements that are counted: events without an amount make no room. */
const mostMoves = 16;
/** Rounding is no more than this part of what moves: two units of a token that counts in whole ones are no rounding. */
const roundedPart = 1_000n;
/** Shares worth many units each are rounded by more of them, but never by a part that anybody would count. */
const unseenPart = 1_000_000_000n;
/** Interest since the last block or the last hours is less than this part of what moves; the smallest fee, a basis point, is not. */
const accruedPart = 10_000n;
/** Interest that an event names, or that a new stake is booked with, is at most this part of what was there before. */
const namedPart = 4n;

/** Interest that the token's own events name for an account: they count it as moved, and the balance had it before. */
const namedInterest = ({ account, token }: BalanceChange, sums: ReadonlyArray<Rows["sum"]>): bigint =>
  BigInts.sumAll(
    sums.flatMap(({ what, contract, account: whose, amount }) =>
      what === "interest" && contract === token && whose === account ? amount : [],
    ),
  );

/** True if interest is as much as may have been there before. */
const isNamed = (interest: bigint, balance: bigint): boolean => interest > 0n && interest * namedPart <= balance;

/** True if a difference is what shares are rounded by, where so many movements made up `total`. */
const isRounded = (difference: bigint, total: bigint, moves: number): boolean =>
  (difference <= unitsPerMove * BigInt(Math.min(moves, mostMoves)) && difference * roundedPart <= total) ||
  difference * unseenPart <= total;

/** Net amounts that an account gave and got of other assets, by asset. */
const otherMoves = ({ account, token }: BalanceChange, transfers: ReadonlyArray<Transfer>): ReadonlyArray<bigint> => {
  const sums = new Map<Address | null, bigint>();
  for (const { token: asset, tokenId, from, to, amount } of transfers) {
    if (asset === token || tokenId !== null) continue;
    const net = (to === account ? amount : 0n) - (from === account ? amount : 0n);
    sums.set(asset, (sums.get(asset) ?? 0n) + net);
  }
  return [...sums.values()];
};

/** True if a contract that moves nothing by events booked what the account gave it, or gave back what it booked off. */
const isBooked = (
  { change }: { readonly change: BalanceChange },
  { transfers }: { readonly transfers: ReadonlyArray<Transfer> },
): boolean => {
  const { token, delta, before } = change;
  if (delta === 0n || transfers.some((transfer) => transfer.token === token)) return false;
  return otherMoves(change, transfers).some((net) => {
    if (net === 0n || net < 0n === delta < 0n) return false;
    const [booked, amount] = [BigInts.abs(delta), BigInts.abs(net)];
    if (isRounded(BigInts.abs(booked - amount), BigInts.min(booked, amount), 1)) return true;
    // why: with interest a stake grows by more than was paid in, and pays out more than it was booked with
    const interest = delta > 0n ? booked - amount : amount - booked;
    return isNamed(interest, before ?? 0n);
  });
};

/**
 * Why the events of a balance say another change (`logged`) than was measured; null where nothing bounded explains it.
 * Differences are explained by everything that the bundle moved and emitted.
 */
export const reasonOf = (
  reading: { readonly change: BalanceChange; readonly logged: bigint },
  context: { readonly transfers: ReadonlyArray<Transfer>; readonly sums: ReadonlyArray<Rows["sum"]> },
): string | null => {
  const { change, logged } = reading;
  const { account, token, tokenId, before, delta } = change;
  // why: native balances are the chain's own, and no contract can say them otherwise
  if (token === null) return "the node does not trace every native movement";
  if (tokenId !== null) return null;
  if (account === token) return "the token mints and burns through its own address";
  const moves = context.transfers.filter(
    (transfer) => transfer.token === token && (transfer.from === account || transfer.to === account),
  );
  if (moves.some(({ standard }) => standard !== "erc20")) return null;
  if (moves.length === 0) return isBooked(reading, context) ? "a stake is booked without an event" : null;
  const difference = delta - logged;
  // why: a share of the larger one would be more of the smaller
  const smaller = BigInts.min(BigInts.abs(delta), BigInts.abs(logged));
  if (isRounded(BigInts.abs(difference), smaller, moves.length)) return "shares are rounded";
  const balance = before ?? 0n;
  const interest = namedInterest(change, context.sums);
  const room = unitsPerMove * BigInt(Math.min(moves.length, mostMoves) + 1);
  if (isNamed(interest, balance) && BigInts.abs(difference + interest) <= room)
    return "the events count interest that the balance had already";
  return BigInts.abs(difference) * accruedPart < smaller && BigInts.abs(difference) * 100n <= balance
    ? "interest is booked on the way"
    : null;
};
