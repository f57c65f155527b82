/** Which logs were told, so that each is told once and taken back with its block. Pure. */
import type { Hash } from "../primitives/hex.js";
import { remembered, type BlockName, type Head } from "./heads.js";
import type { Log } from "./log.js";

/** The logs of one block that were told. */
interface OfBlock {
  readonly number: bigint;
  readonly logs: ReadonlyArray<Log>;
}

/** By the hash of the block. */
export type ToldLogs = ReadonlyMap<Hash, OfBlock>;

/** What is to be told now, and what was told then. */
export interface Telling {
  readonly told: ToldLogs;
  readonly logs: ReadonlyArray<Log>;
}

/** Logs by their block, each once; those that have no place in a sealed block are none. */
const byBlock = (logs: ReadonlyArray<Log>): ToldLogs => {
  const blocks = new Map<Hash, { readonly number: bigint; readonly logs: Array<Log>; readonly places: Set<number> }>();
  for (const log of logs) {
    const { blockHash, blockNumber: number, logIndex, removed } = log;
    if (blockHash === null || number === null || logIndex === null || removed) continue;
    const block = blocks.get(blockHash) ?? { number, logs: [], places: new Set() };
    blocks.set(blockHash, block);
    if (!block.places.has(logIndex)) block.logs.push(log);
    block.places.add(logIndex);
  }
  return blocks;
};

/**
 * Up to which block a head leaves all logs told, of what was told up to block `upTo`: what it skips and replaces is to be
 * read, but nothing so old that it is forgotten whether it was told, behind the newest head so far.
 */
export const toldUpTo = (upTo: bigint, newest: bigint, { header, skipped }: Head): bigint => {
  const [below, least] = [header.number - skipped - 1n, newest - remembered];
  const left = below > least ? below : least;
  return left < upTo ? left : upTo;
};

/**
 * What the chain holds of a filter's logs from block `from` to the head, in place of what was told of those blocks: what is
 * not there any more is taken back, the newest first, and what is new is told.
 */
export const tellRead = (told: ToldLogs, from: bigint, head: BlockName, read: ReadonlyArray<Log>): Telling => {
  const there = byBlock(read);
  const gone = [...told].filter(([hash, { number }]) => number >= from && !there.has(hash));
  const back = gone.sort(([, one], [, other]) => Number(other.number - one.number));
  const fresh = [...there].filter(([hash]) => !told.has(hash));
  const out = new Set(gone.map(([hash]) => hash));
  const next = [...told, ...fresh].filter(([hash, { number }]) => !out.has(hash) && number + remembered > head.number);
  return {
    told: new Map(next),
    logs: [
      ...back.flatMap(([, { logs }]) => logs.map((log) => ({ ...log, removed: true })).reverse()),
      ...fresh.flatMap(([, { logs }]) => logs),
    ],
  };
};
