/**
 * The node's methods, typed: parameters written to the wire, answers decoded once into bigint,
 * number and branded hex. Unknown extra fields are dropped; a missing or wrong field is
 * `RpcError` with `MalformedResponse` and its path. Every other failure is what the node said, classified.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Hash, Hex } from "./primitives/hex.js";
import { BlockNotFound, RpcError } from "./errors/rpc.js";
import { ask, type Failure } from "./eth/ask.js";
import { Block, FeeHistory } from "./eth/block.js";
import { decoder, malformed, type Decoder } from "./eth/decode.js";
import * as Encode from "./eth/encode.js";
import { askLogs } from "./eth/getLogs.js";
import type { Log } from "./eth/log.js";
import type {
  BlockOverrides,
  BlockParameter,
  BlockStateCall,
  BlockTag,
  CallRequest,
  LogFilter,
  StateOverrides,
} from "./eth/parameters.js";
import { Receipt } from "./eth/receipt.js";
import { readSimulation, type SimulatedBlock } from "./eth/simulation.js";
import { list } from "./eth/shape.js";
import { Bytes, Index, Quantity, Word } from "./eth/wire.js";
import type { Rpc } from "./Rpc.js";
import { judging } from "./rpc/judging.js";

export type { Failure } from "./eth/ask.js";
export type { Block, FeeHistory } from "./eth/block.js";
export type { Address, Hash, Hex } from "./primitives/hex.js";
export type { Log } from "./eth/log.js";
export type { AskedRows, OverrideRow } from "./eth/overrides.js";
export type {
  AccessListEntry,
  AccountOverride,
  AuthorizationEntry,
  BlockOverrides,
  BlockParameter,
  BlockStateCall,
  BlockTag,
  CallFields,
  CallRequest,
  Integer,
  LogFilter,
  Maybe,
  StateOverrides,
  TopicFilter,
  Withdrawal,
  Written,
} from "./eth/parameters.js";
export type { Receipt } from "./eth/receipt.js";
export type { ObjectShape, Shape } from "./eth/shape.js";
export type { CallResult, SimulatedBlock, SimulatedTransaction } from "./eth/simulation.js";

type Faults = Encode.Faults;

const quantityOf = (method: string): Decoder<bigint> => decoder(method, Quantity);
const bytesOf = (method: string): Decoder<Hex> => decoder(method, Bytes);

const readCall = bytesOf("eth_call");
const readCode = bytesOf("eth_getCode");
const readEstimate = quantityOf("eth_estimateGas");
const readCount = quantityOf("eth_getTransactionCount");
const readBalance = quantityOf("eth_getBalance");
const readChainId = decoder("eth_chainId", Index);
const readFeeHistory = decoder("eth_feeHistory", FeeHistory);
const readSent = decoder("eth_sendRawTransaction", Word);
const readReceipts = decoder("eth_getBlockReceipts", list(Receipt));
const readBlock = {
  eth_getBlockByNumber: decoder("eth_getBlockByNumber", Block),
  eth_getBlockByHash: decoder("eth_getBlockByHash", Block),
};

const unknownBlock = (method: string): RpcError => new RpcError({ method, reason: new BlockNotFound({ detail: "" }) });

/** A message call, and what to pretend for it. */
export interface Pretending extends CallRequest {
  readonly stateOverrides?: StateOverrides | null | undefined;
  readonly blockOverrides?: BlockOverrides | null | undefined;
}

/** The overrides stand behind the block: positional, so nothing is written where nothing follows. */
const callOn =
  (parameters: Pretending, block: BlockParameter) =>
  (faults: Faults): ReadonlyArray<unknown> => {
    const asked = [Encode.callRequest(parameters, "call", faults), Encode.blockParameter(block, "block", faults)];
    const { stateOverrides, blockOverrides } = parameters;
    const hasBlock = blockOverrides !== undefined && blockOverrides !== null;
    if (hasBlock || (stateOverrides !== undefined && stateOverrides !== null))
      asked.push(Encode.stateOverrides(stateOverrides ?? {}, "stateOverrides", faults));
    if (hasBlock) asked.push(Encode.blockOverrides(blockOverrides, "blockOverrides", faults));
    return asked;
  };

/**
 * Logs matching a filter, over a range of any width: asked in pieces below 2,000 blocks, one after
 * another, and in smaller ones where the node says so. `blockHash` wins over the range.
 *
 * JSON-RPC: `eth_getLogs`; `eth_getBlockByNumber` when one end of a range is a tag.
 */
export const getLogs = (filter: LogFilter): Effect.Effect<ReadonlyArray<Log>, Failure, Rpc> =>
  askLogs(filter, (tag) => Effect.map(getBlock({ block: tag }), ({ number }) => number));

/**
 * The bytes that a message call returns.
 *
 * JSON-RPC: `eth_call`.
 */
export const call = (parameters: Pretending & { readonly block: BlockParameter }): Effect.Effect<Hex, Failure, Rpc> =>
  ask("eth_call", callOn(parameters, parameters.block), readCall);

/**
 * Simulates calls in one or more blocks: one result per entry of `blocks`, one per call.
 *
 * JSON-RPC: `eth_simulateV1`.
 */
export const simulateV1 = (parameters: {
  readonly blocks: ReadonlyArray<BlockStateCall>;
  /** Lists ETH transfers as logs; default false. */
  readonly traceTransfers?: boolean | null | undefined;
  /** Checks nonces, balances and fees as for a real block; default false. */
  readonly validation?: boolean | null | undefined;
  readonly returnFullTransactions?: boolean | null | undefined;
  readonly block: BlockParameter;
}): Effect.Effect<ReadonlyArray<SimulatedBlock>, Failure, Rpc> => {
  const { blocks: blockStateCalls, traceTransfers, validation, returnFullTransactions, block } = parameters;
  const asked = ask(
    "eth_simulateV1",
    (faults) => [
      Encode.simulationPayload(
        { blockStateCalls, traceTransfers, validation, returnFullTransactions },
        "simulation",
        faults,
      ),
      Encode.blockParameter(block, "block", faults),
    ],
    Result.succeed,
  );
  return Effect.flatMap(asked, (result) =>
    Effect.flatMap(
      judging((classify) => readSimulation(result, blockStateCalls, classify)),
      Effect.fromResult,
    ),
  );
};

/**
 * All receipts of a block; `BlockNotFound` when the node has no such block.
 *
 * JSON-RPC: `eth_getBlockReceipts`. Public endpoints refuse it with HTTP 403: `MethodNotPermitted`.
 */
export const getBlockReceipts = (parameters: {
  readonly block: BlockParameter;
}): Effect.Effect<ReadonlyArray<Receipt>, Failure, Rpc> =>
  ask(
    "eth_getBlockReceipts",
    (faults) => [Encode.blockParameter(parameters.block, "block", faults)],
    (result) => {
      if (result === null) return Result.fail(unknownBlock("eth_getBlockReceipts"));
      return Result.flatMap(readReceipts(result), (receipts) => {
        const bare = receipts.findIndex(({ status, root }) => status === null && root === null);
        return bare < 0
          ? Result.succeed(receipts)
          : Result.fail(malformed("eth_getBlockReceipts", `result[${bare}].status`, "neither status nor root"));
      });
    },
  );

/**
 * Gas that a transaction needs; may exceed what it uses.
 *
 * JSON-RPC: `eth_estimateGas`. `block` is `latest` when absent, and always sent.
 */
export const estimateGas = (
  parameters: Pretending & { readonly block?: BlockParameter | undefined },
): Effect.Effect<bigint, Failure, Rpc> =>
  ask("eth_estimateGas", callOn(parameters, parameters.block ?? "latest"), readEstimate);

/** An account at a block. */
export interface AtAccount {
  readonly address: string;
  readonly block: BlockParameter;
}
const atAccount =
  ({ address, block }: AtAccount) =>
  (faults: Faults): ReadonlyArray<unknown> => [
    Encode.bytes(address, "address", faults),
    Encode.blockParameter(block, "block", faults),
  ];

/**
 * The nonce for the next transaction of an address.
 *
 * JSON-RPC: `eth_getTransactionCount`.
 */
export const getTransactionCount = (parameters: AtAccount): Effect.Effect<bigint, Failure, Rpc> =>
  ask("eth_getTransactionCount", atAccount(parameters), readCount);

/**
 * The code at an address; `0x` when there is none.
 *
 * JSON-RPC: `eth_getCode`.
 */
export const getCode = (parameters: AtAccount): Effect.Effect<Hex, Failure, Rpc> =>
  ask("eth_getCode", atAccount(parameters), readCode);

/**
 * Wei of an address.
 *
 * JSON-RPC: `eth_getBalance`.
 */
export const getBalance = (parameters: AtAccount): Effect.Effect<bigint, Failure, Rpc> =>
  ask("eth_getBalance", atAccount(parameters), readBalance);

/** JSON-RPC: `eth_chainId`. */
export const chainId: Effect.Effect<number, Failure, Rpc> = ask("eth_chainId", () => [], readChainId);

/**
 * A block's header and its transactions' hashes; `BlockNotFound` when the node has no such block.
 *
 * JSON-RPC: `eth_getBlockByNumber`, or `eth_getBlockByHash` for a hash.
 */
export const getBlock = ({ block }: { readonly block: BlockParameter }): Effect.Effect<Block, Failure, Rpc> => {
  const named = typeof block === "object" ? ("blockHash" in block ? block.blockHash : block.blockNumber) : block;
  const method = typeof named === "string" && named.startsWith("0x") ? "eth_getBlockByHash" : "eth_getBlockByNumber";
  return ask(
    method,
    (faults) => [Encode.blockParameter(named, "block", faults), false],
    (result) => (result === null ? Result.fail(unknownBlock(method)) : readBlock[method](result)),
  );
};

/**
 * Base fees and tips of the blocks up to `newestBlock`, and the base fee of the one after it.
 *
 * JSON-RPC: `eth_feeHistory`.
 */
export const feeHistory = (parameters: {
  readonly blockCount: number;
  readonly newestBlock: bigint | number | BlockTag;
  /** 0 to 100, ascending. */
  readonly rewardPercentiles: ReadonlyArray<number>;
}): Effect.Effect<FeeHistory, Failure, Rpc> =>
  ask(
    "eth_feeHistory",
    (faults) => [
      Encode.quantity(parameters.blockCount, "blockCount", faults),
      Encode.heightOrTag(parameters.newestBlock, "newestBlock", faults),
      parameters.rewardPercentiles,
    ],
    readFeeHistory,
  );

/**
 * Broadcasts a signed transaction: its hash. Never tried twice.
 *
 * JSON-RPC: `eth_sendRawTransaction`.
 */
export const sendRawTransaction = (parameters: {
  readonly serializedTransaction: Hex | `0x${string}`;
}): Effect.Effect<Hash, Failure, Rpc> =>
  ask(
    "eth_sendRawTransaction",
    (faults) => [Encode.bytes(parameters.serializedTransaction, "serializedTransaction", faults)],
    readSent,
  );
