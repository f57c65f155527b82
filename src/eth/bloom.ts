/** What a block's bloom filter says of logs that somebody waits for. Pure. */
import { hexToBytes, keccak256 } from "viem";
import type { Hex } from "../primitives/hex.js";
import type { LogFilter } from "./parameters.js";

/** One of the values is somewhere in a log; each as the bits that stand for it. */
type Either = ReadonlyArray<ReadonlyArray<number>>;

/** The three bits of 2,048 that stand for an address or a topic. */
const bitsOf = (value: Hex): ReadonlyArray<number> => {
  const hash = hexToBytes(keccak256(hexToBytes(value)));
  return [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047);
};

const eitherOf = (values: Hex | ReadonlyArray<Hex> | null | undefined): ReadonlyArray<Either> => {
  const all = values === null || values === undefined ? [] : typeof values === "string" ? [values] : values;
  return all.length === 0 ? [] : [all.map(bitsOf)];
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
    if (logsBloom?.length !== 514) return true;
    if (/^0x0+$/.test(logsBloom)) return gasUsed > 0n;
    const bytes = hexToBytes(logsBloom);
    const isSet = (bit: number): boolean => ((bytes[255 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
    return wanted.every((values) => values.some((bits) => bits.every(isSet)));
  };
};
