/** The questions of the nonce protocol to the chain: counts, what waits, what was mined, and how a nonce ended. */
import * as Effect from "effect/Effect";
import { type Hash, type Hex, isRecord } from "../../primitives/index.js";
import { InvalidLane, ChainIdMismatch } from "../../errors/index.js";
import { outcomeOf, type SendOutcome } from "../../errors/sendOutcome.js";
import * as Eth from "../../eth/index.js";
import { decoder, nullOr, Receipt, isOfSend, nonceTakerOf } from "../../eth/index.js";
import { malformed, Rpc } from "../../rpc/index.js";
import { authenticate } from "../../transaction/index.js";
import { askedBy, type LaneId } from "../lane.js";
import type { Counts } from "../laneRules.js";
import { Sender } from "../service.js";
import { hashOf } from "../signed.js";
import { asking } from "./context.js";

/** The chain's counts for a lane and whether its sender is delegated, in one round. */
export interface LaneFacts {
  readonly counts: Counts;
  readonly delegated: boolean;
}

/** Fails for a lane with a key: the node counts nothing of it. */
export const ownNonceOnly = (lane: LaneId): Effect.Effect<void, InvalidLane> =>
  lane.key === 0n
    ? Effect.void
    : Effect.fail(new InvalidLane({ field: "key", problem: "the counts of a keyed lane have to be given" }));

/**
 * A lane's facts; the code is asked for unless it is known whether the sender is delegated. JSON-RPC, at once: `eth_chainId`,
 * `eth_getTransactionCount` on `latest` and `pending`, `eth_getCode` on `latest`.
 */
export const readFacts = Effect.fnUntraced(function* (lane: LaneId, delegated?: boolean) {
  yield* ownNonceOnly(lane);
  const { address } = lane;
  const read = {
    chainId: Eth.chainId,
    latest: Eth.getTransactionCount({ address, block: "latest" }),
    // A node that does not serve the pending tag is one that is blind to the mempool
    pending: Eth.getTransactionCount({ address, block: "pending" }).pipe(
      Effect.catchTag("RpcError", (error) =>
        error.reason._tag === "PendingUnavailable" ? Effect.succeed(0n) : Effect.fail(error),
      ),
    ),
    isDelegated:
      delegated === undefined
        ? Effect.map(Eth.getCode({ address, block: "latest" }), (code) => code.length > 2)
        : Effect.succeed(delegated),
  };
  const { chainId, latest, pending, isDelegated } = yield* Effect.all(read, { concurrency: "unbounded" });
  if (chainId !== lane.chainId)
    return yield* new ChainIdMismatch({ expected: BigInt(lane.chainId), actual: BigInt(chainId) });
  const counts: Counts = { latest, pending: pending > latest ? pending : latest };
  return { counts, delegated: isDelegated } satisfies LaneFacts;
});

/** {@link readFacts} without the code. */
export const readCounts = (lane: LaneId) => Effect.map(readFacts(lane, false), ({ counts }) => counts);

/**
 * True if the node's pool holds a transaction of the account, also one that waits for another and that no count shows;
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

/** Transactions that are looked for at once. */
const mostShown = 64;

/**
 * Returns those of these transactions that this node shows, and whether it shows them in a block: each counts by the
 * hash of the fields that are shown. JSON-RPC: `eth_getTransactionByHash` for each.
 */
export const shownOf = Effect.fnUntraced(function* (hashes: ReadonlyArray<Hash>) {
  const shown = yield* Effect.forEach(
    hashes.slice(0, mostShown),
    (hash) => Effect.orElseSucceed(Eth.getTransaction({ hash }), () => null),
    { concurrency: 8 },
  );
  return new Map(
    shown.flatMap((transaction, place) => {
      const hash = hashes[place];
      const isIts = hash !== undefined && transaction !== null && authenticate(transaction)?.hash === hash;
      return isIts ? [[hash, transaction.blockNumber === null ? "seen" : "mined"] as const] : [];
    }),
  );
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

/** The result of one send. */
const readAnswer = (answer: unknown): { readonly outcome: SendOutcome; readonly receipt: Receipt | null } =>
  // why: the errors of other clients name a transaction as well, which nobody took
  isOfSend(answer)
    ? { outcome: outcomeOf(answer.transactionHash), receipt: answer }
    : { outcome: outcomeOf(answer), receipt: null };

/** Runs a send and reads its answer, or what it throws at once; only interruption is passed on. */
export const outcomeOfSend = <A, E, R>(
  send: () => Effect.Effect<A, E, R>,
): Effect.Effect<ReturnType<typeof readAnswer>, never, R> =>
  askedBy(send).pipe(
    Effect.match({ onFailure: readAnswer, onSuccess: readAnswer }),
    Effect.catchDefect((defect) => Effect.succeed(readAnswer(defect))),
  );

/** All hashes committed at the nonce; none where the store has it no more. */
export const hashesAt = Effect.fnUntraced(function* (lane: LaneId, nonce: bigint) {
  const snapshot = yield* asking("read", (store) => store.read(lane));
  return (snapshot?.slots.find((slot) => slot.nonce === nonce)?.attempts ?? []).map(({ hash }) => hash);
});

/**
 * How nonces of a lane ended that hold `ours`, the final block asked for once; null while nobody can say. What is absent proves
 * nothing: of the nodes behind one address one may be ahead and count, and another be behind and have no receipt. So
 * `burned` is said only of a nonce whose transaction was found in a final block, and is none of ours.
 *
 * JSON-RPC: `eth_getBlockByNumber` on `finalized`; up to it `eth_getTransactionCount` from block to block, and
 * `eth_getBlockByNumber` with the transactions.
 */
export const endings = (lane: LaneId) => {
  const takenBy = nonceTakerOf(lane.address);
  return Effect.map(Effect.cached(Effect.andThen(ownNonceOnly(lane), Eth.getBlock({ block: "finalized" }))), (final) =>
    Effect.fnUntraced(
      function* (nonce: bigint, ours: Hash) {
        const occupant = yield* takenBy(nonce, (yield* final).number, null);
        if (occupant === null) return null;
        // Only now, so that a replacement that was committed meanwhile is one of ours
        const hashes = yield* hashesAt(lane, nonce);
        const mined = hashes.find((hash) => hash === occupant.mined.hash.toLowerCase());
        if (mined !== undefined) return { end: "mined", hash: mined } as const;
        // A transaction that the store holds no more may have been replaced, and was then paid all the same
        return hashes.includes(ours) ? ({ end: "burned", hash: ours } as const) : null;
      },
      Effect.orElseSucceed(() => null),
    ),
  );
};
