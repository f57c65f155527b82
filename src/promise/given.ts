/** Checks what callers without types may hand in for a report or a function. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import { InvalidConnection, InvalidTransaction } from "../errors/index.js";
import { isRecord, lazyImport, notWhole, reportProblem, safely } from "../primitives/index.js";
import type { Report } from "../report/index.js";

const load = () => import("./verbs.js");

/** The pipeline: a page shows itself before it has loaded it. */
export const pipeline = lazyImport(load);

/** Begins to load it, so that it is there when somebody asks for a report; what kept it from coming is told then. */
export const preload = (): void => void load().catch(() => undefined);

const wrong = (field: string, problem: string) => Result.fail(new InvalidTransaction({ field, problem }));

/** A report by its parts. */
export const reportGiven = <R extends Report>(report: R): Result.Result<R, InvalidTransaction> => {
  const problem = reportProblem(report);
  return problem === null ? Result.succeed(report) : wrong(problem.field, problem.problem);
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

const isFunction = (input: unknown): boolean => typeof input === "function";

/** Defaults of a client that are no option of a call. */
const ofClients: Readonly<Record<string, readonly [fits: (input: unknown) => boolean, problem: string]>> = {
  nonces: [Layer.isLayer, "must be a layer of Effect"],
  log: [isFunction, "must be a function"],
  send: [isFunction, "must be a function"],
  heads: [isRecord, "must be an object"],
};

/** The defaults of a client, read once and judged where it is made, as its connection is; null is none. `also` judges more. */
export const defaultsGiven = <A extends object>(
  input: A | null | undefined,
  field = "defaults",
  also: typeof ofClients = {},
): Partial<A> => {
  const read = safely(
    () => {
      const all: unknown = input ?? {};
      if (!isRecord(all)) return Result.fail({ field, problem: "must be an object" });
      const given = { ...all };
      const judged = Object.entries({ ...ofClients, ...also });
      const wrong = judged.find(([name, [fits]]) => given[name] != null && !fits(given[name]));
      return wrong === undefined ? Result.succeed(given) : Result.fail({ field: wrong[0], problem: wrong[1][1] });
    },
    Result.fail({ field, problem: "cannot be read" }),
  );
  return Result.getOrThrow(Result.mapError(read, (problem) => new InvalidConnection(problem))) as Partial<A>;
};

/** An object that the caller has to give. */
export const recordGiven = (field: string, input: unknown): Result.Result<void, InvalidTransaction> =>
  isRecord(input) ? Result.void : wrong(field, "must be an object");

/** A function that the caller has to give. */
export const functionGiven = (field: string, input: unknown): Result.Result<void, InvalidTransaction> =>
  typeof input === "function" ? Result.succeed(undefined) : wrong(field, "must be a function");

/** `ready` of what may be no report, as `limited` has it. */
export const clearing = <R extends Report>(report: R, limited: (report: R) => R = (same) => same) =>
  Effect.flatMap(Effect.all([Effect.fromResult(reportGiven(report)), pipeline]), ([checked, { ready }]) =>
    // why: it asks nobody, so that what throws is in the report
    Effect.catchDefect(
      Effect.suspend(() => ready(limited(checked))),
      () => Effect.fail(new InvalidTransaction(notWhole)),
    ),
  );
