/**
 * Parts of every endpoint, whatever carries its requests: the gate (how many runs it is asked by at once, first come,
 * first served), the retries that a reason allows, the deadline, the ledger, and the memory of what it was found to be.
 */
import * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Random from "effect/Random";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import { AdmissionTimeout, RpcError, Timeout } from "../errors/rpc.js";
import { countHeld, onAbort } from "../primitives/effects.js";
import type { Try } from "./answer.js";
import { judged, type Failure } from "./judging.js";
import type { Patience } from "./connection.js";
import { memoryOf, type Memory } from "./memory.js";
import {
  Admission,
  admissionOf,
  CurrentRun,
  type LedgerEntry,
  type RoundRequest,
  type Rpc,
  type RunContext,
  type SendRound,
  withSend,
} from "./service.js";

/** A fiber that waits: until when (epoch ms), and what is told when the turn or that time comes. */
interface WaitingFiber {
  readonly until: number;
  readonly resume: (came: Effect.Effect<"admitted" | AdmissionTimeout>) => void;
  isIn: boolean;
}

// why: not on the stack of the one who leaves, or a crowd of short runs would overflow it
const admitted = Effect.as(Effect.yieldNow, "admitted" as const);

/** Calls `run` in `ms` milliseconds by a clock that a test may hold, and returns how to call it off. */
const after = (clock: Clock.Clock, ms: number, run: () => void): (() => void) => {
  const fiber = Effect.runFork(Effect.map(clock.sleep(Duration.millis(ms)), run));
  return () => fiber.interruptUnsafe();
};

/** Runs an effect once the gate lets it in; it leaves with the effect's end. Interruption ends the waiting. */
export const gate = (
  { maxInFlight, maxWaitMs }: Pick<Patience, "maxInFlight" | "maxWaitMs">,
  clock: Clock.Clock,
): Rpc["Service"]["admit"] => {
  let free = maxInFlight;
  const queue = new Set<WaitingFiber>();
  let callOff: (() => void) | null = null;
  const tooLate = Effect.sync(() => new AdmissionTimeout({ detail: "", maxInFlight, afterMs: maxWaitMs }));

  /** One timer for all, for who came first has waited longest: a crowd shall cost little while it waits. */
  const watch = (): void => {
    const [first] = queue;
    if (first === undefined || callOff !== null) return;
    callOff = after(clock, first.until - clock.currentTimeMillisUnsafe(), () => {
      callOff = null;
      const now = clock.currentTimeMillisUnsafe();
      for (const waiting of queue) {
        if (waiting.until > now) break;
        queue.delete(waiting);
        waiting.resume(tooLate);
      }
      watch();
    });
  };

  const remove = (waiting: WaitingFiber): void => {
    queue.delete(waiting);
    if (queue.size > 0) return;
    callOff?.();
    callOff = null;
  };

  const leave = (): void => {
    const [next] = queue;
    if (next === undefined) {
      free++;
      return;
    }
    remove(next);
    next.isIn = true;
    next.resume(admitted);
  };

  return (run) =>
    Effect.withFiber((fiber) => {
      if (admissionOf(fiber) !== null) return run;
      let admission: typeof Admission.Service = null;
      let place: WaitingFiber | null = null;
      const enter = Effect.callback<"admitted" | AdmissionTimeout>((resume) => {
        place = { until: clock.currentTimeMillisUnsafe() + maxWaitMs, resume, isIn: free > 0 };
        if (place.isIn) {
          free--;
          return resume(Effect.succeed("admitted"));
        }
        queue.add(place);
        watch();
      });
      return Effect.onExit(
        Effect.flatMap(enter, (came) => {
          admission = { came, isOver: false };
          return Effect.provideService(run, Admission, admission);
        }),
        () => {
          if (admission !== null) admission.isOver = true;
          if (place?.isIn === true) leave();
          else if (place !== null) remove(place);
          return Effect.void;
        },
      );
    });
};

/** Sends one request, calls `callback` at most once, and returns how to abort. */
export type Send = (
  method: string,
  params: ReadonlyArray<unknown>,
  callback: (tried: Try) => void,
  run: Pick<RunContext, "signal" | "answers">,
) => () => void;

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
export const isBroadcast = (method: string): boolean => method.includes("_send");

/** Returns the options of a caller, with the defaults for those left out. */
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
interface SentRequest {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly run: RunContext;
  /** Its place in its round. */
  readonly place: number;
  /** Epoch ms. */
  readonly started: number;
  readonly deadline: number;
  /** Its place among those of the run. */
  readonly turn: number;
  tries: number;
  bytes: number;
}

/** A try under way, or the wait for one. */
interface Flight {
  callOff: () => void;
}

/** Notes in a run by how many ms an answerer's clock is ahead of ours. */
const sightDate = ({ sighted }: RunContext, aheadMs: number): void => {
  if (sighted) sighted.aheadMs = Math.max(sighted.aheadMs ?? aheadMs, aheadMs);
};

/** The line of the ledger for a request that has ended. */
const entryOf = ({ method, run, started, tries, bytes }: SentRequest, endpoint: string, now: number): LedgerEntry => ({
  ...{ method, endpoint, step: run.step ?? null, run: run.run ?? null, round: run.round },
  ...{ because: run.because ?? null, ms: now - started, tries, bytes },
});

const timedOut = ({ method, deadline, started }: SentRequest): RpcError =>
  new RpcError({ method, reason: new Timeout({ detail: "", afterMs: Math.max(0, deadline - started) }) });

/** Why a request is not sent at all: its method was refused before, or the run was not let in; null = it is. */
const refusalOf = (method: string, memory: Memory, admission: "admitted" | AdmissionTimeout | null) => {
  const refused = memory.refused(method);
  if (refused !== null || admission === null || admission === "admitted" || isBroadcast(method)) return refused;
  return new RpcError({ method, reason: admission });
};

/** Begins a try, gives `heard` its judged answer unless it is called off before, and returns how to do that. */
const begin = (
  send: Send,
  clock: Clock.Clock,
  inFlight: SentRequest,
  heard: (known: Result.Result<unknown, Failure>) => void,
): (() => void) => {
  const { method, params, run } = inFlight;
  let isOpen = true;
  inFlight.tries++;
  const abort = send(
    method,
    params,
    ({ result, bytes, date = null }) => {
      countHeld();
      inFlight.bytes += bytes;
      if (date !== null) sightDate(run, date - clock.currentTimeMillisUnsafe());
      judged(result, (known) => {
        // why: who asked may have gone while the dialects were loaded
        if (!isOpen) return;
        isOpen = false;
        heard(known);
      });
    },
    run,
  );
  return () => {
    if (isOpen) abort();
    isOpen = false;
  };
};

/** Makes the requests of an endpoint, over what `sendWith` makes of its memory. */
export const requests = (
  sendWith: (memory: Memory) => Send,
  endpoint: string,
  patience: Patience,
  clock: Clock.Clock,
): Pick<Rpc["Service"], "request" | "memory" | "admit"> => {
  const admit = gate(patience, clock);
  const memory = memoryOf(() => clock.currentTimeMillisUnsafe(), patience.refusalMs);
  const send = sendWith(memory);

  /** Each request until its answer or its deadline, with all tries that a reason allows. */
  const sendAll = (
    round: ReadonlyArray<RoundRequest>,
    admission: ReturnType<typeof admissionOf>,
    hear: Parameters<SendRound>[1],
  ): (() => void) => {
    const open = new Map<SentRequest, Flight>();
    const timers = new Map<number, () => void>();
    const recordEnd = (inFlight: SentRequest, now: number): void =>
      inFlight.run.record(entryOf(inFlight, endpoint, now), inFlight.turn);
    const settle = (inFlight: SentRequest, answer: Result.Result<unknown, Failure>): void => {
      if (!open.delete(inFlight)) return;
      recordEnd(inFlight, clock.currentTimeMillisUnsafe());
      if (open.size === 0) for (const callOff of timers.values()) callOff();
      hear(inFlight.place, answer);
    };
    const attempt = (inFlight: SentRequest, flight: Flight): void => {
      let isHeard = false;
      const giveUp = begin(send, clock, inFlight, (known) => {
        isHeard = true;
        memory.heard(inFlight.method, known);
        const wait =
          Result.isSuccess(known) || isBroadcast(inFlight.method) ? null : waitAfter(known.failure, inFlight);
        if (wait === null || clock.currentTimeMillisUnsafe() + wait >= inFlight.deadline) settle(inFlight, known);
        else flight.callOff = after(clock, wait, () => attempt(inFlight, flight));
      });
      if (!isHeard) flight.callOff = giveUp;
    };
    for (const [place, { method, params, run }] of round.entries()) {
      const started = clock.currentTimeMillisUnsafe();
      const deadline = Math.min(run.deadline ?? Infinity, started + patience.timeoutMs);
      const inFlight = { method, params, run, place, started, deadline, turn: run.turn?.() ?? 0, tries: 0, bytes: 0 };
      const flight: Flight = { callOff: () => undefined };
      open.set(inFlight, flight);
      const refusal = refusalOf(method, memory, admission) ?? (deadline > started ? null : timedOut(inFlight));
      if (refusal === null) attempt(inFlight, flight);
      else settle(inFlight, Result.fail(refusal));
    }
    /** One timer for all that end at the same time. */
    const expire = (deadline: number) => () => {
      for (const [inFlight, { callOff }] of open) {
        if (inFlight.deadline !== deadline) continue;
        callOff();
        settle(inFlight, Result.fail(timedOut(inFlight)));
      }
    };
    for (const [{ deadline, started }] of open)
      if (!timers.has(deadline)) timers.set(deadline, after(clock, deadline - started, expire(deadline)));
    return () => {
      const now = clock.currentTimeMillisUnsafe();
      const left = [...open];
      open.clear();
      for (const callOff of timers.values()) callOff();
      for (const [inFlight, { callOff }] of left) {
        callOff();
        recordEnd(inFlight, now);
      }
    };
  };

  /** Ms before the next try; null where the reason allows none. */
  const waitAfter = (failure: Failure, { tries }: SentRequest): number | null =>
    // why: the dice are rolled where there is something to wait for
    pause(failure, tries, 0, patience) === null ? null : pause(failure, tries, Effect.runSync(Random.next), patience);

  const request: Rpc["Service"]["request"] = (method, params) =>
    Effect.withFiber((fiber) => {
      const admission = admissionOf(fiber);
      if (admission === null && !isBroadcast(method)) return admit(request(method, params));
      const run = fiber.getRef(CurrentRun);
      const { signal } = run;
      return Effect.callback((resume) => {
        if (signal?.aborted === true) return resume(Effect.interrupt);
        let isOpen = true;
        let unwatch = (): void => undefined;
        const callOff = sendAll([{ method, params, run }], admission, (_, answer) => {
          isOpen = false;
          unwatch();
          resume(Effect.fromResult(answer));
        });
        if (signal !== null && isOpen)
          unwatch = onAbort(signal, () => {
            callOff();
            resume(Effect.interrupt);
          });
        return Effect.sync(() => {
          unwatch();
          callOff();
        });
      });
    });

  return withSend({ request, memory, admit }, (round, hear) => sendAll(round, "admitted", hear));
};
