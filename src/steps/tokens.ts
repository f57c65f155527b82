/**
 * What tokens call themselves: name, symbol, decimals. Lives on the witness.
 *
 * The text is the token's own and may lie; it is bounded here and escaped wherever it is shown.
 */
import type { Address } from "../errors/hex.js";
import { readString, readUint8, type Answer } from "../witness/answers.js";
import { decimals, name, symbol, type Query } from "../witness/queries.js";
import type { TokenInfo, Transfer } from "./outputs.js";

type Lookup = (query: Query) => Answer | undefined;

/** Every token that moves or is granted, each once, at most `limit`. */
export const tokens = (
  moved: ReadonlyArray<Transfer>,
  granted: ReadonlyArray<{ readonly token: Address }>,
  limit: number,
): ReadonlyArray<Address> =>
  [
    ...new Set([
      ...moved.flatMap(({ token }) => (token === null ? [] : [token])),
      ...granted.map(({ token }) => token),
    ]),
  ].slice(0, limit);

/** What the witness reads. */
export const queries = (asked: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  asked.flatMap((token) => [name(token), symbol(token), decimals(token)]);

/** What each token answered; null where it did not answer or answered nonsense. */
export const decide = (asked: ReadonlyArray<Address>, lookup: Lookup): ReadonlyArray<TokenInfo> =>
  asked.map((token) => ({
    token,
    name: readString(lookup(name(token))),
    symbol: readString(lookup(symbol(token))),
    decimals: readUint8(lookup(decimals(token))),
  }));
