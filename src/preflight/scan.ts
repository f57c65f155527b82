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
import { lacksTip } from "../steps/reading/quote.js";
import * as TokenShortfall from "../steps/reading/tokenShortfall.js";
import * as Simulate from "../steps/simulate.js";
import { bareCall } from "../transaction/call.js";
import { buildRequest, unsignedBytes } from "../transaction/request.js";
import type { Transaction } from "../transaction/schema.js";
import { encodeQueries, gasFor, type Query } from "../witness/queries.js";
import { viewOf } from "../witness/view.js";
import type { Called, Round } from "./answers.js";
import { isDisproved, knownOf, learn, seenIn, type Known } from "./known.js";
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

/** `bare`: the calls at no base fee, so that one without fee fields is valid; `oracles` = what is read at the chain's fee oracles. */
const barePlan = (
  { bundle, options, wanted }: Subject,
  block: Eth.BlockParameter,
  oracles: ReadonlyArray<Query>,
): Simulate.Plan => {
  const calls = bundle.map(({ input }) => ({ input, request: bareCall(input, gasOf(input)), gas: gasOf(input) }));
  const after = [...Code.queries(bundle), ...Holdings.queries(wanted)];
  const before = [{ kind: "environment" } as const, ...oracles, ...after, ...TokenShortfall.queries(bundle)];
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

/** Gas beside the user's calls that the oracles may take of a run; larger questions are asked by the witness alone. */
const oracleRoom = eip7825Cap;

/**
 * Whether the endpoint is known well enough to leave out the witness `alone`: `bare` tells the rest, and the latest
 * header the base fee. Not where the state to simulate on is not the newest, or pretended.
 */
const isFamiliar = (
  known: Known,
  { memory }: Rpc["Service"],
  { blockOverrides }: ReportOptions,
  tag: Observed["blockTag"],
): boolean =>
  known.chainId !== null &&
  (tag === "pending" || tag === "latest") &&
  blockOverrides === null &&
  ["eth_simulateV1", "eth_getBlockByNumber"].every((method) => memory.refused(method) === null);

/**
 * What the steps of a scan ask, all at once in one network round; `steps` leaves some out, what is `known` of the
 * endpoint others. One more round each: nodes without `eth_simulateV1` (none where the refusal is remembered), a
 * sender who cannot pay, to learn what a payable transaction would need, a node without pending state, what only
 * the witness `alone` or the receipts can tell in the end, and an endpoint that is no longer what it was.
 */
export const askScan = Effect.fnUntraced(function* (
  subject: Subject,
  tag: Observed["blockTag"],
  round: number,
  steps: ReadonlySet<Asking> = everyStep,
): Effect.fn.Return<Round, never, Rpc> {
  const { bundle, options, abis, chain } = subject;
  const rpc = yield* Rpc;
  const known = knownOf(rpc.memory);
  const refused = rpc.memory.refused("eth_simulateV1");
  const simulate = (plan: Simulate.Plan): Effect.Effect<Heard<Simulate.Run>, never, Rpc> =>
    refused === null ? Effect.result(Simulate.ask(plan, abis)) : Effect.succeed(Result.fail(refused));
  const when = <A, B>(
    asks: boolean,
    ask: Effect.Effect<A, never, Rpc>,
    otherwise: B,
  ): Effect.Effect<A | B, never, Rpc> => (asks ? ask : Effect.succeed(otherwise));
  const needsBytes = L1Fee.needsBytes(chain, known.noFeeOracle);
  const subjects = new Map(needsBytes ? bundle.map(({ index, input }) => [index, roughSubject(input)]) : []);
  const rough = [...subjects.values()].filter((one) => one !== null);
  const oracles = L1Fee.queries(chain, needsBytes ? rough : null);
  const asksBoth = steps.has("simulate") && steps.has("fee");
  const isAlonePart = asksBoth && gasFor(oracles) <= oracleRoom && isFamiliar(known, rpc, options, tag);
  const askAlone = simulate(alonePlan(options, tag, [...Code.queries(bundle), ...oracles]));
  const askChainId = asking({ step: "chain" }, Effect.result(Eth.chainId));
  const plan = barePlan(subject, tag, isAlonePart ? oracles : []);
  const { fallback, ...asked } = yield* inRound(
    round,
    Effect.all(
      {
        codes: when(steps.has("code"), Code.ask(bundle, tag), new Map<never, never>()),
        run: when(steps.has("simulate"), simulate(plan), null),
        alone: when(!isAlonePart && (steps.has("simulate") || steps.has("fee")), askAlone, null),
        fallback: when(refused !== null && steps.has("simulate"), askCalls(subject, tag), null),
        estimate: when(
          steps.has("estimate"),
          Estimate.ask(bareCall(bundle[0].input, null), tag, options.stateOverrides),
          null,
        ),
        counts: when(steps.has("nonce"), Nonce.ask(bundle), new Map<never, never>()),
        fees: when(steps.has("fee"), Fee.ask(!known.tellsTip), { history: null, receipts: null, header: null }),
        namedChainId: when(steps.has("chain") && !isAlonePart, askChainId, null),
      },
      { concurrency: "unbounded" },
    ),
  );
  // why: the pending state already holds what a replacement takes away; the mined state does not
  if (tag === "pending" && options.block === null && Nonce.replaces(bundle, asked))
    return yield* askScan(subject, "latest", round + 1, steps);
  const noPending = [asked.run, asked.alone].map(failureOf).find(isNoPending) ?? null;
  if (tag === "pending" && options.block === null && noPending !== null) {
    const again = yield* askScan(subject, "latest", round + 1, steps);
    const told = fromError(noPending, "info", { step: "simulate", evidence: "unavailable" });
    return { ...again, findings: [...again.findings, told] };
  }
  if (isDisproved(known, chain, asked)) {
    rpc.memory.forget();
    return yield* askScan(subject, tag, round + 1, steps);
  }
  const { fees } = asked;
  const isSeen = seenIn(asked).environment !== null;
  const lacks = {
    alone: isAlonePart && (!isSeen || failureOf(fees.header) !== null),
    chainId: isAlonePart && !isSeen,
    receipts: fees.history !== null && fees.receipts === null && lacksTip(fees.history, options.feeLevel),
  };
  const missing = yield* inRound(
    round + 1,
    Effect.all(
      {
        alone: when(lacks.alone, askAlone, asked.alone),
        namedChainId: when(
          lacks.chainId,
          askChainId,
          isAlonePart && known.chainId !== null ? Result.succeed(known.chainId) : asked.namedChainId,
        ),
        receipts: when(lacks.receipts, Fee.askReceipts, fees.receipts),
      },
      { concurrency: "unbounded" },
    ),
  );
  const { alone, namedChainId, receipts } = missing;
  const next = lacks.alone || lacks.receipts ? round + 2 : round + 1;
  const heard: Round = {
    ...asked,
    ...{ alone, namedChainId, fees: { ...fees, receipts } },
    block: tag,
    called: null,
    unfunded: null,
    findings: [],
    subjectOf: ({ index }) => subjects.get(index) ?? null,
  };
  learn(rpc.memory, chain, options.feeLevel, heard);
  const failure = failureOf(asked.run);
  if (failure !== null && isRefusal(failure))
    return { ...heard, called: fallback ?? (yield* inRound(next, askCalls(subject, tag))) };
  if (failure?._tag === "InsufficientFunds") {
    const funded = yield* inRound(next, Effect.result(Simulate.ask(fundedPlan(plan, bundle, alone), abis)));
    return Result.isSuccess(funded) ? { ...heard, run: funded, unfunded: failure } : heard;
  }
  return heard;
});
