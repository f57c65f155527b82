/** Blooms of blocks and receipts: whether one can be right together with its logs, and whether it may hold a log. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import type { RpcError } from "../errors/rpc.js";
import { keccak } from "../primitives/bytes.js";
import type { Hex } from "../primitives/hex.js";
import { malformed } from "../rpc/judging.js";
import type { Log } from "./block.js";
import type { LogFilter } from "./parameters.js";

/** The bits of values that were met before. why: all runs meet the same ones, and hashing is what costs. */
const knownBits = new Map<Hex, bigint>();
const mostKnown = 16_384;
/** Values of one block that are looked at: of more an honest bloom is full, and tells nothing. */
const mostValues = 8_192;

/** The three bits of 2,048 that stand for an address or a topic. */
const bitsOf = (value: Hex): bigint => {
  const known = knownBits.get(value);
  if (known !== undefined) return known;
  const hash = keccak(value);
  let bits = 0n;
  for (const at of [0, 2, 4]) bits |= 1n << BigInt((((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047);
  if (knownBits.size >= mostKnown) knownBits.clear();
  knownBits.set(value, bits);
  return bits;
};

/** Values of which one is somewhere in a log, each as the bits that stand for it; nothing where any will do. */
const eitherOf = (values: Hex | ReadonlyArray<Hex> | null | undefined) => {
  const all = [values ?? []].flat();
  return all.length === 0 ? [] : [all.map(bitsOf)];
};

/** The bits of a bloom; null where it is none: left out, of another length, or empty, as some chains have it whatever happens. */
const bloomIn = (bloom: Hex | null): bigint | null => (bloom?.length !== 514 ? null : BigInt(bloom) || null);

/** All bits, as other chains have them whatever happens: such a bloom tells nothing of its logs. */
const full = 2n ** 2_048n - 1n;

/** Addresses that native movements are told from: some nodes count what they trace so in the bloom, others do not. */
const pretended: ReadonlySet<string> = new Set([`0x${"e".repeat(40)}`, `0x${"f".repeat(39)}e`]);

/**
 * The values that logs name, and whether one does that is in the bloom for sure, as none that only `also` names is;
 * `isWhole` = there are no more.
 */
const namedIn = (logs: ReadonlyArray<Pick<Log, "address" | "topics">>, also: typeof logs = []) => {
  const named = new Map<Hex, boolean>();
  for (const [place, { address, topics }] of [...logs, ...also].entries()) {
    const isReal = place < logs.length && !pretended.has(address.toLowerCase());
    for (const value of [address, ...topics]) if (named.get(value) !== true) named.set(value, isReal);
    if (named.size >= mostValues) return { named, isWhole: false };
  }
  return { named, isWhole: true };
};

/** Values that are hashed in one turn of the event loop, some 30 µs each. */
const hashedAtOnce = 1_000;
/** So few of one answer are hashed in the turn that reads it. */
const hashedUnasked = 32;

/** True if the bits of a bloom are not those of the values that its logs name. */
const isOfOthers = (bloom: bigint, { named, isWhole }: ReturnType<typeof namedIn>): boolean => {
  let explained = 0n;
  for (const [value, isReal] of named) {
    const bits = bitsOf(value);
    if (isReal && (bloom & bits) !== bits) return true;
    explained |= bits;
  }
  return isWhole && (bloom & ~explained) !== 0n;
};

/**
 * Fails where a bloom cannot be right together with the logs of its block or transaction, which are null where the node
 * does not tell: one was left out of them, or put among them. `pathOf` says where they stand in the answer.
 */
export const checkBlooms = Effect.fnUntraced(function* (
  method: string,
  all: ReadonlyArray<{
    readonly logsBloom: Hex | null;
    readonly logs: Parameters<typeof namedIn>[0] | null;
    /** Logs that the bloom may hold as well; none when absent. */
    readonly also?: Parameters<typeof namedIn>[0];
  }>,
  pathOf: (place: number) => string,
): Effect.fn.Return<void, RpcError> {
  let left = hashedUnasked;
  for (const [place, { logsBloom, logs, also }] of all.entries()) {
    const bloom = logs === null ? null : bloomIn(logsBloom);
    if (logs === null || bloom === null || bloom === full) continue;
    const values = namedIn(logs, also);
    const unknown = [...values.named.keys()].filter((value) => !knownBits.has(value));
    left -= unknown.length;
    // why: all of thousands would hold the event loop too long
    for (const some of left < 0 ? Arr.chunksOf(unknown, hashedAtOnce) : []) {
      yield* Effect.yieldNow;
      some.forEach(bitsOf);
    }
    if (isOfOthers(bloom, values))
      return yield* Effect.fail(malformed(method, `${pathOf(place)}.logsBloom`, "not of the logs"));
  }
});

/** Polygon's chains: their blocks hold logs of what the other chain told them, of which no bloom tells. */
const partlyBloomed: ReadonlySet<number | null> = new Set([137, 80_002]);

/** True if the blooms of a chain tell of all its logs, or nobody knows which chain it is. */
export const hasWholeBlooms = (chainId: number | null): boolean => !partlyBloomed.has(chainId);

/**
 * True if a block may hold a log that the filter takes, by its bloom; also where the bloom is none: left out, of
 * another length, or empty though there was something to run, as some chains have it whatever happens.
 */
export const mayHold = ({ address, topics }: Pick<LogFilter, "address" | "topics">) => {
  const alternatives = [...eitherOf(address), ...(topics ?? []).flatMap(eitherOf)];
  return ({ logsBloom, gasUsed }: { readonly logsBloom: Hex | null; readonly gasUsed: bigint }): boolean => {
    const bloom = bloomIn(logsBloom);
    if (bloom === null) return logsBloom?.length !== 514 || gasUsed > 0n;
    return alternatives.every((values) => values.some((bits) => (bloom & bits) === bits));
  };
};
