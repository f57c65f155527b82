/** Begins to ask the steps of a user's own, where there are any. */
import { everyStep } from "./steps.js";
import * as Effect from "effect/Effect";
import { later } from "../primitives/effects.js";
import { builtInSteps, type AskRule } from "../primitives/names.js";
import type { Blocker } from "../report/ready.js";
import type { Clearance, Report } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import type * as Step from "../Step.js";
import type { Taking } from "./answers.js";
import { OwnSteps, type Own } from "./own.js";

const none: Own = { names: [], looks: [], judge: Effect.succeed(() => []) };
const asking = later(() => import("./beginOwn.js"));

/** The steps of the pipeline in use that take part. */
export const taken: Effect.Effect<Taking> = Effect.map(Effect.service(OwnSteps), ({ without }) => {
  const left: ReadonlyArray<string> = without;
  return new Set([...everyStep].filter((name) => !left.includes(name)));
});

/**
 * Begins to ask the steps: their requests belong to the round that comes next. `earlier` are those of the report that is
 * proven: one that the pipeline does not have cannot answer.
 */
export const askOwn = (
  bundle: Step.Bundle,
  about: Omit<Step.Context, "signal">,
  because: AskRule | null,
  earlier: Report["steps"]["with"],
): Effect.Effect<Own, never, Rpc> =>
  Effect.flatMap(Effect.service(OwnSteps), (own) =>
    own.steps.length === 0 && earlier.length === 0
      ? Effect.succeed(none)
      : Effect.flatMap(asking, ({ beginOwn }) => beginOwn(own, bundle, about, because, earlier)),
  );

// why: who only scans does not need it
const clearing = later(() => import("../report/ready.js"));

/** `Report.ready`, of a report that was made with every step of the pipeline; others are `NotProven`, `StepMissing`. */
export const ready = (report: Report): Effect.Effect<Clearance, Blocker> =>
  Effect.flatMap(Effect.all([clearing, Effect.service(OwnSteps)]), ([{ readyWith }, { steps, without }]) =>
    readyWith(
      report,
      steps.map(({ name }) => name),
      builtInSteps.filter((name) => !without.includes(name)),
    ),
  );
