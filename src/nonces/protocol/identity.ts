/**
 * Which chain a lane is of: a chain id is not enough, for a development chain that is started anew has the same. So a block
 * that was final, or the first one, is remembered beside the lane, and looked for before anything is sent again.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { NonceChainReset } from "../../errors/index.js";
import type { Hash } from "../../primitives/index.js";
import * as Eth from "../../eth/index.js";
import type { Failure } from "../../eth/index.js";
import { Rpc } from "../../rpc/index.js";
import type { LaneId } from "../lane.js";
import { NonceStore } from "../../NonceStore.js";
import type { Store } from "../store.js";
import { asking } from "./context.js";

/** How far the remembered block is below the final one, and how far it is left behind before another is remembered. */
const anchorDepth = 64n;

const markPattern = /^(\d{1,18}) (0x[0-9a-f]{64})$/;

/** The block of the lane's chain that a mark names; null = it names none. */
export const anchorIn = (mark: string | null): { readonly block: bigint; readonly hash: Hash } | null => {
  const [, block = "", hash = ""] = markPattern.exec(mark ?? "") ?? [];
  return hash === "" ? null : { block: BigInt(block), hash: hash as Hash };
};

export const markOf = ({ block, hash }: NonNullable<ReturnType<typeof anchorIn>>): string => `${block} ${hash}`;

/** A node's answer where a block is asked for: `none` = its chain ends before it; null = it does not tell. */
type BlockFound = { readonly hash: Hash } | "none" | null;

/** Finds what of the chain stands against the anchor; null = nothing. Pure. */
export const contradiction = (lane: string, anchor: ReturnType<typeof anchorIn>, found: BlockFound) => {
  if (anchor === null || found === null) return null;
  const actual = found === "none" ? null : found.hash;
  if (actual?.toLowerCase() === anchor.hash) return null;
  return new NonceChainReset({ lane, block: anchor.block, expected: anchor.hash, actual });
};

/**
 * The block to remember instead; null = the anchor will do. Pure. One block names all before it. The first one is the same
 * on every chain that is made of the same settings, so the next is better, once another stands on it.
 */
export const nextAnchor = (anchor: ReturnType<typeof anchorIn>, final: bigint | null, head: bigint | null) => {
  const least = head !== null && head > 1n ? 1n : 0n;
  const target = final === null || final - anchorDepth < least ? least : final - anchorDepth;
  if (anchor === null || (anchor.block === 0n && target > 0n)) return target;
  return target >= anchor.block + anchorDepth ? target : null;
};

const isMissing = (error: Failure): boolean => error._tag === "RpcError" && error.reason._tag === "BlockNotFound";

const isLasting = (error: Failure): boolean => error._tag !== "RpcError" || !error.isRetryable;

/** Reads where a chain stands; null where the node does not tell, and then nothing newer is remembered. */
const numberOf = (block: "finalized" | "latest") =>
  Effect.orElseSucceed(
    Effect.map(Eth.getBlock({ block }), ({ number }): bigint | null => number),
    () => null,
  );

/** The block by the node. Fails where that may tell later; what does not get better by asking again says nothing. */
export const findBlock = (block: bigint): Effect.Effect<BlockFound, Failure, Rpc> =>
  Eth.getBlock({ block }).pipe(
    Effect.map(({ hash }): BlockFound => (hash === null ? null : { hash })),
    Effect.catchIf(isMissing, () =>
      // A node may have forgotten old blocks
      Effect.map(numberOf("latest"), (head): BlockFound => (head !== null && head < block ? "none" : null)),
    ),
    Effect.catchIf(isLasting, () => Effect.succeed(null)),
  );

/**
 * Fails with `NonceChainReset` where the node's chain is not the lane's; remembers a block of it where none is known, or a
 * newer one. JSON-RPC: `eth_getBlockByNumber` for the remembered block and for `finalized`, at once, in the beginning for
 * `latest` as well; for the new one.
 */
export const checkIdentity = Effect.fnUntraced(function* (lane: LaneId) {
  const anchor = anchorIn(yield* asking("mark", (store) => store.mark(lane)));
  const known = anchor === null ? Effect.succeed<BlockFound>(null) : findBlock(anchor.block);
  const head = (anchor?.block ?? 0n) > 0n ? Effect.succeed(null) : numberOf("latest");
  const [found, final, latest] = yield* Effect.all([known, numberOf("finalized"), head], { concurrency: 3 });
  const wrong = contradiction(lane.id, anchor, found);
  if (wrong !== null) return yield* wrong;
  const block = nextAnchor(anchor, final, latest);
  const next = block === null ? null : yield* Effect.orElseSucceed(findBlock(block), () => null);
  if (block === null || next === null || next === "none") return;
  const hash = next.hash.toLowerCase() as Hash;
  yield* asking("setMark", (store) => store.setMark(lane, markOf({ block, hash })));
});

/** How long a chain that was the lane's is taken for it by who reserves, ms. */
const trustMs = 5_000;
const checkedAt = new WeakMap<Store, Map<string, number>>();

/** {@link checkIdentity}, every few seconds; a node in trouble is no reason. */
export const checkAgain = Effect.fnUntraced(function* (lane: LaneId) {
  const store = yield* NonceStore;
  const { endpoint } = yield* Rpc;
  const key = `${endpoint} ${lane.id}`;
  const now = yield* Clock.currentTimeMillis;
  const known = checkedAt.get(store) ?? new Map<string, number>();
  checkedAt.set(store, known);
  if (now - (known.get(key) ?? -trustMs) < trustMs) return;
  yield* checkIdentity(lane).pipe(
    Effect.catchIf(
      (error) => error._tag !== "NonceChainReset",
      () => Effect.void,
    ),
  );
  if (known.size > 1_000) known.clear();
  known.set(key, now);
});
