/** The blocks that were told, and what the next one makes of them. Pure. */
import type { Hash } from "../primitives/hex.js";
import { headerFields } from "./block.js";
import { struct } from "./shape.js";
import { Word } from "./wire.js";

/** A sealed block's header, as `eth_subscribe` tells it. */
export const Header = struct({
  ...headerFields,
  /** The hash, 32 bytes. */
  hash: Word,
});
export type Header = typeof Header.schema.Type;

/** A block by its place and its name. */
export type BlockName = Pick<Header, "number" | "hash">;

/** The chain has a new head. */
export interface Head {
  /** The block's header. */
  readonly header: Header;
  /** Blocks told of before that are not on this head's chain, the newest first; empty = no reorganisation. */
  readonly replaced: ReadonlyArray<BlockName>;
  /** How many blocks between the head told before and this one were not told. */
  readonly skipped: bigint;
}

/** The latest blocks that were told, ascending; each is the parent of the one behind it, unless some were skipped. */
export type Told = ReadonlyArray<Header>;

/** Blocks that are remembered, to find where a branch begins. */
const remembered = 128;

/** What a header is, seen from what was told. */
export type Place =
  /** The last block that was told. */
  | { readonly is: "known" }
  /** Told already, with others above it: a word that comes late, or a chain that has let go of those. */
  | { readonly is: "below"; readonly above: Told }
  /** Its parent is the last block told, or an earlier one: those above it are replaced. */
  | { readonly is: "next"; readonly above: Told }
  /** Its parent was not told. */
  | { readonly is: "apart" };

/** Where a header belongs. */
export const placeOf = (told: Told, { hash, parentHash }: Header): Place => {
  if (told.length === 0) return { is: "next", above: [] };
  const same = told.findLastIndex((one) => one.hash === hash);
  if (same >= 0) return same === told.length - 1 ? { is: "known" } : { is: "below", above: told.slice(same + 1) };
  const parent = told.findLastIndex((one) => one.hash === parentHash);
  return parent < 0 ? { is: "apart" } : { is: "next", above: told.slice(parent + 1) };
};

/** The blocks, the newest first, by name. */
export const namesOf = (blocks: Told): ReadonlyArray<BlockName> =>
  blocks.map(({ number, hash }) => ({ number, hash })).reverse();

/** What was told, with a head on top; what it replaces is gone, and it stands there once. */
export const withHead = (told: Told, { header, replaced }: Head): Told => {
  const gone = new Set<Hash>([header.hash, ...replaced.map(({ hash }) => hash)]);
  return [...told.filter(({ hash }) => !gone.has(hash)), header].slice(-remembered);
};

/** One head in place of two that nobody took in time: the newer, with what was to be told of the other. */
export const merged = (one: Head, newer: Head): Head => {
  const isReplaced = newer.replaced.some(({ hash }) => hash === one.header.hash);
  const replaced = [...newer.replaced.filter(({ hash }) => hash !== one.header.hash), ...one.replaced];
  return { header: newer.header, replaced, skipped: newer.skipped + one.skipped + (isReplaced ? 0n : 1n) };
};
