/** What callers without types may hand in for a report or a function. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidTransaction } from "../errors/index.js";
import { isRecord, lazyImport, safely } from "../primitives/index.js";
import type { Report } from "../report/index.js";

const load = () => import("../Preflight.js");

/** The pipeline: a page shows itself before it has loaded it. */
export const pipeline = lazyImport(load);

/** Begins to load it, so that it is there when somebody asks for a report; what kept it from coming is told then. */
export const preload = (): void => void load().catch(() => undefined);

const lists = ["transactions", "findings", "funds"] as const;
const records = ["observed", "options", "steps"] as const;

const wrong = (field: string, problem: string) => Result.fail(new InvalidTransaction({ field, problem }));

/** A report by its parts; what is in them is judged where it is used. */
export const reportGiven = (report: Report): Result.Result<Report, InvalidTransaction> => {
  const input: unknown = report;
  if (typeof input !== "object" || input === null) return wrong("report", "must be a report");
  const parts = new Map<string, unknown>(Object.entries(input));
  const list = lists.find((name) => !Array.isArray(parts.get(name)));
  if (list !== undefined) return wrong(`report.${list}`, "must be a list: give a whole report");
  const record = records.find((name) => typeof parts.get(name) !== "object" || parts.get(name) === null);
  if (record !== undefined) return wrong(`report.${record}`, "must be an object: give a whole report");
  const part = (["with", "without"] as const).find((name) => !Array.isArray(report.steps[name]));
  if (part !== undefined) return wrong(`report.steps.${part}`, "must be a list: give a whole report");
  return report.transactions.length > 0
    ? Result.succeed(report)
    : wrong("report.transactions", "must have at least one transaction");
};

const isSignal = (input: unknown): input is AbortSignal =>
  isRecord(input) && typeof input["aborted"] === "boolean" && typeof input["addEventListener"] === "function";

/** The signal among the options of a call, which are judged here before anything is started; null is none. */
export const signalGiven = (options: unknown): Result.Result<AbortSignal | undefined, InvalidTransaction> =>
  safely(
    () => {
      if (options === undefined || options === null) return Result.succeed(undefined);
      if (!isRecord(options)) return wrong("options", "must be an object");
      // why: what throws when it is read has to throw here
      Object.values(options);
      const { signal } = options;
      if (signal === undefined || signal === null) return Result.succeed(undefined);
      return isSignal(signal) ? Result.succeed(signal) : wrong("options.signal", "must be an AbortSignal");
    },
    wrong("options", "cannot be read"),
  );

/** A function that the caller has to give. */
export const functionGiven = (field: string, input: unknown): Result.Result<void, InvalidTransaction> =>
  typeof input === "function" ? Result.succeed(undefined) : wrong(field, "must be a function");

const notWhole = new InvalidTransaction({
  field: "report",
  problem: "has parts that no report has; one that was JSON is read by Report.fromJson",
});

/** `ready` of what may be no report. */
export const clearing = (report: Report) =>
  Effect.flatMap(Effect.all([Effect.fromResult(reportGiven(report)), pipeline]), ([checked, { ready }]) =>
    // why: it asks nobody, so that what throws is in the report
    Effect.catchDefect(
      Effect.suspend(() => ready(checked)),
      () => Effect.fail(notWhole),
    ),
  );
