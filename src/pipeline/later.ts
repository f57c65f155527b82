/** Modules that the first run that needs them loads: a page that asks of a transfer does without. */
import * as Effect from "effect/Effect";
import { lazyImport } from "../primitives/effects.js";
import type { AskRule } from "../primitives/names.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import type * as Step from "../Step.js";
import { OwnSteps, type Own } from "./own.js";

export const rare = lazyImport(() => import("./rare.js"));

const none: Own = { names: [], looks: [], judge: Effect.succeed(() => []) };

/**
 * Begins to ask the steps: their requests belong to the round that comes next. `earlier` are those of the report that is
 * proven: one that the pipeline does not have cannot answer.
 */
export const askUserSteps = (
  bundle: Step.Bundle,
  about: Omit<Step.Context, "signal">,
  because: AskRule | null,
  earlier: Report["steps"]["with"],
): Effect.Effect<Own, never, Rpc> =>
  Effect.flatMap(Effect.service(OwnSteps), (own) =>
    own.steps.length === 0 && earlier.length === 0
      ? Effect.succeed(none)
      : Effect.flatMap(rare, ({ startUserSteps }) => startUserSteps(own, bundle, about, because, earlier)),
  );
