/** What the nonce protocol asks the chain. */
import * as Effect from "effect/Effect";
import type { Hash, Hex } from "../../primitives/hex.js";
import { isRecord } from "../../primitives/record.js";
import { InvalidLane } from "../../errors/nonces.js";
import { outcomeOf, type SendOutcome } from "../../errors/sendOutcome.js";
import { ChainIdMismatch } from "../../errors/verdicts.js";
import * as Eth from "../../Eth.js";
import { decoder, nullOr } from "../../eth/shape.js";
import { malformed } from "../../rpc/answer.js";
import { Receipt } from "../../eth/block.js";
import { Rpc } from "../../Rpc.js";
import type { LaneId } from "../lane.js";
import type { Counts } from "../laneRules.js";
import { Sender } from "../sender.js";
import { hashOf } from "../signed.js";

/** The chain's counts for a lane and whether its sender is delegated, in one round. */
export interface Facts {
  readonly counts: Counts;
  readonly delegated: boolean;
}

/** Of a lane with a key the node counts nothing. */
export const ownNonceOnly = (lane: LaneId): Effect.Effect<void, InvalidLane> =>
  lane.key === 0n
    ? Effect.void
    : Effect.fail(new InvalidLane({ field: "key", problem: "the counts of a keyed lane have to be given" }));

const counted = (lane: LaneId) => {
  const { address } = lane;
  return {
    chainId: Eth.chainId,
    latest: Eth.getTransactionCount({ address, block: "latest" }),
    // A node that does not serve the pending tag is one that is blind to the mempool
    pending: Eth.getTransactionCount({ address, block: "pending" }).pipe(
      Effect.catchTag("RpcError", (error) =>
        error.reason._tag === "PendingUnavailable" ? Effect.succeed(0n) : Effect.fail(error),
      ),
    ),
  };
};

const checkChain = (lane: LaneId, chainId: number) =>
  chainId === lane.chainId
    ? Effect.void
    : Effect.fail(new ChainIdMismatch({ expected: BigInt(lane.chainId), actual: BigInt(chainId) }));

const atLeast = (latest: bigint, pending: bigint): Counts => ({ latest, pending: pending > latest ? pending : latest });

/** JSON-RPC, at once: `eth_chainId`, `eth_getTransactionCount` on `latest` and `pending`. */
export const readCounts = Effect.fnUntraced(function* (lane: LaneId) {
  yield* ownNonceOnly(lane);
  const { chainId, latest, pending } = yield* Effect.all(counted(lane), { concurrency: "unbounded" });
  yield* checkChain(lane, chainId);
  return atLeast(latest, pending);
});

/** {@link readCounts}, and `eth_getCode` on `latest` beside it. */
export const readFacts = Effect.fnUntraced(function* (lane: LaneId) {
  yield* ownNonceOnly(lane);
  const asked = { ...counted(lane), code: Eth.getCode({ address: lane.address, block: "latest" }) };
  const { chainId, latest, pending, code } = yield* Effect.all(asked, { concurrency: "unbounded" });
  yield* checkChain(lane, chainId);
  return { counts: atLeast(latest, pending), delegated: code.length > 2 } satisfies Facts;
});

/**
 * Whether the node's pool holds a transaction of the account, also one that waits for another and that no count shows;
 * false where it does not tell. JSON-RPC: `txpool_contentFrom`.
 */
export const poolHolds = ({ address, key }: LaneId): Effect.Effect<boolean, never, Rpc> =>
  key !== 0n
    ? Effect.succeed(false)
    : Rpc.use((rpc) => rpc.request("txpool_contentFrom", [address])).pipe(
        Effect.map((answer) =>
          isRecord(answer)
            ? [answer["pending"], answer["queued"]].some((each) => isRecord(each) && Object.keys(each).length > 0)
            : false,
        ),
        Effect.orElseSucceed(() => false),
      );

const readReceipt = decoder("eth_getTransactionReceipt", nullOr(Receipt));

/** Which of these transactions is mined, as far as this node knows. JSON-RPC: `eth_getTransactionReceipt` for each. */
export const minedOf = Effect.fnUntraced(function* (hashes: ReadonlyArray<Hash>) {
  const rpc = yield* Rpc;
  const receipts = yield* Effect.forEach(
    hashes,
    (hash) =>
      rpc.request("eth_getTransactionReceipt", [hash]).pipe(Effect.flatMap((it) => Effect.fromResult(readReceipt(it)))),
    { concurrency: 8 },
  );
  const found = receipts.findIndex((receipt, index) => receipt?.transactionHash.toLowerCase() === hashes[index]);
  return hashes[found] ?? null;
});

/**
 * Broadcasts the bytes as they are. A node that answers with the hash of something else has not said that it took them.
 * JSON-RPC: `eth_sendRawTransaction`, unless there is a {@link Sender}.
 */
export const broadcast = Effect.fnUntraced(function* (raw: Hex): Effect.fn.Return<unknown, unknown, Rpc> {
  const send = yield* Sender;
  if (send !== null) return yield* send(raw);
  const answered = yield* Eth.sendRawTransaction({ serializedTransaction: raw });
  if (answered.toLowerCase() === (hashOf(raw) ?? answered).toLowerCase()) return answered;
  return yield* malformed("eth_sendRawTransaction", "result", "the hash of another transaction");
});

/** Runs a send and reads its answer; only interruption is passed on. */
export const outcomeOfSend = <A, E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<SendOutcome, never, R> =>
  send.pipe(
    Effect.map(outcomeOf),
    Effect.catch((error) => Effect.succeed(outcomeOf(error))),
    Effect.catchDefect((defect) => Effect.succeed(outcomeOf(defect))),
  );
