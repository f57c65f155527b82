/** What one call did, read from whatever told it; a revert is explained by the ABIs and the built-in errors. */
import type { AbiIndex } from "../../abi/abiIndex.js";
import { decodeLog, decodeResult } from "../../abi/decodeLogs.js";
import { VmHalt, type Verdict } from "../../errors/verdicts.js";
import type * as Eth from "../../eth/index.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { Evidence } from "../../report/finding.js";
import type { Outcome, OutcomeLog } from "../../report/parts.js";
import type { Transaction } from "../../Transaction.js";
import type { Reading } from "./bundle.js";
import { transfersOf } from "./transferLogs.js";

export { explain } from "../../eth/call.js";

/** A call about which nothing was learned. */
export const unread = (failure: Verdict | null): Reading => ({ outcome: unknownOutcome(failure), transfers: [] });

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

const empty = (data: Hex | null): boolean => data === null || data.length === 2;

/**
 * Why a call failed. Some nodes answer every failure alike: a revert without data that consumed all
 * its gas is a halt (out of gas, invalid opcode), for a revert gives the rest back.
 */
const failureOf = (call: Eth.CallResult, gas: bigint): Verdict => {
  const failure = call.failure;
  if (failure === null || failure._tag === "RpcError") {
    return new VmHalt({ halt: failure === null ? null : failure.reason.detail });
  }
  if (failure._tag === "ExecutionReverted" && empty(failure.data) && call.gasUsed >= gas) {
    return new VmHalt({ halt: "all gas consumed: out of gas, or an invalid instruction", raw: failure.raw });
  }
  return failure;
};

const readLog = ({ topics, data, address: emitter }: Eth.Log, abis: AbiIndex): OutcomeLog => {
  const address = emitter.toLowerCase() as Address;
  return { address, topics, data, decoded: decodeLog({ address, topics, data }, abis) };
};

/** Where `traceTransfers` reports native movements (ERC-7528): no contract lives there, no receipt has these logs. */
const traceEmitter: string = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/**
 * One simulated call, the `transaction`-th of its run, read; its failure is explained already. A failed call leaves no
 * logs, whatever the node lists.
 */
export const readCall = (
  result: Eth.CallResult,
  { input, gas }: { readonly input: Transaction; readonly gas: bigint },
  {
    transaction,
    abis,
    evidence,
  }: { readonly transaction: number; readonly abis: AbiIndex; readonly evidence: Evidence },
): Reading => {
  const failure = result.status === "success" ? null : failureOf(result, gas);
  const traced = failure === null ? result.logs.map((log) => readLog(log, abis)) : [];
  const reverted = failure?._tag === "ExecutionReverted" ? failure : null;
  const outcome: Outcome = {
    status: failure === null ? "success" : reverted !== null ? "reverted" : "halted",
    gasUsed: result.gasUsed,
    maxUsedGas: result.maxUsedGas,
    returnData: reverted === null ? result.returnData : reverted.data,
    result: failure === null && input.item !== null ? decodeResult(result.returnData, input.item) : null,
    logs: traced.filter(({ address }) => address !== traceEmitter),
    revert: reverted?.revert ?? null,
    failure,
    evidence,
  };
  const transfers = transfersOf(traced, transaction, evidence);
  const { from, to, value } = input;
  // why: where nothing tells of native movements, the first of them is known all the same
  const isTold = transfers.some(({ standard }) => standard === "native") || failure !== null || value === 0n;
  if (isTold || to === null) return { outcome, transfers };
  const sent = { standard: "native", token: null, from, to, amount: value, tokenId: null, transaction } as const;
  return { outcome, transfers: [{ ...sent, evidence: "assumed" }, ...transfers] };
};
