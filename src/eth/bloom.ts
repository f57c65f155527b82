/** What a bloom filter says of logs: of those that somebody waits for, and of those that came with it. Pure. */
import { hexToBytes, keccak256 } from "viem";
import type { Hex } from "../primitives/hex.js";
import type { Log } from "./block.js";
import type { LogFilter } from "./parameters.js";

/** One of the values is somewhere in a log; each as the bits that stand for it. */
type Either = ReadonlyArray<ReadonlyArray<number>>;

/** The bits of values that were met before. why: all runs meet the same ones, and hashing is what costs. */
const knownBits = new Map<Hex, ReadonlyArray<number>>();
const mostKnown = 1_024;

/** The three bits of 2,048 that stand for an address or a topic. */
const bitsOf = (value: Hex): ReadonlyArray<number> => {
  const known = knownBits.get(value);
  if (known !== undefined) return known;
  const hash = keccak256(value, "bytes");
  const bits = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047);
  if (knownBits.size >= mostKnown) knownBits.clear();
  knownBits.set(value, bits);
  return bits;
};

const eitherOf = (values: Hex | ReadonlyArray<Hex> | null | undefined): ReadonlyArray<Either> => {
  const all = [values ?? []].flat();
  return all.length === 0 ? [] : [all.map(bitsOf)];
};

/** The bytes of a bloom; null where it is none: left out, of another length, or empty, as some chains have it whatever happens. */
const bytesOf = (bloom: Hex | null): Uint8Array | null =>
  bloom?.length !== 514 || /^0x0+$/.test(bloom) ? null : hexToBytes(bloom);

/** The byte of a bloom that holds a bit, and its place in it. */
const placeOf = (bit: number): readonly [byte: number, mask: number] => [255 - (bit >> 3), 1 << (bit & 7)];

/** Addresses that native movements are told from: some nodes count what they trace so in the bloom, others do not. */
const pretended: ReadonlySet<string> = new Set([`0x${"e".repeat(40)}`, `0x${"f".repeat(39)}e`]);

/** Whether a bloom and the logs that came with it cannot both be right: a log was left out of them, or put among them. */
export const contradicts = (bloom: Hex | null, logs: ReadonlyArray<Pick<Log, "address" | "topics">>): boolean => {
  const bytes = bytesOf(bloom);
  // why: other chains have all bits set whatever happens
  if (bytes === null || bytes.every((byte) => byte === 255)) return false;
  const known = new Map<Hex, boolean>();
  for (const { address, topics } of logs) {
    const isReal = !pretended.has(address.toLowerCase());
    for (const value of [address, ...topics]) if (known.get(value) !== true) known.set(value, isReal);
  }
  const explained = new Uint8Array(256);
  for (const [value, isReal] of known)
    for (const [at, mask] of bitsOf(value).map(placeOf)) {
      if (isReal && ((bytes[at] ?? 0) & mask) === 0) return true;
      explained[at] = (explained[at] ?? 0) | mask;
    }
  return bytes.some((byte, at) => (byte & ~(explained[at] ?? 0)) !== 0);
};

/** Polygon's chains: their blocks hold logs of what the other chain told them, of which no bloom tells. */
const partlyBloomed: ReadonlySet<number | null> = new Set([137, 80_002]);

/** Whether the blooms of a chain tell of all its logs; true where nobody knows which chain it is. */
export const hasWholeBlooms = (chainId: number | null): boolean => !partlyBloomed.has(chainId);

/**
 * Whether a block may hold a log that the filter takes, by its bloom. True where the bloom is none: left out, of another
 * length, or empty though there was something to run, as some chains have it whatever happens.
 */
export const mayHold = ({ address, topics }: Pick<LogFilter, "address" | "topics">) => {
  const wanted = [...eitherOf(address), ...(topics ?? []).flatMap(eitherOf)];
  return ({ logsBloom, gasUsed }: { readonly logsBloom: Hex | null; readonly gasUsed: bigint }): boolean => {
    const bytes = bytesOf(logsBloom);
    if (bytes === null) return logsBloom?.length !== 514 || gasUsed > 0n;
    const isSet = (bit: number): boolean => {
      const [at, mask] = placeOf(bit);
      return ((bytes[at] ?? 0) & mask) !== 0;
    };
    return wanted.every((values) => values.some((bits) => bits.every(isSet)));
  };
};
