/** Round 1, everything at once: the questions of a scan and their fallbacks. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { eip7825Cap, type Chain } from "../Chains.js";
import type { FeeSubject } from "../chains/feeModel.js";
import { asking } from "../eth/asking.js";
import * as Eth from "../Eth.js";
import type { StepName } from "../primitives/names.js";
import { fromError } from "../report/finding.js";
import type { Observed, ReportOptions } from "../report/schema.js";
import { Rpc } from "../Rpc.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Nonce from "../steps/nonce.js";
import { signers, type Bundle } from "../steps/reading/bundle.js";
import { failureOf, successOf, type Failure, type Heard } from "../steps/reading/heard.js";
import * as Holdings from "../steps/reading/holdings.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import * as TokenShortfall from "../steps/reading/tokenShortfall.js";
import * as Simulate from "../steps/simulate.js";
import { bareCall } from "../transaction/call.js";
import { buildRequest, unsignedBytes } from "../transaction/request.js";
import type { Transaction } from "../transaction/schema.js";
import { encodeQueries, gasFor, type Query } from "../witness/queries.js";
import { viewOf } from "../witness/view.js";
import type { Called, Round } from "./answers.js";
import { inRound } from "./ledger.js";

/** What a scan is asked about. */
export interface Subject {
  readonly bundle: Bundle;
  readonly options: ReportOptions;
  /** The chain's parameters as far as the input names the chain. */
  readonly chain: Chain;
  /** Balances that somebody wants measured before it is known what moves. */
  readonly wanted: ReadonlyArray<Holdings.Holding>;
  readonly abis: AbiIndex;
}

/**
 * The bytes a transaction will have, as far as can be said before nonce, gas and fees are known: with
 * large stand-ins, for longer bytes never cost less.
 */
const roughSubject = (transaction: Transaction): FeeSubject | null => {
  const price = transaction.gasPrice;
  const gasLimit = transaction.gas ?? eip7825Cap;
  const request = buildRequest(transaction, {
    chainId: transaction.chainId ?? 1_000_000,
    nonce: transaction.nonce ?? 1_000_000,
    gas: gasLimit,
    gasPrice: price,
    maxFeePerGas: price === null ? (transaction.maxFeePerGas ?? 10n ** 12n) : null,
    maxPriorityFeePerGas: price === null ? (transaction.maxPriorityFeePerGas ?? 10n ** 11n) : null,
  });
  const unsigned = request === null ? null : unsignedBytes(request);
  return unsigned === null ? null : { unsigned, gasLimit };
};

/** The caller's gas, or the most that one transaction may have (EIP-7825). */
const gasOf = ({ gas }: Transaction): bigint => gas ?? eip7825Cap;

/** `bare`: the calls at no base fee, so that one without fee fields is valid. */
const barePlan = ({ bundle, options, wanted }: Subject, block: Eth.BlockParameter): Simulate.Plan => {
  const calls = bundle.map(({ input }) => ({ input, request: bareCall(input, gasOf(input)), gas: gasOf(input) }));
  const after = [...Code.queries(bundle), ...Holdings.queries(wanted)];
  const before: ReadonlyArray<Query> = [{ kind: "environment" }, ...after, ...TokenShortfall.queries(bundle)];
  const needed = calls.reduce((sum, { gas }) => sum + gas, 0n) + Simulate.witnessGas({ before, after });
  return {
    name: "bare",
    calls,
    before,
    after,
    block,
    stateOverrides: options.stateOverrides,
    // why: room for every call's whole limit
    blockOverrides: { baseFeePerGas: 0n, gasLimit: needed, ...options.blockOverrides },
    pretended: false,
  };
};

/** `alone`: the witness without the calls, at the real base fee. */
export const alonePlan = (
  { stateOverrides, blockOverrides }: ReportOptions,
  block: Eth.BlockParameter,
  queries: ReadonlyArray<Query>,
): Simulate.Plan => ({
  name: "alone",
  calls: [],
  before: [{ kind: "environment" }, ...queries],
  after: [],
  block,
  stateOverrides,
  blockOverrides,
  pretended: false,
});

/** `funded`: the run with every signer rich enough, above what it has. */
const fundedPlan = (plan: Simulate.Plan, bundle: Bundle, alone: Heard<Simulate.Run> | null): Simulate.Plan => {
  const rich = signers(bundle).map((account) => {
    const has = successOf(alone)?.before.account(account)?.balance ?? 0n;
    const spends = bundle.reduce((sum, { signer, input }) => (signer === account ? sum + input.value : sum), 0n);
    return [account, { ...plan.stateOverrides?.[account], balance: has + spends }] as const;
  });
  return {
    ...plan,
    name: "funded",
    stateOverrides: { ...plan.stateOverrides, ...Object.fromEntries(rich) },
    pretended: true,
  };
};

const isRefusal = (failure: Failure): boolean =>
  failure._tag === "RpcError" &&
  (failure.reason._tag === "MethodNotSupported" || failure.reason._tag === "MethodNotPermitted");

const isNoPending = (failure: Failure | null): boolean =>
  failure?._tag === "RpcError" && failure.reason._tag === "PendingUnavailable";

/** `eth_call` of the first transaction, and of the witness: all that a node without simulation can say. */
const askCalls = Effect.fnUntraced(function* (
  { bundle, options }: Subject,
  block: Eth.BlockParameter,
): Effect.fn.Return<Called, never, Rpc> {
  const [{ input }] = bundle;
  const queries: ReadonlyArray<Query> = [{ kind: "environment" }, ...Code.queries(bundle)];
  const at = yield* Simulate.placement;
  const { stateOverrides } = options;
  const { first, witness } = yield* asking(
    { step: "simulate" },
    Effect.all(
      {
        first: Effect.result(Eth.call({ ...bareCall(input, gasOf(input)), block, stateOverrides })),
        witness: Effect.result(
          Eth.call({
            from: at.sender,
            to: at.address,
            data: encodeQueries(queries),
            gas: gasFor(queries),
            block,
            stateOverrides: { ...stateOverrides, ...at.override },
          }),
        ),
      },
      { concurrency: "unbounded" },
    ),
  );
  return { first, view: Result.isSuccess(witness) ? viewOf(queries, witness.success) : null };
});

/** The steps that ask in a scan. */
export type Asking = Extract<StepName, "chain" | "code" | "simulate" | "estimate" | "nonce" | "fee">;
const everyStep: ReadonlySet<Asking> = new Set(["chain", "code", "simulate", "estimate", "nonce", "fee"]);

/**
 * What the steps of a scan ask, all at once in one network round; `steps` leaves some out. Nodes without
 * `eth_simulateV1` cost one more round (none where the refusal is remembered); so does a sender who cannot
 * pay, to learn what a payable transaction would need, and a node without pending state.
 */
export const askScan = Effect.fnUntraced(function* (
  subject: Subject,
  tag: Observed["blockTag"],
  round: number,
  steps: ReadonlySet<Asking> = everyStep,
): Effect.fn.Return<Round, never, Rpc> {
  const { bundle, options, abis } = subject;
  const rpc = yield* Rpc;
  const refused = rpc.refused("eth_simulateV1");
  const simulate = (plan: Simulate.Plan): Effect.Effect<Heard<Simulate.Run>, never, Rpc> =>
    refused === null ? Effect.result(Simulate.ask(plan, abis)) : Effect.succeed(Result.fail(refused));
  const when = <A, B>(
    step: Asking,
    ask: Effect.Effect<A, never, Rpc>,
    otherwise: B,
  ): Effect.Effect<A | B, never, Rpc> => (steps.has(step) ? ask : Effect.succeed(otherwise));
  const subjects = new Map(bundle.map(({ index, input }) => [index, roughSubject(input)]));
  const plan = barePlan(subject, tag);
  const rough = [...subjects.values()].filter((one) => one !== null);
  const lookAt = [...Code.queries(bundle), ...L1Fee.queries(subject.chain, rough)];
  const { fallback, ...asked } = yield* inRound(
    round,
    Effect.all(
      {
        codes: when("code", Code.ask(bundle, tag), new Map<never, never>()),
        run: when("simulate", simulate(plan), null),
        alone:
          steps.has("simulate") || steps.has("fee") ? simulate(alonePlan(options, tag, lookAt)) : Effect.succeed(null),
        fallback: refused === null ? Effect.succeed(null) : when("simulate", askCalls(subject, tag), null),
        estimate: when("estimate", Estimate.ask(bareCall(bundle[0].input, null), tag, options.stateOverrides), null),
        counts: when("nonce", Nonce.ask(bundle), new Map<never, never>()),
        fees: when("fee", Fee.ask, { history: null, receipts: null, header: null }),
        namedChainId: when("chain", asking({ step: "chain" }, Effect.result(Eth.chainId)), null),
      },
      { concurrency: "unbounded" },
    ),
  );
  const heard: Round = {
    ...asked,
    block: tag,
    called: null,
    unfunded: null,
    findings: [],
    subjectOf: ({ index }) => subjects.get(index) ?? null,
  };
  // why: the pending state already holds what a replacement takes away; the mined state does not
  if (tag === "pending" && options.block === null && Nonce.replaces(bundle, asked))
    return yield* askScan(subject, "latest", round + 1, steps);
  const noPending = [asked.run, asked.alone].map(failureOf).find(isNoPending) ?? null;
  if (tag === "pending" && options.block === null && noPending !== null) {
    const again = yield* askScan(subject, "latest", round + 1, steps);
    const told = fromError(noPending, "info", { step: "simulate", evidence: "unavailable" });
    return { ...again, findings: [...again.findings, told] };
  }
  const failure = failureOf(asked.run);
  if (failure !== null && isRefusal(failure))
    return { ...heard, called: fallback ?? (yield* inRound(round + 1, askCalls(subject, tag))) };
  if (failure?._tag === "InsufficientFunds") {
    const funded = yield* inRound(round + 1, Effect.result(Simulate.ask(fundedPlan(plan, bundle, asked.alone), abis)));
    return Result.isSuccess(funded) ? { ...heard, run: funded, unfunded: failure } : heard;
  }
  return heard;
});
