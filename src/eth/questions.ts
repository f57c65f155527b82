/** The questions that a report asks, as data: `methods` sends each by itself, a round many together. */
import * as Result from "effect/Result";
import type { Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { malformed } from "../rpc/judging.js";
import { question, unknownBlock } from "./ask.js";
import { Block, FeeHistory, Receipt } from "./block.js";
import { checkBlooms } from "./bloom.js";
import * as Encode from "./encode.js";
import type { BlockParameter, CallRequest, Simulation } from "./parameters.js";
import { Bytes, decoder, Index, list, Quantity, Word } from "./shape.js";

/** `eth_chainId`. */
export const chainId = question("eth_chainId", () => [], Index);

/** `eth_config`, as it came. */
export const config = question("eth_config", () => [], Result.succeed);

/** `eth_getBlockByNumber` on `pending`, with its transactions, as it came. */
export const pending = question("eth_getBlockByNumber", () => ["pending", true], Result.succeed);

/** `eth_simulateV1`, as it came: `readSimulation` reads it. */
export const simulation = (parameters: Simulation) =>
  question("eth_simulateV1", (faults) => Encode.simulation(parameters, faults), Result.succeed);

/** `eth_getTransactionCount`. */
export const count = (parameters: { readonly address: string; readonly block: BlockParameter }) =>
  question("eth_getTransactionCount", Encode.atAccount(parameters), Quantity);

/** `eth_getCode`. */
export const code = (parameters: { readonly address: string; readonly block: BlockParameter }) =>
  question("eth_getCode", Encode.atAccount(parameters), Bytes);

/** `eth_getStorageAt`. */
export const storage = (parameters: {
  readonly address: string;
  readonly slot: Hash;
  readonly block: BlockParameter;
}) => question("eth_getStorageAt", Encode.atSlot(parameters), Word);

/** `eth_getBalance`. */
export const balance = (parameters: { readonly address: string; readonly block: BlockParameter }) =>
  question("eth_getBalance", Encode.atAccount(parameters), Quantity);

/** `eth_feeHistory`. */
export const feeHistory = (parameters: Parameters<typeof Encode.feeRange>[0]) =>
  question("eth_feeHistory", Encode.feeRange(parameters), FeeHistory);

/** `eth_getBlockByNumber`, or `eth_getBlockByHash` for a hash. */
export const block = (parameters: { readonly block: BlockParameter }) => {
  const asked: unknown = isRecord(parameters) ? parameters.block : null;
  const named: unknown = isRecord(asked) && "blockHash" in asked ? asked["blockHash"] : asked;
  const method = typeof named === "string" && named.length === 66 ? "eth_getBlockByHash" : "eth_getBlockByNumber";
  return question(
    method,
    (faults) => {
      const [wire] = Encode.onBlock(parameters)(faults);
      return [isRecord(wire) ? (wire["blockHash"] ?? wire["blockNumber"]) : wire, false];
    },
    (result) => (result === null ? Result.fail(unknownBlock(method)) : decoder(method, Block)(result)),
  );
};

const readReceipts = decoder("eth_getBlockReceipts", list(Receipt));

/** `eth_getBlockReceipts`; see {@link checkReceipts}. */
export const receipts = (parameters: { readonly block: BlockParameter }) =>
  question("eth_getBlockReceipts", Encode.onBlock(parameters), (result) => {
    if (result === null) return Result.fail(unknownBlock("eth_getBlockReceipts"));
    return Result.flatMap(readReceipts(result), (all) => {
      const bare = all.findIndex(({ status, root }) => status === null && root === null);
      return bare < 0
        ? Result.succeed(all)
        : Result.fail(malformed("eth_getBlockReceipts", `result[${bare}].status`, "neither status nor root"));
    });
  });

/** Fails where a bloom of the receipts is not of their logs. */
export const checkReceipts = (all: ReadonlyArray<Receipt>) =>
  checkBlooms("eth_getBlockReceipts", all, (place) => `result[${place}]`);

/** `eth_estimateGas`. */
export const gas = (
  parameters: CallRequest &
    Omit<Simulation["blocks"][number], "calls"> & { readonly block?: BlockParameter | undefined },
) =>
  question(
    "eth_estimateGas",
    (faults) => {
      const params = Encode.call(parameters, parameters?.block ?? "latest", faults);
      const [written] = params;
      if (isRecord(written) && !("to" in written || "data" in written))
        faults.push("call.to: required, for a deployment has data");
      return params;
    },
    Quantity,
  );
