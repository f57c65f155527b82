/** Compares a report with the mined transaction, and finds the cause of each difference. Pure. */
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

/** Words from here on are no amounts, but hashes, signatures or addresses. */
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
  // why: an indexed value is a name, such as a collectible's number, and no amount
  everyLog(a, b, (one, other) => isSameHead(one, other) && isCountedOnly(one.data, other.data));

const measured = (name: Cause["class"]): Cause => ({ class: name, evidence: "measured" });

/**
 * The class of a difference between the reported outcome (`reported`) and the mined one (`happened`), by replays in this order:
 * 1. `behind` and `alone`, on the parent block. `ordering`: only `behind` gives the mined outcome. `simulatorWrong`: neither does.
 * 2. `earlier`, on the report's block. `contextDependent`: other block hashes change it. If it is not the mined outcome, the
 *    state moved since the report: `priceMoved` for amounts alone, else `ordering`.
 * 3. `elsewhere`, as `earlier` in another block's values. `contextDependent`: it differs.
 *
 * Any other difference is due to pending transactions (`ordering`). `wasSealed` = the report had the same outcome on the
 * latest block, where these are absent: then it is `simulatorWrong`. A missing replay makes the class `unknown`.
 */
export const causeOf = (
  reported: MinedOutcome,
  happened: MinedOutcome,
  { behind, alone, earlier, rehashed, elsewhere }: NonNullable<Hindsight["replay"]>,
  wasSealed: boolean,
): Cause => {
  if (behind === null) return unknownCause;
  const isSameBehind = isSameRun(behind, happened);
  // why: behind a full block the node may have too little gas for a transaction that it runs rightly alone
  if (alone === null) return isSameBehind ? unknownCause : measured("simulatorWrong");
  if (!isSameRun(alone, happened)) return measured(isSameBehind ? "ordering" : "simulatorWrong");
  if (earlier === null) return unknownCause;
  // why: the simulated blocks between are not the chain's, and code that reads their hashes gets others
  if (rehashed !== null && !isSameRun(rehashed, earlier)) return measured("contextDependent");
  if (!isSameRun(earlier, happened)) return measured(isAmountOnly(reported, happened) ? "priceMoved" : "ordering");
  if (elsewhere === null) return unknownCause;
  if (!isSameRun(elsewhere, earlier)) return measured("contextDependent");
  // why: gas may differ by what pending transactions have warmed, though both did the same
  return measured(wasSealed && !didSame(reported, happened) ? "simulatorWrong" : "ordering");
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

/** True if the report's outcome was the same on the latest block. */
const wasSealed = ({ observed }: Report): boolean =>
  observed.worlds.some(({ run, agrees, state }) => run === "next" && agrees === true && typeof state === "bigint");

/** The cause of a different outcome. */
const causeIn = (report: Report, transaction: TransactionReport, receipt: Receipt, { replay }: Hindsight): Cause => {
  const [reported, happened] = [expectedOf(transaction), happenedOf(receipt)];
  if (reported === null || happened === null || replay == null) return unknownCause;
  return causeOf(reported, happened, replay, wasSealed(report));
};

/** True if the outcome happened as reported, as far as both are known. No request is needed then. */
export const isAsSaid = (transaction: TransactionReport, receipt: Receipt): boolean => {
  const [reported, happened] = [expectedOf(transaction), happenedOf(receipt)];
  return reported === null || happened === null || isSameRun(reported, happened);
};

const ratio = (part: bigint, whole: bigint | null): number | null =>
  whole === null || whole === 0n ? null : Number((part * 1_000_000n) / whole) / 1_000_000;

/** True if a block holds only these transactions and the chain's own deposits. */
const holdsOnly = ({ transactions }: FullBlock, receipts: ReadonlyArray<Receipt>): boolean => {
  const own = new Set(receipts.map(({ transactionHash }) => transactionHash.toLowerCase()));
  return transactions.every((transaction) => isSystemDeposit(transaction) || own.has(transaction.hash.toLowerCase()));
};

/** True for a predeploy of the OP stack. Some of these receive fees of every transaction. */
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
 * Compares the reported changes of balances with the balances before and after the block; `receipts` = those of the whole
 * bundle. An equal change always counts. A different one counts only if the block holds nothing but the bundle, because
 * others may have caused it. A token may pay interest by the clock: its difference has no known cause if the transactions
 * did as reported.
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
  // why: if only balances differ, the forecast of balances was wrong
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
  // why: a transaction that did otherwise than reported may still have done what its calldata asks
  const isSameDeed = outcome.differences.every(({ what }) => what === "gas used");
  return [
    ...[outcome, compareCost(one, index, report.funds, receipt)],
    ...(report.transactions.length === 1 && hindsight.held !== undefined
      ? [settleBalances(report, [receipt], block, hindsight.held, alone)]
      : []),
    ...(isSameDeed ? [compareAsked(report, index)] : []),
  ];
};

/** The figures of a settlement for statistics; `isOurs` = the proven request was mined. */
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
  const reported = isOurs ? expectedOf(one) : null;
  const cap = request.maxFeePerGas ?? request.gasPrice ?? null;
  return {
    chainId: request.chainId,
    selector: to !== null && data.length >= 10 ? `0x${data.slice(2, 10).toLowerCase()}` : null,
    isFlip: reported !== null && status !== null && reported.status !== status,
    gasRatio: ratio(gasUsed, mined.gas) ?? 0,
    gasOfSaid: ratio(gasUsed, reported?.gasUsed ?? null),
    ageBlocks: latestNumber === null ? null : Number(block.number - latestNumber),
    priceRatio: effectiveGasPrice === null ? null : ratio(effectiveGasPrice, cap),
  };
};

/**
 * Compares a report of a transaction with its receipt and the block that holds it (with its transactions in full):
 * the request, status, gas, every log in order, price, total cost with the fees of layer 1 and of the operator, the
 * created address, and, with `held`, balances. Each difference has a class. `hindsight.replay` decides the class of a
 * different outcome, which is `unknown` without it. Null where the receipt belongs to no transaction of the report, or to
 * another block. `Preflight.settle` requests all of this.
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
  // why: if one of the outcomes is unknown, the absence of differences is not `same`
  const areBothKnown = !isOurs || (expectedOf(one) !== null && happenedOf(receipt) !== null);
  const found = gravest([...all.differences.map((difference) => difference.class), areBothKnown ? "same" : "unknown"]);
  const { effectiveGasPrice, gasUsed, status, contractAddress: created } = receipt;
  return {
    ...{ state: "mined", created, transaction: index, hash: receipt.transactionHash },
    ...(isReplaced ? { sent } : {}),
    ...{ blockNumber: block.number, blockHash: block.hash },
    ...{ class: found, ...all, status, gasUsed, effectiveGasPrice, ...paidBy(receipt) },
    sample: { class: found, ...sampleOf(report.observed, one, one.request, receipt, mined, block, isOurs) },
  };
};
