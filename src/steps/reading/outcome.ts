/** The outcome of one call, read from whatever told it, and findings about it; a revert is explained already. */
import * as Arr from "effect/Array";
import type { AbiIndex } from "../../abi/abiIndex.js";
import { decodeLog, decodeResult, type DecodedLog } from "../../abi/decodeLogs.js";
import { VmHalt, type Verdict } from "../../errors/verdicts.js";
import type * as Eth from "../../eth/index.js";
import { type Address, lower, type Hex } from "../../primitives/hex.js";
import { type Evidence, code, type Finding, type Where } from "../../report/finding.js";
import type { Outcome, OutcomeLog, Transfer } from "../../report/parts.js";
import type { Reading, Ran } from "./bundle.js";
import { everyLog, isSameLog } from "./sameOutcome.js";
import { traceEmitter, transfersOf } from "../../effects/movements.js";
import { effectsIn } from "../../effects/effects.js";
import { describeResult } from "../../abi/print.js";
import { argumentsAt, isBurning } from "../../abi/words.js";
import { isRecord } from "../../primitives/record.js";
import { address, count, type Figure, units } from "../../primitives/statement.js";
import type { Transaction } from "../../transaction/fields.js";

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
  trace: null,
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

/**
 * Why a call failed. Some nodes answer every failure alike: a revert without data that consumed all
 * its gas is a halt (out of gas, invalid opcode), for a revert gives the rest back.
 */
const failureOf = (call: Eth.CallResult, gas: bigint): Verdict => {
  const { failure } = call;
  if (failure === null || failure._tag === "RpcError") return new VmHalt({ halt: failure?.reason.detail ?? null });
  const isSilent = failure._tag === "ExecutionReverted" && (failure.data ?? "0x") === "0x" && call.gasUsed >= gas;
  return isSilent
    ? new VmHalt({ halt: "all gas consumed: out of gas, or an invalid instruction", raw: failure.raw })
    : failure;
};

const frozen = (event: DecodedLog | null): DecodedLog | null => {
  if (event !== null) [event.topics, event.provenance, ...event.provenance].forEach(Object.freeze);
  return Object.freeze(event);
};

/** Decodes the logs and the return value of a successful call by ABIs. Nobody can change it: it is handed out again. */
const decode = ({ logs, returnData }: Eth.CallResult, { item }: Transaction, abis: AbiIndex) => ({
  ...{ abis, logs, returnData },
  events: logs.map((log) => frozen(decodeLog(log, abis))),
  result: item === null ? null : Object.freeze(decodeResult(returnData, item)),
});

/** By transaction, of the run that was read last: the others nearly always say the same. */
const lastDecoded = new WeakMap<Transaction, ReturnType<typeof decode>>();

const decodedOf = (call: Eth.CallResult, input: Transaction, abis: AbiIndex): ReturnType<typeof decode> => {
  const last = lastDecoded.get(input);
  if (last?.abis === abis && last.returnData === call.returnData && everyLog(last, call, isSameLog)) return last;
  const decoded = decode(call, input, abis);
  lastDecoded.set(input, decoded);
  return decoded;
};

/**
 * One simulated call, the `transaction`-th of its run, read; its failure is explained already. A failed call leaves no
 * logs, whatever the node lists.
 */
export const readCall = (
  result: Eth.CallResult,
  { input, gas }: { readonly input: Transaction; readonly gas: bigint },
  of: { readonly transaction: number; readonly abis: AbiIndex; readonly evidence: Evidence },
): Reading => {
  const failure = result.status === "success" ? null : failureOf(result, gas);
  const { transaction, abis, evidence } = of;
  const decoded = failure === null ? decodedOf(result, input, abis) : null;
  // why: a report may be changed in place, so every run has logs of its own
  const traced = Arr.zip(result.logs, decoded?.events ?? []).map(([log, event]): OutcomeLog => {
    const { topics, data } = log;
    return { address: lower(log.address), topics, data, decoded: event };
  });
  const reverted = failure?._tag === "ExecutionReverted" ? failure : null;
  const outcome: Outcome = {
    status: failure === null ? "success" : reverted !== null ? "reverted" : "halted",
    gasUsed: result.gasUsed,
    maxUsedGas: result.maxUsedGas,
    returnData: reverted === null ? result.returnData : reverted.data,
    result: decoded?.result ?? null,
    logs: traced.filter(({ address }) => address !== traceEmitter),
    trace: null,
    revert: reverted?.revert ?? null,
    failure,
    evidence,
  };
  return { outcome, transfers: withValue(transfersOf(traced, transaction, evidence), input, outcome, transaction) };
};

/** The movements of a call, that of its value in front: where nothing tells of native ones, the first is known all the same. */
const withValue = (
  transfers: ReadonlyArray<Transfer>,
  { from, to, value }: Transaction,
  { failure }: Outcome,
  transaction: number,
): ReadonlyArray<Transfer> => {
  const isTold = transfers.some(({ standard }) => standard === "native") || failure !== null || value === 0n;
  if (isTold || to === null) return transfers;
  const native = { standard: "native", token: null, from, to, amount: value, tokenId: null, transaction } as const;
  return [{ ...native, evidence: "assumed" }, ...transfers];
};

/** Functions that many contracts answer, and nothing else, by their selectors: the name, and the type it returns. */
const readers: Readonly<Record<string, readonly [name: string, type: string]>> = {
  "0x70a08231": ["balanceOf", "uint256"],
  "0xdd62ed3e": ["allowance", "uint256"],
  "0x18160ddd": ["totalSupply", "uint256"],
  "0x313ce567": ["decimals", "uint8"],
  "0x95d89b41": ["symbol", "string"],
  "0x06fdde03": ["name", "string"],
  "0x6352211e": ["ownerOf", "address"],
  "0xe985e9c5": ["isApprovedForAll", "bool"],
  "0x081812fc": ["getApproved", "address"],
  "0xc87b56dd": ["tokenURI", "string"],
};

const readerOf = (data: string) => {
  const [name, type] = readers[data.slice(0, argumentsAt).toLowerCase()] ?? [];
  if (name === undefined || type === undefined) return null;
  return { type: "function", name, stateMutability: "view", inputs: [], outputs: [{ name: "", type }] };
};

const reading: ReadonlySet<unknown> = new Set(["view", "pure"]);

/** The function that a call only reads by, and what it answered; null where it may do more, or no function is known. */
export const onlyReads = ({ item: known, data }: Pick<Transaction, "item" | "data">, returned: Hex) => {
  const item = known ?? readerOf(data);
  if (!isRecord(item) || !reading.has(item["stateMutability"]) || typeof item["name"] !== "string") return null;
  const result = decodeResult(returned, item);
  const name = known === null ? `${item["name"]} (by selector)` : item["name"];
  return { name, result: result === null ? null : describeResult(result), isGuess: known === null };
};

/**
 * The receiver is the zero address or another address that people burn by. Nobody has its key, so the value is lost.
 * @figures wei("value", ether)
 */
export const ValueBurned = code("code", ["warning"], "ValueBurned", [
  "value is sent to an address that nobody controls, where nobody can spend it",
  "check the receiver",
]);

/** `values` go to an account that nobody controls. */
export const burned = (where: Where, receiver: Address, ...values: ReadonlyArray<Figure | null>): Finding =>
  ValueBurned.warning(where, ...values, address("to", receiver));

/**
 * A warning for each token that is burned so. A contract that destroys what it is given back, such as a pool's share, is
 * no such thing: there nobody names the receiver.
 */
export const burns = (entry: Ran): ReadonlyArray<Finding> =>
  effectsIn([entry], "call").flatMap(({ call, receiver, transaction }) => {
    if (receiver === null || !isBurning(receiver)) return [];
    const transfer = entry.transfers.find((other) => other.token === call.to && other.to === receiver);
    if (transfer === undefined) return [];
    const { standard, token, tokenId, amount } = transfer;
    const most = standard === "erc721" ? null : units("amount", amount);
    const numbers = [address("token", token), tokenId === null ? null : count("id", tokenId), most];
    return [burned({ transaction, evidence: entry.outcome.evidence }, receiver, ...numbers)];
  });
