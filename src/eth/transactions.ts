/**
 * Reads a transaction by its hash, with the block that holds it; and the transactions of one account in a node's pool,
 * with fees and values, by whichever method the node answers.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { copyOf } from "../primitives/copy.js";
import type { Address, Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { Rpc } from "../rpc/index.js";
import { malformed } from "../rpc/judging.js";
import { ask, unknownBlock, type Failure } from "./ask.js";
import { FullBlock, FullTransaction, Receipt } from "./block.js";
import { checkBlooms } from "./bloom.js";
import { byHash, onBlock } from "./encode.js";
import { Account, decoder, list, nullOr, struct, Word } from "./shape.js";
import { quantity } from "./write.js";

const readReceipt = /* @__PURE__ */ decoder("eth_getTransactionReceipt", /* @__PURE__ */ nullOr(Receipt));
/** The same, of whoever else answers. */
export const readTransaction = /* @__PURE__ */ decoder(
  "eth_getTransactionByHash",
  /* @__PURE__ */ nullOr(FullTransaction),
);

/** Receipts that came in the answer to a send, each with a copy that nobody else can change. */
const ofSends = new WeakMap<object, Receipt>();

/** True if this receipt came in the answer to a send. */
export const isOfSend = (value: unknown): value is Receipt => isRecord(value) && ofSends.has(value);

/** The receipt as it came, whatever became of it since; null where it came in no answer to a send. */
export const receiptOfSend = (value: unknown): Receipt | null =>
  isOfSend(value) ? (ofSends.get(value) ?? null) : null;

const isOther = (text: string, other: string): boolean => text.toLowerCase() !== other.toLowerCase();

/** Asks for what has this hash, and sees that it is that one; null where the node does not know it. */
const askByHash = <A extends object, Key extends string>(
  method: string,
  parameters: { readonly hash: Hash },
  read: (result: unknown) => Result.Result<(A & Readonly<Record<Key, Hash>>) | null, Failure>,
  key: Key,
  another: string,
) =>
  ask(method, byHash(parameters), (result) =>
    Result.filterOrFail(
      read(result),
      (found) => !isOther(found?.[key] ?? parameters.hash, parameters.hash),
      () => malformed(method, `result.${key}`, another),
    ),
  );

/**
 * The receipt of a transaction; null while it is not mined, or where the node does not know it.
 *
 * JSON-RPC: `eth_getTransactionReceipt`.
 */
export const getTransactionReceipt = (parameters: {
  readonly hash: Hash;
}): Effect.Effect<Receipt | null, Failure, Rpc> => {
  const method = "eth_getTransactionReceipt";
  const request = askByHash(method, parameters, readReceipt, "transactionHash", "of another transaction");
  return Effect.tap(request, (receipt) => checkBlooms(method, receipt === null ? [] : [receipt], () => "result"));
};

/** Sends by a method that answers with the receipt, and sees that it is of this transaction. */
export const sendForReceipt = (
  method: string,
  params: ReadonlyArray<unknown>,
  hash: Hash,
): Effect.Effect<Receipt, Failure, Rpc> =>
  ask(
    method,
    () => params,
    (result) =>
      Result.filterOrFail(
        decoder(method, Receipt)(result),
        ({ transactionHash }) => !isOther(transactionHash, hash),
        () => malformed(method, "result.transactionHash", "of another transaction"),
      ),
  ).pipe(
    Effect.tap((receipt) => checkBlooms(method, [receipt], () => "result")),
    Effect.tap((receipt) => Effect.sync(() => ofSends.set(receipt, copyOf(receipt)))),
  );

/**
 * A transaction, mined or pending; null where the node does not know it.
 *
 * JSON-RPC: `eth_getTransactionByHash`.
 */
export const getTransaction = (parameters: {
  readonly hash: Hash;
}): Effect.Effect<FullTransaction | null, Failure, Rpc> =>
  askByHash("eth_getTransactionByHash", parameters, readTransaction, "hash", "another transaction");

/**
 * A mined block with its transactions in full; `BlockNotFound` when the node has no such block.
 *
 * JSON-RPC: `eth_getBlockByHash` for a hash, `eth_getBlockByNumber` for a number.
 */
export const getFullBlock = (parameters: { readonly block: Hash | bigint }): Effect.Effect<FullBlock, Failure, Rpc> => {
  if (!isRecord(parameters)) return ask("eth_getBlockByHash", onBlock(parameters), FullBlock);
  const { block } = parameters;
  const method = typeof block === "bigint" ? "eth_getBlockByNumber" : "eth_getBlockByHash";
  return ask(
    method,
    (faults) => [
      typeof block === "bigint" ? quantity(block, "block", faults) : Word.write(block, "block", faults),
      true,
    ],
    (result) =>
      result === null
        ? Result.fail(unknownBlock(method))
        : Result.filterOrFail(
            decoder(method, FullBlock)(result),
            ({ number, hash }) => (typeof block === "bigint" ? number === block : !isOther(hash, block)),
            () => malformed(method, "result", "another block"),
          ),
  );
};

/** A transaction in flight. */
export type PoolTransaction = Pick<
  FullTransaction,
  | "hash"
  | "from"
  | "nonce"
  | "gas"
  | "value"
  | "gasPrice"
  | "maxFeePerGas"
  | "maxPriorityFeePerGas"
  | "maxFeePerBlobGas"
  | "blobVersionedHashes"
>;

/** Transactions of one account that are read; pools keep fewer. */
const mostRead = 1_024;
/** Nonces that are asked one by one. */
const mostAsked = 16;

const content = "txpool_contentFrom";
const single = "eth_getTransactionBySenderAndNonce";
const block = "eth_getBlockByNumber";

const readAll = /* @__PURE__ */ decoder(content, /* @__PURE__ */ list(FullTransaction));
const bodies = /* @__PURE__ */ struct({ transactions: /* @__PURE__ */ list(FullTransaction) });

/** The values of both lists, which the node keys by nonce. */
const valuesIn = (result: unknown): ReadonlyArray<unknown> => {
  const { pending, queued } = isRecord(result) ? result : {};
  return [pending, queued].flatMap((part) => (isRecord(part) ? Object.values(part) : [])).slice(0, mostRead);
};

/** A method that was refused is left out while that is remembered. */
const unlessRefused = <A>(method: string, request: Effect.Effect<A, Failure, Rpc>): Effect.Effect<A, Failure, Rpc> =>
  Rpc.use(({ memory }) => {
    const refused = memory.refused(method);
    return refused === null ? request : Effect.fail(refused);
  });

const askNonces = (account: Address, nonces: ReadonlyArray<number>) =>
  Effect.forEach(
    nonces.slice(0, mostAsked),
    (nonce) =>
      ask(
        single,
        (faults) => [Account.write(account, "address", faults), quantity(BigInt(nonce), "nonce", faults)],
        nullOr(FullTransaction),
      ),
    { concurrency: "unbounded" },
  );

/**
 * Returns an account's in-flight transactions, by nonce: the node counts `nonces`. What it does not tell is absent.
 *
 * JSON-RPC: `txpool_contentFrom`; where that is refused `eth_getTransactionBySenderAndNonce`, else the pending block's
 * transactions by `eth_getBlockByNumber`.
 */
export const getPooled = (
  account: Address,
  nonces: ReadonlyArray<number>,
): Effect.Effect<ReadonlyMap<number, PoolTransaction>, Failure, Rpc> => {
  const byContent = ask(
    content,
    (faults) => [Account.write(account, "address", faults)],
    (result) => readAll(valuesIn(result)),
  );
  const byBlock = ask(block, () => ["pending", true], bodies).pipe(Effect.map(({ transactions }) => transactions));
  const found: Effect.Effect<ReadonlyArray<FullTransaction | null>, Failure, Rpc> = unlessRefused(
    content,
    byContent,
  ).pipe(
    Effect.catch(() => unlessRefused(single, askNonces(account, nonces))),
    Effect.catch(() => byBlock),
  );
  return Effect.map(
    found,
    (all) =>
      new Map(
        all.flatMap((transaction) =>
          transaction !== null && transaction.from.toLowerCase() === account
            ? [[Number(transaction.nonce), transaction] as const]
            : [],
        ),
      ),
  );
};
