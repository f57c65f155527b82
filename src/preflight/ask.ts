/** Round 1, everything at once: the questions of a scan and their fallbacks. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { eip7825Cap, type Chain } from "../Chains.js";
import { fromError } from "../report/finding.js";
import * as Eth from "../Eth.js";
import type { ReportOptions } from "../report/schema.js";
import { Rpc } from "../Rpc.js";
import * as Assets from "../steps/assets.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import * as Nonce from "../steps/nonce.js";
import * as Simulate from "../steps/simulate.js";
import * as TokenFunds from "../steps/reading/tokenShortfall.js";
import { bareCall } from "../transaction/call.js";
import { buildRequest, unsignedBytes } from "../transaction/request.js";
import type { Transaction } from "../transaction/schema.js";
import { place } from "../witness/placement.js";
import { decodeAnswers } from "../witness/answers.js";
import { encodeQueries, gasFor, type Query } from "../witness/queries.js";
import type { Called, Facts, Failure } from "./facts.js";
import { inRound } from "./run.js";

/** What a scan is asked about. */
export interface Subject {
  readonly transactions: ReadonlyArray<Transaction>;
  readonly options: ReportOptions;
  /** The chain's parameters as far as the input names the chain. */
  readonly chain: Chain;
  /** Balances that somebody wants measured before it is known what moves. */
  readonly wanted: ReadonlyArray<Assets.Holding>;
}

/**
 * The bytes a transaction will have, as far as can be said before nonce, gas and fees are known: with
 * large stand-ins, for longer bytes never cost less.
 */
const roughBytes = (transaction: Transaction) => {
  const price = transaction.gasPrice;
  const request = buildRequest(transaction, {
    chainId: transaction.chainId ?? 1_000_000,
    nonce: transaction.nonce ?? 1_000_000,
    gas: transaction.gas ?? eip7825Cap,
    gasPrice: price,
    maxFeePerGas: price === null ? (transaction.maxFeePerGas ?? 10n ** 12n) : null,
    maxPriorityFeePerGas: price === null ? (transaction.maxPriorityFeePerGas ?? 10n ** 11n) : null,
  });
  return request === null ? null : unsignedBytes(request);
};

/** What the witness is asked about fees in a scan. */
export const roughSubjects = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<L1Fee.L1Subject | null> =>
  transactions.map((transaction) => {
    const unsigned = roughBytes(transaction);
    return unsigned === null ? null : { unsigned, gasLimit: transaction.gas ?? eip7825Cap };
  });

const accountQueries = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<Query> => Code.queries(transactions);

/** The main run: the bare calls at no base fee. */
export const mainPlan = ({ transactions, options, wanted }: Subject, block: Eth.BlockParameter): Simulate.Plan => {
  const plan = {
    calls: transactions.map((transaction) => bareCall(transaction, Simulate.gasOf(transaction))),
    before: [
      { kind: "environment" } as const,
      ...accountQueries(transactions),
      ...Assets.queries(wanted),
      ...TokenFunds.queries(transactions),
    ],
    after: [...accountQueries(transactions), ...Assets.queries(wanted)],
  };
  const needed =
    transactions.reduce((sum, transaction) => sum + Simulate.gasOf(transaction), 0n) + Simulate.witnessGas(plan);
  return {
    ...plan,
    block,
    stateOverrides: options.stateOverrides as Eth.StateOverrides | null,
    // why: no base fee, so that a call without fee fields is valid; room for every call's whole limit
    blockOverrides: { baseFeePerGas: 0n, gasLimit: needed, ...options.blockOverrides },
  };
};

/** The probe: the witness alone at the real base fee. */
export const probePlan = ({ transactions, options, chain }: Subject, block: Eth.BlockParameter): Simulate.Plan => ({
  calls: [],
  before: [
    { kind: "environment" },
    ...accountQueries(transactions),
    ...L1Fee.queries(
      chain,
      roughSubjects(transactions).filter((subject) => subject !== null),
    ),
  ],
  after: [],
  block,
  stateOverrides: options.stateOverrides as Eth.StateOverrides | null,
  blockOverrides: options.blockOverrides,
});

const refusal = (failure: Failure): boolean =>
  failure._tag === "RpcError" &&
  (failure.reason._tag === "MethodNotSupported" || failure.reason._tag === "MethodNotPermitted");

const noPending = (result: Result.Result<unknown, Failure>): boolean =>
  Result.isFailure(result) && result.failure._tag === "RpcError" && result.failure.reason._tag === "PendingUnavailable";

/** `eth_call` of each transaction, and of the witness: all that a node without simulation can say. */
const askCalls = Effect.fnUntraced(function* (
  { transactions, options }: Subject,
  block: Eth.BlockParameter,
): Effect.fn.Return<Called, never, Rpc> {
  const queries: ReadonlyArray<Query> = [{ kind: "environment" }, ...accountQueries(transactions)];
  const placement = yield* Effect.sync(() => place(globalThis.crypto.getRandomValues(new Uint8Array(40))));
  const overrides = options.stateOverrides as Eth.StateOverrides | null;
  const call = (transaction: Transaction, index: number) =>
    index > 0
      ? Effect.succeed(null)
      : Effect.result(
          Eth.call({
            ...bareCall(transaction, Simulate.gasOf(transaction)),
            block,
            ...(overrides === null ? {} : { stateOverrides: overrides }),
          }),
        );
  const { calls, witness } = yield* Effect.all(
    {
      calls: Effect.forEach(transactions, call, { concurrency: "unbounded" }),
      witness: Effect.result(
        Eth.call({
          from: placement.sender,
          to: placement.address,
          data: encodeQueries(queries),
          gas: gasFor(queries),
          block,
          stateOverrides: { ...overrides, ...placement.override },
        }),
      ),
    },
    { concurrency: "unbounded" },
  );
  const answers = Result.isSuccess(witness) ? decodeAnswers(queries, witness.success) : null;
  const table =
    answers === null ? null : new Map(queries.map((query, index) => [encodeQueries([query]), answers[index]]));
  return { calls, lookup: table === null ? null : (query) => table.get(encodeQueries([query])) };
});

/**
 * Everything a scan asks, in one network round. Nodes without `eth_simulateV1` cost one more (none
 * where the refusal is remembered); so does a sender who cannot pay, to learn what a payable
 * transaction would need, and a node without pending state.
 */
export const askScan = Effect.fnUntraced(function* (
  subject: Subject,
  tag: Eth.BlockParameter,
  round: number,
): Effect.fn.Return<Facts, never, Rpc> {
  const { transactions, options } = subject;
  const rpc = yield* Rpc;
  const refused = rpc.refused("eth_simulateV1");
  const first = transactions[0];
  const overrides = options.stateOverrides as Eth.StateOverrides | null;
  const simulate = (plan: Simulate.Plan) =>
    refused === null ? Effect.result(Simulate.ask(plan)) : Effect.succeed(Result.fail<Failure>(refused));
  const plan = mainPlan(subject, tag);
  const asked = yield* inRound(
    round,
    Effect.all(
      {
        codes: Code.ask(Code.accounts(transactions), tag),
        main: simulate(plan),
        probe: simulate(probePlan(subject, tag)),
        fallback: refused === null ? Effect.succeed(null) : askCalls(subject, tag),
        estimate: first === undefined ? Effect.succeed(null) : Estimate.ask(estimateCall(first), tag, overrides),
        counts: Nonce.ask(Nonce.senders(transactions)),
        fees: Fee.ask,
        chainId: Effect.result(Eth.chainId),
      },
      { concurrency: "unbounded" },
    ),
  );
  const { fallback, ...answers } = asked;
  const base = {
    ...answers,
    block: tag,
    gasGiven: transactions.map(Simulate.gasOf),
    called: null,
    pretended: false,
    refusal: null,
    findings: [],
    l1Subjects: roughSubjects(transactions),
  };
  // why: the pending state already holds what a replacement takes away; the mined state does not
  if (tag === "pending" && options.block === null && Nonce.replaces(transactions, asked.counts)) {
    return yield* askScan(subject, "latest", round + 1);
  }
  if (tag === "pending" && options.block === null && [asked.main, asked.probe].some(noPending)) {
    const again = yield* askScan(subject, "latest", round + 1);
    const cause = Result.isFailure(asked.main)
      ? asked.main.failure
      : Result.isFailure(asked.probe)
        ? asked.probe.failure
        : null;
    return {
      ...again,
      findings: [...again.findings, ...(cause === null ? [] : [fromError(cause, "info", { step: "simulate" })])],
    };
  }
  if (Result.isFailure(asked.main) && refusal(asked.main.failure)) {
    return { ...base, called: fallback ?? (yield* inRound(round + 1, askCalls(subject, tag))) };
  }
  if (Result.isFailure(asked.main) && asked.main.failure._tag === "InsufficientFunds") {
    const funded = yield* inRound(round + 1, Effect.result(Simulate.ask(fund(plan, transactions, asked.probe))));
    return Result.isSuccess(funded) ? { ...base, main: funded, pretended: true, refusal: asked.main.failure } : base;
  }
  return base;
});

/** A call for `eth_estimateGas`: without gas and fees. */
export const estimateCall = (transaction: Transaction): Eth.CallRequest => bareCall(transaction, null);

/** The plan with every sender rich enough, above what it has. */
const fund = (
  plan: Simulate.Plan,
  transactions: ReadonlyArray<Transaction>,
  probe: Result.Result<Simulate.Simulated, Failure>,
): Simulate.Plan => {
  const rich = Nonce.senders(transactions).map((address) => {
    const seen = Result.isSuccess(probe) ? probe.success.before({ kind: "account", address }) : undefined;
    const has = seen?.kind === "account" ? seen.balance : 0n;
    const spends = transactions.reduce((sum, { from, value }) => (from === address ? sum + value : sum), 0n);
    return [address, { ...plan.stateOverrides?.[address], balance: has + spends }] as const;
  });
  return { ...plan, stateOverrides: { ...plan.stateOverrides, ...Object.fromEntries(rich) } };
};
