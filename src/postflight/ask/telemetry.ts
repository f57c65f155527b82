/** What settlements teach, as metrics: by class, gas used of the limit, and flips by age. Nothing is tuned by them. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import { settlementClasses, type Settled, type SettlementClass } from "../settlement.js";

const classes = Object.fromEntries(
  settlementClasses.map((name) => [
    name,
    Metric.counter("evm_preflight_settlements_total", {
      incremental: true,
      attributes: [["preflight.class", name]],
    }),
  ]),
) as Readonly<Record<SettlementClass, Metric.Counter<number>>>;

const gasRatio = Metric.histogram("evm_preflight_settlement_gas_ratio", {
  boundaries: [0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
});

const ages = (isFlip: boolean) =>
  Metric.histogram("evm_preflight_settlement_age_blocks", {
    boundaries: [1, 2, 3, 5, 10, 25, 50, 100],
    attributes: [["preflight.flip", String(isFlip)]],
  });
const ageOf = { kept: ages(false), flipped: ages(true) };

const measure = (result: Settled): Effect.Effect<void> =>
  Effect.forEach(
    result.transactions,
    (one) =>
      Effect.gen(function* () {
        yield* Metric.update(classes[one.class], 1);
        if (one.state !== "mined") return;
        const { sample } = one;
        yield* Metric.update(gasRatio, sample.gasRatio);
        if (sample.ageBlocks !== null)
          yield* Metric.update(sample.isFlip ? ageOf.flipped : ageOf.kept, sample.ageBlocks);
      }),
    { discard: true },
  );

/** Counts what was settled, and writes its class to the span. */
export const settled = <E, R>(effect: Effect.Effect<Settled, E, R>): Effect.Effect<Settled, E, R> =>
  Effect.tap(effect, (result) =>
    Effect.andThen(measure(result), Effect.annotateCurrentSpan({ "preflight.class": result.class })),
  );
