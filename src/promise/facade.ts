/** The pipeline as Promises, over whatever layer gives the node. Doors add only the way in. */
import * as Cause from "effect/Cause";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { Disposed } from "../errors/index.js";
import type { KeepEvent } from "../nonces/protocol/reconcile.js";
import type { Options } from "../pipeline/index.js";
import type * as Preflight from "../Preflight.js";
import { copyOf, isRecord, onAbort, safely, type Address, type Hash, Listener, withJson } from "../primitives/index.js";
import type * as Report from "../Report.js";
import type { ReportEvent } from "../report/index.js";
import type { Rpc } from "../rpc/index.js";
import type { RequestEvent } from "../rpc/observe.js";
import type { GivenOperation, GivenSafeTransaction, GivenSigning } from "../signing/index.js";
import type { CallBatch, TakesInput } from "../Transaction.js";
import { clearing, defaultsGiven, pipeline as loaded, preload, reportGiven, signalGiven } from "./given.js";
import { layerSteps } from "./steps.js";

export type { KeepEvent, ReportEvent, RequestEvent };

/** Options of a call, in addition to those of the pipeline. */
export interface Abortable {
  /** Aborts the run and its requests; the promise then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of one call. */
export interface RunOptions extends Options, Abortable {}

/**
 * The pipeline as Promises. Rejections are the tagged errors themselves, so `instanceof` works. `sender`: who sends
 * what names no sender.
 */
export interface Actions<sender extends "caller" | "client" = "caller"> {
  /** `Preflight.preflight`: two rounds, a proven report. Rejects with `InvalidTransaction` only. */
  readonly preflight: TakesInput<RunOptions, Promise<Report.BundleReport>, sender>;
  /** `Preflight.signature`: the report of a signature that is no transaction. Rejects with `InvalidTransaction` only. */
  readonly signature: (signing: GivenSigning, options?: RunOptions) => Promise<Report.Report>;
  /** `Preflight.userOperation`: the report of a user operation (ERC-4337). Rejects with `InvalidTransaction` only. */
  readonly userOperation: (operation: GivenOperation, options?: RunOptions) => Promise<Report.Report>;
  /** `Preflight.safeTransaction`: the report of a transaction of a Safe. Rejects with `InvalidTransaction` only. */
  readonly safeTransaction: (transaction: GivenSafeTransaction, options?: RunOptions) => Promise<Report.Report>;
  /** `Preflight.callBatch`: the report of a batch of calls (EIP-5792). Rejects with `InvalidTransaction` only. */
  readonly callBatch: (batch: CallBatch, options?: RunOptions) => Promise<Report.BundleReport>;
  /** `Preflight.scan`: one round. Rejects with `InvalidTransaction` only. */
  readonly scan: TakesInput<RunOptions, Promise<Report.BundleReport>, sender>;
  /**
   * `Preflight.maxSendable`: the most native currency that `from` can send to `to`, in wei, with the proven report of
   * sending exactly that. Rejects with `InsufficientFunds` where the fees alone are more than the balance, and with what
   * kept the costs from being known.
   */
  readonly maxSendable: (
    from: Address,
    to: Address,
    options?: RunOptions,
  ) => Promise<{ readonly value: bigint; readonly report: Report.BundleReport }>;
  /** `Preflight.prove`: proves a report, or proves it again. Rejects with `InvalidTransaction` where it is no report. */
  readonly prove: <R extends Report.Report>(report: R, options?: RunOptions) => Promise<R>;
  /**
   * `Preflight.settle`: compares the report with what was mined under `hashes`, which are in the report's order; `sent` of
   * `deliver` will do.
   */
  readonly settle: (
    report: Report.Report,
    hashes: ReadonlyArray<Hash | Report.SentTransaction>,
    options?: { readonly deadline?: Duration.Input | undefined } & Abortable,
  ) => Promise<Report.Settled>;
  /** `Preflight.ready`: what to sign. Rejects with the first blocker, and with `InvalidTransaction` where it is no report. */
  readonly ready: <R extends Report.Report>(
    report: R,
  ) => Promise<R extends Report.BundleReport ? Report.BundleClearance : Report.Clearance>;
}

/** {@link Actions} with a life of their own. */
export interface Facade<R = never, sender extends "caller" | "client" = "caller"> extends Actions<sender> {
  /** Any effect that needs the node, on this connection. */
  readonly effect: <A, E>(effect: Effect.Effect<A, E, Rpc | R>, options?: Abortable) => Promise<A>;
  /** Closes the connection. Running and later calls reject with `Disposed`. It can be called again. */
  readonly dispose: () => Promise<void>;
}

/** Fields of a {@link Log} event: flat, with numbers and strings only, so that `JSON.stringify` takes it. */
export type LogEvent = RequestEvent | ReportEvent | KeepEvent;

/**
 * Gets every event as it happens: `(event) => pino.info(event)`, or `console.log`. It is called during a run, so it
 * should be quick. Errors that it throws or rejects with are ignored.
 */
export type Log = (event: LogEvent) => unknown;

/** Default options of every call, and event listeners. */
export interface Defaults extends Options {
  /** Called for every request that has ended and every report that was made. */
  readonly log?: Log | undefined;
}

/** Tells `log` of every request, every report and every failure of a kept lane, of the effects that are given this layer. */
const layerLog = (log: Log): Layer.Layer<never> =>
  Layer.succeed(Listener, (event) => {
    // why: a promise takes both what is thrown and what is rejected, and runs its executor at once
    new Promise((resolve) => resolve(log(event as LogEvent))).catch(() => undefined);
  });

/** Frames of a stack, as V8 (`    at f (file:1:2)`) and the others (`f@file:1:2`) write them. */
const isFrame = (line: string): boolean => /^\s+at |^[^\s@]*@/.test(line);

/** Frames that are kept: ours, at most six, and the first of whoever called. Each costs about half a microsecond. */
const mostFrames = 7;

/**
 * An Error whose stack shows where a Promise method was called. Make it there: a failure that comes later has only frames
 * of the runtime. Engines format the stack only when it is read.
 */
const callSite = (): Error => {
  const { stackTraceLimit } = Error;
  // why: `Reflect.set` throws nowhere, not where a page has frozen what is built in
  const isFewer = stackTraceLimit > mostFrames && Reflect.set(Error, "stackTraceLimit", mostFrames);
  const site = new Error("called");
  if (isFewer) Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  return site;
};

/** Original stacks of errors, without a call site: one error may end several calls. */
const before = new WeakMap<Error, string>();

/** The error with the frames of a {@link callSite} at the end of its stack. */
export const withCallSite = (error: unknown, site: Error): unknown => {
  if (!(error instanceof Error) || Object.isFrozen(error)) return error;
  const own = before.get(error) ?? error.stack ?? String(error);
  const frames = (site.stack ?? "").split("\n").filter(isFrame);
  before.set(error, own);
  error.stack = [own, ...frames].join("\n");
  return error;
};

/** Runs a function of the caller's, as `await` takes its answer: it fails with what is thrown or rejected. */
export const attempt = <A>(ask: () => A | PromiseLike<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: () => new Promise<A>((resolve) => resolve(ask())), catch: (error) => error });

/** For how long a function of the caller's may decide, ms: it may ask a person. */
const patienceMs = 300_000;

/** Asks a function of the caller's about a copy: true where it answers so within five minutes. Fails with what is thrown. */
export const decides = <A>(rule: (about: A) => unknown, about: A): Effect.Effect<boolean, unknown> =>
  Effect.map(
    Effect.timeoutOption(
      // why: a rule that changes what it judges
      attempt(() => Promise.resolve(copyOf(about)).then(rule)),
      patienceMs,
    ),
    (answer) => Option.getOrNull(answer) === true,
  );

/** Steps as a caller gives them, before they are checked. */
export interface GivenSteps {
  readonly steps?: unknown;
  readonly without?: unknown;
}

/** Promises over a layer; `pipeline` holds for every verb, and `settling` is loaded by the first `settle`. */
export const make = <R = never>(
  layer: Layer.Layer<Rpc | R>,
  given: Defaults,
  pipeline: GivenSteps,
  settling: Effect.Effect<Pick<typeof Preflight, "settle">>,
): Facade<R> => {
  const { log, ...defaults } = defaultsGiven(given);
  const isUsual = pipeline.steps === undefined && pipeline.without === undefined;
  const whole = isUsual ? layer : Layer.merge(layer, layerSteps(pipeline));
  const runtime = ManagedRuntime.make(log == null ? whole : Layer.provideMerge(whole, layerLog(log)));
  let isDisposed = false;
  preload();
  const run = <A, E>(effect: Effect.Effect<A, E, Rpc | R>, options?: Abortable): Promise<A> => {
    const site = callSite();
    const given = signalGiven(options);
    if (isDisposed) return Promise.reject(new Disposed({ isCut: false }));
    if (Result.isFailure(given)) return Promise.reject(withCallSite(given.failure, site));
    const signal = given.success;
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const fiber = runtime.runFork(effect);
    const unwatch = signal === undefined ? () => undefined : onAbort(signal, () => fiber.interruptUnsafe());
    return new Promise<Exit.Exit<A, E>>((resolve) => fiber.addObserver(resolve)).then((exit) => {
      unwatch();
      if (Exit.isSuccess(exit)) return exit.value;
      const isCut = Cause.hasInterruptsOnly(exit.cause);
      if (isCut && signal?.aborted === true) return Promise.reject(signal.reason);
      return Promise.reject(
        withCallSite(isCut && isDisposed ? new Disposed({ isCut }) : Cause.squash(exit.cause), site),
      );
    });
  };
  /** A verb under its options and the defaults, as they are now. */
  const withAll = <A, E>(
    options: RunOptions | undefined,
    use: (verbs: Effect.Success<typeof loaded>, all: RunOptions) => Effect.Effect<A, E, Rpc | R>,
  ) => {
    const all = withDefaults(defaults, options);
    const used = Effect.flatMap(loaded, (verbs) => use(verbs, all));
    return run(used, options);
  };
  /** Runs `use` for a report, where it is one, with what is loaded for it. */
  const onReport = <Loaded, A, E>(
    report: Report.Report,
    loading: Effect.Effect<Loaded>,
    use: (part: Loaded) => Effect.Effect<A, E, Rpc | R>,
    options?: Abortable,
  ) => run(Effect.andThen(Effect.fromResult(reportGiven(report)), Effect.flatMap(loading, use)), options);
  return {
    // `never` fits every overload: the doors' types have judged the input, the pipeline checks it
    scan: (input: unknown, options) => withAll(options, ({ scan }, all) => scan(input as never, all)),
    preflight: (input: unknown, options) => withAll(options, ({ preflight }, all) => preflight(input as never, all)),
    signature: (signing, options) => withAll(options, ({ signature }, all) => signature(signing, all)),
    userOperation: (operation, options) => withAll(options, (verbs, all) => verbs.userOperation(operation, all)),
    safeTransaction: (transaction, options) =>
      withAll(options, (verbs, all) => verbs.safeTransaction(transaction, all)),
    callBatch: (batch, options) => withAll(options, ({ callBatch }, all) => callBatch(batch, all)),
    maxSendable: (from, to, options) => withAll(options, ({ maxSendable }, all) => maxSendable(from, to, all)),
    prove: (report, options) =>
      onReport(
        report,
        loaded,
        ({ prove }) => prove(withAge(report, defaults), withFunctions(report, options, defaults)),
        options,
      ),
    settle: (report, hashes, options) =>
      onReport(report, settling, (asking) => asking.settle(report, hashes, options), options),
    ready: (report) => run(clearing(report, (checked) => withAge(checked, defaults))),
    effect: run,
    dispose: () => {
      isDisposed = true;
      return runtime.dispose();
    },
  };
};

/** The report, which may come from outside: it holds no longer than the door's own `maxAge`, whatever it says. */
export const withAge = <R extends Report.Report>(report: R, { maxAge }: Options): R => {
  if (maxAge == null) return report;
  const { options } = report;
  const most = safely(() => Duration.toMillis(maxAge), 0);
  // guard: a report that says how long it holds
  return options.maxAgeMs <= most ? report : withJson({ ...report, options: { ...options, maxAgeMs: most } });
};

/** Options over the door's defaults; what is undefined or null is left out. Whoever runs them refuses what are none. */
export const withDefaults = <A extends Options, B extends object>(defaults: A, options: B | undefined): A & B => {
  // why: a policy of the door's must not go because a caller has none of its own to pass on
  const entries = safely(() => Object.entries(isRecord(options) ? options : {}), []).filter(
    ([, value]) => value != null,
  );
  return { ...defaults, ...(Object.fromEntries(entries) as B) };
};

/**
 * The options with those functions of the door's that no report keeps. A policy made by a function is in the report by name
 * only. Where the report holds just the door's own policies, the door has them still; any others have to be given again.
 */
export const withFunctions = (report: Report.Report, given: Options | undefined, defaults: Options): Options => {
  const { policies, names, descriptors } = defaults;
  const options = names == null && descriptors == null ? (given ?? {}) : withDefaults({ names, descriptors }, given);
  if (policies == null || options.policies != null) return options;
  const isOwn = JSON.stringify(policies.map(({ data }) => data)) === JSON.stringify(report.options.policies);
  return isOwn ? { ...options, policies } : options;
};
