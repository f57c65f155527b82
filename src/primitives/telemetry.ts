/** Spans and metrics, for whoever listens. Where nobody gave a tracer, no span is made. */
import * as Cause from "effect/Cause";
import type * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import type * as Fiber from "effect/Fiber";
import * as Metric from "effect/Metric";
import type * as Tracer from "effect/Tracer";

/** What spans and metrics are searched by; null = not known, left out. */
export type Attributes = Readonly<Record<string, string | number | null>>;

const nameOf = (error: unknown): string | null =>
  error instanceof Error ? (("reason" in error ? nameOf(error.reason) : null) ?? error.name) : null;

/** OpenTelemetry's `error.type`: the tag of an error's reason, else its own; null = it succeeded. */
export const errorTypeOf = (exit: Exit.Exit<unknown, unknown>): string | null => {
  if (Exit.isSuccess(exit)) return null;
  return Cause.hasInterruptsOnly(exit.cause) ? "Interrupted" : (nameOf(Cause.squash(exit.cause)) ?? "_OTHER");
};

const write = (span: Tracer.Span, attributes: Attributes): void => {
  for (const [key, value] of Object.entries(attributes)) if (value !== null) span.attribute(key, value);
};

/** Whether spans go anywhere. why: Effect's own tracer, in force where none was given, keeps them for nobody. */
export const isTraced = ({ cache }: Fiber.Fiber<unknown, unknown>): boolean =>
  cache.tracer !== undefined && cache.tracerEnabled;

/** Attributes for the current span. */
export const annotate = (attributes: () => Attributes): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    if (isTraced(fiber) && fiber.cache.span?._tag === "Span") write(fiber.cache.span, attributes());
    return Effect.void;
  });

/** A span to be: its attributes when it begins, and those of what came of it (null = it failed). */
export interface SpanOf<A> {
  readonly name: string;
  readonly kind: Tracer.SpanKind;
  readonly before: () => Attributes;
  readonly after: (value: A | null) => Attributes;
}

/** `effect` in a span of its own, which says its `error.type` when it fails. */
export const inSpan = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  { name, kind, before, after }: SpanOf<A>,
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

/** Upper bounds of the buckets of durations, ms: from a node on the same machine to the longest patience. */
const durationBounds: ReadonlyArray<number> = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/**
 * A counter `evm_preflight_<what>s_total` and a histogram `evm_preflight_<what>_duration_milliseconds`: what
 * has ended and the ms it took. `key` names the attributes, whose values must be few.
 */
export const counting = (what: string, description: string) => {
  const series = new Map<string, { readonly ended: Metric.Counter<number>; readonly ms: Metric.Histogram<number> }>();
  const make = (attributes: Attributes) => {
    const labels = Object.entries(attributes).flatMap(([key, value]): Array<[string, string]> =>
      value === null ? [] : [[key, String(value)]],
    );
    return {
      ended: Metric.counter(`evm_preflight_${what}s_total`, { description, incremental: true, attributes: labels }),
      ms: Metric.histogram(`evm_preflight_${what}_duration_milliseconds`, {
        description: `wall time: ${description}`,
        boundaries: durationBounds,
        attributes: [...labels, ["time_unit", "milliseconds"]],
      }),
    };
  };
  return (key: string, attributes: Attributes, ms: number, context: Context.Context<never>): void => {
    // why: a metric remembers where its values are, and a new one has to sort its labels first
    const known = series.get(key) ?? make(attributes);
    series.set(key, known);
    known.ended.updateUnsafe(1, context);
    known.ms.updateUnsafe(ms, context);
  };
};
