/** Simulations as they are on the wire, which runs change on their way to a node and back: what has no form counts as empty. Pure. */
import type { Hex } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";

export type Wire = Readonly<Record<string, unknown>>;

export const listed = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []);
export const recordIn = (value: unknown): Wire => (isRecord(value) ? value : {});
export const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

/** The blocks that an `eth_simulateV1` asks for. */
export const blocksIn = ([first]: ReadonlyArray<unknown>): ReadonlyArray<Wire> =>
  listed(recordIn(first)["blockStateCalls"]).map(recordIn);

/** The same request with other blocks. */
export const withBlocks = (
  [first, ...rest]: ReadonlyArray<unknown>,
  blockStateCalls: ReadonlyArray<Wire>,
): ReadonlyArray<unknown> => [{ ...recordIn(first), blockStateCalls }, ...rest];

/** An answer with the results of these blocks changed, each beside its block and the place of that. */
export const answered = (
  answer: unknown,
  blocks: ReadonlyArray<Wire>,
  change: (told: unknown, entry: Wire, place: number) => unknown,
): ReadonlyArray<unknown> =>
  listed(answer).map((told, index, { length }) => {
    // why: a node may put blocks of its own in front
    const place = index - (length - blocks.length);
    const entry = blocks[place];
    return entry === undefined ? told : change(told, entry, place);
  });
