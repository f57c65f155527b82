/**
 * A scan's run once more, where what it showed may be owed to what it pretended: to less gas than the rules in force
 * allow, or to a block without a base fee. One more round each, and none for calls that worked.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { Chains, eip7825Cap } from "../../Chains.js";
import { mostGas } from "../../chains/rules.js";
import type { Verdict } from "../../errors/verdicts.js";
import type { Rpc } from "../../Rpc.js";
import { failureOf, successOf } from "../../steps/reading/heard.js";
import * as Simulate from "../../steps/simulate.js";
import { answersOf, isFree, type Answers, type Called, type Round } from "../answers.js";
import { askFirst } from "../endpoint/called.js";
import { isFailed, isStarved } from "./doubt.js";
import { inRound } from "../ledger.js";
import { simulate } from "../endpoint/taken.js";
import { pricedPlan, widerPlan, type Subject } from "../scanPlans.js";

/** With as much gas as the rules in force allow. */
const askWider = Effect.fnUntraced(function* (
  { abis }: Subject,
  heard: Round,
  { chain, blockGasLimit }: Answers,
): Effect.fn.Return<Round, never, Rpc> {
  const run = successOf(heard.run);
  const most = mostGas(chain, blockGasLimit);
  if (run === null || most <= eip7825Cap || !isStarved(run, successOf(heard.estimate))) return heard;
  const wider = yield* inRound("starved", Effect.result(simulate(widerPlan(run.plan, most), abis)));
  return Result.isSuccess(wider) ? { ...heard, run: wider } : heard;
});

/** At the price that a block will see, for a contract may ask for one; what fails there, too, stays as it was. */
const askPriced = Effect.fnUntraced(function* (
  { abis, bundle }: Subject,
  heard: Round,
  alone: Simulate.Plan,
  { quote, balanceOf }: Answers,
): Effect.fn.Return<Round, never, Rpc> {
  const run = successOf(heard.run);
  const isPriceless = run !== null && isFree(run) && isFailed(run);
  if (!isPriceless || quote.baseFeePerGas === null || quote.baseFeePerGas === 0n) return heard;
  const plan = pricedPlan(run.plan, bundle, quote, balanceOf);
  const asked = yield* inRound(
    "unpriced",
    Effect.all(
      {
        run: Effect.result(simulate(plan, abis)),
        // why: the priced run pretends the balances
        alone: heard.alone === null ? Effect.result(simulate(alone, abis)) : Effect.succeed(heard.alone),
      },
      { concurrency: "unbounded" },
    ),
  );
  if (Result.isFailure(asked.run) || isFailed(asked.run.success)) return heard;
  // why: what was estimated without a price is the failure that was none
  return { ...heard, ...asked, estimate: null };
});

/** What a call says that simply lacked gas. */
const lacksGas: ReadonlySet<string> = new Set<Verdict["_tag"]>(["OutOfGas", "VmHalt", "GasAllowanceExceeded"]);

/** By `eth_call` with as much gas as the rules in force allow, where the call lacked some, or the node says that it needs more. */
const callWider = Effect.fnUntraced(function* (
  subject: Subject,
  heard: Round,
  called: Called,
  { chain, blockGasLimit }: Answers,
): Effect.fn.Return<Round, never, Rpc> {
  const most = mostGas(chain, blockGasLimit);
  const failure = failureOf(called.first);
  const isShort = failure !== null && (lacksGas.has(failure._tag) || (successOf(heard.estimate) ?? 0n) > eip7825Cap);
  if (!isShort || subject.bundle[0].input.gas !== null || most <= eip7825Cap) return heard;
  return {
    ...heard,
    called: { ...called, first: yield* inRound("starved", askFirst(subject, heard.block, most)) },
  };
});

/** Asks once more what may have been owed to the gas, then what may have been owed to the price. JSON-RPC: `eth_simulateV1`; `eth_call` where that says nothing. */
export const askAgain = Effect.fnUntraced(function* (
  subject: Subject,
  heard: Round,
  alone: Simulate.Plan,
): Effect.fn.Return<Round, never, Rpc> {
  const run = successOf(heard.run);
  const { called } = heard;
  const chains = yield* Effect.service(Chains);
  const answers = answersOf(heard, chains, subject.options, subject.bundle[0].input.chainId);
  if (run === null) return called === null ? heard : yield* callWider(subject, heard, called, answers);
  const wider = yield* askWider(subject, heard, answers);
  return yield* askPriced(subject, wider, alone, answers);
});
