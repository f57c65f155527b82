/**
 * Logs as they come: those of each head are read by its hash, where its bloom says that there may be some; each is told
 * once, and taken back with its block.
 */
import * as BigInts from "effect/BigInt";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import { copyOf } from "../primitives/copy.js";
import type { Hash } from "../primitives/hex.js";
import { Rpc } from "../rpc/index.js";
import { encoded, unknownBlock, type Failure } from "./ask.js";
import { Log, type Block, type Head, type Header } from "./block.js";
import { hasWholeBlooms, mayHold } from "./bloom.js";
import { askLogs } from "./logs.js";
import { followedFilter } from "./encode.js";
import { historyDepth } from "./heads.js";
import type { BlockParameter, LogFilter } from "./parameters.js";
import { decoder } from "./shape.js";
import {
  following,
  headsBy,
  isFinal,
  isNoSubscription,
  paceOf,
  type AskBlock,
  type HeadOptions,
  type Pace,
} from "./watchHeads.js";

/** Logs by their block, each once; those that have no place in a sealed block are none. */
const byBlock = (logs: ReadonlyArray<Log>) => {
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
 * The last block whose logs are all emitted once this head has come, where they were up to block `upTo`. Blocks that the
 * head skips or replaces must be read, but none so far behind the newest head that their emitted logs are forgotten.
 */
export const emittedUpTo = (upTo: bigint, newest: bigint, { header, skipped }: Head): bigint =>
  BigInts.min(upTo, BigInts.max(header.number - skipped - 1n, newest - historyDepth));

/**
 * Replaces the emitted logs from block `from` on by those that were read up to the head: logs that are gone are taken
 * back, newest first, and new ones are emitted (`logs`); `told` = what was emitted by then, by the hash of its block.
 */
export const emitRead = (
  told: ReadonlyMap<Hash, { readonly number: bigint; readonly logs: ReadonlyArray<Log> }>,
  from: bigint,
  head: Pick<Header, "number">,
  read: ReadonlyArray<Log>,
) => {
  const there = byBlock(read);
  const replaced = [...told].filter(([hash, { number }]) => number >= from && !there.has(hash));
  const back = replaced.sort(([, block], [, other]) => Number(other.number - block.number));
  const fresh = [...there].filter(([hash]) => !told.has(hash));
  const out = new Set(replaced.map(([hash]) => hash));
  const next = [...told, ...fresh].filter(
    ([hash, { number }]) => !out.has(hash) && number + historyDepth > head.number,
  );
  return {
    told: new Map(next),
    logs: [
      ...back.flatMap(([, { logs }]) => logs.map((log) => ({ ...log, removed: true })).reverse()),
      ...fresh.flatMap(([, { logs }]) => logs),
    ],
  };
};

/** How logs are followed; every field has a default. */
export interface LogOptions extends HeadOptions {
  /** Logs of pending state in place of those that are mined. Default false. */
  readonly pending?: boolean | undefined;
}

/** How the node is asked. */
interface Asking {
  readonly block: AskBlock;
  readonly logs: (filter: LogFilter) => Effect.Effect<ReadonlyArray<Log>, Failure, Rpc>;
  readonly chainId: Effect.Effect<number, Failure, Rpc>;
}

/** Heads that wait for a slow taker of logs; beyond that their logs are read at once. */
const mostHeads = 64;
/** Logs of pending state that wait for a slow taker. */
const mostWaiting = 1_024;
/** Ms until logs that the node did not give are asked for again, unless another head comes before, and until it is subscribed to again. */
const pauseMs = 500;

/** The part of a filter that is followed. */
type Filter = Pick<LogFilter, "address" | "topics">;

/** The logs of blocks from `from` to a head; fails where the node has left that head for another. */
const readUpTo = (
  { logs, block }: Asking,
  filter: Filter,
  mayMatch: (header: Header) => boolean,
  from: bigint,
  header: Header,
): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
  Effect.gen(function* () {
    const { number, hash } = header;
    const before = from < number ? yield* logs({ ...filter, fromBlock: from, toBlock: number - 1n }) : [];
    // why: blocks by number are those of the head's chain only while it is there
    if (from < number && (yield* block(number)).hash !== hash) return yield* unknownBlock("eth_getLogs");
    const its = mayMatch(header) ? yield* logs({ ...filter, blockHash: hash }) : [];
    return [...before, ...its.filter(({ blockHash }) => blockHash === hash)];
  });

/** Returns a test of a head by its bloom: false if its logs need not be read. */
const matching = Effect.fnUntraced(function* ({ chainId }: Asking, filter: Filter) {
  const { memory } = yield* Rpc;
  const known = memory.recall("chainId") ?? (yield* Effect.orElseSucceed(chainId, () => null));
  return hasWholeBlooms(known) ? mayHold(filter) : () => true;
});

const mined = Effect.fnUntraced(function* (asking: Asking, filter: Filter, pace: Pace) {
  const heads = yield* following(asking.block, pace, mostHeads);
  let mayMatch: ((header: Header) => boolean) | null = null;
  // what was told, up to which block all of it, and the newest head that was told of
  let stock: {
    readonly told: Parameters<typeof emitRead>[0];
    readonly upTo: bigint;
    readonly newest: bigint;
  } | null = null;
  let unread: Header | null = null;
  let failingSince: number | null = null;
  const pull = Effect.gen(function* () {
    for (;;) {
      const head = heads.next();
      if (head !== null) {
        const { header } = head;
        const { number } = header;
        // why: what was there before the first is not new
        if (stock === null) stock = { told: new Map(), upTo: number, newest: number };
        else stock = { ...stock, upTo: emittedUpTo(stock.upTo, stock.newest, head) };
        unread = header;
      }
      if (unread === null || stock === null) {
        yield* heads.wait;
        continue;
      }
      const from: bigint = stock.upTo + 1n;
      mayMatch ??= yield* matching(asking, filter);
      const read: Result.Result<ReadonlyArray<Log>, Failure> = from > unread.number
        ? Result.succeed([])
        : yield* Effect.result(readUpTo(asking, filter, mayMatch, from, unread));
      const now = yield* Clock.currentTimeMillis;
      if (Result.isFailure(read)) {
        failingSince ??= now;
        if (isFinal(read.failure) || now - failingSince > pace.giveUpMs) return yield* Effect.fail(read.failure);
        yield* Effect.timeoutOption(heads.wait, pauseMs);
        continue;
      }
      const next = emitRead(stock.told, from, unread, read.success);
      const newest = BigInts.max(unread.number, stock.newest);
      [stock, unread, failingSince] = [{ told: next.told, upTo: unread.number, newest }, null, null];
      const [first, ...rest] = copyOf(next.logs);
      if (first !== undefined) return [first, ...rest] as const;
    }
  });
  return Stream.fromPull(Effect.succeed(pull));
});

/** Pending logs that are remembered, so that each is told once. */
const mostPending = 8_192;

/** Which log it is, in whatever block it will be. */
const keyOf = ({ transactionHash, address, topics, data, logIndex }: Log): string =>
  [transactionHash, logIndex, address, topics.join(), data].join();

/** Returns a test of a log: true if it was not told before. */
const once = () => {
  const keys = new Set<string>();
  return (log: Log): boolean => {
    const key = keyOf(log);
    if (keys.has(key)) return false;
    keys.add(key);
    for (const oldest of keys) {
      if (keys.size <= mostPending) break;
      keys.delete(oldest);
    }
    return true;
  };
};

const readLog = decoder("eth_subscribe", Log, "params.result");

/** Subscribes again and again; ends where the node serves no such subscription, or tells what cannot be read. */
const hearing = Effect.fnUntraced(function* (filter: Record<string, unknown>, hear: (log: Log) => void) {
  const { subscribe } = yield* Rpc;
  while (subscribe !== undefined) {
    const once = Effect.gen(function* () {
      const unreadable = yield* Queue.dropping<Failure>(1);
      const { lost } = yield* subscribe(["pendingLogs", filter], (result) => {
        const log = readLog(result);
        if (Result.isSuccess(log)) hear(log.success);
        else Queue.offerUnsafe(unreadable, log.failure);
      });
      return yield* Effect.raceFirst(Effect.flatMap(Queue.take(unreadable), Effect.fail), lost);
    });
    const failure = yield* Effect.flip(Effect.scoped(once));
    if (isNoSubscription(failure)) return;
    if (isFinal(failure)) return yield* Effect.fail(failure);
    yield* Effect.sleep(pauseMs);
  }
});

const pending = Effect.fnUntraced(function* (
  asking: Asking,
  filter: Filter,
  wire: Record<string, unknown>,
  pace: Pace,
) {
  const logs = yield* Queue.bounded<Log, Failure>(mostWaiting);
  const isNew = once();
  const poll = Effect.gen(function* () {
    let heardAt = yield* Clock.currentTimeMillis;
    for (;;) {
      const result = yield* Effect.result(asking.logs({ ...filter, fromBlock: "pending", toBlock: "pending" }));
      const now = yield* Clock.currentTimeMillis;
      if (Result.isSuccess(result)) {
        heardAt = now;
        for (const log of result.success) if (isNew(log)) yield* Queue.offer(logs, log);
      } else if (isFinal(result.failure) || now - heardAt > pace.giveUpMs) return yield* Effect.fail(result.failure);
      yield* Effect.sleep(pace.pollMs);
    }
  });
  const hear = (log: Log) => void (isNew(log) && Queue.offerUnsafe(logs, log));
  // why: pending state may be quiet for good, and by heads alone a dead socket is known
  const heads = Stream.runDrain(headsBy(asking.block, pace));
  const request = Effect.raceFirst(hearing(wire, hear), heads);
  yield* Effect.forkScoped(Effect.onError(Effect.andThen(request, poll), (cause) => Queue.failCause(logs, cause)));
  return Stream.fromQueue(logs);
});

/** Logs from now on. */
export const logsBy = (
  asking: {
    readonly block: (block: BlockParameter) => Effect.Effect<Block, Failure, Rpc>;
    readonly chainId: Asking["chainId"];
  },
  filter: Pick<LogFilter, "address" | "topics">,
  options: LogOptions,
): Stream.Stream<Log, Failure, Rpc> => {
  const heightOf = (tag: BlockParameter) => Effect.map(asking.block(tag), ({ number }) => number);
  const all: Asking = { ...asking, logs: (filter) => askLogs(filter, heightOf) };
  const checked = encoded("eth_subscribe", (faults) => followedFilter(filter, "filter", faults));
  return Effect.gen(function* () {
    const wire = yield* Effect.fromResult(checked);
    const pace = yield* paceOf(options);
    return yield* options.pending === true ? pending(all, filter, wire, pace) : mined(all, filter, pace);
  }).pipe(Stream.unwrap);
};
