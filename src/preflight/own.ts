/** The steps of a user's own that a pipeline has, and what they have a part in. */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidStep } from "../errors/input.js";
import { isOwnName, ownNameProblem, type OwnName } from "../primitives/names.js";
import { didYouMean } from "../primitives/nearest.js";
import { each, no, type Checked } from "../primitives/problem.js";
import { isRecord } from "../primitives/record.js";
import type { Finding } from "../report/finding.js";
import type { Report } from "../report/schema.js";
import type * as Step from "../Step.js";
import type { View } from "../witness/view.js";

/** The steps of a pipeline, and the services that they need. */
export interface OwnSteps {
  readonly steps: ReadonlyArray<Step.AnyStep>;
  readonly services: Context.Context<never>;
}

/** The steps in use; none by default. */
export const OwnSteps: Context.Reference<OwnSteps> = Context.Reference("evm-preflight/OwnSteps", {
  defaultValue: (): OwnSteps => ({ steps: [], services: Context.empty() }),
});

/** A world in which the transactions ran: what moved in it where that is not what the report says, and what was seen. */
export interface Seen {
  readonly moved: Partial<Report>;
  readonly before: View;
  readonly after: View;
}

/** What the steps of a run come to. */
export interface Own {
  readonly names: ReadonlyArray<OwnName>;
  /** What the witness reads for them. */
  readonly looks: ReadonlyArray<Step.Look>;
  /** What they find in a report and its worlds, once each has answered or failed; within the deadline. */
  readonly judge: Effect.Effect<(report: Report, worlds: ReadonlyArray<Seen>) => ReadonlyArray<Finding>>;
}

/** The most steps of a pipeline. */
const mostSteps = 32;
const parts = ["name", "looks", "ask", "check"];

const stepOf = (step: unknown, index: number): Checked<Step.AnyStep> => {
  const at = `steps[${index}]`;
  if (!isRecord(step)) return no(at, "must be a step");
  const stray = Object.keys(step).find((key) => !parts.includes(key));
  if (stray !== undefined) return no(`${at}.${stray}`, `is no part of a step${didYouMean(stray, parts)}`);
  if (!isOwnName(step["name"])) return no(`${at}.name`, ownNameProblem);
  if (typeof step["check"] !== "function") return no(`${at}.check`, "must be a function");
  for (const part of ["looks", "ask"])
    if (step[part] !== undefined && typeof step[part] !== "function") return no(`${at}.${part}`, "must be a function");
  // its parts were looked at one by one
  const { name, looks, ask, check } = step as unknown as Step.AnyStep;
  // why: as it is now, whatever becomes of it
  return Result.succeed({ name, looks: looks?.bind(step), ask: ask?.bind(step), check: check.bind(step) });
};

const orThrow = (checked: Checked<ReadonlyArray<Step.AnyStep>>): ReadonlyArray<Step.AnyStep> =>
  Result.getOrThrowWith(checked, (problem) => new InvalidStep(problem));

const distinctIn = (given: unknown): Checked<ReadonlyArray<Step.AnyStep>> => {
  const checked =
    Array.isArray(given) && given.length <= mostSteps
      ? each(given, stepOf)
      : no("steps", `must be a list of at most ${mostSteps}`);
  return Result.flatMap(checked, (steps) => {
    const twice = steps.findIndex(({ name }, index) => steps.findIndex((other) => other.name === name) < index);
    return twice < 0 ? Result.succeed(steps) : no(`steps[${twice}].name`, "is the name of another step, too");
  });
};

/** Steps, or `InvalidStep` thrown: a pipeline is made where a program starts, and by its author. */
export const stepsOf = (given: unknown): ReadonlyArray<Step.AnyStep> => orThrow(distinctIn(given));

/** The steps of a pipeline's options, or `InvalidStep` thrown. */
export const stepsIn = (options: unknown): ReadonlyArray<Step.AnyStep> => {
  const given = isRecord(options) ? options : {};
  const stray = Object.keys(given).find((key) => key !== "steps");
  return orThrow(
    stray === undefined
      ? distinctIn(given["steps"])
      : no(stray, `is nothing that a pipeline takes${didYouMean(stray, ["steps"])}`),
  );
};
