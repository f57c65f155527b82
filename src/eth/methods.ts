/** The methods of the node, one request each. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { indexAbis, indexOf, type AbiSources } from "../abi/abiIndex.js";
import { ask, unknownBlock, type Failure } from "./ask.js";
import { Block, FeeHistory, Receipt } from "./block.js";
import { checkBlooms } from "./bloom.js";
import { askCall, explain } from "./call.js";
import * as Encode from "./encode.js";
import type { BlockParameter, CallRequest, Simulation } from "./parameters.js";
import { Bytes, decoder, Index, list, Quantity, Word } from "./shape.js";
import { readSimulation, type SimulatedBlock } from "./simulation.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { isRecord, safely } from "../primitives/record.js";
import type { Rpc } from "../rpc/index.js";
import { malformed } from "../rpc/judging.js";

export type { Failure } from "./ask.js";
export type { Block, FullBlock, FullTransaction, Head, Header, Log, Receipt } from "./block.js";
export { getFullBlock, getTransaction, getTransactionReceipt } from "./transactions.js";
export type {
  BlockOverrides,
  BlockParameter,
  CallRequest,
  LogFilter,
  Simulation,
  StateOverrides,
} from "./parameters.js";
export type { ObjectShape, Shape } from "./shape.js";
export type { CallResult, SimulatedBlock } from "./simulation.js";
export type { Address, Hash, Hex } from "../primitives/hex.js";

const noAbis = indexAbis([]);

const readReceipts = decoder("eth_getBlockReceipts", list(Receipt));

/** The answer to what is asked without `abis`, which no node knows; of a failure what its revert says. */
const explained = <A, Asked extends CallRequest & { readonly abis?: AbiSources | undefined }>(
  asked: Asked,
  request: (parameters: Omit<Asked, "abis">) => Effect.Effect<A, Failure, Rpc>,
): Effect.Effect<A, Failure, Rpc> => {
  // why: parameters in a row have no fields, and are refused by their writer
  if (!isRecord(asked)) return request(asked);
  const { abis = [], ...parameters } = asked;
  return request(parameters).pipe(
    Effect.catch((failure) => {
      // why: what is no ABI explains nothing
      const index = safely(() => indexOf(abis), noAbis);
      return Effect.flatMap(explain(failure, parameters.to ?? null, index), Effect.fail);
    }),
  );
};

/**
 * The bytes that a message call returns. `to` must be there, for a deployment is no call. `ExecutionReverted`
 * carries what the revert says, by `abis` and the built-in errors.
 *
 * JSON-RPC: `eth_call`.
 */
export const call = (
  parameters: CallRequest &
    Omit<Simulation["blocks"][number], "calls"> & {
      readonly to: Address;
      readonly block: BlockParameter;
      /** ABIs that may explain a revert, before the built-in errors. */
      readonly abis?: AbiSources | undefined;
    },
): Effect.Effect<Hex, Failure, Rpc> => explained(parameters, (request) => askCall(request, false));

/**
 * Simulates calls in one or more blocks: one result per entry of `blocks`, one per call. With `fillers` also the
 * blocks that the node puts between two numbers; `entry` says which is which.
 *
 * JSON-RPC: `eth_simulateV1`.
 */
export const simulateV1 = (parameters: Simulation): Effect.Effect<ReadonlyArray<SimulatedBlock>, Failure, Rpc> =>
  Effect.flatMap(
    // why: an answer of megabytes is parsed in one turn of the event loop, and read in another
    Effect.tap(
      ask("eth_simulateV1", (faults) => Encode.simulation(parameters, faults), Result.succeed),
      Effect.yieldNow,
    ),
    (result) => readSimulation(result, parameters),
  );

/**
 * All receipts of a block; `BlockNotFound` when the node has no such block.
 *
 * JSON-RPC: `eth_getBlockReceipts`. Public endpoints refuse it with HTTP 403: `MethodNotPermitted`.
 */
export const getBlockReceipts = (parameters: {
  readonly block: BlockParameter;
}): Effect.Effect<ReadonlyArray<Receipt>, Failure, Rpc> =>
  Effect.tap(
    ask("eth_getBlockReceipts", Encode.onBlock(parameters), (result) => {
      if (result === null) return Result.fail(unknownBlock("eth_getBlockReceipts"));
      return Result.flatMap(readReceipts(result), (receipts) => {
        const bare = receipts.findIndex(({ status, root }) => status === null && root === null);
        return bare < 0
          ? Result.succeed(receipts)
          : Result.fail(malformed("eth_getBlockReceipts", `result[${bare}].status`, "neither status nor root"));
      });
    }),
    (receipts) => checkBlooms("eth_getBlockReceipts", receipts, (place) => `result[${place}]`),
  );

/**
 * Gas that a transaction needs; may exceed what it uses. Reverts as {@link call} does.
 *
 * JSON-RPC: `eth_estimateGas`. `block` is `latest` when absent, and always sent. One of `to` and `data` must be there.
 */
export const estimateGas = (
  parameters: CallRequest &
    Omit<Simulation["blocks"][number], "calls"> & {
      readonly block?: BlockParameter | undefined;
      /** ABIs that may explain a revert, before the built-in errors. */
      readonly abis?: AbiSources | undefined;
    },
): Effect.Effect<bigint, Failure, Rpc> =>
  explained(parameters, (request) =>
    ask(
      "eth_estimateGas",
      (faults) => {
        const params = Encode.call(request, request?.block ?? "latest", faults);
        const [written] = params;
        if (isRecord(written) && !("to" in written || "data" in written))
          faults.push("call.to: required, for a deployment has data");
        return params;
      },
      Quantity,
    ),
  );

/**
 * The nonce for the next transaction of an address.
 *
 * JSON-RPC: `eth_getTransactionCount`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Eth, Rpc } from "evm-preflight";
 *
 * const next = await Eth.getTransactionCount({
 *   address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   block: "pending",
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(next); // 0n
 * ```
 */
export const getTransactionCount = (parameters: {
  readonly address: string;
  readonly block: BlockParameter;
}): Effect.Effect<bigint, Failure, Rpc> => ask("eth_getTransactionCount", Encode.atAccount(parameters), Quantity);

/**
 * The code at an address; `0x` when there is none.
 *
 * JSON-RPC: `eth_getCode`.
 */
export const getCode = (parameters: {
  readonly address: string;
  readonly block: BlockParameter;
}): Effect.Effect<Hex, Failure, Rpc> => ask("eth_getCode", Encode.atAccount(parameters), Bytes);

/**
 * Wei of an address.
 *
 * JSON-RPC: `eth_getBalance`.
 */
export const getBalance = (parameters: {
  readonly address: string;
  readonly block: BlockParameter;
}): Effect.Effect<bigint, Failure, Rpc> => ask("eth_getBalance", Encode.atAccount(parameters), Quantity);

/** JSON-RPC: `eth_chainId`. */
export const chainId: Effect.Effect<number, Failure, Rpc> = ask("eth_chainId", () => [], Index);

/**
 * A block's header and its transactions' hashes; `BlockNotFound` when the node has no such block. Whether a hash is
 * `requireCanonical` cannot be asked here.
 *
 * JSON-RPC: `eth_getBlockByNumber`, or `eth_getBlockByHash` for a hash.
 */
export const getBlock = (parameters: { readonly block: BlockParameter }): Effect.Effect<Block, Failure, Rpc> => {
  const block: unknown = isRecord(parameters) ? parameters.block : null;
  const named: unknown = isRecord(block) && "blockHash" in block ? block["blockHash"] : block;
  const method = typeof named === "string" && named.length === 66 ? "eth_getBlockByHash" : "eth_getBlockByNumber";
  return ask(
    method,
    (faults) => {
      const [wire] = Encode.onBlock(parameters)(faults);
      return [isRecord(wire) ? (wire["blockHash"] ?? wire["blockNumber"]) : wire, false];
    },
    (result) => (result === null ? Result.fail(unknownBlock(method)) : decoder(method, Block)(result)),
  );
};

/**
 * Base fees and tips of the blocks up to `newestBlock`, and the base fee of the one after it.
 *
 * JSON-RPC: `eth_feeHistory`.
 */
export const feeHistory = (parameters: {
  /** Number of blocks. */
  readonly blockCount: number;
  /** The last of them. */
  readonly newestBlock: Exclude<BlockParameter, Hash | object>;
  /** 0 to 100, ascending. */
  readonly rewardPercentiles: ReadonlyArray<number>;
}): Effect.Effect<typeof FeeHistory.Type, Failure, Rpc> =>
  ask("eth_feeHistory", Encode.feeRange(parameters), FeeHistory);

/**
 * Broadcasts a signed transaction: its hash. Never tried twice.
 *
 * JSON-RPC: `eth_sendRawTransaction`.
 */
export const sendRawTransaction = (parameters: {
  readonly serializedTransaction: Hex | `0x${string}`;
}): Effect.Effect<Hash, Failure, Rpc> => ask("eth_sendRawTransaction", Encode.sending(parameters), Word);
