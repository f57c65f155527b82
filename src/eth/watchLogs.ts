/** Logs as they come: those of each head are read by its hash, where its bloom says that there may be some. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import { BlockNotFound, RpcError } from "../errors/rpc.js";
import { Rpc } from "../Rpc.js";
import type { Failure } from "./ask.js";
import { hasWholeBlooms, mayHold } from "./bloom.js";
import { encoded, logFilter } from "./encode.js";
import type { Header } from "./heads.js";
import type { Log } from "./log.js";
import { hearing } from "./logSubscription.js";
import { askLogs } from "./getLogs.js";
import type { Block } from "./block.js";
import type { BlockParameter, LogFilter } from "./parameters.js";
import { tellRead, toldUpTo, type ToldLogs } from "./toldLogs.js";
import { following, headsBy, isFinal, paceOf, type AskBlock, type HeadOptions } from "./watchHeads.js";

/** Which logs are followed, of whatever block comes. */
export type LiveFilter = Pick<LogFilter, "address" | "topics">;

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

/** What was told, up to which block all of it, and the newest head that was told of. */
interface Stock {
  readonly told: ToldLogs;
  readonly upTo: bigint;
  readonly newest: bigint;
}

/** Heads that wait for a slow taker of logs; beyond that their logs are read at once. */
const mostHeads = 64;
/** Logs of pending state that wait for a slow taker. */
const mostWaiting = 1_024;
/** Ms until logs that the node did not give are asked for again, unless another head comes before. */
const pauseMs = 500;

const unknownBlock = new RpcError({ method: "eth_getLogs", reason: new BlockNotFound({ detail: "" }) });

/** The logs of blocks from `from` to a head; fails where the node has left that head for another. */
const readUpTo = (
  { logs, block }: Asking,
  filter: LiveFilter,
  mayMatch: (header: Header) => boolean,
  from: bigint,
  header: Header,
): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
  Effect.gen(function* () {
    const { number, hash } = header;
    const before = from < number ? yield* logs({ ...filter, fromBlock: from, toBlock: number - 1n }) : [];
    // why: blocks by number are those of the head's chain only while it is there
    if (from < number && (yield* block(number)).hash !== hash) return yield* unknownBlock;
    const its = mayMatch(header) ? yield* logs({ ...filter, blockHash: hash }) : [];
    return [...before, ...its.filter(({ blockHash }) => blockHash === hash)];
  });

/** Whether a head's logs need not be read, by its bloom. */
const matching = ({ chainId }: Asking, filter: LiveFilter): Effect.Effect<(header: Header) => boolean, never, Rpc> =>
  Effect.gen(function* () {
    const { memory } = yield* Rpc;
    const known = memory.recall("chainId") ?? (yield* Effect.orElseSucceed(chainId, () => null));
    return hasWholeBlooms(known) ? mayHold(filter) : () => true;
  });

const mined = (asking: Asking, filter: LiveFilter, options: HeadOptions) =>
  Effect.gen(function* () {
    const { giveUpMs } = yield* paceOf(options);
    const heads = yield* following(asking.block, options, mostHeads);
    let mayMatch: ((header: Header) => boolean) | null = null;
    let stock: Stock | null = null;
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
          else stock = { ...stock, upTo: toldUpTo(stock.upTo, stock.newest, head) };
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
          if (isFinal(read.failure) || now - failingSince > giveUpMs) return yield* Effect.fail(read.failure);
          yield* Effect.timeoutOption(heads.wait, pauseMs);
          continue;
        }
        const next = tellRead(stock.told, from, unread, read.success);
        const newest = unread.number > stock.newest ? unread.number : stock.newest;
        [stock, unread, failingSince] = [{ told: next.told, upTo: unread.number, newest }, null, null];
        const [first, ...rest] = next.logs;
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
    // why: pending state may be quiet for good, and by heads alone a dead socket is known
    const heads = Stream.runDrain(headsBy(asking.block, options));
    const heard = Effect.raceFirst(hearing(wire, hear), heads);
    yield* Effect.forkScoped(
      Effect.onExit(Effect.andThen(heard, poll), (exit) =>
        Exit.isFailure(exit) ? Queue.failCause(logs, exit.cause) : Effect.void,
      ),
    );
    return Stream.fromQueue(logs);
  });

/** Logs from now on. */
export const logsBy = (
  asking: {
    readonly block: (block: BlockParameter) => Effect.Effect<Block, Failure, Rpc>;
    readonly chainId: Asking["chainId"];
  },
  filter: LiveFilter,
  { pending: isPending = false, ...options }: LogOptions,
): Stream.Stream<Log, Failure, Rpc> => {
  const heightOf = (tag: BlockParameter) => Effect.map(asking.block(tag), ({ number }) => number);
  const all: Asking = { ...asking, logs: (asked) => askLogs(asked, heightOf) };
  const checked = encoded("eth_subscribe", (faults) =>
    logFilter({ address: filter.address, topics: filter.topics }, "filter", faults),
  );
  return Stream.unwrap(
    Effect.flatMap(Effect.fromResult(checked), (wire) =>
      isPending ? pending(all, filter, wire, options) : mined(all, filter, options),
    ),
  );
};
