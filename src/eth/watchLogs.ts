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
import { decoder } from "./decode.js";
import { encoded, logFilter } from "./encode.js";
import type { Head } from "./heads.js";
import { Log } from "./log.js";
import { askLogs } from "./getLogs.js";
import type { Block } from "./block.js";
import type { BlockParameter, LogFilter } from "./parameters.js";
import { tellLogs, untellLogs, type ToldLogs } from "./toldLogs.js";
import { headsBy, isFinal, isNoSubscription, paceOf, type AskBlock, type HeadOptions } from "./watchHeads.js";

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

/** What is known of the subscription. */
interface Listening {
  /** Whether notifications come now. */
  isLive: boolean;
  /** How often some may have been missed. */
  gaps: number;
  /** The highest block of which a log found no room. */
  droppedUpTo: bigint;
  /** Subscribes again over a new socket, for this one does not tell what there is. */
  renew: () => void;
}

const begun = (): Listening => ({ isLive: false, gaps: 0, droppedUpTo: 0n, renew: () => undefined });

/** Events that wait for a slow taker; what finds no room is read again. */
const mostWaiting = 1_024;
const pauseMs = 500;

const readLog = decoder("eth_subscribe", Log, "params.result");

/** Subscribes again and again; ends where the node serves no such subscription, or tells what cannot be read. */
const subscribing = (
  kind: "logs" | "pendingLogs",
  filter: Record<string, unknown>,
  listening: Listening,
  hear: (log: Log) => void,
): Effect.Effect<void, Failure, Rpc> =>
  Effect.gen(function* () {
    const { subscribe } = yield* Rpc;
    while (subscribe !== undefined) {
      const once = Effect.gen(function* () {
        const ended = yield* Queue.dropping<Effect.Effect<void, Failure>>(1);
        const { lost, abandon } = yield* subscribe([kind, filter], (result) => {
          const log = readLog(result);
          if (Result.isSuccess(log)) hear(log.success);
          else Queue.offerUnsafe(ended, Effect.fail(log.failure));
        });
        listening.isLive = true;
        listening.gaps += 1;
        listening.renew = () => void Queue.offerUnsafe(ended, abandon);
        return yield* Effect.raceFirst(Effect.flatten(Queue.take(ended)), lost);
      });
      const ended = yield* Effect.result(Effect.scoped(once));
      listening.isLive = false;
      if (Result.isFailure(ended)) {
        if (isNoSubscription(ended.failure)) return;
        if (isFinal(ended.failure)) return yield* Effect.fail(ended.failure);
      }
      yield* Effect.sleep(pauseMs);
    }
  });

/** What was told, of which blocks all of it, and how many gaps that has covered. */
interface Stock {
  readonly told: ToldLogs;
  /** The blocks up to here were there before. */
  readonly start: bigint;
  readonly readUpTo: bigint;
  readonly covered: number;
  /** What the node told while a gap is open, which comes first. */
  readonly held: ReadonlyArray<Log>;
  /** The first block that may hold such logs and of which, and since then, the node told none; epoch ms of its head. */
  readonly doubt: { readonly from: bigint; readonly since: number } | null;
}

const uncovered = -1;

/** What of a head's blocks is to be read, and whether doubt alone is why; null = the socket told all of it. */
const rangeOf = (
  { header, replaced, skipped }: Head,
  stock: Stock,
  { isLive, gaps }: Listening,
  isDue: boolean,
): { readonly from: bigint; readonly isDoubted: boolean } | null => {
  const isBehind = gaps !== stock.covered;
  const isTold = isLive && !isBehind && skipped === 0n && replaced.length === 0;
  if (isTold && !isDue) return null;
  // why: of the block before, too, logs may have been on their way when the socket was lost
  const next = isBehind ? stock.readUpTo : stock.readUpTo + 1n;
  const first = [...replaced.map(({ number }) => number), stock.doubt?.from ?? next].reduce(
    (least, number) => (number < least ? number : least),
    next,
  );
  const from = first > stock.start ? first : stock.start + 1n;
  return from > header.number ? null : { from, isDoubted: isTold };
};

/** Tells the logs of blocks that come after the first head. */
const telling = ({ logs }: Asking, filter: LiveFilter, listening: Listening, silentMs: number) => {
  let stock: Stock | null = null;
  const mayMatch = mayHold(filter);
  const atHead = ({ head, gaps }: Heard, before: Stock): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
    Effect.gen(function* () {
      const { header, replaced } = head;
      const start = replaced.reduce((least, { number }) => (number <= least ? number - 1n : least), before.start);
      const back = untellLogs(before.told, replaced, header.number);
      const now = yield* Clock.currentTimeMillis;
      const doubted = before.doubt !== null && now - before.doubt.since >= silentMs;
      const range = rangeOf(head, { ...before, start }, listening, doubted);
      const blocks = range?.from === header.number ? { blockHash: header.hash } : { toBlock: header.number };
      const asked = yield* range === null
        ? Effect.succeed(Result.succeed<ReadonlyArray<Log>>([]))
        : Effect.result(logs({ ...filter, fromBlock: range.from, ...blocks }));
      if (Result.isFailure(asked)) {
        if (isFinal(asked.failure)) return yield* Effect.fail(asked.failure);
        const lowest = start < before.readUpTo ? start : before.readUpTo;
        // why: the next head reads it as well
        const readUpTo = replaced.length > 0 ? lowest : before.readUpTo;
        stock = { ...before, told: back.told, start, readUpTo, covered: uncovered };
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
      stock = { ...{ told: next.told, start, covered, doubt }, readUpTo: header.number, held: [] };
      return [...back.logs, ...next.logs];
    });
  return (event: Event): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> => {
    if ("head" in event) {
      if (stock !== null) return atHead(event, stock);
      const { number } = event.head.header;
      const covered = listening.isLive ? event.gaps : uncovered;
      stock = { told: new Map(), start: number, readUpTo: number, covered, held: [], doubt: null };
      return Effect.succeed([]);
    }
    const { log } = event;
    // why: before the first head nobody knows whether it is new, and the next one reads it
    if (stock === null || (log.blockNumber ?? 0n) <= stock.start) return Effect.succeed([]);
    if (listening.gaps !== stock.covered) {
      if (stock.held.length < mostWaiting) stock = { ...stock, held: [...stock.held, log] };
      return Effect.succeed([]);
    }
    const next = tellLogs(stock.told, [log]);
    // why: one socket tells them in their order, so that none of before is missing
    const doubt = stock.doubt !== null && (log.blockNumber ?? 0n) >= stock.doubt.from ? null : stock.doubt;
    stock = { ...stock, told: next.told, doubt };
    return Effect.succeed(next.logs);
  };
};

const mined = (asking: Asking, filter: LiveFilter, wire: Record<string, unknown>, options: HeadOptions) =>
  Effect.gen(function* () {
    const events = yield* Queue.bounded<Event, Failure>(mostWaiting);
    const { silentMs } = yield* paceOf(options);
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
    return Stream.mapEffect(Stream.fromQueue(events), telling(asking, filter, listening, silentMs));
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
    const following = Effect.andThen(subscribing("pendingLogs", wire, listening, hear), poll);
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
