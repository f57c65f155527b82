/** The transaction that took a nonce, found by the counts of its sender from block to block. */
import * as Effect from "effect/Effect";
import type { FullBlock } from "../../eth/block.js";
import type { Failure } from "../../eth/ask.js";
import type { Receipt } from "../../eth/receipt.js";
import * as Eth from "../../Eth.js";
import type { Address } from "../../primitives/hex.js";
import { inNextRound } from "../../preflight/ledger.js";
import type { Rpc } from "../../Rpc.js";

/** A transaction of whoever took the nonce, and its block. */
export interface Taken {
  readonly receipt: Receipt;
  readonly block: FullBlock;
}

/** Blocks that are searched: twelve questions. */
const mostBlocks = 4_096n;

/**
 * Who took `nonce` of `from` between two blocks (the first exclusive); null where it was not found. One question after
 * the other, each halving the range. JSON-RPC: `eth_getTransactionCount`, `eth_getBlockByNumber`,
 * `eth_getTransactionReceipt`.
 */
export const findTaken = Effect.fnUntraced(function* (
  from: Address,
  nonce: number,
  after: bigint,
  upTo: bigint,
): Effect.fn.Return<Taken | null, Failure, Rpc> {
  if (upTo <= after || upTo - after > mostBlocks) return null;
  const countAt = (block: bigint) => inNextRound(Eth.getTransactionCount({ address: from, block }));
  let [low, high] = [after, upTo];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if ((yield* countAt(middle)) > BigInt(nonce)) high = middle;
    else low = middle;
  }
  const block = yield* inNextRound(Eth.getFullBlock({ block: high }));
  const found = block.transactions.find(
    (one) => one.from.toLowerCase() === from.toLowerCase() && one.nonce === BigInt(nonce),
  );
  const receipt = found === undefined ? null : yield* inNextRound(Eth.getTransactionReceipt({ hash: found.hash }));
  return receipt === null ? null : { receipt, block };
});
