/** Heads, logs and watched reports as async iterables; loaded when somebody first follows a chain. */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Pull from "effect/Pull";
import * as Result from "effect/Result";
import * as Scope from "effect/Scope";
import * as Stream from "effect/Stream";
import { type Head, chainId, getBlock, type BlockParameter, type LogFilter } from "../eth/index.js";
import { headsBy, type HeadOptions } from "../eth/watchHeads.js";
import { logsBy, type LogOptions } from "../eth/watchLogs.js";
import { prove } from "../Preflight.js";
import { onAbort } from "../primitives/index.js";
import { ready, type Options } from "../pipeline/index.js";
import type { Report } from "../report/index.js";
import type { Rpc } from "../rpc/index.js";
import { watchWith } from "../watch/watch.js";
import type { Facade } from "./facade.js";

const over: IteratorResult<never> = { done: true, value: undefined };

/** The elements of a stream, one for each `next`; the stream runs from the first to the last, to `return` or to the signal. */
const iterate = <A, E>(
  stream: Stream.Stream<A, E, Rpc>,
  run: Facade["effect"],
  within: Scope.Scope,
  signal: AbortSignal | undefined,
): AsyncIterator<A> => {
  const scope = Effect.runSync(Scope.fork(within));
  let pull: Pull.Pull<ReadonlyArray<A>, E, void, Rpc> | null = null;
  let waiting: ReadonlyArray<A> = [];
  let isOver = false;
  const close = () => {
    isOver = true;
    unwatch();
    return Effect.runPromise(Scope.close(scope, Exit.void));
  };
  const unwatch = signal === undefined ? () => undefined : onAbort(signal, () => void close());
  const more = Effect.suspend(() =>
    Effect.flatMap(pull === null ? Scope.provide(Stream.toPull(stream), scope) : Effect.succeed(pull), (source) => {
      pull = source;
      return source;
    }),
  ).pipe(
    Effect.map((elements): IteratorResult<A> => {
      const [first, ...rest] = elements;
      waiting = rest;
      return first === undefined ? over : { done: false, value: first };
    }),
    Effect.catchCause((cause) => {
      const closing = Effect.promise(close);
      const failed = Pull.filterNoDone(cause);
      return Result.isSuccess(failed)
        ? Effect.andThen(closing, Effect.failCause(failed.success))
        : Effect.as(closing, over);
    }),
  );
  return {
    next: () => {
      if (signal?.aborted === true) return Promise.reject(signal.reason);
      const [first, ...rest] = waiting;
      if (isOver) return Promise.resolve(over);
      if (first === undefined) return run(more, { signal });
      waiting = rest;
      return Promise.resolve({ done: false, value: first });
    },
    return: () => close().then(() => over),
  };
};

const block = (name: BlockParameter) => getBlock({ block: name });

/** As `Preflight.watch`. */
const watch = <E>(report: Report, heads: Stream.Stream<Head, E, Rpc>, options: Options) =>
  Stream.unwrap(Effect.as(ready(report), watchWith(prove, report, heads, options)));

/** Follows what a connection watches, until `end`; one stream of heads serves all reports, however many. */
export const followWith = (run: Facade["effect"], headOptions: HeadOptions) => {
  const scope = Scope.makeUnsafe();
  const shared = Effect.runSync(
    Effect.cached(
      Scope.provide(Stream.share(headsBy(block, headOptions), { capacity: 1, strategy: "sliding", replay: 1 }), scope),
    ),
  );
  const follow = <A, E>(stream: Stream.Stream<A, E, Rpc>, signal: AbortSignal | undefined) =>
    iterate(stream, run, scope, signal);
  return {
    heads: (options: HeadOptions, signal: AbortSignal | undefined) =>
      follow(headsBy(block, { ...headOptions, ...options }), signal),
    logs: (filter: Pick<LogFilter, "address" | "topics">, options: LogOptions, signal: AbortSignal | undefined) =>
      follow(logsBy({ block, chainId }, filter, { ...headOptions, ...options }), signal),
    report: (report: Report, options: Options, signal: AbortSignal | undefined) =>
      follow(Stream.unwrap(Effect.map(shared, (heads) => watch(report, heads, options))), signal),
    end: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};
