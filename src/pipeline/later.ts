/** Modules that the first run that needs them loads: a page that asks of a transfer does without. */
import * as Effect from "effect/Effect";
import { lazyImport } from "../primitives/effects.js";
import type { AskRule } from "../primitives/names.js";
import type { BlockParameter } from "../eth/parameters.js";
import type { Report, ReportOptions } from "../report/schema.js";
import { getterOf, pretendedIn } from "../steps/reading/pretended.js";
import type { Query } from "../witness/queries.js";
import type { Rpc } from "../rpc/index.js";
import type * as Step from "../Step.js";
import { OwnSteps, type Own } from "./own.js";

export const rare = lazyImport(() => import("./rare.js"));

/** The options, with the slots of the balances and allowances that they pretend; nothing is asked where they pretend none. */
export const withTokens = (options: ReportOptions, block: BlockParameter): Effect.Effect<ReportOptions, never, Rpc> =>
  pretendedIn(options).length === 0
    ? Effect.succeed(options)
    : Effect.flatMap(rare, ({ withTokenSlots }) => withTokenSlots(options, block));

/** `looks`, and what tells whether the pretended balances and allowances are those of the tokens. */
export const withPretended = (looks: ReadonlyArray<Query>, options: ReportOptions): ReadonlyArray<Query> => {
  const rows = pretendedIn(options);
  return rows.length === 0 ? looks : [...looks, ...rows.map(getterOf)];
};

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
