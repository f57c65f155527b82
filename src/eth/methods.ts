/** The methods of the node, one request each. */
import * as Effect from "effect/Effect";
import { indexAbis, indexOf, type AbiSources } from "../abi/abiIndex.js";
import { ask, send, type Failure } from "./ask.js";
import type { Block, FeeHistory, Receipt } from "./block.js";
import { callOf, explain } from "./call.js";
import * as Encode from "./encode.js";
import type { BlockParameter, CallRequest, Simulation } from "./parameters.js";
import * as Questions from "./questions.js";
import { Word } from "./shape.js";
import { readSimulation, type SimulatedBlock } from "./simulation.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { isRecord, safely } from "../primitives/record.js";
import type { Rpc } from "../rpc/index.js";

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
): Effect.Effect<Hex, Failure, Rpc> => explained(parameters, (request) => send(callOf(request, false)));

/**
 * Simulates calls in one or more blocks: one result per entry of `blocks`, one per call. With `fillers` also the
 * blocks that the node puts between two numbers; `entry` says which is which.
 *
 * JSON-RPC: `eth_simulateV1`.
 */
export const simulateV1 = (parameters: Simulation): Effect.Effect<ReadonlyArray<SimulatedBlock>, Failure, Rpc> =>
  Effect.flatMap(send(Questions.simulation(parameters)), (result) => readSimulation(result, parameters));

/**
 * All receipts of a block; `BlockNotFound` when the node has no such block.
 *
 * JSON-RPC: `eth_getBlockReceipts`. Public endpoints refuse it with HTTP 403: `MethodNotPermitted`.
 */
export const getBlockReceipts = (parameters: {
  readonly block: BlockParameter;
}): Effect.Effect<ReadonlyArray<Receipt>, Failure, Rpc> =>
  Effect.tap(send(Questions.receipts(parameters)), Questions.checkReceipts);

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
): Effect.Effect<bigint, Failure, Rpc> => explained(parameters, (request) => send(Questions.gas(request)));

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
}): Effect.Effect<bigint, Failure, Rpc> => send(Questions.count(parameters));

/**
 * The code at an address; `0x` when there is none.
 *
 * JSON-RPC: `eth_getCode`.
 */
export const getCode = (parameters: {
  readonly address: string;
  readonly block: BlockParameter;
}): Effect.Effect<Hex, Failure, Rpc> => send(Questions.code(parameters));

/**
 * Wei of an address.
 *
 * JSON-RPC: `eth_getBalance`.
 */
export const getBalance = (parameters: {
  readonly address: string;
  readonly block: BlockParameter;
}): Effect.Effect<bigint, Failure, Rpc> => send(Questions.balance(parameters));

/** JSON-RPC: `eth_chainId`. */
export const chainId: Effect.Effect<number, Failure, Rpc> = send(Questions.chainId);

/**
 * A block's header and its transactions' hashes; `BlockNotFound` when the node has no such block. Whether a hash is
 * `requireCanonical` cannot be asked here.
 *
 * JSON-RPC: `eth_getBlockByNumber`, or `eth_getBlockByHash` for a hash.
 */
export const getBlock = (parameters: { readonly block: BlockParameter }): Effect.Effect<Block, Failure, Rpc> =>
  send(Questions.block(parameters));

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
}): Effect.Effect<typeof FeeHistory.Type, Failure, Rpc> => send(Questions.feeHistory(parameters));

/**
 * Broadcasts a signed transaction: its hash. Never tried twice.
 *
 * JSON-RPC: `eth_sendRawTransaction`.
 */
export const sendRawTransaction = (parameters: {
  readonly serializedTransaction: Hex | `0x${string}`;
}): Effect.Effect<Hash, Failure, Rpc> => ask("eth_sendRawTransaction", Encode.sending(parameters), Word);
