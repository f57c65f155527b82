/** Logs: `eth_getLogs` over a range of any width, and whether a block's bloom filter may hold some. */
import { hexToBytes, keccak256 } from "viem";
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import type { Hex } from "../primitives/hex.js";
import { Log } from "./block.js";
import type { BlockParameter, LogFilter } from "./parameters.js";
import { NodeLimitExceeded, RpcError } from "../errors/rpc.js";
import { malformed, type Rpc } from "../rpc/index.js";
import { ask, encoded, type Failure } from "./ask.js";
import { logFilter } from "./encode.js";
import { given } from "../primitives/problem.js";
import { list } from "./shape.js";

/** The bits of values that were met before. why: all runs meet the same ones, and hashing is what costs. */
const knownBits = new Map<Hex, ReadonlyArray<number>>();
const mostKnown = 32_768;
/** Values of one block that are looked at: of more an honest bloom is full, and tells nothing. */
const mostValues = 8_192;

/** The three bits of 2,048 that stand for an address or a topic. */
const bitsOf = (value: Hex): ReadonlyArray<number> => {
  const knownBit = knownBits.get(value);
  if (knownBit !== undefined) return knownBit;
  const hash = keccak256(value, "bytes");
  const bits = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047);
  if (knownBits.size >= mostKnown) knownBits.clear();
  knownBits.set(value, bits);
  return bits;
};

/** Values of which one is somewhere in a log, each as the bits that stand for it; nothing where any will do. */
const eitherOf = (values: Hex | ReadonlyArray<Hex> | null | undefined) => {
  const all = [values ?? []].flat();
  return all.length === 0 ? [] : [all.map(bitsOf)];
};

/** The bytes of a bloom; null where it is none: left out, of another length, or empty, as some chains have it whatever happens. */
const bytesOf = (bloom: Hex | null): Uint8Array | null =>
  bloom?.length !== 514 || /^0x0+$/.test(bloom) ? null : hexToBytes(bloom);

/** A bloom that may tell of its logs; other chains have all bits set whatever happens. */
const tellingBytes = (bloom: Hex | null): Uint8Array | null => {
  const bytes = bytesOf(bloom);
  return bytes?.every((byte) => byte === 255) === true ? null : bytes;
};

/** Addresses that native movements are told from: some nodes count what they trace so in the bloom, others do not. */
const pretended: ReadonlySet<string> = new Set([`0x${"e".repeat(40)}`, `0x${"f".repeat(39)}e`]);

type Named = ReadonlyArray<Pick<Log, "address" | "topics">>;

/**
 * The values that logs name, and whether one does that is in the bloom for sure, as none that only `also` names is;
 * `isWhole` = there are no more.
 */
const namedIn = (logs: Named, also: Named = []) => {
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

/** The byte of a bloom that holds a bit, and its place in it. */
const placeOf = (bit: number): readonly [byte: number, mask: number] => [255 - (bit >> 3), 1 << (bit & 7)];

/** True if the bits of a bloom are not those of the values that its logs name. */
const isOfOthers = (bloom: Uint8Array, { named, isWhole }: ReturnType<typeof namedIn>): boolean => {
  const explained = new Uint8Array(256);
  for (const [value, isReal] of named)
    for (const [at, mask] of bitsOf(value).map(placeOf)) {
      if (isReal && ((bloom[at] ?? 0) & mask) === 0) return true;
      explained[at] = (explained[at] ?? 0) | mask;
    }
  return isWhole && bloom.some((byte, at) => (byte & ~(explained[at] ?? 0)) !== 0);
};

/**
 * Fails where a bloom cannot be right together with the logs of its block or transaction, which are null where the node
 * does not tell: one was left out of them, or put among them. `pathOf` says where they stand in the answer.
 */
export const checkBlooms = Effect.fnUntraced(function* (
  method: string,
  all: ReadonlyArray<{
    readonly logsBloom: Hex | null;
    readonly logs: Named | null;
    /** Logs that the bloom may hold as well; none when absent. */
    readonly also?: Named;
  }>,
  pathOf: (place: number) => string,
): Effect.fn.Return<void, RpcError> {
  for (const [place, { logsBloom, logs, also }] of all.entries()) {
    const bloom = logs === null ? null : tellingBytes(logsBloom);
    if (logs === null || bloom === null) continue;
    const values = namedIn(logs, also);
    const unknown = [...values.named.keys()].filter((value) => !knownBits.has(value));
    // why: all of thousands would hold the event loop too long
    for (const some of Arr.chunksOf(unknown, hashedAtOnce)) {
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
    const bytes = bytesOf(logsBloom);
    if (bytes === null) return logsBloom?.length !== 514 || gasUsed > 0n;
    const isSet = (bit: number): boolean => {
      const [at, mask] = placeOf(bit);
      return ((bytes[at] ?? 0) & mask) !== 0;
    };
    return alternatives.every((values) => values.some((bits) => bits.every(isSet)));
  };
};

/*
 * `eth_getLogs` over any range: asked in pieces below 2,000 blocks, and in smaller ones where the
 * node says so.
 */

/** The interface's guidance is to stay under 2,000 blocks. */
const maxBlocks = 1_999n;

/** More pieces than this are refused rather than asked for hours. */
const maxPieces = 100_000n;

/** Blocks still to ask for, both ends included. */
interface Piece {
  readonly from: bigint;
  readonly to: bigint;
  /** Split already because the node behind the gateway was not there or slow: not a second time. */
  readonly splitForTrouble: boolean;
}

const sizeOf = ({ from, to }: Pick<Piece, "from" | "to">): bigint => to - from + 1n;

/** `piece` cut after its first `size` blocks. */
const cut = (piece: Piece, size: bigint, splitForTrouble = piece.splitForTrouble): readonly [Piece, Piece] => [
  { from: piece.from, to: piece.from + size - 1n, splitForTrouble },
  { from: piece.from + size, to: piece.to, splitForTrouble },
];

/** The number of blocks the node proposed, when it did. */
const proposal = ({ reason }: RpcError): bigint | null => {
  if (reason._tag !== "LogRangeTooLarge") return null;
  return reason.suggested === null ? reason.max : sizeOf(reason.suggested);
};

/**
 * Splits a failed piece into two smaller ones (and learns a limit), or ends. The node's proposal counts only when it is
 * strictly smaller than what failed (some propose the very same range); else the piece is halved, down to one block. A
 * gateway without a node, or one that ran out of time, may mean a range too wide: split once.
 */
const afterFailure = (
  piece: Piece,
  error: RpcError,
): { readonly pieces: readonly [Piece, Piece]; readonly learned: bigint | null } | "too-large" | "failed" => {
  const size = sizeOf(piece);
  switch (error.reason._tag) {
    case "LogRangeTooLarge":
    case "NodeLimitExceeded": {
      if (size <= 1n) return "too-large";
      const proposed = proposal(error);
      const learned = proposed !== null && proposed >= 1n && proposed < size ? proposed : null;
      return { pieces: cut(piece, learned ?? size / 2n), learned };
    }
    case "UpstreamUnavailable":
    case "Timeout": {
      const ours = error.reason._tag === "Timeout" && error.reason.afterMs !== null;
      if (size <= 1n || piece.splitForTrouble || ours) return "failed";
      return { pieces: cut(piece, size / 2n, true), learned: null };
    }
    default:
      return "failed";
  }
};

const method = "eth_getLogs";
const askOnce = (filter: LogFilter): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
  ask(method, (faults) => [logFilter(filter, "filter", faults)], list(Log));

const limitExceeded = (details: ConstructorParameters<typeof NodeLimitExceeded>[0]): RpcError =>
  new RpcError({ method, reason: new NodeLimitExceeded(details) });

/** `pending` follows `latest` at once, so these two are no wide range. */
const near = (from: unknown, to: unknown): boolean => from === to || (from === "latest" && to === "pending");

/** The ends of a range that is wide; null where it goes out as it is. `heightOf` is asked only when exactly that decides. */
const wideRange = Effect.fnUntraced(function* (
  { blockHash, fromBlock, toBlock }: LogFilter,
  heightOf: (tag: BlockParameter) => Effect.Effect<bigint, Failure, Rpc>,
) {
  const [first, last] = [fromBlock ?? "latest", toBlock ?? "latest"];
  if (given(blockHash) || near(first, last)) return null;
  const resolve = (end: typeof first): Effect.Effect<bigint | null, never, Rpc> => {
    if (typeof end !== "string") return Effect.succeed(BigInt(end));
    return end === "earliest" ? Effect.succeed(0n) : Effect.orElseSucceed(heightOf(end), () => null);
  };
  const from = yield* resolve(first);
  const to = from === null ? null : yield* resolve(last);
  return from === null || to === null || to <= from ? null : { first, last, from, to };
});

/**
 * All logs of the filter. `heightOf` resolves a tag, which is asked only when exactly that decides
 * whether the range is wide; where it cannot be answered the range goes out as it is.
 */
export const askLogs = Effect.fn("Eth.getLogs")(function* (
  filter: LogFilter,
  heightOf: (tag: BlockParameter) => Effect.Effect<bigint, Failure, Rpc>,
): Effect.fn.Return<ReadonlyArray<Log>, Failure, Rpc> {
  // why: the ends of the range may have to be asked for, and nothing is asked for a filter that cannot be sent
  yield* Effect.fromResult(encoded(method, (faults) => logFilter(filter, "filter", faults)));
  const range = yield* wideRange(filter, heightOf);
  if (range === null) return yield* askOnce(filter);
  const { first, last, from, to } = range;
  if (sizeOf(range) > maxBlocks * maxPieces) return yield* limitExceeded({ detail: `${sizeOf(range)} blocks at once` });

  const logs: Array<ReadonlyArray<Log>> = [];
  const waiting: Array<Piece> = [{ from, to, splitForTrouble: false }];
  let limit = maxBlocks;
  for (let piece = waiting.pop(); piece !== undefined; piece = waiting.pop()) {
    if (sizeOf(piece) > limit) {
      const [head, rest] = cut(piece, limit);
      waiting.push(rest, head);
      continue;
    }
    // the caller's own words at both ends: a tag may have moved on since it was resolved
    const ends = { fromBlock: piece.from === from ? first : piece.from, toBlock: piece.to === to ? last : piece.to };
    const answer = yield* Effect.result(askOnce({ ...filter, ...ends }));
    if (answer._tag === "Success") {
      logs.push(answer.success);
      continue;
    }
    if (answer.failure._tag !== "RpcError") return yield* answer.failure;
    const next = afterFailure(piece, answer.failure);
    if (next === "failed") return yield* answer.failure;
    if (next === "too-large") {
      const { detail, httpStatus, code, raw } = answer.failure.reason;
      return yield* limitExceeded({ detail, httpStatus, code, raw });
    }
    if (next.learned !== null && next.learned < limit) limit = next.learned;
    waiting.push(next.pieces[1], next.pieces[0]);
  }
  return logs.flat();
});
