/** Which part of a run an endpoint refuses that does not name it, found out by leaving parts out. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type * as Simulate from "../../steps/simulate.js";
import type * as Eth from "../../eth/index.js";
import { Rpc } from "../../rpc/index.js";
import { learnLack } from "../../rpc/memory.js";
import { failureOf, type Failure } from "../../steps/reading/askResult.js";
import type { Subject } from "../steps.js";
import { adapt, isForm, parts, simulate } from "./simulate.js";
import { looksLikeRevert } from "../../abi/revert.js";
import { ExecutionReverted } from "../../errors/verdicts.js";
import { callOf, explain } from "../../eth/call.js";
import { asked, each, goingOn, mapped, one, sent, together, type Ask } from "../../eth/round.js";
import type { Hex } from "../../primitives/hex.js";
import { abisOf } from "../../report/options.js";
import { bareCall } from "../../transaction/request.js";
import { placementIn, witnessCall } from "../../witness/placement.js";
import type { Query } from "../../witness/queries.js";
import { viewOf } from "../../witness/view.js";
import type { RunAnswers, Round } from "../answers.js";
import { gasOf } from "../scanPlans.js";

/**
 * A run whose refusal names nothing that is not left out already, tried without each part, and without all of them,
 * side by side in one round; none where that does not help, or where the witness in its place is not refused, for then
 * the calls are to blame.
 */
export const bisectUnsupported = Effect.fnUntraced(function* (
  { options }: Subject,
  bare: Simulate.Plan,
  reader: Simulate.Plan,
): Effect.fn.Return<RunAnswers, never, Rpc> {
  const { memory } = yield* Rpc;
  const ask = (plan: Simulate.Plan) => simulate(plan, abisOf(options));
  // why: what the caller pretends is not left out by guesses
  const free = parts.filter((part) => part !== "blockOverrides" || options.blockOverrides === null);
  const tries = [...free.map((part) => [part]), free];
  const { control, heard } = yield* sent(
    together({
      control: ask({ ...reader, blockOverrides: bare.blockOverrides }),
      heard: each(tries, (omitted) =>
        each([{ ...bare, lens: [] }, reader], (plan) => ask(adapt(plan, new Set(omitted)))),
      ),
    }),
  );
  const refusal = failureOf(control);
  if (!isForm(refusal)) return new Map();
  const found = heard.findIndex(([run]) => run !== undefined && Result.isSuccess(run));
  const isPretended = options.block !== null || options.stateOverrides !== null || options.blockOverrides !== null;
  const learned =
    found >= 0
      ? (tries[found] ?? [])
      : isPretended || !heard.every(([run]) => isForm(failureOf(run)))
        ? []
        : (["any"] as const);
  for (const part of learned) learnLack(memory, part, refusal);
  return new Map(Arr.zip([bare.name, reader.name], heard[found] ?? []));
});

/** The first transaction, with this gas; of a deployment the code that it leaves. JSON-RPC: `eth_call`. */
export const askFirst = ({ bundle: [{ input }], options }: Subject, block: Eth.BlockParameter, gas: bigint) => {
  const call = callOf({ ...bareCall(input, gas), block, stateOverrides: options.stateOverrides }, true);
  // why: some nodes hand out the data of a revert as a result
  const read = Result.filterOrFail<Hex, Hex, Failure>(
    (data): data is Hex => !looksLikeRevert(data),
    (data) => new ExecutionReverted({ data }),
  );
  return asked(
    { step: "simulate" },
    goingOn(mapped(one(call), read), (answer) => {
      const failure = failureOf(answer);
      return failure === null ? null : Effect.map(explain(failure, input.to, abisOf(options)), Result.fail);
    }),
  );
};

/** The first transaction, and the witness with these queries: all that a node without simulation can say. JSON-RPC: `eth_call`. */
export const askCalls =
  (subject: Subject, block: Eth.BlockParameter, queries: ReadonlyArray<Query>): Ask<NonNullable<Round["called"]>> =>
  (asking, hear) => {
    const { bundle, options } = subject;
    const at = placementIn(asking.context);
    const stateOverrides = { ...options.stateOverrides, ...at.override };
    const witness = one(callOf({ ...witnessCall(at, queries), block, stateOverrides }, false));
    mapped(
      together({
        first: askFirst(subject, block, gasOf(bundle[0].input)),
        witness: asked({ step: "simulate" }, witness),
      }),
      ({ first, witness }) => ({
        first,
        view: Result.isSuccess(witness) ? viewOf(queries, witness.success) : null,
      }),
    )(asking, hear);
  };
