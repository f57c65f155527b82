/** The steps of a user's own that a pipeline has, and what they have a part in. */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidStep } from "../errors/input.js";
import { builtInSteps, isOwnName, ownNameProblem, type BuiltInStep, type OwnName } from "../primitives/names.js";
import { didYouMean, each, no, onlyHas, type Checked } from "../primitives/problem.js";
import { isPlain, isRecord, safely } from "../primitives/record.js";
import type { Finding } from "../report/finding.js";
import type { Report } from "../report/schema.js";
import type * as Step from "../Step.js";
import type { View } from "../witness/view.js";

/** A step as it was when its pipeline was made; what its parts give may be anything. */
export interface OwnStep {
  readonly name: OwnName;
  readonly looks: ((bundle: Step.Bundle) => unknown) | null;
  readonly ask: ((bundle: Step.Bundle, context: Step.Context) => unknown) | null;
  readonly requests: ((bundle: Step.Bundle, context: Step.Context) => unknown) | null;
  readonly check: (report: Report, answer: Step.StepAnswer<unknown>) => unknown;
}

/** Steps of a pipeline: users' beside the built-in ones, which of those it leaves out, and what users' need. */
export interface OwnSteps {
  readonly steps: ReadonlyArray<OwnStep>;
  readonly without: ReadonlyArray<BuiltInStep>;
  readonly services: Context.Context<never>;
}

/** The pipeline in use; by default the built-in steps alone. */
export const OwnSteps: Context.Reference<OwnSteps> = Context.Reference("evm-preflight/OwnSteps", {
  defaultValue: (): OwnSteps => ({ steps: [], without: [], services: Context.empty() }),
});

/** A world in which the transactions ran: what a report says of it that differs, and what was seen. */
export interface SeenWorld {
  readonly told: Partial<Report>;
  readonly before: View;
  readonly after: View;
}

/** Names, queries and findings of a run's own steps. */
export interface Own {
  readonly names: ReadonlyArray<OwnName>;
  /** Queries that the witness reads for them. */
  readonly looks: ReadonlyArray<Step.Look>;
  /** Finds what they see in a report and its worlds, once each has answered or failed; within the deadline. */
  readonly judge: Effect.Effect<(report: Report, worlds: ReadonlyArray<SeenWorld>) => ReadonlyArray<Finding>>;
}

/** The most steps of a pipeline. */
const mostSteps = 32;
const parts = ["name", "looks", "ask", "requests", "check"];

/** A part of a step as it is now, whatever becomes of it; null where it is no function. */
const methodOf = (step: object, part: unknown) =>
  typeof part === "function" ? (...args: ReadonlyArray<unknown>): unknown => Reflect.apply(part, step, args) : null;

const stepOf = (step: unknown, index: number): Checked<OwnStep> => {
  const at = `steps[${index}]`;
  if (!isRecord(step)) return no(at, "must be a step");
  // why: an instance of a class has fields of its own
  const known = isPlain(step) ? onlyHas(step, parts, "a field of a step", `${at}.`) : Result.void;
  if (Result.isFailure(known)) return Result.fail(known.failure);
  const { name } = step;
  if (!isOwnName(name)) return no(`${at}.name`, ownNameProblem);
  const [looks = null, ask = null, requests = null, check = null] = parts
    .slice(1)
    .map((part) => methodOf(step, step[part]));
  for (const [part, method] of Object.entries({ looks, ask, requests }))
    if (method === null && step[part] !== undefined) return no(`${at}.${part}`, "must be a function");
  if (ask !== null && requests !== null) return no(`${at}.requests`, "cannot be combined with ask");
  if (check === null) return no(`${at}.check`, "must be a function");
  return Result.succeed({ name, looks, ask, requests, check });
};

/** The place of the first that stands before it as well; -1 = there is none. */
const repeatedIn = (names: ReadonlyArray<unknown>): number =>
  names.findIndex((name, index) => names.indexOf(name) < index);

const distinctIn = (input: unknown): Checked<ReadonlyArray<OwnStep>> => {
  if (!Array.isArray(input) || input.length > mostSteps) return no("steps", `must be a list of at most ${mostSteps}`);
  return Result.flatMap(each(input, stepOf), (steps) => {
    const twice = repeatedIn(steps.map(({ name }) => name));
    return twice < 0 ? Result.succeed(steps) : no(`steps[${twice}].name`, "is also the name of another step");
  });
};

const leftOutIn = (input: unknown): Checked<ReadonlyArray<BuiltInStep>> => {
  if (!Array.isArray(input)) return no("without", "must be a list of steps");
  const names: ReadonlyArray<unknown> = builtInSteps;
  const stray = input.findIndex((name) => !names.includes(name));
  const hint = typeof input[stray] === "string" ? didYouMean(input[stray], builtInSteps) : "";
  if (stray >= 0) return no(`without[${stray}]`, `is not a built-in step${hint}`);
  const twice = repeatedIn(input);
  return twice < 0
    ? Result.succeed(builtInSteps.filter((name) => input.includes(name)))
    : no(`without[${twice}]`, "is left out already");
};

const readOptions = (options: unknown): Checked<Omit<OwnSteps, "services">> => {
  if (!isRecord(options)) return no("options", "must be an object");
  const { steps = [], without = [] } = options;
  return Result.andThen(onlyHas(options, ["steps", "without"], "an option of a pipeline"), () =>
    Result.all({ steps: distinctIn(steps), without: leftOutIn(without) }),
  );
};

/** Reads a pipeline's options or throws `InvalidStep`: a pipeline is made where a program starts, and by its author. */
export const madeOf = (options: unknown): Omit<OwnSteps, "services"> =>
  Result.getOrThrowWith(
    safely(() => readOptions(options), no("options", "cannot be read")),
    (problem) => new InvalidStep(problem),
  );
