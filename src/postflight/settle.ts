/** What was said of a transaction against what happened, and why they differ. Pure. */
import type { FullBlock, FullTransaction, Receipt } from "../eth/block.js";
import type { Report, TransactionReport } from "../report/schema.js";
import { causeOf, isSameRun, unknownCause, type Cause } from "./cause.js";
import { compareBalances, compareCost, compareOutcome, compareRequest, happenedOf, merged, saidOf } from "./compare.js";
import { isSystemDeposit, paidBy } from "./mined.js";
import { gravest, type Comparison, type Hindsight, type MinedSettlement, type SettlementClass } from "./settlement.js";

/** The transaction of a receipt in its block; null where the block does not hold it. */
export const minedIn = (receipt: Receipt, { transactions }: Pick<FullBlock, "transactions">): FullTransaction | null =>
  transactions.find(({ hash }) => hash.toLowerCase() === receipt.transactionHash.toLowerCase()) ?? null;

/** Whose place in the report a mined transaction has taken: by sender and nonce, else the only one there is; -1 = none. */
const placeOf = ({ transactions }: Report, mined: FullTransaction): number => {
  const found = transactions.findIndex(
    ({ input, request }) =>
      input.from.toLowerCase() === mined.from.toLowerCase() && request?.nonce === Number(mined.nonce),
  );
  return found === -1 && transactions.length === 1 ? 0 : found;
};

/** Whether the report's outcome was the same on the sealed block that it stood on. */
const wasSealed = ({ observed }: Report): boolean =>
  observed.worlds.some(({ run, agrees, state }) => run === "next" && agrees === true && typeof state === "bigint");

/** Why the outcome differs, where it does. */
const causeIn = (report: Report, one: TransactionReport, receipt: Receipt, { replay }: Hindsight): Cause => {
  const [said, happened] = [saidOf(one), happenedOf(receipt)];
  if (said === null || happened === null || replay == null) return unknownCause;
  return causeOf(said, happened, replay, wasSealed(report));
};

/** Whether the outcome that was said is what happened, as far as both are known: nothing need be asked then. */
export const isAsSaid = (one: TransactionReport, receipt: Receipt): boolean => {
  const [said, happened] = [saidOf(one), happenedOf(receipt)];
  return said === null || happened === null || isSameRun(said, happened);
};

const ratio = (part: bigint, whole: bigint | null): number | null =>
  whole === null || whole === 0n ? null : Number((part * 1_000_000n) / whole) / 1_000_000;

/** Whether nothing but these transactions, and what the chain itself puts in front, is in a block. */
const holdsOnly = ({ transactions }: FullBlock, hashes: ReadonlyArray<string>): boolean =>
  transactions.every((one) => isSystemDeposit(one) || hashes.includes(one.hash.toLowerCase()));

/** Where the OP stack has its own contracts: the fees of every transaction are paid to some of them. */
const isPredeploy = (account: string): boolean => /^0x42(00){17}/.test(account);

/** The balances of the whole bundle against those around its block; `receipts` are all of its transactions'. */
export const settleBalances = (
  report: Report,
  receipts: ReadonlyArray<Receipt>,
  block: FullBlock,
  held: Hindsight["held"],
  outcome: SettlementClass,
): Comparison => {
  const hashes = receipts.map(({ transactionHash }) => transactionHash.toLowerCase());
  const mined = receipts.flatMap((receipt) => {
    const found = minedIn(receipt, block);
    return found === null ? [] : [{ from: found.from.toLowerCase(), cost: paidBy(receipt).cost }];
  });
  const paid = (account: string): bigint | null =>
    mined
      .filter(({ from }) => from === account.toLowerCase())
      .reduce<bigint | null>((sum, { cost }) => (sum === null || cost === null ? null : sum + cost), 0n);
  const isAlone = holdsOnly(block, hashes);
  // why: where the transactions did what was said and balances did not, it is what was said of balances that is wrong
  const cause: Cause =
    outcome === "same" || outcome === "unknown"
      ? { class: outcome === "same" ? "simulatorWrong" : "unknown", evidence: "measured" }
      : { class: outcome, evidence: "measured" };
  return compareBalances(
    report,
    held ?? [],
    paid,
    (account) =>
      isAlone &&
      !isPredeploy(account) &&
      account.toLowerCase() !== block.miner?.toLowerCase() &&
      !(block.withdrawals ?? []).some(({ address }) => address.toLowerCase() === account.toLowerCase()),
    cause,
  );
};

/**
 * What a report said of a transaction against its receipt and the block that holds it (with its transactions in full):
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
  const isReplaced =
    hindsight.sent !== undefined && hindsight.sent.toLowerCase() !== receipt.transactionHash.toLowerCase();
  const request = compareRequest(one.input.from, one.request, mined, {
    ...{ class: isReplaced ? "replaced" : "tampered", evidence: "logged" },
  });
  const isOurs = request.isSame;
  const outcome = isOurs ? compareOutcome(one, receipt, causeIn(report, one, receipt, hindsight)) : null;
  const cost = isOurs ? compareCost(one, index, report.funds, receipt) : null;
  const alone = outcome === null ? "same" : gravest(outcome.differences.map((difference) => difference.class));
  const balances =
    isOurs && report.transactions.length === 1 && hindsight.held !== undefined
      ? settleBalances(report, [receipt], block, hindsight.held, alone)
      : null;
  const all = merged(...[request, outcome, cost, balances].filter((part) => part !== null));
  const said = saidOf(one);
  // why: where one side says nothing of the outcome, nothing that differs is not the same
  const isTold = !isOurs || (said !== null && happenedOf(receipt) !== null);
  const found = gravest([...all.differences.map((difference) => difference.class), isTold ? "same" : "unknown"]);
  const { data, to } = one.input;
  const cap = one.request.maxFeePerGas ?? one.request.gasPrice ?? null;
  const known = report.observed.latestNumber;
  const { effectiveGasPrice, gasUsed, status } = receipt;
  return {
    ...{ state: "mined", transaction: index, hash: receipt.transactionHash },
    ...{ blockNumber: block.number, blockHash: block.hash },
    ...{ class: found, ...all, status, gasUsed, effectiveGasPrice, ...paidBy(receipt) },
    created: receipt.contractAddress,
    sample: {
      ...{ chainId: one.request.chainId, class: found },
      selector: to !== null && data.length >= 10 ? `0x${data.slice(2, 10).toLowerCase()}` : null,
      isFlip: isOurs && said !== null && status !== null && said.status !== status,
      gasRatio: ratio(gasUsed, mined.gas) ?? 0,
      gasOfSaid: isOurs ? ratio(gasUsed, said?.gasUsed ?? null) : null,
      ageBlocks: known === null ? null : Number(block.number - known),
      priceRatio: effectiveGasPrice === null ? null : ratio(effectiveGasPrice, cap),
    },
  };
};
