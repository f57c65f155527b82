/** What `eth_call` says where nothing is simulated: of the first transaction, and of the witness. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { looksLikeRevert } from "../../abi/revert.js";
import { ExecutionReverted } from "../../errors/verdicts.js";
import { askCall } from "../../eth/call.js";
import { asking } from "../../eth/ask.js";
import * as Eth from "../../eth/index.js";
import type { Hex } from "../../primitives/hex.js";
import type { Rpc } from "../../rpc/index.js";
import type { Heard } from "../../steps/reading/heard.js";
import { explain } from "../../steps/reading/outcome.js";
import { bareCall } from "../../transaction/request.js";
import { placement, witnessCall } from "../../witness/placement.js";
import type { Query } from "../../witness/queries.js";
import { viewOf } from "../../witness/view.js";
import type { Called } from "../answers.js";
import { gasOf } from "../scanPlans.js";
import { everyLook, type Subject } from "../steps.js";

/** The first transaction, with this gas; of a deployment the code that it leaves. JSON-RPC: `eth_call`. */
export const askFirst = (
  { bundle: [{ input }], options: { stateOverrides }, abis }: Subject,
  block: Eth.BlockParameter,
  gas: bigint,
): Effect.Effect<Heard<Hex>, never, Rpc> =>
  asking(
    { step: "simulate" },
    askCall({ ...bareCall(input, gas), block, stateOverrides }, true).pipe(
      // why: some nodes hand out the data of a revert as a result
      Effect.filterOrFail(
        (data) => !looksLikeRevert(data),
        (data) => new ExecutionReverted({ data }),
      ),
      Effect.catch((failure) => Effect.flatMap(explain(failure, input.to, abis), Effect.fail)),
      Effect.result,
    ),
  );

/** The first transaction, and the witness: all that a node without simulation can say. JSON-RPC: `eth_call`. */
export const askCalls = Effect.fnUntraced(function* (
  subject: Subject,
  block: Eth.BlockParameter,
): Effect.fn.Return<Called, never, Rpc> {
  const { bundle, options, steps } = subject;
  const queries: ReadonlyArray<Query> = [{ kind: "environment" }, ...everyLook(steps, bundle)];
  const at = yield* placement;
  const asked = Eth.call({
    ...witnessCall(at, queries),
    block,
    stateOverrides: { ...options.stateOverrides, ...at.override },
  });
  const { first, witness } = yield* Effect.all(
    {
      first: askFirst(subject, block, gasOf(bundle[0].input)),
      witness: asking({ step: "simulate" }, Effect.result(asked)),
    },
    { concurrency: "unbounded" },
  );
  return { first, view: Result.isSuccess(witness) ? viewOf(queries, witness.success) : null };
});
