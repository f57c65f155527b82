/** Telemetry of a report when it is made: its span's attributes, metrics, and an event for a logger. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { withJson } from "../primitives/json.js";
import { escapeText } from "../primitives/text.js";
import { counting, inSpan, Listener, type Attributes } from "../primitives/telemetry.js";
import type { Report } from "./schema.js";

/** A report was made. */
export interface ReportEvent {
  /** Always `report`. */
  readonly type: "report";
  /** The function of `Preflight` that made it. */
  readonly operation: "scan" | "preflight" | "reserving" | "prove";
  /** The chain; null where the node did not say. */
  readonly chainId: number | null;
  /** The stage: scanned or proven. */
  readonly stage: Report["stage"];
  /** The report's verdict. */
  readonly verdict: Report["verdict"];
  /** The one reason for the verdict, in a sentence; escaped. */
  readonly because: string;
  /** How many transactions the bundle has. */
  readonly transactions: number;
  /** Rounds of the report's ledger: with a `prove`, those of the scan before it included. */
  readonly rounds: number;
  /** How many requests it took. */
  readonly requests: number;
  /** Wall time of the whole call from its admission on, ms. */
  readonly ms: number;
}

const count = counting("report");

/** None of a report that nobody reads. */
const attributesOf = (report: Report | null): Attributes => ({
  ...(report?.chainId == null ? {} : { "preflight.chain_id": report.chainId }),
  "preflight.verdict": report?.verdict,
  "preflight.stage": report?.stage,
  "preflight.rounds": report?.ledger.rounds,
  "preflight.requests": report?.ledger.requests.length,
  "preflight.transactions": report?.transactions.length,
});

/** One half of a preflight, in a span named like that of the call that does nothing else. */
export const phase = <A, E, R>(
  name: "Preflight.scan" | "Preflight.prove",
  effect: Effect.Effect<A, E, R>,
  reportIn: (result: A) => Report | null,
): Effect.Effect<A, E, R> =>
  inSpan(
    effect,
    name,
    () => ({}),
    (result) => (result === null ? {} : attributesOf(reportIn(result))),
  );

/** Tells whoever listens of the report that a call of the pipeline makes; its span is the current one. `JSON.stringify` takes the report. */
export const reported =
  (operation: ReportEvent["operation"]) =>
  <A extends Report, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock);
      const started = clock.currentTimeMillisUnsafe();
      return Effect.tap(Effect.map(effect, withJson), (report) => {
        const { chainId, stage, verdict, because, transactions, ledger } = report;
        const ms = clock.currentTimeMillisUnsafe() - started;
        count(
          `${operation} ${stage} ${verdict}`,
          () => ({ "preflight.operation": operation, "preflight.stage": stage, "preflight.verdict": verdict }),
          ms,
          fiber.context,
        );
        fiber.getRef(Listener)?.({
          ...{ type: "report", operation, chainId, stage, verdict, ms },
          because: escapeText(because),
          transactions: transactions.length,
          rounds: ledger.rounds,
          requests: ledger.requests.length,
        } satisfies ReportEvent);
        return Effect.annotateCurrentSpan(attributesOf(report));
      });
    });
