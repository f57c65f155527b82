/** Which logs were told, so that each is told once and taken back with its block. Pure. */
import type { Hash } from "../primitives/hex.js";
import type { BlockName, Head } from "./heads.js";
import type { Log } from "./log.js";

/** The logs of one block that were told, by their place in it. */
interface OfBlock {
  readonly number: bigint;
  readonly logs: ReadonlyMap<number, Log>;
}

/** By the hash of the block. */
export type ToldLogs = ReadonlyMap<Hash, OfBlock>;

/** What is to be told now, and what was told then. */
export interface Telling {
  readonly told: ToldLogs;
  readonly logs: ReadonlyArray<Log>;
}

/** Blocks below the newest that logs are remembered of. */
const remembered = 128n;

/** A sealed log with its place; a log without one belongs to no block. */
const placed = (log: Log) => {
  const { blockHash, blockNumber, logIndex } = log;
  return blockHash === null || blockNumber === null || logIndex === null ? null : { blockHash, blockNumber, logIndex };
};

const takenBack = (log: Log): Log => ({ ...log, removed: true });

/** Tells of these logs what is new, and takes back what was told of those that are removed. */
export const tellLogs = (told: ToldLogs, logs: ReadonlyArray<Log>): Telling => {
  const next = new Map(told);
  const out: Array<Log> = [];
  for (const log of logs) {
    const at = placed(log);
    if (at === null) continue;
    const { blockHash, blockNumber: number, logIndex } = at;
    const known = next.get(blockHash)?.logs ?? new Map<number, Log>();
    if (known.has(logIndex) !== log.removed) continue;
    const kept = new Map(known);
    if (log.removed) kept.delete(logIndex);
    else kept.set(logIndex, log);
    next.set(blockHash, { number, logs: kept });
    out.push(log);
  }
  return { told: next, logs: out };
};

/**
 * Takes back what was told of blocks that a head leaves behind, the newest first: those that it replaces, and others at its
 * height, of which nobody may have told as heads. Long past blocks are forgotten.
 */
export const untellLogs = (told: ToldLogs, replaced: ReadonlyArray<BlockName>, head: BlockName): Telling => {
  const beside = [...told].filter(([hash, { number }]) => number === head.number && hash !== head.hash);
  const gone = new Set<Hash>([...replaced.map(({ hash }) => hash), ...beside.map(([hash]) => hash)]);
  const logs = [...gone].flatMap((hash) => [...(told.get(hash)?.logs.values() ?? [])].reverse().map(takenBack));
  const kept = [...told].filter(([hash, { number }]) => !gone.has(hash) && number + remembered >= head.number);
  return { told: new Map(kept), logs };
};

/** Blocks that are of the chain: heads were told of them, or the node was asked. Number by hash. */
export type KnownBlocks = ReadonlyMap<Hash, bigint>;

/** What is known from a head on: nothing of what it replaces, and of the heights that it skips. */
export const knownAt = (known: KnownBlocks, { header, replaced, skipped }: Head): KnownBlocks => {
  const first = replaced.reduce((least, { number }) => (number < least ? number : least), header.number - skipped);
  const kept = [...known].filter(([, number]) => number < first && number + remembered >= header.number);
  return new Map([...kept, [header.hash, header.number]]);
};

/** Blocks below a head that logs were told of, and that nobody knows to be of its chain: the word that they are gone may be lost. */
export const doubtfulBelow = (told: ToldLogs, known: KnownBlocks, head: BlockName): ReadonlyArray<BlockName> =>
  [...told]
    .filter(([hash, { number, logs }]) => number < head.number && logs.size > 0 && !known.has(hash))
    .map(([hash, { number }]) => ({ number, hash }));
