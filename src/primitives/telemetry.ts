/** Spans, metrics and events, for whoever listens. Where nobody gave a tracer, no span is made. */
import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import type * as Fiber from "effect/Fiber";
import * as Metric from "effect/Metric";
import type * as Tracer from "effect/Tracer";

/** Told of what has happened, as the events that the doors name; null = nobody listens. Must not throw. */
export const Listener: Context.Reference<((event: object) => void) | null> = Context.Reference<
  ((event: object) => void) | null
>("evm-preflight/Listener", { defaultValue: () => null });

/** Attributes by which spans and metrics are searched; what is not known is left out. */
export type Attributes = Readonly<Record<string, string | number | null | undefined>>;

/** The tag of an error's reason, else its own; null where it is no error. */
export const nameOf = (error: unknown): string | null =>
  error instanceof Error ? (nameOf((error as { readonly reason?: unknown }).reason) ?? error.name) : null;

/** OpenTelemetry's `error.type`: the tag of an error's reason, else its own; null = it succeeded. */
export const errorTypeOf = (exit: Exit.Exit<unknown, unknown>): string | null => {
  if (Exit.isSuccess(exit)) return null;
  return Cause.hasInterruptsOnly(exit.cause) ? "Interrupted" : (nameOf(Cause.squash(exit.cause)) ?? "_OTHER");
};

const write = (span: Tracer.Span, attributes: Attributes): void => {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined) span.attribute(name, value);
};

/** True if spans go anywhere. why: Effect's own tracer, in force where none was given, keeps them for nobody. */
export const isTraced = ({ cache }: Fiber.Fiber<unknown, unknown>): boolean => cache.tracer !== undefined;

/**
 * `effect` in a span of its own, which is told `before` it begins, what came of it `after` (null = it failed),
 * and the `error.type` when it fails.
 */
export const inSpan = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  name: string,
  before: () => Attributes,
  after: (value: A | null) => Attributes,
  kind?: Tracer.SpanKind,
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    if (!isTraced(fiber)) return effect;
    return Effect.useSpan(name, { kind }, (span) => {
      write(span, before());
      return effect.pipe(
        Effect.withParentSpan(span, { captureStackTrace: false }),
        Effect.onExit((exit) =>
          Effect.sync(() =>
            write(span, { ...after(Exit.isSuccess(exit) ? exit.value : null), "error.type": errorTypeOf(exit) }),
          ),
        ),
      );
    });
  });

/** Upper bounds of the buckets of durations, ms: from a node on the same machine to the default deadline. */
const durationBounds: ReadonlyArray<number> = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];

/** Series beyond this many are one: a caller may ask any method. */
const mostSeries = 512;

/**
 * A counter `evm_preflight_<what>s_total` and a histogram `evm_preflight_<what>_duration_milliseconds`: what
 * has ended and the ms it took. `key` names the attributes, whose values must be few.
 */
export const counting = (what: "request" | "report") => {
  const series = new Map<string, { readonly ended: Metric.Counter<number>; readonly ms: Metric.Histogram<number> }>();
  const make = (attributes: Attributes) => {
    const labels = Object.entries(attributes).flatMap(([name, value]): Array<[string, string]> =>
      value === null || value === undefined ? [] : [[name, String(value)]],
    );
    return {
      ended: Metric.counter(`evm_preflight_${what}s_total`, { incremental: true, attributes: labels }),
      ms: Metric.histogram(`evm_preflight_${what}_duration_milliseconds`, {
        boundaries: durationBounds,
        attributes: [...labels, ["time_unit", "milliseconds"]],
      }),
    };
  };
  return (key: string, attributes: () => Attributes, ms: number, context: Context.Context<never>): void => {
    // why: a metric remembers where its values are, and a new one has to sort its labels first
    const isKnown = series.has(key) || series.size < mostSeries;
    const name = isKnown ? key : "_OTHER";
    const known = series.get(name) ?? make(isKnown ? attributes() : {});
    series.set(name, known);
    known.ended.updateUnsafe(1, context);
    known.ms.updateUnsafe(ms, context);
  };
};
