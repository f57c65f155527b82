/**
 * The steps one by one, each asking only its own question, for a single transaction (the first of a
 * list). They fail with the first blocker or the first answer that is missing.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { Chains, type Chain } from "../Chains.js";
import { indexAbis } from "../abi/decodeRevert.js";
import type { Finding } from "../report/finding.js";
import type { InvalidTransaction } from "../errors/input.js";
import type { RpcError } from "../errors/rpc.js";
import { NotProven, type Verdict } from "../errors/verdicts.js";
import type * as Eth from "../Eth.js";
import type { ReportOptions } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Nonce from "../steps/nonce.js";
import type { Code as CodeOutput, Fee as FeeOutput, Gas, Nonce as NonceOutput, Outcome } from "../report/parts.js";
import * as Simulate from "../steps/simulate.js";
import type { Transaction } from "../transaction/schema.js";
import * as Transactions from "../Transaction.js";
import { estimateCall, mainPlan, probePlan } from "./ask.js";
import * as Options from "./options.js";

/** How a single step fails. */
export type StepError = InvalidTransaction | Verdict | RpcError;

interface Single {
  readonly transaction: Transaction;
  readonly options: ReportOptions;
  readonly chain: Chain;
  readonly block: Eth.BlockParameter;
}

const single = Effect.fnUntraced(function* (
  input: unknown,
  given: Options.Options,
): Effect.fn.Return<Single, StepError> {
  const checked = yield* Transactions.check(input);
  const options = Options.withInputAbis(yield* Options.check(given), checked);
  const transaction = checked.transactions[0];
  const chain = (yield* Effect.service(Chains))(transaction.chainId);
  return { transaction, options, chain, block: options.block ?? chain.blockTag };
});

/** The output, or the first thing that stands against it. */
const orFail = <A>(output: A, findings: ReadonlyArray<Finding>): Effect.Effect<A, Verdict | RpcError> => {
  const against =
    findings.find(({ severity }) => severity === "blocker") ??
    findings.find(({ severity }) => severity === "unavailable");
  return against === undefined
    ? Effect.succeed(output)
    : Effect.fail(against.error ?? new NotProven({ missing: [against.message] }));
};

/** What every single step takes. */
export type Step<A> = Transactions.TakesInput<Options.Options, Effect.Effect<A, StepError, Rpc>>;

const subjectOf = ({ transaction, options, chain }: Single) => ({
  transactions: [transaction],
  options,
  chain,
  wanted: [],
});

/** Who sends and who receives. JSON-RPC: `eth_getCode`. Fails with `SenderNotEoa`, `NoCode`, `InitCodeTooLarge`. */
export const checkCode: Step<CodeOutput> = Effect.fn("Preflight.checkCode")(function* (
  input: unknown,
  options: Options.Options = {},
) {
  const { transaction, chain, block } = yield* single(input, options);
  const codes = yield* Code.ask(Code.accounts([transaction]), block);
  const unseen = () => ({ before: undefined, after: undefined, appears: "after" as const });
  const { output, findings } = Code.decide(transaction, 0, codes, unseen, {
    nonce: transaction.nonce,
    chain,
    delegateHasCode: () => null,
  });
  return yield* orFail(output, findings);
});

const simulateOne = Effect.fnUntraced(function* (one: Single): Effect.fn.Return<Outcome, StepError, Rpc> {
  const plan = mainPlan(subjectOf(one), one.block);
  const { calls } = yield* Simulate.ask(plan);
  const abis = indexAbis(Options.sourcesOf(one.options.abis));
  const call = calls[0];
  return call === undefined
    ? Simulate.unknownOutcome(null)
    : Simulate.readCall(call, Simulate.gasOf(one.transaction), one.transaction, abis, "measured").outcome;
});

/** What it does. JSON-RPC: `eth_simulateV1`. Fails with `ExecutionReverted`, `VmHalt`, and what the node refuses. */
export const simulate: Step<Outcome> = Effect.fn("Preflight.simulate")(function* (
  input: unknown,
  options: Options.Options = {},
) {
  const outcome = yield* simulateOne(yield* single(input, options));
  return yield* orFail(outcome, Simulate.judge(outcome, 0));
});

/** How much gas to allow. JSON-RPC: `eth_estimateGas`, `eth_simulateV1`. Either may be missing, not both. */
export const estimateGas: Step<Gas> = Effect.fn("Preflight.estimateGas")(function* (
  input: unknown,
  options: Options.Options = {},
) {
  const one = yield* single(input, options);
  const [estimated, simulated] = yield* Effect.all(
    [
      Estimate.ask(estimateCall(one.transaction), one.block, one.options.stateOverrides as Eth.StateOverrides | null),
      Effect.result(simulateOne(one)),
    ],
    { concurrency: "unbounded" },
  );
  const outcome = Result.isSuccess(simulated) ? simulated.success : Simulate.unknownOutcome(null);
  if (outcome.failure !== null) return yield* outcome.failure;
  if (Result.isFailure(estimated) && outcome.status === "unknown") return yield* estimated.failure;
  const { output, findings } = Estimate.decide(one.transaction, 0, estimated, outcome, {
    chain: one.chain,
    blockGasLimit: null,
    receiverHasCode: true,
  });
  return yield* orFail(output, findings);
});

/** Which nonce to sign. JSON-RPC: `eth_getTransactionCount` on `latest` and `pending`. Fails with `NonceTooLow`, `NonceTooHigh`. */
export const resolveNonce: Step<NonceOutput> = Effect.fn("Preflight.resolveNonce")(function* (
  input: unknown,
  options: Options.Options = {},
) {
  const { transaction } = yield* single(input, options);
  const { outputs, findings } = Nonce.decide([transaction], yield* Nonce.ask([transaction.from]));
  const output = outputs[0];
  return output === undefined ? yield* new NotProven({ missing: ["the nonce"] }) : yield* orFail(output, findings);
});

/**
 * What to pay per gas. JSON-RPC: `eth_feeHistory`, `eth_getBlockReceipts`, `eth_getBlockByNumber`, and
 * `eth_simulateV1` of an empty block for its base fee. Fails with `FeeCapTooLow`.
 */
export const quoteFee: Step<FeeOutput> = Effect.fn("Preflight.quoteFee")(function* (
  input: unknown,
  options: Options.Options = {},
) {
  const one = yield* single(input, options);
  const [facts, probe] = yield* Effect.all(
    [Fee.ask, Effect.result(Simulate.ask(probePlan(subjectOf(one), one.block)))],
    { concurrency: "unbounded" },
  );
  const environment = Result.isSuccess(probe) ? probe.success.before({ kind: "environment" }) : undefined;
  const seen = environment?.kind === "environment" ? environment : null;
  const horizonSeconds = one.options.feeHorizonSeconds;
  const quoted = Fee.quote(facts, {
    chain: one.chain,
    level: one.options.feeLevel,
    horizonSeconds,
    simulatedBaseFee: seen?.baseFeePerGas ?? null,
    parentHash: seen?.parentHash ?? null,
  });
  const { output, findings } = Fee.decide(one.transaction, 0, quoted);
  return yield* orFail(output, findings);
});
