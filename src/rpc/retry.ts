/**
 * What every endpoint shares, whatever carries its requests: the retries that a reason allows, the
 * deadline, the ledger, and the memory of what it was found to be.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Random from "effect/Random";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import { RpcError, Timeout } from "../errors/rpc.js";
import { onAbort } from "../primitives/effects.js";
import type { Failure, Tried } from "./answer.js";
import { admissionOf, alarms, gate, type GateOptions } from "./gate.js";
import { judged } from "./judging.js";
import { memoryOf, type Memory } from "./memory.js";
import { CurrentRun, type Rpc, type Run } from "./service.js";

/** Sends one request, calls `done` at most once, and returns how to abort. */
export type Send = (
  method: string,
  params: ReadonlyArray<unknown>,
  done: (tried: Tried) => void,
  run: Pick<Run, "signal" | "answers">,
) => () => void;

/** How patient an endpoint is, and with how many at once; times in ms. */
export interface Patience extends GateOptions {
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
  maxInFlight: 256,
  // why: ten thousand preflights at once are over before
  maxWaitMs: 5 * 60_000,
};

/** Broadcasting twice is never ours to decide, and what was cleared must not grow old in a queue. */
export const isBroadcast = (method: string): boolean => method.startsWith("eth_send");

/** What a caller asks for; what is left out is as by default. */
export const patienceOf = (options: Partial<Patience>): Patience =>
  Rows.map(patience, (otherwise, name) => options[name] ?? otherwise);

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

/** A request on its way: whose it is, until when, and what it has cost. */
interface Asked {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly run: Run;
  /** Epoch ms. */
  readonly started: number;
  readonly deadline: number;
  readonly turn: number;
  tries: number;
  bytes: number;
}

/** What an endpoint can be asked, over what `sendWith` makes of its memory. */
export const requests = (
  sendWith: (memory: Memory) => Send,
  endpoint: string,
  patience: Patience,
  clock: Clock.Clock,
): Pick<Rpc["Service"], "request" | "memory" | "admit"> => {
  const alarm = alarms(clock);
  const admit = gate(patience, clock);
  const memory = memoryOf(() => clock.currentTimeMillisUnsafe(), patience.refusalMs);
  const send = sendWith(memory);

  const record = ({ method, run, started, tries, bytes, turn }: Asked): void =>
    run.record(
      {
        ...{ method, endpoint, step: run.step ?? null, run: run.run ?? null, round: run.round },
        because: run.because ?? null,
        ms: clock.currentTimeMillisUnsafe() - started,
        ...{ tries, bytes },
      },
      turn,
    );

  /** The one end of a request: its line in the ledger, and its answer. */
  const end = (asked: Asked, result: Result.Result<unknown, Failure>): Effect.Effect<unknown, Failure> => {
    record(asked);
    return Effect.fromResult(result);
  };

  const timedOut = ({ method, deadline, started }: Asked): Result.Result<never, RpcError> => {
    const reason = new Timeout({ detail: "", afterMs: Math.max(0, deadline - started) });
    return Result.fail(new RpcError({ method, reason }));
  };

  /** Another try after a pause, where the reason allows one before the deadline. */
  const again = (asked: Asked, failure: Failure): Effect.Effect<unknown, Failure> =>
    Effect.flatMap(Random.next, (chance) => {
      const wait = isBroadcast(asked.method) ? null : pause(failure, asked.tries, chance, patience);
      if (wait === null || clock.currentTimeMillisUnsafe() + wait >= asked.deadline)
        return end(asked, Result.fail(failure));
      const paused = Effect.onInterrupt(Effect.sleep(wait), () => Effect.sync(() => record(asked)));
      return Effect.andThen(paused, attempt(asked));
    });

  const attempt = (asked: Asked): Effect.Effect<unknown, Failure> =>
    Effect.callback((resume) => {
      const { method, params, run } = asked;
      let isOpen = true;
      let callOff = (): void => undefined;
      let unwatch = (): void => undefined;
      const close = () => {
        isOpen = false;
        callOff();
        unwatch();
      };
      if (run.signal?.aborted === true) {
        record(asked);
        return resume(Effect.interrupt);
      }
      asked.tries++;
      const abort = send(
        method,
        params,
        ({ result, bytes, date = null }) => {
          asked.bytes += bytes;
          if (date !== null && run.sighted) {
            const aheadMs = date - clock.currentTimeMillisUnsafe();
            run.sighted.aheadMs = Math.max(run.sighted.aheadMs ?? aheadMs, aheadMs);
          }
          judged(result, (known) => {
            // why: who asked may have gone while the dialects were loaded
            if (!isOpen) return;
            close();
            memory.heard(method, known);
            resume(Result.isSuccess(known) ? end(asked, known) : again(asked, known.failure));
          });
        },
        run,
      );
      const giveUp = () => {
        close();
        abort();
      };
      if (!isOpen) return;
      callOff = alarm(asked.deadline, () => {
        giveUp();
        resume(end(asked, timedOut(asked)));
      });
      if (run.signal !== null)
        unwatch = onAbort(run.signal, () => {
          giveUp();
          record(asked);
          resume(Effect.interrupt);
        });
      return Effect.sync(() => {
        giveUp();
        record(asked);
      });
    });

  const request: Rpc["Service"]["request"] = (method, params) =>
    Effect.withFiber((fiber) => {
      const admission = admissionOf(fiber);
      if (admission === null && !isBroadcast(method)) return admit(request(method, params));
      const run = fiber.getRef(CurrentRun);
      const started = clock.currentTimeMillisUnsafe();
      const deadline = Math.min(run.deadline ?? Infinity, started + patience.timeoutMs);
      const turn = run.turn?.() ?? 0;
      const asked: Asked = { method, params, run, started, deadline, turn, tries: 0, bytes: 0 };
      const known = memory.refused(method);
      if (known !== null) return end(asked, Result.fail(known));
      if (admission !== null && admission !== "admitted" && !isBroadcast(method))
        return end(asked, Result.fail(new RpcError({ method, reason: admission })));
      return deadline <= started ? end(asked, timedOut(asked)) : attempt(asked);
    });

  return { request, memory, admit };
};
