/** The pipeline as Promises, over whatever layer gives the node. Doors add only the way in. */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { Disposed, InvalidTransaction } from "../errors/input.js";
import * as Preflight from "../Preflight.js";
import type * as Report from "../Report.js";
import { onAbort } from "../primitives/abort.js";
import type { Hash } from "../primitives/hex.js";
import type { Rpc } from "../Rpc.js";
import type { Sender, TakesInput } from "../Transaction.js";
import type { Options } from "../preflight/prepare.js";
import { callSite, withCallSite } from "./callSite.js";
import { reportGiven } from "./given.js";
import { layerLog, type Log } from "./log.js";
import { layerSteps } from "./steps.js";

/** What a call may be given beside the pipeline's options. */
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
export interface Actions<sender extends Sender = "caller"> {
  /** `Preflight.preflight`: two rounds, a proven report. Rejects with `InvalidTransaction` only. */
  readonly preflight: TakesInput<RunOptions, Promise<Report.Report>, sender>;
  /** `Preflight.scan`: one round. Rejects with `InvalidTransaction` only. */
  readonly scan: TakesInput<RunOptions, Promise<Report.Report>, sender>;
  /** `Preflight.prove`: proves a report, or proves it again. Rejects with `InvalidTransaction` of what is no report. */
  readonly prove: (report: Report.Report, options?: RunOptions) => Promise<Report.Report>;
  /** `Preflight.settle`: what the report said against what the chain did with `hashes`, in the report's order. */
  readonly settle: (
    report: Report.Report,
    hashes: ReadonlyArray<Hash>,
    options?: Preflight.SettleOptions & Abortable,
  ) => Promise<Report.Settled>;
  /** `Preflight.ready`: what to sign, or a rejection with the first blocker; `InvalidTransaction` of what is no report. */
  readonly ready: (report: Report.Report) => Promise<Report.Clearance>;
}

/** {@link Actions} with a life of their own. */
export interface Facade<R = never> extends Actions {
  /** Any effect that needs the node, on this connection. */
  readonly effect: <A, E>(effect: Effect.Effect<A, E, Rpc | R>, options?: Abortable) => Promise<A>;
  /** Lets go of the connection. What is under way, and every later call, rejects with `Disposed`; twice is once. */
  readonly dispose: () => Promise<void>;
}

/** Options of every call that says nothing else, and who is told what happens. */
export interface Defaults extends Options {
  /** Told of every request that has ended and of every report that was made. */
  readonly log?: Log | undefined;
}

const notWhole = new InvalidTransaction({
  field: "report",
  problem: "has parts that no report has; one that was JSON is read by Report.fromJson",
});

/** What is done with a report, where it is one. */
const of = <A, E, R>(report: Report.Report, use: () => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.fromResult(reportGiven(report)), use);

/** What a caller gives of steps, before it is checked. */
export interface GivenSteps {
  readonly steps?: unknown;
  readonly without?: unknown;
}

/** Promises over a layer; `pipeline` holds for every verb. */
export const make = <R = never>(
  layer: Layer.Layer<Rpc | R>,
  { log, ...defaults }: Defaults = {},
  pipeline: GivenSteps = {},
): Facade<R> => {
  const isUsual = pipeline.steps === undefined && pipeline.without === undefined;
  const whole = isUsual ? layer : Layer.merge(layer, layerSteps(pipeline));
  const runtime = ManagedRuntime.make(log === undefined ? whole : Layer.provideMerge(whole, layerLog(log)));
  let isDisposed = false;
  const run = <A, E>(effect: Effect.Effect<A, E, Rpc | R>, signal: AbortSignal | undefined): Promise<A> => {
    const called = callSite();
    if (isDisposed) return Promise.reject(new Disposed({}));
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const fiber = runtime.runFork(effect);
    const unwatch = signal === undefined ? () => undefined : onAbort(signal, () => fiber.interruptUnsafe());
    return new Promise<Exit.Exit<A, E>>((resolve) => fiber.addObserver(resolve)).then((exit) => {
      unwatch();
      if (Exit.isSuccess(exit)) return exit.value;
      const isCut = Cause.hasInterruptsOnly(exit.cause);
      if (isCut && signal?.aborted === true) return Promise.reject(signal.reason);
      return Promise.reject(withCallSite(isCut && isDisposed ? new Disposed({}) : Cause.squash(exit.cause), called));
    });
  };
  const withDefaults = (options: Options = {}): Options => ({ ...defaults, ...options });
  // `never` fits every overload: the doors' types have judged the input, the pipeline checks it.
  const scan = (input: unknown, options?: RunOptions) =>
    run(Preflight.scan(input as never, withDefaults(options)), options?.signal);
  const preflight = (input: unknown, options?: RunOptions) =>
    run(Preflight.preflight(input as never, withDefaults(options)), options?.signal);
  return {
    scan,
    preflight,
    prove: (report, options) =>
      run(
        of(report, () => Preflight.prove(report, withPolicies(report, options, defaults))),
        options?.signal,
      ),
    settle: (report, hashes, options) =>
      run(
        of(report, () => Preflight.settle(report, hashes, options)),
        options?.signal,
      ),
    ready: (report) =>
      run(
        // why: it asks nobody, so that what throws is in the report
        Effect.catchDefect(
          of(report, () => Preflight.ready(report)),
          () => Effect.fail(notWhole),
        ),
        undefined,
      ),
    effect: (effect, options) => run(effect, options?.signal),
    dispose: () => {
      isDisposed = true;
      return runtime.dispose();
    },
  };
};

/**
 * A policy made by a function is in the report by name only. Where the report holds just the door's own
 * policies, the door has them still; any others have to be given again.
 */
export const withPolicies = (report: Report.Report, options: Options | undefined, { policies }: Options): Options => {
  if (policies === undefined || options?.policies !== undefined) return options ?? {};
  const isOwn = JSON.stringify(policies.map(({ data }) => data)) === JSON.stringify(report.options.policies);
  return isOwn ? { ...options, policies } : (options ?? {});
};
