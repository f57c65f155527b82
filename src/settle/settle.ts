/** Compares what was said of a transaction with what happened, and tells why they differ. Pure. */
import * as Arr from "effect/Array";
import type { FullBlock, FullTransaction, Receipt } from "../eth/index.js";
import type { Report, TransactionReport } from "../report/index.js";
import { everyLog, isSameHead, isSameLog } from "../steps/index.js";
import {
  balanceFacts,
  compare,
  compareAsked,
  compareCost,
  compareOutcome,
  compareRequest,
  happenedOf,
  merged,
  expectedOf,
  unknownCause,
  type Cause,
} from "./compare.js";
import { isSystemDeposit, paidBy } from "./mined.js";
import {
  gravest,
  type Comparison,
  type MinedOutcome,
  type Hindsight,
  type MinedSettlement,
  type Settled,
} from "./settlement.js";

/** True if both did the same, but for the gas it took. */
const didSame = (a: MinedOutcome, b: MinedOutcome): boolean => a.status === b.status && everyLog(a, b, isSameLog);

export const isSameRun = (a: MinedOutcome, b: MinedOutcome): boolean => a.gasUsed === b.gasUsed && didSame(a, b);

/** Above this a word is no amount that anybody counts to, but a hash, a signature or an address. */
const mostCounted = 1n << 128n;

const wordsOf = (hex: string): ReadonlyArray<string> => hex.slice(2).match(/.{1,64}/g) ?? [];

const isAmount = (word: string): boolean => BigInt(`0x${word}`) < mostCounted;

/** True if the words are the same, or amounts in both. */
const isCountedOnly = (a: string, b: string): boolean =>
  a.length === b.length &&
  Arr.zip(wordsOf(a.toLowerCase()), wordsOf(b.toLowerCase())).every(
    ([one, other]) => one === other || (isAmount(one) && isAmount(other)),
  );

/** True if the same contracts tell of the same events, and only the amounts in them differ. */
export const isAmountOnly = (a: MinedOutcome, b: MinedOutcome): boolean =>
  a.status === "success" &&
  b.status === "success" &&
  !didSame(a, b) &&
  // why: what is indexed names something, such as a collectible by its number, and counts nothing
  everyLog(a, b, (one, other) => isSameHead(one, other) && isCountedOnly(one.data, other.data));

const measured = (name: Cause["class"]): Cause => ({ class: name, evidence: "measured" });

/**
 * Why `happened` is not what was `said`. First whether the node's simulator gives what the chain gave, with those
 * before it in its block or without them; then whether
 * those before it in its block made the difference; then whether it is the state since the report, or the values of
 * the block. `wasSealed` = the report's outcome was the same on the sealed block that `earlier` stands on, so that the
 * state of pending transactions does not explain it. Where one that is needed was not answered: `unknown`.
 */
export const causeOf = (
  said: MinedOutcome,
  happened: MinedOutcome,
  { behind, alone, earlier, rehashed, elsewhere }: NonNullable<Hindsight["replay"]>,
  wasSealed: boolean,
): Cause => {
  if (behind === null) return unknownCause;
  const isSameBehind = isSameRun(behind, happened);
  // why: a node may have no gas left behind a full block for what it runs rightly alone
  if (alone === null) return isSameBehind ? unknownCause : measured("simulatorWrong");
  if (!isSameRun(alone, happened)) return measured(isSameBehind ? "ordering" : "simulatorWrong");
  if (earlier === null) return unknownCause;
  // why: the blocks between are none of the chain's, and who reads their hashes is told others
  if (rehashed !== null && !isSameRun(rehashed, earlier)) return measured("contextDependent");
  if (!isSameRun(earlier, happened)) return measured(isAmountOnly(said, happened) ? "priceMoved" : "ordering");
  if (elsewhere === null) return unknownCause;
  if (!isSameRun(elsewhere, earlier)) return measured("contextDependent");
  // why: gas may differ by what pending transactions have warmed, though both did the same
  return measured(wasSealed && !didSame(said, happened) ? "simulatorWrong" : "ordering");
};

/** The transaction of a receipt in its block; null where the block does not hold it. */
export const minedIn = (receipt: Receipt, { transactions }: Pick<FullBlock, "transactions">): FullTransaction | null =>
  transactions.find(({ hash }) => hash.toLowerCase() === receipt.transactionHash.toLowerCase()) ?? null;

/** Returns a mined transaction's place in the report: by sender and nonce, else the only one there is; -1 = none. */
const placeOf = ({ transactions }: Report, mined: FullTransaction): number => {
  const found = transactions.findIndex(
    ({ input, request }) =>
      input.from.toLowerCase() === mined.from.toLowerCase() && request?.nonce === Number(mined.nonce),
  );
  return found === -1 && transactions.length === 1 ? 0 : found;
};

/** True if the report's outcome was the same on the sealed block that it stood on. */
const wasSealed = ({ observed }: Report): boolean =>
  observed.worlds.some(({ run, agrees, state }) => run === "next" && agrees === true && typeof state === "bigint");

/** Why the outcome differs, where it does. */
const causeIn = (report: Report, transaction: TransactionReport, receipt: Receipt, { replay }: Hindsight): Cause => {
  const [said, happened] = [expectedOf(transaction), happenedOf(receipt)];
  if (said === null || happened === null || replay == null) return unknownCause;
  return causeOf(said, happened, replay, wasSealed(report));
};

/** True if the outcome that was said is what happened, as far as both are known: nothing need be asked then. */
export const isAsSaid = (transaction: TransactionReport, receipt: Receipt): boolean => {
  const [said, happened] = [expectedOf(transaction), happenedOf(receipt)];
  return said === null || happened === null || isSameRun(said, happened);
};

const ratio = (part: bigint, whole: bigint | null): number | null =>
  whole === null || whole === 0n ? null : Number((part * 1_000_000n) / whole) / 1_000_000;

/** True if nothing but these transactions, and what the chain itself puts in front, is in a block. */
const holdsOnly = ({ transactions }: FullBlock, receipts: ReadonlyArray<Receipt>): boolean => {
  const own = new Set(receipts.map(({ transactionHash }) => transactionHash.toLowerCase()));
  return transactions.every((transaction) => isSystemDeposit(transaction) || own.has(transaction.hash.toLowerCase()));
};

/** True if the OP stack has its own contract there: the fees of every transaction are paid to some of them. */
const isPredeploy = (account: string): boolean => /^0x42(00){17}/.test(account);

/** Sums what each sender paid for the transactions; null where a receipt does not say it. */
const paidIn = (receipts: ReadonlyArray<Receipt>, block: FullBlock): ReadonlyMap<string, bigint | null> => {
  const paid = new Map<string, bigint | null>();
  for (const receipt of receipts) {
    const from = minedIn(receipt, block)?.from.toLowerCase() ?? "";
    const [sum = 0n, { cost }] = [paid.get(from), paidBy(receipt)];
    paid.set(from, sum === null || cost === null ? null : sum + cost);
  }
  return paid;
};

/** Tells if nothing but the transactions moves an account's balance: neither others, nor what the chain pays itself. */
const aloneIn = (receipts: ReadonlyArray<Receipt>, block: FullBlock) => {
  const isBundleOnly = holdsOnly(block, receipts);
  const receivers = [block.miner, ...(block.withdrawals ?? []).map(({ address }) => address)];
  const paid = new Set(receivers.map((account) => account?.toLowerCase()));
  return (account: string): boolean => isBundleOnly && !isPredeploy(account) && !paid.has(account.toLowerCase());
};

/**
 * Changes of balances over the bundle against what accounts held around its block; `receipts` are all of its
 * transactions'. An equal one counts wherever it is; an unequal one only where nothing but the bundle is in the block, for
 * others may have moved it. A token may pay interest by the clock: of one that does what was said nothing tells the cause.
 */
export const settleBalances = (
  report: Report,
  receipts: ReadonlyArray<Receipt>,
  block: FullBlock,
  held: NonNullable<Hindsight["held"]>,
  outcome: Settled["class"],
): Comparison => {
  const paid = paidIn(receipts, block);
  const isAlone = aloneIn(receipts, block);
  // why: where the transactions do what was said and balances do not, it is what was said of balances that is wrong
  const isAsProven = outcome === "same" || outcome === "unfulfilled";
  const cause: Cause = { class: isAsProven ? "simulatorWrong" : outcome, evidence: "measured" };
  const heldBy = ({ account, token, delta }: Report["balanceChanges"][number]): bigint | null => {
    const around = held.find((row) => row.account === account && row.token === token);
    const [gas = 0n] = token === null ? [paid.get(account.toLowerCase())] : [];
    const happened = around === undefined || gas === null ? null : around.after - around.before + gas;
    return happened === delta || isAlone(account) ? happened : null;
  };
  return compare(
    balanceFacts(report, ({ delta }) => delta),
    balanceFacts(report, heldBy),
    ({ unit }) =>
      cause.class === "simulatorWrong" && typeof unit === "object" && unit?.token != null ? unknownCause : cause,
  );
};

/** Everything compared of a transaction that was mined as it was proven. */
const partsOf = (
  report: Report,
  index: number,
  one: TransactionReport,
  receipt: Receipt,
  block: FullBlock,
  hindsight: Hindsight,
): ReadonlyArray<Comparison> => {
  const outcome = compareOutcome(one, index, receipt, causeIn(report, one, receipt, hindsight));
  const alone = gravest(outcome.differences.map((difference) => difference.class));
  // why: what did otherwise than was said may have done what it was asked for
  const isSameDeed = outcome.differences.every(({ what }) => what === "gas used");
  return [
    ...[outcome, compareCost(one, index, report.funds, receipt)],
    ...(report.transactions.length === 1 && hindsight.held !== undefined
      ? [settleBalances(report, [receipt], block, hindsight.held, alone)]
      : []),
    ...(isSameDeed ? [compareAsked(report, index)] : []),
  ];
};

/** Takes from a settlement what it teaches for future ones; `isOurs` = what was mined is what was proven. */
const sampleOf = (
  { latestNumber }: Report["observed"],
  one: TransactionReport,
  request: NonNullable<TransactionReport["request"]>,
  { gasUsed, effectiveGasPrice, status }: Receipt,
  mined: FullTransaction,
  block: FullBlock,
  isOurs: boolean,
): Omit<MinedSettlement["sample"], "class"> => {
  const { data, to } = one.input;
  const said = isOurs ? expectedOf(one) : null;
  const cap = request.maxFeePerGas ?? request.gasPrice ?? null;
  return {
    chainId: request.chainId,
    selector: to !== null && data.length >= 10 ? `0x${data.slice(2, 10).toLowerCase()}` : null,
    isFlip: said !== null && status !== null && said.status !== status,
    gasRatio: ratio(gasUsed, mined.gas) ?? 0,
    gasOfSaid: ratio(gasUsed, said?.gasUsed ?? null),
    ageBlocks: latestNumber === null ? null : Number(block.number - latestNumber),
    priceRatio: effectiveGasPrice === null ? null : ratio(effectiveGasPrice, cap),
  };
};

/**
 * Compares a report of a transaction with its receipt and the block that holds it (with its transactions in full):
 * the request, status, gas, every log in order, price, total cost with the fees of layer 1 and of the operator, the
 * created address, and, where `held` tells them, balances. What differs has a class; `hindsight.replay` tells the
 * classes of an outcome apart, and without it they are `unknown`. Null where the receipt is of none of the report's
 * transactions, or not of the block. `Preflight.settle` asks for all of it.
 */
export const settle = (
  report: Report,
  receipt: Receipt,
  block: FullBlock,
  hindsight: Hindsight = {},
): MinedSettlement | null => {
  const mined = minedIn(receipt, block);
  if (mined === null || receipt.blockHash?.toLowerCase() !== block.hash.toLowerCase()) return null;
  const index = hindsight.transaction ?? placeOf(report, mined);
  const one = report.transactions[index];
  if (one === undefined || one.request === null) return null;
  const { sent = receipt.transactionHash } = hindsight;
  const isReplaced = sent.toLowerCase() !== receipt.transactionHash.toLowerCase();
  const request = compareRequest(index, one.input.from, one.request, mined, {
    ...{ class: isReplaced ? "replaced" : "tampered", evidence: "logged" },
  });
  const isOurs = request.isSame;
  const all = merged(request, ...(isOurs ? partsOf(report, index, one, receipt, block, hindsight) : []));
  // why: where one side says nothing of the outcome, nothing that differs is not the same
  const isTold = !isOurs || (expectedOf(one) !== null && happenedOf(receipt) !== null);
  const found = gravest([...all.differences.map((difference) => difference.class), isTold ? "same" : "unknown"]);
  const { effectiveGasPrice, gasUsed, status, contractAddress: created } = receipt;
  return {
    ...{ state: "mined", created, transaction: index, hash: receipt.transactionHash },
    ...(isReplaced ? { sent } : {}),
    ...{ blockNumber: block.number, blockHash: block.hash },
    ...{ class: found, ...all, status, gasUsed, effectiveGasPrice, ...paidBy(receipt) },
    sample: { class: found, ...sampleOf(report.observed, one, one.request, receipt, mined, block, isOurs) },
  };
};
