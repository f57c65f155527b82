/** The transaction that took a nonce, found by the counts of its sender from block to block. */
import * as Effect from "effect/Effect";
import * as Eth from "./methods.js";
import type { Address } from "../primitives/hex.js";
import type { Rpc } from "../rpc/index.js";
import type { Failure } from "./ask.js";
import { getFullBlock } from "./transactions.js";

/** Blocks that are searched: sixteen questions, and as many where it is not known from where on. */
const mostBlocks = 65_536n;

/** Blocks between which a nonce was taken, found backwards in growing steps; null where it is free at the last one. */
const rangeBefore = Effect.fnUntraced(function* (
  countAt: (block: bigint) => Effect.Effect<bigint, Failure, Rpc>,
  nonce: bigint,
  upTo: bigint,
) {
  if ((yield* countAt(upTo)) <= nonce) return null;
  let [low, high] = [upTo - 1n, upTo];
  for (let step = 1n; low > 0n && step <= mostBlocks && (yield* countAt(low)) > nonce; step *= 2n)
    [low, high] = [low > step ? low - step : 0n, low];
  return [low, high] as const;
});

/** The block in which a nonce was taken, by halves; null where there are too many, or none. */
const takenIn = Effect.fnUntraced(function* (
  countAt: Parameters<typeof rangeBefore>[0],
  nonce: bigint,
  [from, to]: readonly [low: bigint, high: bigint],
) {
  if (from < 0n || to <= from || to - from > mostBlocks) return null;
  let [low, high] = [from, to];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if ((yield* countAt(middle)) > nonce) high = middle;
    else low = middle;
  }
  return high;
});

/**
 * Finds who took a nonce of `from`: a function, which remembers the counts that it read.
 *
 * It takes the nonce, the block up to which it is looked for, and one at which it was free where that is known.
 * Answers null where no transaction with that nonce was found in the block that the counts lead to: a node that is
 * behind, another's authorisation, or too many blocks. Counts of different nodes may lead astray, never to a wrong
 * answer: it is a transaction of that sender and nonce, in a block.
 *
 * Fails where a node has not the state of a block any more. JSON-RPC: `eth_getTransactionCount`, one after the other,
 * each halving the range; `eth_getBlockByNumber` with transactions.
 */
export const nonceTakerOf = (from: Address) => {
  const read = new Map<bigint, bigint>();
  const countAt = (block: bigint): Effect.Effect<bigint, Failure, Rpc> => {
    const known = read.get(block);
    if (known !== undefined) return Effect.succeed(known);
    const count = Eth.getTransactionCount({ address: from, block });
    return Effect.tap(count, (known) => Effect.sync(() => read.set(block, known)));
  };
  return Effect.fnUntraced(function* (nonce: bigint, upTo: bigint, freeAt: bigint | null) {
    const range = freeAt === null ? yield* rangeBefore(countAt, nonce, upTo) : ([freeAt, upTo] as const);
    const number = range === null ? null : yield* takenIn(countAt, nonce, range);
    if (number === null) return null;
    const block = yield* getFullBlock({ block: number });
    const mined = block.transactions.find(
      (transaction) => transaction.from.toLowerCase() === from.toLowerCase() && transaction.nonce === nonce,
    );
    return mined === undefined ? null : { mined, block };
  });
};
