/** The calls of a transaction as rows, each call looked up once: what they ask to move, to grant and to hand over. Pure. */
import { callRowOf, type CallRow } from "../abi/known/calls.js";
import type { PlainCall } from "../abi/batches.js";
import { addressAt, argumentsAt, nobody, numbersAt, padded, placeOf, pointedAt, wordAt } from "../abi/words.js";
import { lower, type Address } from "../primitives/hex.js";
import { memoizeList } from "../primitives/record.js";
import { requestedBy } from "./rights.js";

/** Words of calldata that say what moves. */
const mostMoved = 4;

/** Movements that a call asks for, several of a list of ids; a mint and a burn have one end. An amount is null where it names none. */
const movesOf = ({ from: caller, to: token, data }: PlainCall, { move, supply }: CallRow) => {
  const whole = padded(data, mostMoved);
  const partyAt = (index: number | undefined) => (index === undefined ? caller : addressAt(whole, placeOf(index)));
  const numberAt = (index: number | undefined) => (index === undefined ? null : wordAt(whole, placeOf(index)));
  if (supply !== undefined) {
    const [isMint, amount] = [supply.to !== undefined, numberAt(supply.amount)];
    const [from, to] = isMint ? [null, partyAt(supply.to)] : [partyAt(supply.from), null];
    return [{ token, from, to, tokenId: null, amount }];
  }
  if (move === undefined) return [];
  const { id, ids, amount: at = id === undefined ? undefined : id + 1 } = move;
  const all = ids === undefined ? [numberAt(id)] : (numbersAt(data, pointedAt(data, placeOf(ids), argumentsAt)) ?? []);
  const [from, to, amount] = [partyAt(move.from), partyAt(move.to), numberAt(at)];
  return all.map((tokenId) => ({ token, from, to, tokenId, amount }));
};

/** The account that an argument names; null = none. */
const namedBy = ({ data }: PlainCall, place: number | undefined): Address | null => {
  const account = place === undefined ? null : addressAt(padded(data, place + 1), placeOf(place));
  return account === nobody ? null : account;
};

/** Reads one call. */
export const askedBy = (call: PlainCall, transaction: number) => {
  const row = callRowOf(call.data);
  return {
    ...{ call, row, transaction, contract: lower(call.to), moves: movesOf(call, row) },
    /** The account that is to get what moves, however many ids are listed; null = nothing is asked to move, or by nobody's name. */
    receiver: row.move === undefined ? null : addressAt(padded(call.data, mostMoved), placeOf(row.move.to)),
    rights: requestedBy(call, row, transaction),
    /** The account that gets to act for the contract; null = none. */
    gains: namedBy(call, row.handover),
    /** The account that gets what the caller has in the contract; null = none. */
    payee: namedBy(call, row.payout),
  };
};
/** One call, what is known of its function, and what it asks for. */
export type Asked = ReturnType<typeof askedBy>;

/** Reads the calls of a transaction, the outer one first; read once for all of its runs. */
export const askedIn = memoizeList((calls: ReadonlyArray<PlainCall>, transaction: number): ReadonlyArray<Asked> =>
  calls.map((call) => askedBy(call, transaction)),
);
