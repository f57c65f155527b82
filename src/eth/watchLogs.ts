/** Logs as they come: told by the node over a socket, and read by the heads wherever that may have missed some. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import { Rpc } from "../Rpc.js";
import type { Failure } from "./ask.js";
import { mayHold } from "./bloom.js";
import { encoded, logFilter } from "./encode.js";
import type { BlockName, Head } from "./heads.js";
import type { Log } from "./log.js";
import { begun, subscribing, type Listening } from "./logSubscription.js";
import { askLogs } from "./getLogs.js";
import type { Block } from "./block.js";
import type { BlockParameter, LogFilter } from "./parameters.js";
import { doubtfulBelow, knownAt, tellLogs, untellLogs, type KnownBlocks, type ToldLogs } from "./toldLogs.js";
import { headsBy, isFinal, paceOf, type AskBlock, type HeadOptions, type Pace } from "./watchHeads.js";

/** Which logs are followed, of whatever block comes. */
export type LiveFilter = Pick<LogFilter, "address" | "topics">;

/** How logs are followed; every field has a default. */
export interface LogOptions extends HeadOptions {
  /** Logs of pending state in place of those that are mined. Default false. */
  readonly pending?: boolean | undefined;
}

/** How the node is asked for blocks and logs. */
interface Asking {
  readonly block: AskBlock;
  readonly logs: (filter: LogFilter) => Effect.Effect<ReadonlyArray<Log>, Failure, Rpc>;
}

/** A head, and how often logs may have been missed when it was heard of. */
interface Heard {
  readonly head: Head;
  readonly gaps: number;
}

/** What is to be told next: a log that the node told, or a head to take stock at. */
type Event = { readonly log: Log } | Heard;

/** Events that wait for a slow taker; what finds no room is read again. */
const mostWaiting = 1_024;

/** What was told, of which blocks all of it, and how many gaps that has covered. */
interface Stock {
  readonly told: ToldLogs;
  readonly known: KnownBlocks;
  /** The blocks up to here were there before. */
  readonly start: bigint;
  /** Of the blocks up to here no log can be missing: they were read, or the node told one of a later block since. */
  readonly sureUpTo: bigint;
  readonly covered: number;
  /** What the node told while a gap is open, which comes first. */
  readonly held: ReadonlyArray<Log>;
  /** The first block that may hold such logs and of which, and since then, the node told none; epoch ms of its head. */
  readonly doubt: { readonly from: bigint; readonly since: number } | null;
  /** Epoch ms since when the node gives no logs; null = it does. */
  readonly failingSince: number | null;
}

const uncovered = -1;
/** Blocks before a head of which logs may be missing, where the node told none since; no more than are remembered. */
const mostUnsure = 64n;

const lesser = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const greater = (one: bigint, other: bigint): bigint => (one > other ? one : other);

const withBlocks = (known: KnownBlocks, blocks: ReadonlyArray<BlockName>): KnownBlocks =>
  new Map([...known, ...blocks.map(({ hash, number }) => [hash, number] as const)]);
const nameOf = ({ blockHash: hash, blockNumber: number }: Log): ReadonlyArray<BlockName> =>
  hash === null || number === null ? [] : [{ hash, number }];

/** What of a head's blocks is to be read, and whether doubt alone is why; null = the socket told all of it. */
const rangeOf = (
  { header, replaced, skipped }: Head,
  { start, sureUpTo, covered }: Stock,
  { isLive, gaps }: Listening,
  isDue: boolean,
): { readonly from: bigint; readonly isDoubted: boolean } | null => {
  const isTold = isLive && gaps === covered && skipped === 0n && replaced.length === 0;
  if (isTold && !isDue) return null;
  const next = lesser(sureUpTo + 1n, header.number - skipped);
  const from = greater(replaced.map(({ number }) => number).reduce(lesser, next), start + 1n);
  return from > header.number ? null : { from, isDoubted: isTold };
};

/** Tells the logs of blocks that come after the first head. */
const telling = ({ logs, block }: Asking, filter: LiveFilter, listening: Listening, { silentMs, giveUpMs }: Pace) => {
  let stock: Stock | null = null;
  let isEarly = false;
  const mayMatch = mayHold(filter);
  /** Which of the blocks in doubt the chain has; of whom nothing was answered, the next head asks again. */
  const askOf = (doubtful: ReadonlyArray<BlockName>) =>
    Effect.map(
      Effect.forEach(doubtful, ({ number }) => Effect.result(block(number)), { concurrency: 8 }),
      (answers) => {
        const hashes = answers.map((answer) => (Result.isSuccess(answer) ? answer.success.hash : null));
        return {
          there: doubtful.filter(({ hash }, index) => hashes[index] === hash),
          gone: doubtful.filter(({ hash }, index) => hashes[index] != null && hashes[index] !== hash),
        };
      },
    );
  const atHead = ({ head, gaps }: Heard, before: Stock): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
    Effect.gen(function* () {
      const { header, replaced } = head;
      const start = replaced.reduce((least, { number }) => (number <= least ? number - 1n : least), before.start);
      const certain = knownAt(before.known, head);
      const { there, gone } = yield* askOf(doubtfulBelow(before.told, certain, header));
      const back = untellLogs(before.told, [...replaced, ...gone], header);
      const known = withBlocks(certain, there);
      const now = yield* Clock.currentTimeMillis;
      const doubted = before.doubt !== null && now - before.doubt.since >= silentMs;
      const range = rangeOf(head, { ...before, start }, listening, doubted);
      const blocks = range?.from === header.number ? { blockHash: header.hash } : { toBlock: header.number };
      const asked = yield* range === null
        ? Effect.succeed(Result.succeed<ReadonlyArray<Log>>([]))
        : Effect.result(logs({ ...filter, fromBlock: range.from, ...blocks }));
      if (Result.isFailure(asked)) {
        const failingSince = before.failingSince ?? now;
        if (isFinal(asked.failure) || now - failingSince > giveUpMs) return yield* Effect.fail(asked.failure);
        // why: the next head reads it as well
        const sureUpTo = lesser(before.sureUpTo, (range?.from ?? header.number) - 1n);
        stock = { ...before, told: back.told, known, start, sureUpTo, covered: uncovered, failingSince };
        return back.logs;
      }
      const next = tellLogs(back.told, [...asked.success, ...before.held]);
      // why: a head that waited is read up to itself, and logs of later blocks may have found no room meanwhile
      const isCovered = before.held.length < mostWaiting && listening.droppedUpTo <= header.number;
      const covered = isCovered ? gaps : uncovered;
      // why: of the head itself they may still be on their way
      if (range?.isDoubted === true && next.logs.some((log) => (log.blockNumber ?? 0n) < header.number))
        listening.renew();
      const isOpen = listening.isLive && mayMatch(header.logsBloom) && !next.told.has(header.hash);
      const opened = isOpen ? { from: header.number, since: now } : null;
      const doubt = range === null ? (before.doubt ?? opened) : null;
      const sureUpTo = range === null ? greater(before.sureUpTo, header.number - mostUnsure) : header.number;
      const read = asked.success.flatMap(nameOf);
      stock = {
        ...{ told: next.told, known: withBlocks(known, read), start, covered, doubt, sureUpTo },
        ...{ held: [], failingSince: null },
      };
      return [...back.logs, ...next.logs];
    });
  return (event: Event): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> => {
    if ("head" in event) {
      if (stock !== null) return atHead(event, stock);
      const { header, skipped } = event.head;
      // why: the first may have been left out for a newer one, before it was taken
      const start = header.number - skipped;
      const covered = listening.isLive && !isEarly ? event.gaps : uncovered;
      const nothing = { told: new Map(), known: new Map(), held: [], doubt: null, failingSince: null };
      stock = { ...nothing, start, sureUpTo: start, covered };
      return skipped > 0n ? atHead(event, stock) : Effect.succeed([]);
    }
    const { log } = event;
    // why: before the first head nobody knows whether it is new, and the next one reads it
    isEarly ||= stock === null;
    const number = log.blockNumber ?? 0n;
    if (stock === null || number <= stock.start) return Effect.succeed([]);
    if (listening.gaps !== stock.covered) {
      if (stock.held.length < mostWaiting) stock = { ...stock, held: [...stock.held, log] };
      return Effect.succeed([]);
    }
    const next = tellLogs(stock.told, [log]);
    // why: one socket tells them in their order, so that none of before is missing
    const doubt = stock.doubt !== null && number >= stock.doubt.from ? null : stock.doubt;
    stock = { ...stock, told: next.told, doubt, sureUpTo: greater(stock.sureUpTo, number - 1n) };
    return Effect.succeed(next.logs);
  };
};

const mined = (asking: Asking, filter: LiveFilter, wire: Record<string, unknown>, options: HeadOptions) =>
  Effect.gen(function* () {
    const events = yield* Queue.bounded<Event, Failure>(mostWaiting);
    const pace = yield* paceOf(options);
    const listening: Listening = begun();
    const hear = (log: Log) => {
      if (Queue.offerUnsafe(events, { log })) return;
      listening.gaps += 1;
      const { blockNumber } = log;
      if (blockNumber !== null && blockNumber > listening.droppedUpTo) listening.droppedUpTo = blockNumber;
    };
    const ending = (exit: Exit.Exit<void, Failure>) =>
      Exit.isFailure(exit) ? Queue.failCause(events, exit.cause) : Effect.void;
    const heads = Stream.runForEach(headsBy(asking.block, options), (head) =>
      Queue.offer(events, { head, gaps: listening.gaps }),
    );
    yield* Effect.forkScoped(Effect.onExit(subscribing("logs", wire, listening, hear), ending));
    yield* Effect.forkScoped(Effect.onExit(heads, ending));
    return Stream.mapEffect(Stream.fromQueue(events), telling(asking, filter, listening, pace));
  });

/** Pending logs that are remembered, so that each is told once. */
const mostPending = 8_192;

/** Which log it is, in whatever block it will be. */
const keyOf = ({ transactionHash, address, topics, data, logIndex }: Log): string =>
  [transactionHash, logIndex, address, topics.join(), data].join();

/** Whether a log was not told before. */
const once = () => {
  const told = new Set<string>();
  return (log: Log): boolean => {
    const key = keyOf(log);
    if (told.has(key)) return false;
    told.add(key);
    for (const oldest of told) {
      if (told.size <= mostPending) break;
      told.delete(oldest);
    }
    return true;
  };
};

const pending = (asking: Asking, filter: LiveFilter, wire: Record<string, unknown>, options: HeadOptions) =>
  Effect.gen(function* () {
    const { pollMs, giveUpMs } = yield* paceOf(options);
    const logs = yield* Queue.bounded<Log, Failure>(mostWaiting);
    const isNew = once();
    const poll = Effect.gen(function* () {
      let heardAt = yield* Clock.currentTimeMillis;
      for (;;) {
        const asked = yield* Effect.result(asking.logs({ ...filter, fromBlock: "pending", toBlock: "pending" }));
        const now = yield* Clock.currentTimeMillis;
        if (Result.isSuccess(asked)) {
          heardAt = now;
          for (const log of asked.success) if (isNew(log)) yield* Queue.offer(logs, log);
        } else if (isFinal(asked.failure) || now - heardAt > giveUpMs) return yield* Effect.fail(asked.failure);
        yield* Effect.sleep(pollMs);
      }
    });
    const hear = (log: Log) => void (isNew(log) && Queue.offerUnsafe(logs, log));
    const listening: Listening = begun();
    // why: pending state may be quiet for good, and by heads alone a dead socket is known
    const heads = Stream.runDrain(headsBy(asking.block, options));
    const told = Effect.raceFirst(subscribing("pendingLogs", wire, listening, hear), heads);
    const following = Effect.andThen(told, poll);
    yield* Effect.forkScoped(
      Effect.onExit(following, (exit) => (Exit.isFailure(exit) ? Queue.failCause(logs, exit.cause) : Effect.void)),
    );
    return Stream.map(Stream.fromQueue(logs), (log): ReadonlyArray<Log> => [log]);
  });

/** Logs from now on. */
export const logsBy = (
  block: (block: BlockParameter) => Effect.Effect<Block, Failure, Rpc>,
  filter: LiveFilter,
  { pending: isPending = false, ...options }: LogOptions,
): Stream.Stream<Log, Failure, Rpc> => {
  const logs: Asking["logs"] = (asked) => askLogs(asked, (tag) => Effect.map(block(tag), ({ number }) => number));
  const asking = { block, logs };
  return Stream.unwrap(
    Effect.flatMap(
      Effect.fromResult(
        encoded("eth_subscribe", (faults) =>
          logFilter({ address: filter.address, topics: filter.topics }, "filter", faults),
        ),
      ),
      (wire) => (isPending ? pending(asking, filter, wire, options) : mined(asking, filter, wire, options)),
    ),
  ).pipe(Stream.flattenIterable);
};
