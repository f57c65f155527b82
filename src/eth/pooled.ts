/** What a node's pool holds of one account, with fees and values, by whichever method the node answers. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { Rpc } from "../Rpc.js";
import { isRecord } from "../primitives/record.js";
import type { Address } from "../primitives/hex.js";
import { ask, type Failure } from "./ask.js";
import { decoder, nullOr, list, struct } from "./shape.js";
import { FullTransaction } from "./block.js";
import { address, quantity } from "./encode.js";

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
const readOne = /* @__PURE__ */ decoder(single, /* @__PURE__ */ nullOr(FullTransaction));
const readBlock = /* @__PURE__ */ decoder(block, /* @__PURE__ */ struct({ transactions: list(FullTransaction) }));

/** The values of both lists, which the node keys by nonce. */
const valuesIn = (result: unknown): ReadonlyArray<unknown> => {
  const { pending, queued } = isRecord(result) ? result : {};
  return [pending, queued].flatMap((part) => (isRecord(part) ? Object.values(part) : [])).slice(0, mostRead);
};

/** A method that was refused is left out while that is remembered. */
const unlessRefused = <A>(method: string, asked: Effect.Effect<A, Failure, Rpc>): Effect.Effect<A, Failure, Rpc> =>
  Rpc.use(({ memory }) => {
    const refused = memory.refused(method);
    return refused === null ? asked : Effect.fail(refused);
  });

const askNonces = (account: Address, nonces: ReadonlyArray<number>) =>
  Effect.forEach(
    nonces.slice(0, mostAsked),
    (nonce) =>
      ask(single, (faults) => [address(account, "address", faults), quantity(BigInt(nonce), "nonce", faults)], readOne),
    { concurrency: "unbounded" },
  );

/**
 * What is in flight of an account, by nonce: `nonces` are those that the node counts. What it does not tell is absent.
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
    (faults) => [address(account, "address", faults)],
    (result) => readAll(valuesIn(result)),
  );
  const byBlock = ask(
    block,
    () => ["pending", true],
    (result) => Result.map(readBlock(result), ({ transactions }) => transactions),
  );
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
        all.flatMap((one) =>
          one !== null && one.from.toLowerCase() === account ? [[Number(one.nonce), one] as const] : [],
        ),
      ),
  );
};
