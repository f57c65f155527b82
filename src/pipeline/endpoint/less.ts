/** Which part of a run an endpoint refuses that does not name it, found out by leaving parts out. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { Rpc } from "../../rpc/index.js";
import { learnLack } from "../../rpc/memory.js";
import { failureOf, type Heard } from "../../steps/reading/heard.js";
import type * as Simulate from "../../steps/simulate.js";
import type { Subject } from "../steps.js";
import { adapt, isForm, parts, simulate } from "./taken.js";

/**
 * A run whose refusal names nothing that is not left out already, tried without each part, and without all of them,
 * side by side in one round; null where that does not help, or where the witness in its place is not refused, for then
 * the calls are to blame.
 */
export const askLess = Effect.fnUntraced(function* (
  { abis, options }: Subject,
  bare: Simulate.Plan,
  alone: Simulate.Plan,
): Effect.fn.Return<{ readonly run: Heard<Simulate.Run>; readonly alone: Heard<Simulate.Run> } | null, never, Rpc> {
  const { memory } = yield* Rpc;
  const asked = (plan: Simulate.Plan) => Effect.result(simulate(plan, abis));
  // why: what the caller pretends is not left out by guesses
  const free = parts.filter((part) => part !== "blockOverrides" || options.blockOverrides === null);
  const tries = [...free.map((part) => [part]), free];
  const { control, heard } = yield* Effect.all(
    {
      control: asked({ ...alone, blockOverrides: bare.blockOverrides }),
      heard: Effect.forEach(
        tries,
        (left) =>
          Effect.all(
            { run: asked(adapt({ ...bare, lens: [] }, new Set(left))), alone: asked(adapt(alone, new Set(left))) },
            { concurrency: "unbounded" },
          ),
        { concurrency: "unbounded" },
      ),
    },
    { concurrency: "unbounded" },
  );
  const refusal = failureOf(control);
  if (!isForm(refusal)) return null;
  const found = heard.findIndex(({ run }) => Result.isSuccess(run));
  const isPretended = options.block !== null || options.stateOverrides !== null || options.blockOverrides !== null;
  const learned =
    found >= 0
      ? (tries[found] ?? [])
      : isPretended || !heard.every(({ run }) => isForm(failureOf(run)))
        ? []
        : (["any"] as const);
  for (const part of learned) learnLack(memory, part, refusal);
  return heard[found] ?? null;
});
