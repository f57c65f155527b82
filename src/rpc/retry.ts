/**
 * What every endpoint shares, whatever carries its requests: the retries that a reason allows, the
 * deadline, the ledger, and the memory of what it was found to be.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Random from "effect/Random";
import * as Result from "effect/Result";
import { RpcError, Timeout } from "../errors/rpc.js";
import type { Failure, Tried } from "./answer.js";
import { memoryOf } from "./memory.js";
import { CurrentRun, type Run } from "./run.js";

/** Sends one request, calls `done` at most once, and returns how to abort. `signal` is the run's. */
export type Send = (
  method: string,
  params: ReadonlyArray<unknown>,
  done: (tried: Tried) => void,
  signal: AbortSignal | null,
) => () => void;

/** How patient an endpoint is; times in ms. */
export interface Patience {
  /** More tries of one request than this are never made, whatever the reason allows. */
  readonly retryTimes: number;
  /** The first pause; it doubles with every try, and half of it is chance. */
  readonly retryBaseMs: number;
  /** The longest pause; when the node asks for a longer one, its refusal is the answer. */
  readonly retryMaxMs: number;
  /** A request without an answer after this fails, also without a deadline. */
  readonly timeoutMs: number;
  /** How long a refused method is remembered. */
  readonly refusalMs: number;
}

export const patience: Patience = {
  retryTimes: 3,
  retryBaseMs: 50,
  retryMaxMs: 5_000,
  timeoutMs: 30_000,
  refusalMs: 5 * 60_000,
};

/** Broadcasting twice is never ours to decide. */
const isIdempotent = (method: string): boolean => !method.startsWith("eth_send");

/** Ms to wait before try number `tries + 1`; null when there is none. `chance` is 0 to 1. */
export const pause = (
  failure: Failure,
  tries: number,
  chance: number,
  { retryTimes, retryBaseMs, retryMaxMs }: Patience,
): number | null => {
  if (failure._tag !== "RpcError") return null;
  const { isRetryable, retryTimes: sensible, retryAfterMs } = failure.reason.advice;
  if (!isRetryable || tries > Math.min(sensible, retryTimes)) return null;
  const backoff = Math.min(retryMaxMs, retryBaseMs * 2 ** (tries - 1)) * (0.5 + chance / 2);
  if (retryAfterMs === null) return backoff;
  return retryAfterMs > retryMaxMs ? null : Math.max(retryAfterMs, 0) + backoff / 2;
};

/** Adds what to do when a signal aborts, and returns how to take it back. */
type Watch = (signal: AbortSignal, run: () => void) => () => void;

/** One listener per signal, however many requests share it: more than ten make Node warn of a leak. */
const watching = (): Watch => {
  const waiting = new WeakMap<AbortSignal, Set<() => void>>();
  return (signal, run) => {
    const known = waiting.get(signal);
    const all = known ?? new Set<() => void>();
    if (known === undefined) {
      waiting.set(signal, all);
      signal.addEventListener("abort", () => all.forEach((one) => one()), { once: true });
    }
    all.add(run);
    return () => all.delete(run);
  };
};

const once = (
  send: Send,
  watch: Watch,
  method: string,
  params: ReadonlyArray<unknown>,
  signal: AbortSignal | null,
): Effect.Effect<Tried> =>
  Effect.callback<Tried>((resume) => {
    if (signal?.aborted === true) return resume(Effect.interrupt);
    let forget = (): void => undefined;
    const abort = send(
      method,
      params,
      (tried) => {
        forget();
        resume(Effect.succeed(tried));
      },
      signal,
    );
    if (signal !== null) {
      const unwatch = watch(signal, () => {
        abort();
        resume(Effect.interrupt);
      });
      forget = () => void unwatch();
    }
    return Effect.sync(() => {
      forget();
      abort();
    });
  });

/** The `request` of an endpoint over `send`, and its memory. */
export const requests = (send: Send, endpoint: string, patience: Patience, clock: Clock.Clock) => {
  const watch = watching();
  const memory = memoryOf(() => clock.currentTimeMillisUnsafe(), patience.refusalMs);

  const timedOut = (method: string, afterMs: number) =>
    Effect.fail(new RpcError({ method, reason: new Timeout({ detail: "", afterMs }) }));

  const tryUntilDone = Effect.fnUntraced(function* (
    method: string,
    params: ReadonlyArray<unknown>,
    run: Run,
    deadline: number,
    spent: { tries: number; bytes: number },
  ): Effect.fn.Return<unknown, Failure> {
    for (;;) {
      spent.tries++;
      const { result, bytes } = yield* once(send, watch, method, params, run.signal);
      spent.bytes += bytes;
      memory.heard(method, result);
      if (Result.isSuccess(result)) return result.success;
      const wait = isIdempotent(method) ? pause(result.failure, spent.tries, yield* Random.next, patience) : null;
      if (wait === null || clock.currentTimeMillisUnsafe() + wait >= deadline) return yield* result.failure;
      yield* Effect.sleep(wait);
    }
  });

  const request = Effect.fnUntraced(function* (
    method: string,
    params: ReadonlyArray<unknown>,
  ): Effect.fn.Return<unknown, Failure> {
    const run = yield* CurrentRun;
    const started = clock.currentTimeMillisUnsafe();
    const spent = { tries: 0, bytes: 0 };
    const { round, step = null, run: name = null } = run;
    const record = () =>
      run.record({
        ...{ method, endpoint, step, run: name, round },
        ms: clock.currentTimeMillisUnsafe() - started,
        ...spent,
      });
    const known = memory.refused(method);
    if (known !== null) {
      record();
      return yield* known;
    }
    const deadline = Math.min(run.deadline ?? Infinity, started + patience.timeoutMs);
    const left = deadline - started;
    if (left <= 0) {
      record();
      return yield* timedOut(method, 0);
    }
    return yield* tryUntilDone(method, params, run, deadline, spent).pipe(
      Effect.timeoutOrElse({ duration: left, orElse: () => timedOut(method, left) }),
      Effect.onExit(() => Effect.sync(record)),
    );
  });

  return { request, memory };
};
