/** The blocks that were told, and what the next one makes of them. Pure. */
import type { Hash } from "../primitives/hex.js";
import type { Head, Header } from "./block.js";

/** Blocks below a head that are remembered, to find where a branch begins, and what was told of those that it replaces. */
export const historyDepth = 128n;

/** Returns the place of a header among the blocks that were told. */
export const placeOf = (
  chain: ReadonlyArray<Header>,
  { hash, parentHash }: Header,
):
  /** The last block that was told. */
  | { readonly is: "known" }
  /** Told already, with others above it: a word that comes late, or a chain that has let go of those. */
  | { readonly is: "below"; readonly above: ReadonlyArray<Header> }
  /** Its parent is the last block told, or an earlier one: those above it are replaced. */
  | { readonly is: "next"; readonly above: ReadonlyArray<Header> }
  /** Its parent was not told. */
  | { readonly is: "apart" } => {
  if (chain.length === 0) return { is: "next", above: [] };
  const same = chain.findLastIndex((header) => header.hash === hash);
  if (same >= 0) return same === chain.length - 1 ? { is: "known" } : { is: "below", above: chain.slice(same + 1) };
  const parent = chain.findLastIndex((header) => header.hash === parentHash);
  return parent < 0 ? { is: "apart" } : { is: "next", above: chain.slice(parent + 1) };
};

/** The blocks, the newest first, by name. */
export const namesOf = (blocks: ReadonlyArray<Header>): Head["replaced"] =>
  blocks.map(({ number, hash }) => ({ number, hash })).reverse();

/**
 * The chain as it is known, and what of it was told: its latest blocks, ascending; each is the parent of the one behind it,
 * unless some were skipped.
 */
export interface ChainState {
  readonly seen: ReadonlyArray<Header>;
  readonly told: ReadonlyArray<Header>;
  /** Headers that wait for the taker; one that was asked for to fill a gap, and the first, gives way to none. */
  readonly waiting: ReadonlyArray<{ readonly header: Header; readonly isKept: boolean }>;
}

export const emptyChain: ChainState = { seen: [], told: [], waiting: [] };

const isRecent = ({ number }: Header, head: Header): boolean => number + historyDepth > head.number;

/**
 * Blocks on top of the chain, the last of which is the head, in place of those that are `replaced`. So many wait for a slow
 * taker: `heads`, and beside them blocks that were asked for to fill gaps.
 */
export const withHeads = (
  { seen, told, waiting }: ChainState,
  blocks: ReadonlyArray<Header>,
  replaced: ReadonlyArray<Header>,
  { heads, fill }: { readonly heads: number; readonly fill: number },
): ChainState => {
  const head = blocks.at(-1);
  if (head === undefined) return { seen, told, waiting };
  const out = new Set<Hash>([...replaced, ...blocks].map(({ hash }) => hash));
  const isFirst = told.length === 0 && waiting.length === 0;
  const all: ChainState["waiting"] = [
    ...waiting.filter(({ header }) => !out.has(header.hash)),
    ...blocks.map((header) => ({ header, isKept: header !== head || isFirst })),
  ];
  const late = all.filter(({ isKept }) => !isKept).slice(-heads);
  const entries = all.filter((entry) => entry.isKept || late.includes(entry));
  return {
    seen: [...seen.filter(({ hash }) => !out.has(hash)), ...blocks].filter((header) => isRecent(header, head)),
    told,
    waiting: entries.length > fill + heads ? entries.slice(-heads) : entries,
  };
};

/** The next head for the taker, and what is left; null = there is none. */
export const nextHead = (
  followed: ChainState,
): { readonly head: Head | null; readonly followed: ChainState } | null => {
  const [first, ...waiting] = followed.waiting;
  if (first === undefined) return null;
  const { header } = first;
  const { seen } = followed;
  const chain = new Set(seen.slice(0, seen.findIndex(({ hash }) => hash === header.hash) + 1).map(({ hash }) => hash));
  // why: of what is long ago nobody knows better than that it stays
  const isLeft = (other: Header): boolean => chain.has(other.hash) || !isRecent(other, header);
  const ancestors = followed.told.filter(isLeft);
  const replaced = namesOf(followed.told.filter((other) => !isLeft(other)));
  const last = ancestors.at(-1);
  const isTold = last?.hash === header.hash;
  const told = [...ancestors, ...(isTold ? [] : [header])].filter((other) => isRecent(other, header));
  const next = { seen, told, waiting };
  // why: a branch that came and went before anybody was told of it
  if (isTold && replaced.length === 0) return { head: null, followed: next };
  const base = last?.number ?? (followed.told[0]?.number ?? header.number) - 1n;
  const skipped = header.number > base + 1n ? header.number - base - 1n : 0n;
  return { head: { header, replaced, skipped }, followed: next };
};
