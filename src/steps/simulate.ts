/**
 * What the transactions do: one `eth_simulateV1` request with the witness before and after them in
 * one simulated block, and the reading of what it answers.
 *
 * One block, because on Flashblocks nodes the pending overlay is applied again to every further one.
 */
import * as Effect from "effect/Effect";
import { eip7825Cap } from "../Chains.js";
import * as Eth from "../Eth.js";
import { decodeLog, decodeResult } from "../abi/decodeLogs.js";
import { decodeRevert, type AbiIndex } from "../abi/decodeRevert.js";
import { fromError, note, type Evidence, type Finding } from "../report/finding.js";
import type { Address, Hex } from "../primitives/hex.js";
import { MalformedResponse, RpcError } from "../errors/rpc.js";
import { ExecutionReverted, VmHalt, type Verdict } from "../errors/verdicts.js";
import type { Rpc } from "../Rpc.js";
import type { Transaction } from "../Transaction.js";
import { decodeAnswers, type Answer } from "../witness/answers.js";
import { place, type Placement } from "../witness/placement.js";
import { encodeQueries, gasFor, type Query } from "../witness/queries.js";
import type { Outcome, OutcomeLog } from "../report/parts.js";

type Failure = RpcError | Verdict;

/** One simulated block to ask for. */
export interface Plan {
  /** The user's calls, in order; empty for the probe. */
  readonly calls: ReadonlyArray<Eth.CallRequest>;
  /** What the witness reads before them; it does not run when there is nothing to read. */
  readonly before: ReadonlyArray<Query>;
  /** What it reads after them. */
  readonly after: ReadonlyArray<Query>;
  /** Most gas for one call of the witness; absent = what its queries may take at most. */
  readonly room?: bigint;
  readonly block: Eth.BlockParameter;
  readonly stateOverrides: Eth.StateOverrides | null;
  readonly blockOverrides: Eth.BlockOverrides | null;
}

/** How the answers of one witness call are looked up: undefined = not asked or not readable. */
export type Lookup = (query: Query) => Answer | undefined;

/** One simulated block, read. */
export interface Simulated {
  readonly block: Eth.SimulatedBlock;
  /** One per user call. */
  readonly calls: ReadonlyArray<Eth.CallResult>;
  readonly before: Lookup;
  readonly after: Lookup;
  /** Whether the witness answered wherever it was asked. */
  readonly witnessed: boolean;
}

/** Wei per gas: far above any base fee, so that the witness is never refused for its price. */
const witnessMaxFee = 10n ** 15n;

const nothing: Lookup = () => undefined;

/** Answers by what was asked. */
export const lookupIn = (queries: ReadonlyArray<Query>, answers: ReadonlyArray<Answer>): Lookup => {
  const table = new Map(queries.map((query, index) => [encodeQueries([query]), answers[index]]));
  return (query) => table.get(encodeQueries([query]));
};

const lookupOf = (queries: ReadonlyArray<Query>, result: Eth.CallResult | undefined): Lookup | null => {
  if (result === undefined || result.status !== "success") return null;
  const answers = decodeAnswers(queries, result.returnData);
  return answers === null ? null : lookupIn(queries, answers);
};

const witnessCall = (placement: Placement, queries: ReadonlyArray<Query>, gas: bigint): Eth.CallRequest => ({
  from: placement.sender,
  to: placement.address,
  data: encodeQueries(queries),
  gas,
  maxFeePerGas: witnessMaxFee,
  maxPriorityFeePerGas: 0n,
});

/** 40 bytes that no contract can foresee. */
const unforeseeable: Effect.Effect<Placement> = Effect.sync(() =>
  place(globalThis.crypto.getRandomValues(new Uint8Array(40))),
);

/**
 * Asks for one simulated block. Fails with the request's error: one invalid user call fails the whole
 * request, by the protocol.
 */
export const ask = Effect.fnUntraced(function* (plan: Plan): Effect.fn.Return<Simulated, Failure, Rpc> {
  const placement = yield* unforeseeable;
  const gasOfQueries = (queries: ReadonlyArray<Query>): bigint => {
    const most = gasFor(queries);
    return plan.room === undefined || most < plan.room ? most : plan.room;
  };
  const first = plan.before.length > 0 ? [witnessCall(placement, plan.before, gasOfQueries(plan.before))] : [];
  const last = plan.after.length > 0 ? [witnessCall(placement, plan.after, gasOfQueries(plan.after))] : [];
  const blocks = yield* Eth.simulateV1({
    blocks: [
      {
        calls: [...first, ...plan.calls, ...last],
        stateOverrides: { ...plan.stateOverrides, ...placement.override },
        ...(plan.blockOverrides === null ? {} : { blockOverrides: plan.blockOverrides }),
      },
    ],
    validation: true,
    traceTransfers: true,
    block: plan.block,
  });
  const block = blocks[0];
  if (block === undefined) {
    return yield* new RpcError({
      method: "eth_simulateV1",
      reason: new MalformedResponse({ path: "result[0]", detail: "" }),
    });
  }
  const before = plan.before.length === 0 ? nothing : lookupOf(plan.before, block.calls[0]);
  const after = plan.after.length === 0 ? nothing : lookupOf(plan.after, block.calls[block.calls.length - 1]);
  return {
    block,
    calls: block.calls.slice(first.length, first.length + plan.calls.length),
    before: before ?? nothing,
    after: after ?? nothing,
    witnessed: before !== null && after !== null,
  };
});

/** The gas the witness may take in a plan. */
export const witnessGas = (plan: Pick<Plan, "before" | "after">): bigint =>
  (plan.before.length > 0 ? gasFor(plan.before) : 0n) + (plan.after.length > 0 ? gasFor(plan.after) : 0n);

/** The gas a scan runs a call with: the caller's, or the most that one transaction may have (EIP-7825). */
export const gasOf = (transaction: Transaction): bigint => transaction.gas ?? eip7825Cap;

/** A call about which nothing was learned. */
export const unread = (failure: Verdict | null): Reading => ({ outcome: unknownOutcome(failure), traced: [] });

/** An outcome nobody could learn. */
export const unknownOutcome = (failure: Verdict | null): Outcome => ({
  status: "unknown",
  gasUsed: null,
  maxUsedGas: null,
  returnData: null,
  result: null,
  logs: [],
  revert: null,
  failure,
  evidence: "unavailable",
});

/** A failure learned without simulation: no gas, no logs. */
export const failedOutcome = (failure: Verdict, returnData: Hex | null): Outcome => ({
  ...unknownOutcome(failure),
  status: failure._tag === "ExecutionReverted" ? "reverted" : "halted",
  returnData,
  revert: failure._tag === "ExecutionReverted" ? failure.revert : null,
  evidence: "estimated",
});

/** The verdict with its revert decoded, where it is a revert. */
export const explain = (failure: Verdict, to: Address | null, abis: AbiIndex): Verdict =>
  failure._tag !== "ExecutionReverted" || failure.data === null
    ? failure
    : new ExecutionReverted({
        data: failure.data,
        revert: decodeRevert(failure.data, abis, to === null ? {} : { address: to }),
        text: failure.text,
        to,
        raw: failure.raw,
      });

const empty = (data: Hex | null): boolean => data === null || data.length === 2;

/**
 * Why a call failed. Some nodes answer every failure alike: a revert without data that consumed all
 * its gas is a halt (out of gas, invalid opcode), for a revert gives the rest back.
 */
const failureOf = (call: Eth.CallResult, gas: bigint, transaction: Transaction, abis: AbiIndex): Verdict => {
  const said = call.failure;
  if (said === null || said._tag === "RpcError") {
    return new VmHalt({ halt: said === null ? null : said.reason.detail });
  }
  if (said._tag === "ExecutionReverted" && empty(said.data) && call.gasUsed >= gas) {
    return new VmHalt({ halt: "all gas consumed: out of gas, or an invalid instruction", raw: said.raw });
  }
  return explain(said, transaction.to, abis);
};

const readLog = ({ topics, data, ...log }: Eth.Log, abis: AbiIndex): OutcomeLog => {
  const address = log.address.toLowerCase() as Address;
  return { address, topics, data, decoded: decodeLog({ address, topics, data }, abis) };
};

/** Where `traceTransfers` reports native movements (ERC-7528): no contract lives there, no receipt has these logs. */
const traceEmitter: string = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/** A simulated call, read: its outcome with the logs a receipt would have, and with the traced ones beside them. */
export interface Reading {
  readonly outcome: Outcome;
  /** The outcome's logs and the traced native transfers, in the order of the node. */
  readonly traced: ReadonlyArray<OutcomeLog>;
}

/** One simulated call, read. `gas` is the limit it ran with. A failed call leaves no logs, whatever the node lists. */
export const readCall = (
  call: Eth.CallResult,
  gas: bigint,
  transaction: Transaction,
  abis: AbiIndex,
  evidence: Evidence,
): Reading => {
  const failure = call.status === "success" ? null : failureOf(call, gas, transaction, abis);
  const traced = failure === null ? call.logs.map((log) => readLog(log, abis)) : [];
  const reverted = failure?._tag === "ExecutionReverted" ? failure : null;
  const outcome: Outcome = {
    status: failure === null ? "success" : reverted !== null ? "reverted" : "halted",
    gasUsed: call.gasUsed,
    maxUsedGas: call.maxUsedGas,
    returnData: reverted === null ? call.returnData : reverted.data,
    result: failure === null && transaction.item !== null ? decodeResult(call.returnData, transaction.item) : null,
    logs: traced.filter(({ address }) => address !== traceEmitter),
    revert: reverted?.revert ?? null,
    failure,
    evidence,
  };
  return { outcome, traced };
};

/** The findings of an outcome: its failure is a blocker; an unknown one is `unavailable`. */
export const judge = (outcome: Outcome, index: number): ReadonlyArray<Finding> => {
  const where = { step: "simulate", transaction: index, evidence: outcome.evidence } as const;
  if (outcome.failure !== null) return [fromError(outcome.failure, "blocker", where)];
  if (outcome.status !== "unknown") return [];
  return [
    note(
      "SimulationUnavailable",
      "unavailable",
      { verdict: "the outcome is not known", remedy: "use a node with eth_simulateV1" },
      where,
    ),
  ];
};
