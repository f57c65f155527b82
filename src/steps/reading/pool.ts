/** Conditions that keep a transaction out of a pool, or in it for good, though the chain would take it. */
import * as Effect from "effect/Effect";
import * as Questions from "../../eth/questions.js";
import { beginning, mapped, one, together } from "../../eth/round.js";
import type { Chain } from "../../Chains.js";
import { address, bytes, count, figures, wei, weiPerGas, type Figure } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { Report } from "../../report/schema.js";
import { costUpTo, isHeldBack, waitsOf, type WaitFacts } from "../../report/waits.js";
import { unsignedBytes } from "../../transaction/request.js";
import type { Filled, Case, Price } from "./bundle.js";
import { type PoolTransaction, getPooled } from "../../eth/transactions.js";
import type { Transaction } from "../../transaction/fields.js";
import { askEach, successOf } from "./askResult.js";
import type { Address } from "../../primitives/hex.js";

/** Bytes that a signature adds to the unsigned ones, at most. */
const signatureBytes = 67;

/** Bytes of a transaction as it is sent; null where it is small without being counted. */
const sizeOf = ({ request, input: { data, accessList, authorizationList } }: Filled, limit: number): number | null => {
  // why: hex has two digits for a byte, so that half the limit is the least that is worth the encoding
  if (request === null || (data.length <= limit && accessList === null && authorizationList === null)) return null;
  const unsigned = unsignedBytes(request);
  return unsigned === null ? null : (unsigned.length - 2) / 2 + signatureBytes;
};

/** Blob pools take eight times as much (geth: 1 MiB), with the blobs and their cell proofs. */
const blobShare = 8;
const bytesPerBlob = 131_072 + 128 * 48 + 2 * 48;

const mostBytes = (limit: number | null, blobs: number): number | null =>
  limit === null || blobs === 0 ? limit : limit * blobShare - blobs * bytesPerBlob;

/**
 * The protocol allows it. Nodes limit the fee, the size and the least tip.
 * @figures wei("gas limit × max fee", 2n * ether), wei("at most", ether)
 * @info where the limit is only assumed
 */
export const NodeMayRefuse = code("fee", ["warning", "info"], "NodeMayRefuse", [
  "a node's own settings may refuse the transaction",
  "stay within the limit, or use another node",
]);

/** A value beyond what a node's settings take, in figures; none where either is not known, or it is taken. */
const beyond = <A extends bigint | number>(
  figure: (name: string, value: A) => Figure | null,
  name: string,
  [given, limit]: readonly [given: A | null, limit: A | null],
  isLeast = false,
) =>
  given === null || limit === null || (isLeast ? given >= limit : given <= limit)
    ? []
    : [figure(name, given), figure(isLeast ? "at least" : "at most", limit)];

const checkSettings = (entry: Filled, { nodeLimits: limits, nodeLimitsKnown, known }: Chain) => {
  const { gas, fee, input } = entry;
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fee.value;
  const price = gasPrice ?? maxFeePerGas;
  const cost = gas.value === null || price === null ? null : gas.value * price;
  const maxBytes = mostBytes(limits.maxBytes, blobsOf(input));
  const size = maxBytes === null ? null : sizeOf(entry, maxBytes);
  const dear = beyond(wei, "gas limit × max fee", [cost, limits.maxFee]);
  const tipless = beyond(weiPerGas, "tip", [gasPrice ?? maxPriorityFeePerGas, limits.minTip], true);
  const large = beyond(bytes, "size", [size, maxBytes]);
  const numbers = [...dear, ...tipless, ...large];
  // why: no client takes more bytes unless it is told to; of a chain that nobody described geth's least tip counts
  const isLikely = nodeLimitsKnown || large.length > 0 || (tipless.length > 0 && !known);
  const where = { transaction: entry.index, evidence: nodeLimitsKnown ? "estimated" : "assumed" } as const;
  return numbers.length === 0 ? [] : [NodeMayRefuse[isLikely ? "warning" : "info"](where, ...numbers)];
};

/** @figures address("of", alice), count("nonces mined", 12) */
export const OneInFlight = code("nonce", ["warning"], "OneInFlight", [
  "mempools take one transaction at a time from a delegated account (EIP-7702)",
  "send it after the earlier ones are mined",
]);

/**
 * No simulation showed that the order makes no difference.
 * @figures address("of", alice), count("nonces mined", 12)
 */
export const OrderNotHeld = code("nonce", ["warning"], "OrderNotHeld", [
  "another transaction of the bundle comes from another sender; mined in another order, this one may do something else",
  "send it after the earlier ones are mined",
]);

/**
 * Mempools judge each transaction by the balance on the latest block.
 * @figures wei("has", ether / 10n), wei("required without income", ether / 5n), address("of", bob), count("nonces
 *   mined", 12)
 */
export const IncomeNotMined = code("funds", ["warning"], "IncomeNotMined", [
  "the transaction spends income that is not mined yet; mempools refuse that",
  "send it after the earlier ones are mined",
]);

const codes = { oneInFlight: OneInFlight, order: OrderNotHeld, income: IncomeNotMined } as const;

/** Each wait of a transaction once for every reason, with what must be mined. */
const checkWaits = (facts: WaitFacts): ReadonlyArray<Finding> => {
  const waits = waitsOf(facts);
  const kinds = new Map(waits.map((wait) => [`${wait.transaction}/${wait.because}`, wait]));
  return [...kinds.values()].flatMap(({ transaction, because }) => {
    if (because === "queued") return [];
    const own = waits.filter((wait) => wait.transaction === transaction && wait.because === because);
    const named = own.flatMap(({ account, nonce }) => figures(address("of", account), count("nonces mined", nonce)));
    const payer = facts.funds.find(({ account }) => account === facts.transactions[transaction]?.input.from);
    const short =
      because !== "income" || payer === undefined
        ? []
        : [wei("has", payer.balance), wei("required without income", costUpTo(payer, transaction))];
    return [codes[because].warning({ transaction, evidence: "estimated" }, ...short, ...named)];
  });
};

/**
 * Mempools reserve that cost, and refuse what goes beyond.
 * @figures count("in flight", 2), wei("balance", ether), wei("kept for them", ether / 2n), wei("required", (6n *
 *   ether) / 10n)
 */
export const QueuedCostTooHigh = code("funds", ["warning"], "QueuedCostTooHigh", [
  "the maximum cost of everything in flight, with this transaction, exceeds the balance",
  "send it after the earlier ones are mined, or lower the fee caps",
]);

/**
 * Mempools reserve that cost, too.
 * @figures count("in flight", 2), wei("left for them", ether / 2n)
 */
export const QueuedCostUnknown = code("funds", ["info"], "QueuedCostUnknown", [
  "the cost of what is in flight is not fully known, so the required balance is a lower bound",
  "wait until they are mined",
]);

/** Reports what pools keep of each payer's balance for its transactions in flight, as far as that is known. */
const checkQueued = ({ transactions, funds }: Pick<Report, "transactions" | "funds">): ReadonlyArray<Finding> =>
  funds.flatMap((payer) => {
    const { account, balance, shortfall, required, queued, sealed, terms } = payer;
    const transaction = transactions.findIndex(({ input }) => input.from === account);
    const inFlight = transactions[transaction]?.nonce.inFlight ?? null;
    if (shortfall !== 0n || balance === null || required === null || inFlight === null || inFlight === 0) return [];
    const where = { transaction, evidence: "estimated" } as const;
    const last = transactions.length - 1;
    if (isHeldBack(payer, last)) {
      const numbers = [wei("balance", sealed), wei("kept for them", queued), wei("required", costUpTo(payer, last))];
      return [QueuedCostTooHigh.warning(where, count("in flight", inFlight), ...numbers)];
    }
    // why: what a chain charges for the bytes of others is not in their fee caps
    const isWhole = queued !== null && sealed !== null && !terms.some(({ name }) => name === "l1Fee");
    const numbers = [count("in flight", inFlight), wei("left for them", balance - required)];
    return isWhole ? [] : [QueuedCostUnknown.info(where, ...numbers)];
  });

/** Reports obstacles to sending a bundle at once through an ordinary node, beyond the chain's own rules. */
export const checkPool = (bundle: ReadonlyArray<Filled>, facts: WaitFacts, chain: Chain): ReadonlyArray<Finding> => [
  ...bundle.flatMap((entry) => checkSettings(entry, chain)),
  ...checkWaits(facts),
  ...checkQueued(facts),
];

/** One account in the node's pool. */
export interface Pooled {
  /** By nonce; what the node did not tell is absent. */
  readonly transactions: ReadonlyMap<number, PoolTransaction>;
  /** The balance on the latest block, by which pools judge, wei; null = not known. */
  readonly balance: bigint | null;
}

/** How pools take replacements. */
export interface Replacing {
  /** Percent by which both fees must rise; 0 = there is no pool. */
  readonly priceBump: number;
  /** True if the chain's entry or the caller names it. */
  readonly isKnown: boolean;
}

/** Blob pools want twice the fees (geth, reth: 100 %). */
const blobBump = 100;

const percent = (value: number): bigint => BigInt(Math.round(value));

/** The least that a pool takes in place of `old`, wei per gas: geth rounds down, but never takes the same twice. */
const leastOver = (old: bigint, bump: number, rounding: bigint = 0n): bigint => {
  const raised = (old * (100n + percent(bump)) + rounding) / 100n;
  return raised > old ? raised : old + 1n;
};

/** The fee that is proposed in place of `old`: a wei more where it had to be rounded. */
const proposedOver = (old: bigint, bump: number): bigint => leastOver(old, bump, 99n);

const capOf = ({ maxFeePerGas, gasPrice }: PoolTransaction): bigint => maxFeePerGas ?? gasPrice ?? 0n;
const tipOf = ({ maxPriorityFeePerGas, gasPrice }: PoolTransaction): bigint => maxPriorityFeePerGas ?? gasPrice ?? 0n;
const blobsOf = ({ blobVersionedHashes }: Pick<PoolTransaction, "blobVersionedHashes">): number =>
  blobVersionedHashes?.length ?? 0;
const hasBlobs = (transaction: Pick<PoolTransaction, "blobVersionedHashes">): boolean => blobsOf(transaction) > 0;

const bumpOf = (old: PoolTransaction, { priceBump }: Pick<Replacing, "priceBump">): number =>
  hasBlobs(old) ? Math.max(blobBump, priceBump) : priceBump;

/** The least that a pool takes in place of `old`: a legacy price counts as both fees, `blob` is null without blobs. */
export const barOf = (old: PoolTransaction, replacing: Pick<Replacing, "priceBump">) => {
  const bump = bumpOf(old, replacing);
  const blob = hasBlobs(old) ? leastOver(old.maxFeePerBlobGas ?? 0n, bump) : null;
  return { cap: leastOver(capOf(old), bump), tip: leastOver(tipOf(old), bump), blob };
};

/** True if a pool takes this for too little; a price that is not known is not. */
export const isUnderpriced = (
  { gasPrice, maxFeePerGas, maxPriorityFeePerGas }: Price,
  { maxFeePerBlobGas }: Pick<Transaction, "maxFeePerBlobGas">,
  least: ReturnType<typeof barOf>,
): boolean => {
  const [cap, tip] = [gasPrice ?? maxFeePerGas, gasPrice ?? maxPriorityFeePerGas];
  return (
    (cap !== null && cap < least.cap) ||
    (tip !== null && tip < least.tip) ||
    (least.blob !== null && maxFeePerBlobGas != null && maxFeePerBlobGas < least.blob)
  );
};

/** True if two transactions belong into two pools: with blobs and without. */
export const isOtherKind = ({ input }: Case, old: PoolTransaction): boolean => hasBlobs(old) !== hasBlobs(input);

/** The fees that are proposed for a replacement, never below `price`. */
export const raised = (
  price: { readonly cap: bigint | null; readonly tip: bigint },
  old: PoolTransaction,
  replacing: Pick<Replacing, "priceBump">,
): { readonly cap: bigint; readonly tip: bigint } => {
  const bump = bumpOf(old, replacing);
  const [tip, cap] = [proposedOver(tipOf(old), bump), proposedOver(capOf(old), bump)];
  const most = tip > price.tip ? tip : price.tip;
  // why: a higher tip comes on top of what the cap leaves for the base fee
  const grown = price.cap === null ? most : price.cap - price.tip + most;
  return { tip: most, cap: cap > grown ? cap : grown };
};

const costOf = (pooled: PoolTransaction): bigint =>
  pooled.value + pooled.gas * capOf(pooled) + BigInt(blobsOf(pooled)) * 131_072n * (pooled.maxFeePerBlobGas ?? 0n);

/**
 * Wei that a pool keeps for the transactions in flight from `latest` up to `pending`, without those whose nonce the
 * bundle takes; null where one of them is not known.
 */
export const queuedCost = (
  pooled: Pooled | undefined,
  counts: { readonly latest: number | null; readonly inFlight: number | null },
  nonces: ReadonlySet<number>,
): bigint | null => {
  const { latest, inFlight } = counts;
  if (inFlight === 0) return 0n;
  if (latest === null || inFlight === null || pooled === undefined) return null;
  if (inFlight > pooled.transactions.size + nonces.size) return null;
  let sum = 0n;
  for (let nonce = latest; nonce < latest + inFlight; nonce++) {
    if (nonces.has(nonce)) continue;
    const transaction = pooled.transactions.get(nonce);
    if (transaction === undefined) return null;
    sum += costOf(transaction);
  }
  return sum;
};

/** The nonces from the mined count up to the pending one; nobody with none in flight, or whose counts are not known. */
export const inFlightOf = (
  account: Address,
  { latest, inFlight }: { readonly latest: number | null; readonly inFlight: number | null },
): ReadonlyArray<{ readonly account: Address; readonly nonces: ReadonlyArray<number> }> =>
  latest === null || inFlight === null || inFlight === 0
    ? []
    : [{ account, nonces: Array.from({ length: Math.min(inFlight, 1_024) }, (_, index) => latest + index) }];

/** By account; never fails: what a node does not tell is not known. */
export const askPooled = (senders: ReturnType<typeof inFlightOf>) => {
  const noncesOf = new Map(senders.map(({ account, nonces }) => [account, nonces]));
  return askEach("nonce", [...noncesOf.keys()], (address) => {
    const pooled = getPooled(address, noncesOf.get(address) ?? []);
    return together({
      transactions: beginning(Effect.orElseSucceed(pooled, (): Pooled["transactions"] => new Map())),
      balance: mapped(one(Questions.balance({ address, block: "latest" })), successOf),
    });
  });
};
