/** The one reader of what events say, by the rows of `known/`: which value stands where, indexed or not. Pure and total. */
import type { Hex } from "../primitives/hex.js";
import { dataAt, wordsFrom } from "./words.js";

/** A log as far as it is read here. */
export interface Log {
  readonly topics: ReadonlyArray<string>;
  readonly data: Hex;
}

/** What kind of event it is: its first topic's first 8 bytes. Whoever searched for others alike could as well emit the event itself. */
export const eventOf = ({ topics: [signature] }: Log): string | undefined => signature?.slice(0, 18);

/** The first values of a log, indexed or not: their order is the same. */
export const valuesOf = ({ topics, data }: Log, most: number): ReadonlyArray<bigint> => {
  const indexed = topics.slice(1, 1 + most).map((word) => BigInt(word));
  return [...indexed, ...wordsFrom(data, dataAt, most - indexed.length)];
};

/** What each value is, in the order of the values; null = nothing that is read. */
export type Roles<Role extends string> = ReadonlyArray<Role | null>;

/** The value that has a role; null where none has. */
export const valueBy =
  <Role extends string>(roles: Roles<Role>, values: ReadonlyArray<bigint>) =>
  (role: Role): bigint | null =>
    values[roles.indexOf(role)] ?? null;
