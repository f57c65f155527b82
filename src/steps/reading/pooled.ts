/** What a pool holds of an account already, what it reserves for that, and by how much a replacement must pay more. Pure. */
import type { PoolTransaction } from "../../eth/transactions.js";
import type { Transaction } from "../../transaction/fields.js";
import type { Case, Price } from "./bundle.js";

/** One account in the node's pool. */
export interface Pooled {
  /** By nonce; what the node did not tell is absent. */
  readonly transactions: ReadonlyMap<number, PoolTransaction>;
  /** What it holds on the latest block, by which pools judge, wei; null = not known. */
  readonly balance: bigint | null;
}

/** How pools take replacements. */
export interface Replacing {
  /** Percent by which both fees must rise; 0 = there is no pool. */
  readonly priceBump: number;
  /** Whether the chain's entry or the caller names it. */
  readonly isKnown: boolean;
}

/** Blob pools want twice the fees (geth, reth: 100 %). */
const blobBump = 100;

const percent = (value: number): bigint => BigInt(Math.round(value));

/** The least that a pool takes in place of `old`, wei per gas: geth rounds down, but never takes the same twice. */
const leastOver = (old: bigint, bump: number): bigint => {
  const raised = (old * (100n + percent(bump))) / 100n;
  return raised > old ? raised : old + 1n;
};

/** What is proposed in place of `old`: a wei more than {@link leastOver} where it had to be rounded. */
const proposedOver = (old: bigint, bump: number): bigint => {
  const raised = (old * (100n + percent(bump)) + 99n) / 100n;
  return raised > old ? raised : old + 1n;
};

const capOf = ({ maxFeePerGas, gasPrice }: Pick<PoolTransaction, "maxFeePerGas" | "gasPrice">): bigint =>
  maxFeePerGas ?? gasPrice ?? 0n;
const tipOf = ({
  maxPriorityFeePerGas,
  gasPrice,
}: Pick<PoolTransaction, "maxPriorityFeePerGas" | "gasPrice">): bigint => maxPriorityFeePerGas ?? gasPrice ?? 0n;

const hasBlobs = ({ blobVersionedHashes }: Pick<PoolTransaction, "blobVersionedHashes">): boolean =>
  (blobVersionedHashes?.length ?? 0) > 0;

/** What must rise: a legacy price counts as both fees. */
interface Fees {
  readonly cap: bigint;
  readonly tip: bigint;
  /** null without blobs. */
  readonly blob: bigint | null;
}

const feesOf = (old: PoolTransaction): Fees => ({
  cap: capOf(old),
  tip: tipOf(old),
  blob: hasBlobs(old) ? (old.maxFeePerBlobGas ?? 0n) : null,
});

/** The least that a pool takes in place of `old`. */
export const barOf = (old: PoolTransaction, { priceBump }: Pick<Replacing, "priceBump">): Fees => {
  const { cap, tip, blob } = feesOf(old);
  const bump = blob === null ? priceBump : Math.max(blobBump, priceBump);
  return {
    cap: leastOver(cap, bump),
    tip: leastOver(tip, bump),
    blob: blob === null ? null : leastOver(blob, bump),
  };
};

/** Whether a pool keeps this for too little; a price that is not known is not. */
export const isUnderpriced = (
  { gasPrice, maxFeePerGas, maxPriorityFeePerGas }: Price,
  { maxFeePerBlobGas }: Pick<Transaction, "maxFeePerBlobGas">,
  least: Fees,
): boolean => {
  const [cap, tip] = [gasPrice ?? maxFeePerGas, gasPrice ?? maxPriorityFeePerGas];
  return (
    (cap !== null && cap < least.cap) ||
    (tip !== null && tip < least.tip) ||
    (least.blob !== null && maxFeePerBlobGas != null && maxFeePerBlobGas < least.blob)
  );
};

/** Whether two transactions belong into two pools: with blobs and without. */
export const isOtherKind = ({ input }: Case, old: PoolTransaction): boolean => hasBlobs(old) !== hasBlobs(input);

/** The fees that are proposed for a replacement, never below `price`. */
export const raised = (
  price: { readonly cap: bigint | null; readonly tip: bigint },
  old: PoolTransaction,
  { priceBump }: Pick<Replacing, "priceBump">,
): { readonly cap: bigint; readonly tip: bigint } => {
  const bump = hasBlobs(old) ? Math.max(blobBump, priceBump) : priceBump;
  const [tip, cap] = [proposedOver(tipOf(old), bump), proposedOver(capOf(old), bump)];
  const most = tip > price.tip ? tip : price.tip;
  // why: a higher tip comes on top of what the cap leaves for the base fee
  const grown = price.cap === null ? most : price.cap - price.tip + most;
  return { tip: most, cap: cap > grown ? cap : grown };
};

const costOf = (one: PoolTransaction): bigint =>
  one.value +
  one.gas * capOf(one) +
  BigInt(one.blobVersionedHashes?.length ?? 0) * 131_072n * (one.maxFeePerBlobGas ?? 0n);

/**
 * What a pool keeps for the transactions in flight from `latest` up to `pending`, wei, without those whose nonce the
 * bundle takes; null where one of them is not known.
 */
export const queuedCost = (
  pooled: Pooled | undefined,
  counts: { readonly latest: number | null; readonly inFlight: number | null },
  taken: ReadonlySet<number>,
): bigint | null => {
  const { latest, inFlight } = counts;
  if (inFlight === 0) return 0n;
  if (latest === null || inFlight === null || pooled === undefined) return null;
  if (inFlight > pooled.transactions.size + taken.size) return null;
  let sum = 0n;
  for (let nonce = latest; nonce < latest + inFlight; nonce++) {
    if (taken.has(nonce)) continue;
    const one = pooled.transactions.get(nonce);
    if (one === undefined) return null;
    sum += costOf(one);
  }
  return sum;
};
