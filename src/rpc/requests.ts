/**
 * Parts of every endpoint, whatever carries its requests: the gate (how many runs it is asked by at once, first come,
 * first served), the retries that a reason allows, the deadline, the ledger, and the memory of what it was found to be.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import type * as Fiber from "effect/Fiber";
import * as Random from "effect/Random";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import { AdmissionTimeout, RpcError, Timeout } from "../errors/rpc.js";
import { countHeld, onAbort } from "../primitives/effects.js";
import type { Try } from "./answer.js";
import { judged, type Failure } from "./judging.js";
import type { Patience } from "./connection.js";
import { memoryOf, type Memory } from "./memory.js";
import { CurrentRun, type LedgerEntry, type Rpc, type RunContext } from "./service.js";

/**
 * The admission that a fiber runs under: what came of waiting at a gate, and whether the run that waited has ended. A run waits once, where it begins: whoever is in never waits for another,
 * at any gate. That holds for the fibers of one run; what a run starts as a program of its own (a Promise of the same
 * client, within `take` of `Preflight.reserving`) waits as anybody does, and may wait for the run itself.
 */
const Admission = Context.Reference<{ readonly came: "admitted" | AdmissionTimeout; isOver: boolean } | null>(
  "evm-preflight/Rpc/Admission",
  { defaultValue: () => null },
);

/** Returns the result of the waiting that a fiber did; null = did not wait, or what it waited for has ended. */
export const admissionOf = (fiber: Fiber.Fiber<unknown, unknown>): "admitted" | AdmissionTimeout | null => {
  const admission = fiber.getRef(Admission);
  return admission === null || admission.isOver ? null : admission.came;
};

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
export const isBroadcast = (method: string): boolean => method.startsWith("eth_send");

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
  /** Epoch ms. */
  readonly started: number;
  readonly deadline: number;
  /** Its place among those of the run. */
  readonly turn: number;
  tries: number;
  bytes: number;
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

const timedOut = ({ method, deadline, started }: SentRequest): RpcError => {
  const reason = new Timeout({ detail: "", afterMs: Math.max(0, deadline - started) });
  return new RpcError({ method, reason });
};

/** Why a request is not sent at all: its method was refused before, or the run was not let in; null = it is. */
const refusalOf = (
  method: string,
  memory: Memory,
  admission: "admitted" | AdmissionTimeout | null,
): RpcError | null => {
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

/** One try, and what `heard` makes of its answer; it ends with the signal of its run, and is called off by interruption. */
const once = (
  send: Send,
  clock: Clock.Clock,
  inFlight: SentRequest,
  heard: (known: Result.Result<unknown, Failure>) => Effect.Effect<unknown, Failure>,
): Effect.Effect<unknown, Failure> =>
  Effect.callback((resume) => {
    const { signal } = inFlight.run;
    if (signal?.aborted === true) return resume(Effect.interrupt);
    let isOpen = true;
    let unwatch = (): void => undefined;
    const giveUp = begin(send, clock, inFlight, (known) => {
      isOpen = false;
      unwatch();
      resume(heard(known));
    });
    if (!isOpen) return;
    if (signal !== null)
      unwatch = onAbort(signal, () => {
        giveUp();
        resume(Effect.interrupt);
      });
    return Effect.sync(() => {
      unwatch();
      giveUp();
    });
  });

/** Makes the requests of an endpoint, over what `sendWith` makes of its memory. */
export const requests = (
  sendWith: (memory: Memory) => Send,
  endpoint: string,
  patience: Patience,
  clock: Clock.Clock,
): Pick<Rpc["Service"], "request" | "memory" | "admit"> & { readonly send: NonNullable<Rpc["Service"]["send"]> } => {
  const admit = gate(patience, clock);
  const memory = memoryOf(() => clock.currentTimeMillisUnsafe(), patience.refusalMs);
  const send = sendWith(memory);

  /** Another try after a pause, where the reason allows one before the deadline. */
  const again = (inFlight: SentRequest, failure: Failure): Effect.Effect<unknown, Failure> =>
    Effect.flatMap(Random.next, (chance) => {
      const wait = isBroadcast(inFlight.method) ? null : pause(failure, inFlight.tries, chance, patience);
      return wait === null || clock.currentTimeMillisUnsafe() + wait >= inFlight.deadline
        ? Effect.fail(failure)
        : Effect.andThen(Effect.sleep(wait), attempt(inFlight));
    });

  const attempt = (inFlight: SentRequest): Effect.Effect<unknown, Failure> =>
    once(send, clock, inFlight, (known) => {
      memory.heard(inFlight.method, known);
      return Result.isSuccess(known) ? Effect.succeed(known.success) : again(inFlight, known.failure);
    });

  /** All tries of a request, until its deadline. */
  const tried = (inFlight: SentRequest): Effect.Effect<unknown, Failure> => {
    const duration = inFlight.deadline - inFlight.started;
    const late = Effect.suspend(() => Effect.fail(timedOut(inFlight)));
    return duration > 0 ? Effect.timeoutOrElse(attempt(inFlight), { duration, orElse: () => late }) : late;
  };

  const sentBy = (method: string, params: ReadonlyArray<unknown>, run: RunContext): SentRequest => {
    const started = clock.currentTimeMillisUnsafe();
    const deadline = Math.min(run.deadline ?? Infinity, started + patience.timeoutMs);
    return { method, params, run, started, deadline, turn: run.turn?.() ?? 0, tries: 0, bytes: 0 };
  };
  const recordEnd = (inFlight: SentRequest): void =>
    inFlight.run.record(entryOf(inFlight, endpoint, clock.currentTimeMillisUnsafe()), inFlight.turn);

  const request: Rpc["Service"]["request"] = (method, params) =>
    Effect.withFiber((fiber) => {
      const admission = admissionOf(fiber);
      if (admission === null && !isBroadcast(method)) return admit(request(method, params));
      const inFlight = sentBy(method, params, fiber.getRef(CurrentRun));
      const refusal = refusalOf(method, memory, admission);
      return Effect.onExit(refusal === null ? tried(inFlight) : Effect.fail(refusal), () =>
        Effect.sync(() => recordEnd(inFlight)),
      );
    });

  /** Further tries behind a first one that failed, apart from whoever asked; returns how to call them off. */
  const furtherTries = (
    inFlight: SentRequest,
    failure: Failure,
    settle: (answer: Result.Result<unknown, Failure>) => void,
  ): (() => void) => {
    const tries = Effect.provideService(Effect.result(again(inFlight, failure)), Clock.Clock, clock);
    const fiber = Effect.runFork(tries);
    fiber.addObserver((exit) => settle(Exit.isSuccess(exit) ? exit.value : Result.fail(failure)));
    return () => fiber.interruptUnsafe();
  };

  const sendRound: NonNullable<Rpc["Service"]["send"]> = (round, hear) => {
    const open = new Map<SentRequest, { callOff: () => void; readonly late: () => void }>();
    const timers = new Map<number, () => void>();
    for (const [place, { method, params, run }] of round.entries()) {
      const inFlight = sentBy(method, params, run);
      const { deadline, started } = inFlight;
      const settle = (answer: Result.Result<unknown, Failure>): void => {
        if (!open.delete(inFlight)) return;
        recordEnd(inFlight);
        if (open.size === 0) for (const callOff of timers.values()) callOff();
        hear(place, answer);
      };
      const flight = {
        callOff: (): void => undefined,
        late: () => {
          flight.callOff();
          settle(Result.fail(timedOut(inFlight)));
        },
      };
      open.set(inFlight, flight);
      const refusal = refusalOf(method, memory, "admitted") ?? (deadline > started ? null : timedOut(inFlight));
      if (refusal !== null) {
        settle(Result.fail(refusal));
        continue;
      }
      let isHeard = false;
      const giveUp = begin(send, clock, inFlight, (known) => {
        isHeard = true;
        memory.heard(method, known);
        if (Result.isSuccess(known) || pause(known.failure, 1, 0, patience) === null) return settle(known);
        flight.callOff = furtherTries(inFlight, known.failure, settle);
      });
      if (!isHeard) flight.callOff = giveUp;
    }
    for (const [{ deadline, started }] of open)
      if (!timers.has(deadline))
        timers.set(
          deadline,
          after(clock, deadline - started, () => {
            for (const [inFlight, { late }] of open) if (inFlight.deadline === deadline) late();
          }),
        );
    return () => {
      const left = [...open];
      open.clear();
      for (const callOff of timers.values()) callOff();
      for (const [inFlight, { callOff }] of left) {
        callOff();
        recordEnd(inFlight);
      }
    };
  };

  return { request, memory, admit, send: sendRound };
};
