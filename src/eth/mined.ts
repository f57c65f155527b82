/** What became of a transaction: the answers about it, by its hash, and about the block that holds it. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Hash } from "../primitives/hex.js";
import type { Rpc } from "../Rpc.js";
import { ask, unknownBlock, type Failure } from "./ask.js";
import { FullBlock, Receipt, FullTransaction } from "./block.js";
import { contradicts } from "./bloom.js";
import { decoder, nullOr } from "./shape.js";
import { malformed } from "../rpc/answer.js";
import { quantity, word, type Faults } from "./encode.js";

const readReceipt = /* @__PURE__ */ decoder("eth_getTransactionReceipt", /* @__PURE__ */ nullOr(Receipt));
const readTransaction = /* @__PURE__ */ decoder("eth_getTransactionByHash", /* @__PURE__ */ nullOr(FullTransaction));

const byHash =
  (hash: Hash) =>
  (faults: Faults): ReadonlyArray<unknown> => [word(hash, "hash", faults)];

const isOther = (one: string, other: string): boolean => one.toLowerCase() !== other.toLowerCase();

/**
 * The receipt of a transaction; null while it is not mined, or where the node does not know it.
 *
 * JSON-RPC: `eth_getTransactionReceipt`.
 */
export const getTransactionReceipt = (parameters: {
  readonly hash: Hash;
}): Effect.Effect<Receipt | null, Failure, Rpc> => {
  const method = "eth_getTransactionReceipt";
  return ask(method, byHash(parameters.hash), (result) =>
    Result.flatMap(readReceipt(result), (receipt) =>
      receipt !== null && isOther(receipt.transactionHash, parameters.hash)
        ? Result.fail(malformed(method, "result.transactionHash", "of another transaction"))
        : receipt?.logs != null && contradicts(receipt.logsBloom, receipt.logs)
          ? Result.fail(malformed(method, "result.logsBloom", "not of the logs"))
          : Result.succeed(receipt),
    ),
  );
};

/**
 * A transaction, mined or pending; null where the node does not know it.
 *
 * JSON-RPC: `eth_getTransactionByHash`.
 */
export const getTransaction = (parameters: {
  readonly hash: Hash;
}): Effect.Effect<FullTransaction | null, Failure, Rpc> => {
  const method = "eth_getTransactionByHash";
  return ask(method, byHash(parameters.hash), (result) =>
    Result.flatMap(readTransaction(result), (transaction) =>
      transaction !== null && isOther(transaction.hash, parameters.hash)
        ? Result.fail(malformed(method, "result.hash", "another transaction"))
        : Result.succeed(transaction),
    ),
  );
};

/**
 * A mined block with its transactions in full; `BlockNotFound` when the node has no such block.
 *
 * JSON-RPC: `eth_getBlockByHash` for a hash, `eth_getBlockByNumber` for a number.
 */
export const getFullBlock = (parameters: { readonly block: Hash | bigint }): Effect.Effect<FullBlock, Failure, Rpc> => {
  const { block } = parameters;
  const method = typeof block === "bigint" ? "eth_getBlockByNumber" : "eth_getBlockByHash";
  return ask(
    method,
    (faults) => [typeof block === "bigint" ? quantity(block, "block", faults) : word(block, "block", faults), true],
    (result) => {
      if (result === null) return Result.fail(unknownBlock(method));
      return Result.flatMap(decoder(method, FullBlock)(result), (found) => {
        const isWrong = typeof block === "bigint" ? found.number !== block : isOther(found.hash, block);
        return isWrong ? Result.fail(malformed(method, "result", "another block")) : Result.succeed(found);
      });
    },
  );
};
